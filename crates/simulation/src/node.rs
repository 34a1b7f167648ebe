//! A node that knows the made-up chain, and does not always say so.

use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard};

use alloy_primitives::{Bytes, U256};
use alloy_sol_types::{SolCall, SolValue};
use bourse_chain::questions::getRoyaltyInfoCall;
use bourse_chain::{Call, CallResults, Failure, Header, LogFilter, Node, Reverted, Span, SpanLogs, TimedLog};
use bourse_market::facts::{Block, BlockHash};
use bourse_wire::{Address, ChainId};
use tokio::sync::Notify;

use crate::dice::Dice;
use crate::world::{COLLECTIONS, MARKETS, World, WorldBlock, address};

pub const CHAIN: ChainId = ChainId(31_337);

/// What goes wrong, how often in a thousand.
#[derive(Clone, Copy, Default)]
pub struct Weather {
    /// A request fails.
    pub failure: u64,
    /// A block is made before a request is answered.
    pub block: u64,
    /// Blocks are taken back before a request is answered.
    pub reorganisation: u64,
    /// The newest block told is an old one.
    pub behind: u64,
    /// A block that does not count any more is answered about as if it had never been.
    pub forgotten: u64,
    /// The logs of another block at the same height are told.
    pub confused: u64,
    /// The process dies, in a request or around a commit.
    pub death: u64,
    /// The store fails, before a commit or after it.
    pub store: u64,
}

/// What everything in a simulation shares.
pub struct Shared {
    pub world: Mutex<World>,
    pub weather: Mutex<Weather>,
    pub dice: Mutex<Dice>,
    /// Told when the process dies.
    pub death: Notify,
    pub window: u64,
    /// The most blocks, and logs, that the node answers about.
    pub range_max: u64,
    pub logs_max: usize,
    /// Whether the node tells the times of logs along.
    pub tells_times: bool,
}

impl Shared {
    pub fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap()
    }

    pub fn happens(&self, what: impl Fn(&Weather) -> u64) -> bool {
        let in_thousand = what(&self.weather.lock().unwrap());
        in_thousand > 0 && self.dice.lock().unwrap().happens(in_thousand)
    }

    /// Dies when it is time to: nobody waits for what comes after.
    pub async fn live_or_die(&self) {
        if self.happens(|weather| weather.death) {
            self.death.notify_one();
            pending::<()>().await;
        }
    }

    /// Takes back some blocks, and makes others.
    pub fn reorganise(&self) {
        let mut world = self.world();
        let depth_max = world.depth_max(self.window);
        let mut dice = self.dice.lock().unwrap();
        let depth = if dice.happens(700) { 1 + dice.below(3) } else { 1 + dice.below(self.window) };
        let depth = depth.min(depth_max);
        // Now and then the chain becomes shorter.
        let blocks = if dice.happens(150) { 1 + dice.below(depth) } else { depth + dice.below(3) };
        drop(dice);
        world.reorganise(depth, blocks.max(1));
    }
}

/// The node.
pub struct WorldNode(pub Arc<Shared>);

impl WorldNode {
    /// What happens before any answer.
    async fn weather(&self) -> Result<(), Failure> {
        self.0.live_or_die().await;
        if self.0.happens(|weather| weather.block) {
            self.0.world().mine(1);
        }
        if self.0.happens(|weather| weather.reorganisation) {
            self.0.reorganise();
        }
        if self.0.happens(|weather| weather.failure) {
            return Err(Failure::retry("made up"));
        }
        Ok(())
    }

    fn told(&self, block: &WorldBlock, filters: &[LogFilter]) -> Vec<TimedLog> {
        let at = self.0.tells_times.then_some(block.block.at);
        let logs = block.logs.iter().filter(|log| filters.iter().any(|filter| filter.admits(log)));
        logs.map(|log| TimedLog { log: log.clone(), at }).collect()
    }

    fn logs_of_block(&self, hash: BlockHash, filters: &[LogFilter]) -> Result<SpanLogs, Failure> {
        let world = self.0.world();
        let block = world.by_hash.get(&hash).ok_or_else(unknown)?;
        let whole = |logs: Vec<TimedLog>| SpanLogs { logs, last: Some(block.header()) };
        let counting = world.chain.get(usize::try_from(block.block.number).unwrap());
        let counts = counting.is_some_and(|counting| counting.block.hash == hash);
        if counts {
            return Ok(whole(self.told(block, filters)));
        }
        if self.0.happens(|weather| weather.forgotten) {
            return Err(unknown());
        }
        if self.0.happens(|weather| weather.confused) {
            let others = counting.map(|counting| self.told(counting, filters)).unwrap_or_default();
            return if others.is_empty() { Err(unknown()) } else { Ok(whole(others)) };
        }
        Ok(whole(self.told(block, filters)))
    }

    fn logs_of_range(&self, from: u64, to: u64, filters: &[LogFilter]) -> Result<SpanLogs, Failure> {
        let blocks = to - from + 1;
        if blocks > self.0.range_max {
            let suggested = blocks.is_multiple_of(2).then_some(self.0.range_max);
            return Err(Failure::SmallerRange { suggested, reason: "too many blocks".to_owned() });
        }
        let world = self.0.world();
        if to > world.head().block.number {
            return Err(Failure::PossibleReorg { reason: "beyond the head".to_owned() });
        }
        let range = usize::try_from(from).unwrap()..=usize::try_from(to).unwrap();
        let blocks_asked = &world.chain[range];
        let logs: Vec<TimedLog> = blocks_asked.iter().flat_map(|block| self.told(block, filters)).collect();
        if logs.len() > self.0.logs_max && blocks > 1 {
            return Err(Failure::SmallerRange { suggested: None, reason: "too many logs".to_owned() });
        }
        Ok(SpanLogs { logs, last: blocks_asked.last().map(|block| block.header()) })
    }
}

fn unknown() -> Failure {
    Failure::reorg("unknown block")
}

/// What of a price the makers of a collection get: those of the first say so themselves, and for the second one only the
/// first marketplace does.
pub fn share_of(collection: Address, market: Address) -> Option<u64> {
    match () {
        () if collection == COLLECTIONS[0] => Some(500),
        () if collection == COLLECTIONS[1] && market == MARKETS[0].0 => Some(300),
        () => None,
    }
}

/// What the contract that is called says about shares.
fn share_asked_by(call: &Call) -> Option<u64> {
    if call.to == COLLECTIONS[0] {
        return Some(500);
    }
    let asked = getRoyaltyInfoCall::abi_decode(&call.data).ok()?;
    let collection = Address::from_bytes(asked.tokenContract.into_array());
    share_of(collection, call.to).filter(|_| collection != COLLECTIONS[0])
}

impl Node for WorldNode {
    async fn chain_id(&self) -> Result<ChainId, Failure> {
        Ok(CHAIN)
    }

    async fn head(&self) -> Result<Block, Failure> {
        self.weather().await?;
        let behind = self.0.happens(|weather| weather.behind);
        let back = if behind { self.0.dice.lock().unwrap().below(4) } else { 0 };
        let world = self.0.world();
        let place = world.chain.len() - 1 - usize::try_from(back).unwrap().min(world.chain.len() - 1);
        Ok(world.chain[place].block)
    }

    async fn blocks(&self, numbers: &[u64]) -> Result<Vec<Option<Block>>, Failure> {
        self.weather().await?;
        let world = self.0.world();
        let at = |number: &u64| world.chain.get(usize::try_from(*number).unwrap()).map(|block| block.block);
        Ok(numbers.iter().map(at).collect())
    }

    async fn headers(&self, numbers: &[u64]) -> Result<Vec<Option<Header>>, Failure> {
        self.weather().await?;
        let world = self.0.world();
        let at = |number: &u64| world.chain.get(usize::try_from(*number).unwrap());
        Ok(numbers.iter().map(|number| at(number).map(|block| block.header())).collect())
    }

    async fn logs(&self, span: Span, filters: &[LogFilter]) -> Result<SpanLogs, Failure> {
        self.weather().await?;
        match span {
            Span::Range { from, to } => self.logs_of_range(from, to, filters),
            Span::Block(hash) => self.logs_of_block(hash, filters),
        }
    }

    async fn receipt_logs(&self, block: BlockHash) -> Result<Vec<TimedLog>, Failure> {
        self.weather().await?;
        let world = self.0.world();
        let block = world.by_hash.get(&block).ok_or_else(unknown)?;
        Ok(self.told(block, &[LogFilter::default()]))
    }

    async fn call(&self, calls: &[Call], at: Option<BlockHash>) -> Result<CallResults, Failure> {
        self.weather().await?;
        let world = self.0.world();
        let block = match at {
            Some(hash) => world.by_hash.get(&hash).ok_or_else(unknown)?,
            None => world.head(),
        };
        let answer = |call: &Call| {
            let of_orders = world.is_trading().then(|| block.facts.answer(call)).flatten();
            if let Some(answer) = of_orders {
                return answer;
            }
            let bps = share_asked_by(call).ok_or(Reverted)?;
            let share = (alloy_primitives::Address::repeat_byte(0xfe), U256::from(bps));
            Ok(Bytes::from(share.abi_encode()))
        };
        Ok(calls.iter().map(answer).collect())
    }

    async fn code(&self, addresses: &[Address]) -> Result<Vec<Bytes>, Failure> {
        let code = |of: &Address| if *of == address(0) { Bytes::new() } else { Bytes::from_static(&[1]) };
        Ok(addresses.iter().map(code).collect())
    }
}
