//! What may happen.

use bourse_simulation::{COLLECTIONS, MONEY, PEOPLE};
use bourse_wire::Timestamp;
use proptest::bool::weighted as weighted_bool;
use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::sample::select;
use serde_json::{Value, json};

use super::model::{ModelOrder, Traded};
use super::rates::Telling;
use super::signed::SIGNED_ORDERS;
use super::{SERVERS, TOKENS};
use crate::support::START;
use crate::support::events::wallet;
use crate::support::orders::COIN;

/// By whom something is written.
#[derive(Clone, Copy, Debug)]
pub(super) enum Writer {
    /// Through a server. Whoever does so may give up after so many polls, and then sends it again to the other one.
    Client { server: usize, polls: Option<u32> },
    /// By the operator, beside all servers.
    Importer,
}

/// Something that happens.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Mine(u64),
    Reorganise,
    /// Follows for so many turns, in all weathers.
    Follow {
        turns: u32,
        is_rough: bool,
    },
    RestartFollower,
    /// Asks what became of signed orders.
    Look {
        is_rough: bool,
    },
    /// Follows to the end of the chain, where everything is known.
    Settle,
    /// A signed order comes, from its maker's page or from somebody who found it.
    PutSigned {
        by: Writer,
        number: usize,
        is_executed: bool,
        is_node_down: bool,
    },
    EndSigned {
        by: Writer,
        number: usize,
        operation: &'static str,
    },
    PutBalance {
        by: Writer,
        token: u64,
        maker: u8,
        balance: u64,
    },
    PutOrder {
        by: Writer,
        id: u8,
        order: ModelOrder,
    },
    End {
        by: Writer,
        id: u8,
        operation: &'static str,
    },
    SetRate {
        by: Writer,
        rate: u8,
    },
    /// A source of rates is asked.
    AskRates {
        rate: u8,
        telling: Telling,
    },
    Track {
        by: Writer,
        batch: u64,
        events: Vec<Value>,
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
    let client = || {
        let polls = weighted(0.3, 1_u32..12);
        (0..SERVERS, polls).prop_map(|(server, polls)| Writer::Client { server, polls })
    };
    let anybody = || prop_oneof![4 => client(), 1 => Just(Writer::Importer)];
    let is_rough = || weighted_bool(0.3);
    let ending = || prop_oneof![2 => Just(CANCEL), 1 => Just(INVALIDATE)];
    prop_oneof![
        3 => (1_u64..6).prop_map(Step::Mine),
        1 => Just(Step::Reorganise),
        3 => (1_u32..8, is_rough()).prop_map(|(turns, is_rough)| Step::Follow { turns, is_rough }),
        1 => Just(Step::RestartFollower),
        2 => is_rough().prop_map(|is_rough| Step::Look { is_rough }),
        2 => Just(Step::Settle),
        10 => (anybody(), 0..SIGNED_ORDERS, weighted_bool(0.6), weighted_bool(0.3)).prop_map(
            |(by, number, is_executed, is_node_down)| Step::PutSigned { by, number, is_executed, is_node_down }
        ),
        1 => (client(), 0..SIGNED_ORDERS, ending())
            .prop_map(|(by, number, operation)| Step::EndSigned { by, number, operation }),
        4 => (anybody(), 1..=TOKENS, 0..MAKERS, 0_u64..6)
            .prop_map(|(by, token, maker, balance)| Step::PutBalance { by, token, maker, balance }),
        6 => (anybody(), 0_u8..12, order()).prop_map(|(by, id, order)| Step::PutOrder { by, id, order }),
        3 => (client(), 0_u8..12, ending()).prop_map(|(by, id, operation)| Step::End { by, id, operation }),
        2 => (anybody(), 1_u8..9).prop_map(|(by, rate)| Step::SetRate { by, rate }),
        2 => (1_u8..9, select(&Telling::ALL)).prop_map(|(rate, telling)| Step::AskRates { rate, telling }),
        3 => (anybody(), 0_u64..8, vec(event(), 1..6))
            .prop_map(|(by, batch, events)| Step::Track { by, batch, events }),
        2 => prop_oneof![3 => 1_i64..90, 1 => 86_400_i64..1_800_000].prop_map(Step::Wait),
        1 => Just(Step::TurnBack),
        1 => (0..SERVERS, any::<bool>()).prop_map(|(server, is_killed)| Step::Restart { server, is_killed }),
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
    let token = (1..=TOKENS, weighted_bool(0.2));
    (collection, any::<bool>(), token, 0..MAKERS, 1_u64..50, 1_u64..5, 1_i64..200).prop_map(
        |(collection, is_listing, (token, is_any), by, price, quantity, lasts)| {
            let token = (is_listing || !is_any).then_some(token);
            let start: Timestamp = START.parse().unwrap();
            let valid_until = start.unix_seconds() + lasts;
            let (maker, status) = (maker(by), "active");
            ModelOrder { collection, is_listing, token, maker, price, quantity, valid_until, status }
        },
    )
}

/// The currencies of all orders, of which a hundred are worth so many US dollars.
pub(super) fn coins(rate: u8) -> Value {
    let coin = |collection: Traded, address: &str| {
        json!({ "chainId": collection.chain(), "contractAddress": address, "name": "Coin", "symbol": "C",
            "decimals": 2, "exchangeRate": rate.to_string() })
    };
    let followed = Traded::Followed(0);
    json!([coin(Traded::Put, COIN), coin(followed, COIN), coin(followed, &MONEY.to_string())])
}

/// Something that a wallet does on one of the days before everything begins. Some have a name by which they count once.
fn event() -> impl Strategy<Value = Value> {
    let kind = prop_oneof![1 => Just("session"), 2 => Just("transaction"), 1 => Just("market")];
    (0_u64..9, 0_u8..4, kind, weighted(0.3, 0_u8..4)).prop_map(|(number, day, kind, id)| {
        let mut event =
            json!({ "wallet": wallet(number + 1), "kind": kind, "at": format!("2025-03-1{day}T01:02:03Z") });
        if kind == "market" {
            event["properties"] = json!({ "action": if number % 2 == 0 { "buy" } else { "sell" } });
        }
        if let Some(id) = id {
            event["id"] = json!(format!("event {id}"));
        }
        event
    })
}
