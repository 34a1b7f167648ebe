//! What may happen.

use bourse_simulation::{COLLECTIONS, MONEY, PEOPLE};
use bourse_wire::Timestamp;
use proptest::bool::weighted as weighted_bool;
use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use serde_json::{Value, json};

use super::model::{ModelOrder, Traded};
use super::signed::{SIGNED_ORDERS, Way};
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
    /// Asks what became of signed orders, with a node that fails so often.
    Look {
        failures: u64,
    },
    /// Follows to the end of the chain, where everything is known.
    Settle,
    PutSigned {
        server: usize,
        number: usize,
        way: Way,
        is_node_down: bool,
        polls: Option<u32>,
    },
    EndSigned {
        server: usize,
        number: usize,
        operation: &'static str,
        polls: Option<u32>,
    },
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
    End {
        server: usize,
        id: u8,
        operation: &'static str,
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
    let failures = || prop_oneof![2 => Just(0), 1 => Just(200)];
    let way = || prop_oneof![3 => Just(Way::Execute), 2 => Just(Way::Ingest)];
    let ending = || prop_oneof![2 => Just(CANCEL), 1 => Just(INVALIDATE)];
    prop_oneof![
        3 => (1_u64..6).prop_map(Step::Mine),
        1 => Just(Step::Reorganise),
        3 => (1_u32..8, failures())
            .prop_map(|(turns, failures)| Step::Follow { turns, failures }),
        1 => Just(Step::RestartFollower),
        2 => failures().prop_map(|failures| Step::Look { failures }),
        1 => Just(Step::Settle),
        5 => (server(), 0..SIGNED_ORDERS, way(), weighted_bool(0.3), polls()).prop_map(
            |(server, number, way, is_node_down, polls)| {
                Step::PutSigned { server, number, way, is_node_down, polls }
            }
        ),
        1 => (server(), 0..SIGNED_ORDERS, ending(), polls()).prop_map(
            |(server, number, operation, polls)| Step::EndSigned { server, number, operation, polls }
        ),
        4 => (server(), 1..=TOKENS, 0..MAKERS, 0_u64..6, polls()).prop_map(
            |(server, token, maker, balance, polls)| Step::PutBalance { server, token, maker, balance, polls }
        ),
        6 => (server(), any::<u8>().prop_map(|id| id % 12), order(), polls())
            .prop_map(|(server, id, order, polls)| Step::PutOrder { server, id, order, polls }),
        3 => (server(), 0_u8..12, ending(), polls())
            .prop_map(|(server, id, operation, polls)| Step::End { server, id, operation, polls }),
        1 => (server(), 1_u8..9).prop_map(|(server, rate)| Step::SetRate { server, rate }),
        3 => (server(), 0_u64..8, vec((0_u8..9, 0_u8..4), 1..6), polls())
            .prop_map(|(server, batch, wallets, polls)| Step::Track { server, batch, wallets, polls }),
        2 => prop_oneof![1_i64..90, 86_400_i64..1_800_000].prop_map(Step::Wait),
        1 => Just(Step::TurnBack),
        1 => (server(), any::<bool>()).prop_map(|(server, is_killed)| Step::Restart { server, is_killed }),
    ]
}

const MAKERS: u8 = 3;

pub(super) const CANCEL: &str = "CancelOrders";
const INVALIDATE: &str = "InvalidateOrders";

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
    let coin = |collection: Traded, address: &str| {
        json!({ "chainId": collection.chain(), "contractAddress": address, "name": "Coin", "symbol": "C",
            "decimals": 18, "exchangeRate": rate.to_string() })
    };
    let followed = Traded::Followed(0);
    json!([coin(Traded::Put, COIN), coin(followed, COIN), coin(followed, &MONEY.to_string())])
}

/// A transaction on one of the days before everything begins.
pub(super) fn event(number: u8, day: u8) -> Value {
    json!({ "wallet": wallet(u64::from(number) + 1), "kind": "transaction", "at": format!("2025-03-1{day}T01:02:03Z") })
}
