//! Who holds and sells what while the chain is made.

use std::collections::{BTreeMap, BTreeSet};

use super::books::{Activity, Books};
use super::event::{self, COIN, Fill, Log, MARKET, POTIONS, RELICS, Request, ZERO};
use super::hex::Address;
use bourse_random::Random;

/// Orders stay valid for longer than anybody will run this.
const VALID_SECONDS: u64 = 20 * 365 * 86_400;

/// What a transaction does, and how often of 100.
const WEIGHTS: [u64; 8] = [16, 8, 22, 12, 4, 20, 6, 12];

/// Logs of one transaction, and who sent it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Action {
    pub(super) sender: Address,
    pub(super) logs: Vec<Log>,
}

/// An order, and what became of it.
#[derive(Debug)]
struct Order {
    request: Request,
    maker: usize,
    remaining: u64,
    is_cancelled: bool,
}

/// Two collections and a marketplace.
#[derive(Debug)]
pub(super) struct World {
    random: Random,
    accounts: Vec<Address>,
    /// The holder of each single token; the first token is number 1.
    relics: Vec<usize>,
    potions: BTreeMap<(u64, usize), u64>,
    /// The keys of `potions`, to draw from, and some that it no longer has.
    stacks: Vec<(u64, usize)>,
    potion_kinds: u64,
    orders: Vec<Order>,
    /// Places of the orders that may still be filled.
    open: Vec<usize>,
    /// Who lets the marketplace move tokens of which collection.
    approvals: BTreeSet<(Address, usize)>,
    activities: [u64; 8],
}

/// What an order is made with, beside its token and maker.
struct OrderTerms {
    is_listing: bool,
    quantity: u64,
    currency: Address,
    /// When it is made, in seconds.
    at: u64,
}

/// Units of a token with one holder.
struct Stack {
    token: u64,
    holder: usize,
}

impl World {
    /// A world without tokens.
    pub(super) fn new(seed: u64, accounts: usize) -> Self {
        let mut random = Random::new(seed);
        let accounts = (0..accounts.max(2)).map(|_| address(&mut random)).collect();
        Self {
            random,
            accounts,
            relics: Vec::new(),
            potions: BTreeMap::new(),
            stacks: Vec::new(),
            potion_kinds: 0,
            orders: Vec::new(),
            open: Vec::new(),
            approvals: BTreeSet::new(),
            activities: [0; 8],
        }
    }

    /// Something happens, at a time in seconds.
    pub(super) fn act(&mut self, at: u64) -> Action {
        let drawn = self.random.weighted(&WEIGHTS);
        let action = match drawn {
            1 => Some(self.brew()),
            2 => self.give_relic(),
            3 => self.give_potions(),
            4 => self.approve_relic(),
            5 => self.list(at),
            6 => self.offer(at),
            7 => self.accept().or_else(|| self.cancel()),
            _ => None,
        };
        // Nothing can be done with what is not there yet.
        action.unwrap_or_else(|| self.mint())
    }

    /// What must be in the books now.
    pub(super) fn books(&self) -> Books {
        let mut books = Books::default();
        for (token, holder) in (1..).zip(&self.relics) {
            books.add_balance(RELICS, token, self.accounts[*holder], 1);
        }
        for ((token, holder), quantity) in &self.potions {
            books.add_balance(POTIONS, *token, self.accounts[*holder], *quantity);
        }
        for order in &self.orders {
            books.add_order(&order.request, order.remaining, order.is_cancelled);
        }
        for (action, count) in self.activities.iter().enumerate() {
            books.add_activities(action, *count);
        }
        books
    }

    fn mint(&mut self) -> Action {
        let holder = self.account();
        let to = self.accounts[holder];
        let logs = (0..self.random.between(1, 5))
            .map(|_| {
                self.relics.push(holder);
                self.happened(Activity::Mint);
                event::transfer(ZERO, to, count(self.relics.len()))
            })
            .collect();
        Action { sender: to, logs }
    }

    fn brew(&mut self) -> Action {
        let holder = self.account();
        let to = self.accounts[holder];
        let several = if self.random.below(8) == 0 { self.random.between(2, 5) } else { 1 };
        let mut made = BTreeMap::new();
        for _ in 0..several {
            // A new kind each fourth time, so that kinds are held by several.
            if self.potion_kinds == 0 || self.random.below(4) == 0 {
                self.potion_kinds += 1;
            }
            made.insert(self.random.between(1, self.potion_kinds), self.random.between(1, 100));
        }
        let made: Vec<(u64, u64)> = made.into_iter().collect();
        for (token, quantity) in &made {
            self.add_potions(*token, holder, *quantity);
            self.happened(Activity::Mint);
        }
        let log = match made.as_slice() {
            [(token, quantity)] => event::transfer_single(to, ZERO, to, *token, *quantity),
            stacks => event::transfer_batch(to, ZERO, to, stacks),
        };
        Action { sender: to, logs: vec![log] }
    }

    fn give_relic(&mut self) -> Option<Action> {
        let place = self.relic()?;
        let (from, to) = (self.relics[place], self.account());
        let log = self.move_relic(place, to);
        Some(Action { sender: self.accounts[from], logs: vec![log] })
    }

    fn give_potions(&mut self) -> Option<Action> {
        let (token, from) = self.stack()?;
        let held = self.held(token, from);
        let (quantity, to) = (self.random.between(1, held), self.account());
        let sender = self.accounts[from];
        let log = self.move_potions(Stack { token, holder: from }, to, quantity, sender);
        Some(Action { sender, logs: vec![log] })
    }

    fn approve_relic(&mut self) -> Option<Action> {
        let place = self.relic()?;
        let (owner, operator) = (self.accounts[self.relics[place]], self.account());
        let log = event::approval(owner, self.accounts[operator], count(place + 1));
        Some(Action { sender: owner, logs: vec![log] })
    }

    fn list(&mut self, at: u64) -> Option<Action> {
        let (collection, token, maker, held) = if self.random.below(3) == 0 {
            let (token, maker) = self.stack()?;
            (POTIONS, token, maker, self.held(token, maker))
        } else {
            let place = self.relic()?;
            (RELICS, count(place + 1), self.relics[place], 1)
        };
        let sender = self.accounts[maker];
        let mut logs = Vec::new();
        if self.approvals.insert((collection, maker)) {
            logs.push(event::approval_for_all(collection, sender, MARKET, true));
        }
        let quantity = self.random.between(1, held);
        let currency = if self.random.below(4) == 0 { COIN } else { ZERO };
        logs.push(self.make(
            collection,
            token,
            maker,
            OrderTerms { is_listing: true, quantity, currency, at },
        ));
        Some(Action { sender, logs })
    }

    fn offer(&mut self, at: u64) -> Option<Action> {
        let (collection, token, quantity) = if self.random.below(3) == 0 {
            (POTIONS, self.stack()?.0, self.random.between(1, 20))
        } else {
            (RELICS, count(self.relic()? + 1), 1)
        };
        let maker = self.account();
        // An offer is never in the chain's own currency.
        let log = self.make(
            collection,
            token,
            maker,
            OrderTerms { is_listing: false, quantity, currency: COIN, at },
        );
        Some(Action { sender: self.accounts[maker], logs: vec![log] })
    }

    fn accept(&mut self) -> Option<Action> {
        let slot = self.open_slot()?;
        let place = self.open[slot];
        let order = &self.orders[place];
        let (request, maker, remaining) = (order.request, order.maker, order.remaining);
        let seller = match (request.is_listing, request.collection == RELICS) {
            (true, _) => maker,
            (false, true) => self.relics[index(request.token)],
            (false, false) => self.holder_of(request.token)?,
        };
        let taker = if request.is_listing { self.account() } else { seller };
        let buyer = if request.is_listing { taker } else { maker };
        let held = if request.collection == POTIONS {
            self.held(request.token, seller)
        } else {
            u64::from(self.relics[index(request.token)] == seller)
        };
        // Nobody trades with oneself, or sells what is gone.
        if seller == buyer || held == 0 {
            return None;
        }
        let quantity = self.random.between(1, held.min(remaining));
        let moved = if request.collection == POTIONS {
            self.move_potions(Stack { token: request.token, holder: seller }, buyer, quantity, MARKET)
        } else {
            self.move_relic(index(request.token), buyer)
        };
        let order = &mut self.orders[place];
        order.remaining -= quantity;
        let (remaining, sender) = (order.remaining, self.accounts[taker]);
        if remaining == 0 {
            self.open.swap_remove(slot);
        }
        self.happened(Activity::Sale);
        let collection = request.collection;
        let fill = Fill { id: request.id, taker: sender, collection, quantity, remaining };
        Some(Action { sender, logs: vec![moved, event::request_accepted(&fill)] })
    }

    fn cancel(&mut self) -> Option<Action> {
        let slot = self.open_slot()?;
        let place = self.open.swap_remove(slot);
        let order = &mut self.orders[place];
        order.is_cancelled = true;
        let request = order.request;
        self.happened(if request.is_listing { Activity::ListingCancel } else { Activity::OfferCancel });
        Some(Action {
            sender: request.maker,
            logs: vec![event::request_cancelled(request.id, request.collection)],
        })
    }

    fn make(
        &mut self,
        collection: Address,
        token: u64,
        maker: usize,
        OrderTerms { is_listing, quantity, currency, at }: OrderTerms,
    ) -> Log {
        let request = Request {
            id: count(self.orders.len()),
            maker: self.accounts[maker],
            collection,
            token,
            is_listing,
            quantity,
            currency,
            price: self.random.between(1, 1_000_000) * 1_000_000_000_000,
            expiry: at + VALID_SECONDS,
        };
        self.open.push(self.orders.len());
        self.orders.push(Order { request, maker, remaining: quantity, is_cancelled: false });
        self.happened(if is_listing { Activity::Listing } else { Activity::Offer });
        event::request_created(&request)
    }

    fn move_relic(&mut self, place: usize, to: usize) -> Log {
        let from = std::mem::replace(&mut self.relics[place], to);
        self.happened(Activity::Transfer);
        event::transfer(self.accounts[from], self.accounts[to], count(place + 1))
    }

    fn move_potions(
        &mut self,
        Stack { token, holder: from }: Stack,
        to: usize,
        quantity: u64,
        operator: Address,
    ) -> Log {
        let left = self.held(token, from) - quantity;
        if left == 0 {
            self.potions.remove(&(token, from));
        } else {
            self.potions.insert((token, from), left);
        }
        self.add_potions(token, to, quantity);
        self.happened(Activity::Transfer);
        event::transfer_single(operator, self.accounts[from], self.accounts[to], token, quantity)
    }

    fn add_potions(&mut self, token: u64, holder: usize, quantity: u64) {
        let held = self.potions.entry((token, holder)).or_insert(0);
        if *held == 0 {
            self.stacks.push((token, holder));
        }
        *held += quantity;
    }

    fn held(&self, token: u64, holder: usize) -> u64 {
        self.potions.get(&(token, holder)).copied().unwrap_or(0)
    }

    fn holder_of(&self, token: u64) -> Option<usize> {
        self.potions.range((token, 0)..=(token, usize::MAX)).next().map(|((_, holder), _)| *holder)
    }

    fn account(&mut self) -> usize {
        self.random.index(self.accounts.len())
    }

    fn relic(&mut self) -> Option<usize> {
        (!self.relics.is_empty()).then(|| self.random.index(self.relics.len()))
    }

    fn stack(&mut self) -> Option<(u64, usize)> {
        while !self.stacks.is_empty() {
            let slot = self.random.index(self.stacks.len());
            let stack = self.stacks[slot];
            if self.potions.contains_key(&stack) {
                return Some(stack);
            }
            self.stacks.swap_remove(slot);
        }
        None
    }

    fn open_slot(&mut self) -> Option<usize> {
        (!self.open.is_empty()).then(|| self.random.index(self.open.len()))
    }

    fn happened(&mut self, activity: Activity) {
        self.activities[activity as usize] += 1;
    }
}

fn address(random: &mut Random) -> Address {
    let mut address = [0; 20];
    for part in address.chunks_mut(8) {
        part.copy_from_slice(&random.next().to_be_bytes()[..part.len()]);
    }
    address
}

fn count(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

/// The place of a single token.
fn index(token: u64) -> usize {
    usize::try_from(token).unwrap_or(usize::MAX).saturating_sub(1)
}
