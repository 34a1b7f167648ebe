//! What may happen.

use bourse_simulation::{COLLECTIONS, PEOPLE};
use bourse_wire::Timestamp;
use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use serde_json::{Value, json};

use super::model::{ModelOrder, Traded};
use super::{SERVERS, TOKENS};
use crate::support::START;
use crate::support::events::wallet;
use crate::support::orders::COIN;

/// Something that happens. Whoever writes through a server may give up after so many polls, and then sends it again to the
/// other one.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Mine(u64),
    Reorganise,
    /// Follows for so many turns, with a node that fails in so many of a thousand requests.
    Follow {
        turns: u32,
        failures: u64,
    },
    RestartFollower,
    PutBalance {
        server: usize,
        token: u64,
        maker: u8,
        balance: u64,
        polls: Option<u32>,
    },
    PutOrder {
        server: usize,
        id: u8,
        order: ModelOrder,
        polls: Option<u32>,
    },
    Cancel {
        server: usize,
        id: u8,
        polls: Option<u32>,
    },
    Invalidate {
        server: usize,
        id: u8,
        polls: Option<u32>,
    },
    SetRate {
        server: usize,
        rate: u8,
    },
    Track {
        server: usize,
        batch: u64,
        wallets: Vec<(u8, u8)>,
        polls: Option<u32>,
    },
    /// The clock goes on, by seconds or by weeks.
    Wait(i64),
    /// The clock goes back to where it began.
    TurnBack,
    Restart {
        server: usize,
        is_killed: bool,
    },
}

/// Any step.
pub(super) fn step() -> impl Strategy<Value = Step> {
    let polls = || weighted(0.3, 1_u32..12);
    let server = || 0..SERVERS;
    prop_oneof![
        3 => (1_u64..6).prop_map(Step::Mine),
        1 => Just(Step::Reorganise),
        3 => (1_u32..8, prop_oneof![2 => Just(0), 1 => Just(200)])
            .prop_map(|(turns, failures)| Step::Follow { turns, failures }),
        1 => Just(Step::RestartFollower),
        4 => (server(), 1..=TOKENS, 0..MAKERS, 0_u64..6, polls()).prop_map(
            |(server, token, maker, balance, polls)| Step::PutBalance { server, token, maker, balance, polls }
        ),
        6 => (server(), any::<u8>().prop_map(|id| id % 12), order(), polls())
            .prop_map(|(server, id, order, polls)| Step::PutOrder { server, id, order, polls }),
        2 => (server(), 0_u8..12, polls()).prop_map(|(server, id, polls)| Step::Cancel { server, id, polls }),
        1 => (server(), 0_u8..12, polls()).prop_map(|(server, id, polls)| Step::Invalidate { server, id, polls }),
        1 => (server(), 1_u8..9).prop_map(|(server, rate)| Step::SetRate { server, rate }),
        3 => (server(), 0_u64..8, vec((0_u8..9, 0_u8..4), 1..6), polls())
            .prop_map(|(server, batch, wallets, polls)| Step::Track { server, batch, wallets, polls }),
        2 => prop_oneof![1_i64..90, 86_400_i64..1_800_000].prop_map(Step::Wait),
        1 => Just(Step::TurnBack),
        1 => (server(), any::<bool>()).prop_map(|(server, is_killed)| Step::Restart { server, is_killed }),
    ]
}

const MAKERS: u8 = 3;

/// The address of a maker.
pub(super) fn maker(number: u8) -> String {
    PEOPLE[usize::from(number)].to_string()
}

fn order() -> impl Strategy<Value = ModelOrder> {
    let collection =
        prop_oneof![3 => Just(Traded::Put), 1 => (0..COLLECTIONS.len()).prop_map(Traded::Followed)];
    (collection, any::<bool>(), 1..=TOKENS, 0..MAKERS, 1_u64..50, 1_u64..5, 1_i64..200).prop_map(
        |(collection, is_listing, token, by, price, quantity, lasts)| {
            let start: Timestamp = START.parse().unwrap();
            let valid_until = start.unix_seconds() + lasts;
            let (maker, status) = (maker(by), "active");
            ModelOrder { collection, is_listing, token, maker, price, quantity, valid_until, status }
        },
    )
}

/// The currencies of all orders, worth so many US dollars.
pub(super) fn coins(rate: u8) -> Value {
    let coin = |collection: Traded| {
        json!({ "chainId": collection.chain(), "contractAddress": COIN, "name": "Coin", "symbol": "C",
            "decimals": 18, "exchangeRate": rate.to_string() })
    };
    json!([coin(Traded::Put), coin(Traded::Followed(0))])
}

/// A transaction on one of the days before everything begins.
pub(super) fn event(number: u8, day: u8) -> Value {
    json!({ "wallet": wallet(u64::from(number) + 1), "kind": "transaction", "at": format!("2025-03-1{day}T01:02:03Z") })
}
