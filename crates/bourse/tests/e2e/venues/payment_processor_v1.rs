//! Payment Processor 1, against a contract of ours that checks what theirs checks: buyers sign as well.

use alloy_primitives::U256;
use alloy_sol_types::sol;
use bourse_wire::Address;
use serde_json::{Value, json};

use super::follow::{is_all_or_nothing, is_made_elsewhere};
use super::typed::typed;
use super::{COIN, ETHER, Stage, Venue, fee, ids, units_of};
use crate::anvil::{Anvil, alloy_address, setApprovalForAllCall};

sol! {
    function allow(address currency);
    function revokeMasterNonce();
    function revokeSingleNonce(address marketplace, uint256 nonce);
}

const SALE: (&str, &str) = (
    "SaleApproval",
    "uint8 protocol,bool sellerAcceptedOffer,address marketplace,uint256 marketplaceFeeNumerator,\
    uint256 maxRoyaltyFeeNumerator,address privateBuyer,address seller,address tokenAddress,uint256 tokenId,\
    uint256 amount,uint256 minPrice,uint256 expiration,uint256 nonce,uint256 masterNonce,address coin",
);

fn deploy(anvil: &Anvil) -> Vec<Venue> {
    let contract = anvil.deploy_foreign("PaymentProcessorV1Check", &[]);
    vec![Venue { setting: "1".to_owned(), ..Venue::new("payment_processor", contract) }]
}

fn open() -> (Stage, Venue) {
    let stage = Stage::open(deploy);
    let venue = stage.venues[0].clone();
    let market = &stage.market;
    let allow = allowCall { currency: alloy_address(market.currency) };
    market.anvil.send(market.anvil.account(0), venue.contract, &allow);
    (stage, venue)
}

impl Stage {
    /// A listing of the seller's, signed elsewhere: 5 % at most are the artist's, 1 % is the platform's.
    fn put_v1(&self, venue: &Venue, collection: Address, token: u64, terms: (Address, i128, u64)) -> String {
        let (coin, price, units) = terms;
        let seller = self.market.seller();
        let value = json!({ "protocol": u8::from(units > 1), "sellerAcceptedOffer": false,
            "marketplace": self.market.platform(), "marketplaceFeeNumerator": "100", "maxRoyaltyFeeNumerator": "500",
            "privateBuyer": Address::ZERO, "seller": seller, "tokenAddress": collection,
            "tokenId": token.to_string(), "amount": units.to_string(), "minPrice": price.to_string(),
            "expiration": "4102444800", "nonce": token.to_string(), "masterNonce": "0", "coin": coin });
        let contract = json!(venue.contract);
        let name = self.put(venue, seller, &typed(("PaymentProcessor", "1"), &contract, &[SALE], &value));
        self.wait_status(venue, collection, &name, "active");
        name
    }

    /// Lets the contract move the seller's tokens.
    fn approve_v1(&self, venue: &Venue, collection: Address) {
        let call = setApprovalForAllCall { operator: alloy_address(venue.contract), approved: true };
        self.market.anvil.send(self.market.seller(), collection, &call);
        self.catch_up();
    }
}

/// What everybody gains: the buyer, the seller, the artist and the platform.
fn shared(price: i128) -> [i128; 4] {
    [-price, price * 94 / 100, price * 5 / 100, price / 100]
}

#[test]
fn buyers_sign_for_listings_and_then_buy_them() {
    let (stage, venue) = open();
    let (market, collection) = (&stage.market, stage.singles(2));
    let buyer = market.buyer();
    stage.approve_v1(&venue, collection);
    let listed = stage.put_v1(&venue, collection, 1, (Address::ZERO, ETHER, 1));
    let orders = units_of(&listed, "1");
    let refused = stage.refused(&venue, collection, &orders, &fee(100, market.platform()));
    assert!(refused.body.contains("Payment Processor 1 cannot pay fees"), "{refused:?}");
    let steps = stage.buying(&venue, collection, &orders, &Value::Null);
    assert_eq!(ids(&steps), ["signEIP712"]);
    stage.carry_out(buyer, &steps);
    let steps = stage.buying(&venue, collection, &orders, &Value::Null);
    assert_eq!(ids(&steps), ["buy"]);
    assert_eq!(stage.gains(Address::ZERO, buyer, &steps), shared(ETHER));
    assert_eq!(stage.owner(collection, 1), buyer);
    stage.wait_filled(&venue, collection, "1", &listed);

    let listed = stage.put_v1(&venue, collection, 2, (market.currency, 4 * COIN, 1));
    let orders = units_of(&listed, "1");
    market.fund(buyer, 4_000_000);
    let steps = stage.buying(&venue, collection, &orders, &Value::Null);
    stage.carry_out(buyer, &steps);
    let steps = stage.buying(&venue, collection, &orders, &Value::Null);
    assert_eq!(ids(&steps), ["tokenApproval", "buy"]);
    assert_eq!(stage.gains(market.currency, buyer, &steps), shared(4 * COIN));
    stage.wait_filled(&venue, collection, "2", &listed);
}

#[test]
fn several_listings_are_signed_for_and_bought_at_once() {
    let (stage, venue) = open();
    let (market, collection) = (&stage.market, stage.multiples(2));
    let buyer = market.buyer();
    stage.approve_v1(&venue, collection);
    let listed = [(1, 2000), (2, 3000)]
        .map(|(token, price)| stage.put_v1(&venue, collection, token, (Address::ZERO, price, 10)));
    // Version 1 sells all units or none.
    is_all_or_nothing(&stage, &venue, collection, &listed[0]);
    let orders = listed.iter().map(|id| json!({ "orderId": id, "quantity": "10" })).collect();
    let steps = stage.buying(&venue, collection, &orders, &Value::Null);
    assert_eq!(ids(&steps), ["signEIP712", "signEIP712"]);
    stage.carry_out(buyer, &steps);
    let steps = stage.buying(&venue, collection, &orders, &Value::Null);
    assert_eq!(ids(&steps), ["buy"]);
    assert_eq!(stage.gains(Address::ZERO, buyer, &steps), shared(5000));
    assert_eq!([1, 2].map(|token| stage.units(collection, buyer, token)), [10, 10]);
    for (token, listed) in ["1", "2"].iter().zip(&listed) {
        stage.wait_filled(&venue, collection, token, listed);
    }
}

/// Numbers of the seller end listings; a buyer who raises their master number signs again.
#[test]
fn numbers_are_taken_back() {
    let (stage, venue) = open();
    let (market, collection) = (&stage.market, stage.singles(4));
    let [buyer, seller, _, platform] = stage.people();
    stage.approve_v1(&venue, collection);
    let listed = [1, 2, 3].map(|token| stage.put_v1(&venue, collection, token, (Address::ZERO, 1000, 1)));
    // Not as marketplace of this listing.
    let elsewhere = revokeSingleNonceCall { marketplace: alloy_address(buyer), nonce: U256::from(1) };
    market.anvil.send(seller, venue.contract, &elsewhere);
    stage.assert_stands(&venue, collection, &listed[0]);
    let revoke = revokeSingleNonceCall { marketplace: alloy_address(platform), nonce: U256::from(1) };
    market.anvil.send(seller, venue.contract, &revoke);
    stage.wait_status(&venue, collection, &listed[0], "cancelled");
    stage.cancel(&venue, collection, seller, &listed[1]);
    stage.wait_status(&venue, collection, &listed[1], "cancelled");

    let orders = units_of(&listed[2], "1");
    let sign = || {
        let steps = stage.buying(&venue, collection, &orders, &Value::Null);
        assert_eq!(ids(&steps), ["signEIP712"]);
        stage.carry_out(buyer, &steps);
        stage.buying(&venue, collection, &orders, &Value::Null)
    };
    let outdated = sign();
    market.anvil.send(buyer, venue.contract, &revokeMasterNonceCall {});
    assert!(market.anvil.refuses(buyer, &outdated[0]));
    let steps = sign();
    assert_eq!(stage.gains(Address::ZERO, buyer, &steps), shared(1000));
    stage.wait_filled(&venue, collection, "3", &listed[2]);

    let listed = stage.put_v1(&venue, collection, 4, (Address::ZERO, 1000, 1));
    market.anvil.send(seller, venue.contract, &revokeMasterNonceCall {});
    stage.wait_status(&venue, collection, &listed, "cancelled");
}

/// New orders are for the later versions.
#[test]
fn nothing_new_is_made_for_version_1() {
    let (stage, venue) = open();
    is_made_elsewhere(&stage, &venue, stage.singles(1), "Payment Processor 1");
}
