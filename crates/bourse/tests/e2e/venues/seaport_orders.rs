//! Orders of Seaport, written and signed as another marketplace would: without the service.

use alloy_primitives::{B256, Bytes, U256};
use alloy_sol_types::sol;
use bourse_wire::Address;
use serde_json::{Value, json};

use super::typed::{struct_hash, typed};
use super::{Stage, Venue};
use crate::anvil::alloy_address;

sol! {
    function getCounter(address offerer) returns (uint256);

    struct OfferItem {
        uint8 itemType;
        address token;
        uint256 identifierOrCriteria;
        uint256 startAmount;
        uint256 endAmount;
    }

    struct ConsiderationItem {
        uint8 itemType;
        address token;
        uint256 identifierOrCriteria;
        uint256 startAmount;
        uint256 endAmount;
        address recipient;
    }

    struct OrderParameters {
        address offerer;
        address zone;
        OfferItem[] offer;
        ConsiderationItem[] consideration;
        uint8 orderType;
        uint256 startTime;
        uint256 endTime;
        bytes32 zoneHash;
        uint256 salt;
        bytes32 conduitKey;
        uint256 totalOriginalConsiderationItems;
    }

    struct Order {
        OrderParameters parameters;
        bytes signature;
    }

    function validate(Order[] orders) returns (bool);
}

const ITEM: &str =
    "uint8 itemType,address token,uint256 identifierOrCriteria,uint256 startAmount,uint256 endAmount";
const TYPES: [(&str, &str); 3] = [
    (
        "OrderComponents",
        "address offerer,address zone,OfferItem[] offer,ConsiderationItem[] consideration,uint8 orderType,\
        uint256 startTime,uint256 endTime,bytes32 zoneHash,uint256 salt,bytes32 conduitKey,uint256 counter",
    ),
    ("OfferItem", ITEM),
    (
        "ConsiderationItem",
        "uint8 itemType,address token,uint256 identifierOrCriteria,uint256 startAmount,uint256 endAmount,\
        address recipient",
    ),
];

/// What an order gives or asks for, and how much of it.
#[derive(Clone, Copy)]
pub(super) enum Thing {
    Money(Address, i128),
    Single(Address, u64),
    Units(Address, u64, u64),
    /// So many of any token, of which there is one each or many.
    AnySingle(Address),
    AnyUnits(Address, u64),
}

impl Thing {
    fn is_units(self) -> bool {
        matches!(self, Self::Units(..) | Self::AnyUnits(..))
    }

    fn item(self) -> Value {
        let (kind, token, id, amount) = match self {
            Self::Money(Address::ZERO, amount) => (0, Address::ZERO, 0, amount),
            Self::Money(currency, amount) => (1, currency, 0, amount),
            Self::Single(collection, id) => (2, collection, id, 1),
            Self::Units(collection, id, units) => (3, collection, id, units.into()),
            Self::AnySingle(collection) => (4, collection, 0, 1),
            Self::AnyUnits(collection, units) => (5, collection, 0, units.into()),
        };
        json!({ "itemType": kind, "token": token, "identifierOrCriteria": id.to_string(),
            "startAmount": amount.to_string(), "endAmount": amount.to_string() })
    }
}

impl Stage {
    /// Puts an order that gives one thing and asks for others, each for somebody; tells its name.
    pub(super) fn put_seaport(
        &self,
        venue: &Venue,
        maker: Address,
        given: Thing,
        asked: &[(Thing, Address)],
    ) -> String {
        self.put(venue, maker, &self.write_seaport(venue, maker, given, asked))
    }

    /// Has the maker tell the contract of such an order, so that nobody needs a signature; tells its name.
    pub(super) fn publish_seaport(
        &self,
        venue: &Venue,
        maker: Address,
        given: Thing,
        asked: &[(Thing, Address)],
    ) -> String {
        let written = self.write_seaport(venue, maker, given, asked);
        let order = Order { parameters: parameters(&written["value"]), signature: Bytes::new() };
        self.market.anvil.send(maker, venue.contract, &validateCall { orders: vec![order] });
        struct_hash(&written).to_string()
    }

    /// Such an order, for its maker to sign.
    pub(super) fn write_seaport(
        &self,
        venue: &Venue,
        maker: Address,
        given: Thing,
        asked: &[(Thing, Address)],
    ) -> Value {
        let counter =
            self.market.anvil.ask(venue.contract, &getCounterCall { offerer: alloy_address(maker) });
        let is_partial = given.is_units() || asked.iter().any(|(thing, _)| thing.is_units());
        let asked: Vec<Value> = asked
            .iter()
            .map(|(thing, recipient)| {
                let mut item = thing.item();
                item["recipient"] = json!(recipient);
                item
            })
            .collect();
        let salt = self.market.anvil.rpc("eth_blockNumber", &json!([]));
        let salt: U256 = salt.as_str().unwrap().parse().unwrap();
        let order = json!({ "offerer": maker, "zone": Address::ZERO, "offer": [given.item()], "consideration": asked,
            "orderType": u8::from(is_partial), "startTime": "0", "endTime": "4102444800", "zoneHash": B256::ZERO.to_string(),
            "salt": salt.to_string(), "conduitKey": venue.conduit_key(), "counter": counter.to_string() });
        typed(venue.signed_for(), &json!(venue.contract), &TYPES, &order)
    }
}

/// Four orders, for their maker to sign at once.
pub(super) fn bulk(venue: &Venue, written: &[Value]) -> Value {
    let order = |place: usize| written[place]["value"].clone();
    let tree = json!({ "tree": [[order(0), order(1)], [order(2), order(3)]] });
    let types: Vec<_> = std::iter::once(("BulkOrder", "OrderComponents[2][2] tree")).chain(TYPES).collect();
    typed(venue.signed_for(), &json!(venue.contract), &types, &tree)
}

/// An order as its contract takes it.
fn parameters(order: &Value) -> OrderParameters {
    fn read<T: std::str::FromStr<Err: std::fmt::Debug>>(value: &Value) -> T {
        value.as_str().unwrap().parse().unwrap()
    }
    let kind = |item: &Value, name: &str| u8::try_from(item[name].as_u64().unwrap()).unwrap();
    let offer = order["offer"].as_array().unwrap().iter().map(|item| OfferItem {
        itemType: kind(item, "itemType"),
        token: read(&item["token"]),
        identifierOrCriteria: read(&item["identifierOrCriteria"]),
        startAmount: read(&item["startAmount"]),
        endAmount: read(&item["endAmount"]),
    });
    let asked = order["consideration"].as_array().unwrap();
    let consideration = asked.iter().map(|item| ConsiderationItem {
        itemType: kind(item, "itemType"),
        token: read(&item["token"]),
        identifierOrCriteria: read(&item["identifierOrCriteria"]),
        startAmount: read(&item["startAmount"]),
        endAmount: read(&item["endAmount"]),
        recipient: read(&item["recipient"]),
    });
    OrderParameters {
        offerer: read(&order["offerer"]),
        zone: read(&order["zone"]),
        offer: offer.collect(),
        consideration: consideration.collect(),
        orderType: kind(order, "orderType"),
        startTime: read(&order["startTime"]),
        endTime: read(&order["endTime"]),
        zoneHash: read(&order["zoneHash"]),
        salt: read(&order["salt"]),
        conduitKey: read(&order["conduitKey"]),
        totalOriginalConsiderationItems: U256::from(asked.len()),
    }
}

impl Venue {
    /// The key of its conduit, if it has one.
    fn conduit_key(&self) -> Value {
        let key = self.setting.split_once('@').map(|(key, _)| key.to_owned());
        json!(key.unwrap_or_else(|| B256::ZERO.to_string()))
    }

    fn signed_for(&self) -> (&'static str, &'static str) {
        match self.word {
            "mintify" => ("MintifyExchange", "1.6"),
            "alienswap" => ("Alienswap", "1.4"),
            _ => ("Seaport", "1.6"),
        }
    }
}
