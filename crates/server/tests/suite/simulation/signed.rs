//! Orders that a few wallets signed for the made-up chain.

use std::sync::LazyLock;

use alloy_primitives::B256;
use bourse_protocols::native::SubmittedOrder;
use bourse_simulation::{CHAIN, COLLECTIONS, MONEY, SEAPORT, SignedFacts, SignedOrder, seaport};
use bourse_wire::{Address, Timestamp};
use serde_json::{Value, json};

use crate::support::START;
use crate::venues::wallet::Wallet;

/// How many there are.
pub(super) const SIGNED_ORDERS: usize = 16;

/// An order with what its maker signed.
pub(super) struct Signed {
    pub(super) order: SignedOrder,
    pub(super) valid_from: i64,
    pub(super) valid_until: i64,
    /// As it is put.
    pub(super) record: Value,
}

/// All of them; signing takes long without optimisation.
pub(super) static SIGNED: LazyLock<Vec<Signed>> = LazyLock::new(|| (0..SIGNED_ORDERS).map(signed).collect());

impl Signed {
    pub(super) fn id(&self) -> String {
        self.order.hash.to_string()
    }

    /// The body with which a wallet's page sends it.
    pub(super) fn execution(&self) -> Value {
        let mut body = self.record.clone();
        let signature = body.as_object_mut().unwrap().remove("signature");
        json!({ "params": { "chainId": CHAIN.to_string(), "signature": signature, "body": body } })
    }

    /// Whether it is for a token of a collection, on this side.
    pub(super) fn is_of(&self, token: (Address, u64), is_listing: bool) -> bool {
        (self.order.collection, self.order.token) == token && self.order.is_listing == is_listing
    }

    /// Whether its maker has not come to the counter that it is signed with. It is shown for a while, as it may come from a
    /// later block, and nobody asks meanwhile who stands behind it.
    pub(super) fn is_ahead(&self, chain: &SignedFacts) -> bool {
        chain.counter(self.order.maker) < self.order.counter
    }

    /// Whether a node that knows this lets it be put.
    pub(super) fn can_be_filled(&self, chain: &SignedFacts) -> bool {
        let is_cancelled = chain.cancelled.contains(&self.order.hash);
        !is_cancelled
            && chain.counter(self.order.maker) == self.order.counter
            && chain.remaining(&self.order) > 0
    }
}

/// Three wallets list and offer on all collections, some of them with the counter that they have not come to yet.
fn signed(number: usize) -> Signed {
    let wallet = Wallet::of(u8::try_from(11 + number % 3).unwrap());
    let collection = number % COLLECTIONS.len();
    let number = u64::try_from(number).unwrap();
    let start = START.parse::<Timestamp>().unwrap().unix_seconds();
    let mut order = SignedOrder {
        hash: B256::ZERO,
        maker: wallet.address().parse().unwrap(),
        collection: COLLECTIONS[collection],
        token: 1 + number % 2,
        is_listing: number % 5 < 3,
        // The first collections have one of each token.
        quantity: if collection < 2 { 1 } else { 1 + number % 4 },
        price: 5 + number,
        counter: u64::from(number % 7 == 6),
    };
    let valid_from = if number % 6 == 5 { start + 60 } else { start - 1000 };
    let valid_until = if number % 4 == 1 { start + 150 } else { 4_000_000_000 };
    let native = native(&order, number, (valid_from, valid_until));
    let signature = wallet.sign_typed(&typed(&native));
    let members = native.as_object().unwrap();
    let read = seaport().read_order(SubmittedOrder { native: members, signature: Some(&signature) }).unwrap();
    order.hash = read.facts.order_id.parse().unwrap();
    let record =
        json!({ "marketplace": "opensea", "chainId": CHAIN.0, "native": native, "signature": signature });
    Signed { order, valid_from, valid_until, record }
}

/// What a wallet is shown.
fn native(order: &SignedOrder, salt: u64, (from, until): (i64, i64)) -> Value {
    let item = |kind: u8, token: String, id: u64, amount: u64| {
        json!({ "itemType": kind, "token": token, "identifierOrCriteria": id.to_string(),
            "startAmount": amount.to_string(), "endAmount": amount.to_string() })
    };
    let is_multiple = !COLLECTIONS[..2].contains(&order.collection);
    let kind = if is_multiple { 3 } else { 2 };
    let token = item(kind, order.collection.to_string(), order.token, order.quantity);
    let money = item(1, MONEY.to_string(), 0, order.price * order.quantity);
    let (given, mut asked) = if order.is_listing { (token, money) } else { (money, token) };
    asked["recipient"] = json!(order.maker);
    let zero = format!("0x{}", "0".repeat(64));
    json!({ "offerer": order.maker, "zone": &zero[..42], "offer": [given], "consideration": [asked],
        "orderType": u8::from(is_multiple), "startTime": from.to_string(), "endTime": until.to_string(),
        "zoneHash": zero, "salt": salt.to_string(), "conduitKey": zero, "counter": order.counter.to_string() })
}

/// The same with its types.
fn typed(native: &Value) -> Value {
    let members = |members: &[(&str, &str)]| -> Value {
        members.iter().map(|(name, kind)| json!({ "name": name, "type": kind })).collect()
    };
    let item = [
        ("itemType", "uint8"),
        ("token", "address"),
        ("identifierOrCriteria", "uint256"),
        ("startAmount", "uint256"),
        ("endAmount", "uint256"),
    ];
    let order = [
        ("offerer", "address"),
        ("zone", "address"),
        ("offer", "OfferItem[]"),
        ("consideration", "ConsiderationItem[]"),
        ("orderType", "uint8"),
        ("startTime", "uint256"),
        ("endTime", "uint256"),
        ("zoneHash", "bytes32"),
        ("salt", "uint256"),
        ("conduitKey", "bytes32"),
        ("counter", "uint256"),
    ];
    let asked = [item.as_slice(), &[("recipient", "address")]].concat();
    json!({
        "domain": { "name": "Seaport", "version": "1.6", "chainId": CHAIN.0, "verifyingContract": SEAPORT },
        "types": { "OrderComponents": members(&order), "OfferItem": members(&item), "ConsiderationItem": members(&asked) },
        "primaryType": "OrderComponents",
        "value": native,
    })
}
