//! Payment Processor 2 and 2.1, against a contract of ours that checks what theirs check: shares out of the price, and
//! one fee on top of each order.

use alloy_primitives::U256;
use alloy_sol_types::{SolValue as _, sol};
use bourse_wire::Address;
use serde_json::{Value, json};

use super::follow::{follows_its_money, follows_its_token, is_bought_whole, outlives_a_reorganisation};
use super::typed::typed;
use super::{COIN, ETHER, Stage, Venue, fee, ids, units_of};
use crate::anvil::{
    Anvil, alloy_address, approveCall, setApprovalForAllCall, setSilentCall, transferFromCall,
};
use crate::market::{order, wait};

sol! {
    function allow(address currency);
    function wrappedNativeCoinAddress() returns (address wrapped);
    function revokeMasterNonce();
    function revokeSingleNonce(bytes data);
}

/// The newer one first.
pub(super) const VERSIONS: [&str; 2] = ["2.1", "2"];

const SHARED: &str =
    "address marketplace,address fallbackRoyaltyRecipient,address paymentMethod,address tokenAddress";

/// The contract in a version.
pub(super) fn deploy(anvil: &Anvil, version: &str) -> Venue {
    let wrapped = anvil.deploy_foreign("WETH9V06", &[]);
    let arguments = (version.to_owned(), alloy_address(wrapped)).abi_encode_params();
    let contract = anvil.deploy_foreign("PaymentProcessorCheck", &arguments);
    Venue { setting: version.to_owned(), ..Venue::new("payment_processor", contract) }
}

/// Lets everybody pay with the tests' currency.
pub(super) fn allow_currency(stage: &Stage, venue: &Venue) {
    let market = &stage.market;
    let allow = allowCall { currency: alloy_address(market.currency) };
    market.anvil.send(market.anvil.account(0), venue.contract, &allow);
}

fn open(version: &str) -> (Stage, Venue) {
    let stage = Stage::open(|anvil| vec![deploy(anvil, version)]);
    let venue = stage.venues[0].clone();
    allow_currency(&stage, &venue);
    (stage, venue)
}

/// What everybody gains when the buyer pays a price: 5 % are the artist's.
fn shared(price: i128) -> [i128; 4] {
    [-price, price * 95 / 100, price * 5 / 100, 0]
}

/// An order, written without the service.
#[derive(Clone)]
pub(super) struct Written {
    pub(super) is_offer: bool,
    pub(super) maker: Address,
    pub(super) cosigner: Address,
    pub(super) currency: Address,
    pub(super) price: i128,
    /// Who gets how many basis points of it.
    pub(super) shop: (Address, u64),
    pub(super) artist: (Address, u64),
    pub(super) collection: Address,
    /// None is any.
    pub(super) token: Option<u64>,
    /// None in a collection with one of each.
    pub(super) units: Option<u64>,
    pub(super) nonce: u64,
}

impl Written {
    /// An order for a single token, without shares.
    pub(super) fn of(stage: &Stage, collection: Address, price: i128) -> Self {
        Self {
            is_offer: true,
            maker: stage.market.buyer(),
            cosigner: Address::ZERO,
            currency: stage.market.currency,
            price,
            shop: (Address::ZERO, 0),
            artist: (Address::ZERO, 0),
            collection,
            token: Some(1),
            units: None,
            nonce: 7,
        }
    }

    /// What its maker signs.
    pub(super) fn typed(&self, venue: &Venue) -> Value {
        let mut value = json!({ "protocol": if self.units.is_some() { 2 } else { 0 }, "cosigner": self.cosigner,
            "marketplace": self.shop.0, "fallbackRoyaltyRecipient": self.artist.0, "paymentMethod": self.currency,
            "tokenAddress": self.collection, "amount": self.units.unwrap_or(1).to_string(),
            "itemPrice": self.price.to_string(), "expiration": "4102444800",
            "marketplaceFeeNumerator": self.shop.1.to_string(), "nonce": self.nonce.to_string(), "masterNonce": "0" });
        let token = match self.token {
            Some(token) => {
                value["tokenId"] = json!(token.to_string());
                "uint256 tokenId,"
            }
            None => "",
        };
        let (name, maker, most) = match (self.is_offer, self.token) {
            (false, _) => {
                value["seller"] = json!(self.maker);
                value["maxRoyaltyFeeNumerator"] = json!(self.artist.1.to_string());
                ("SaleApproval", "address seller", "uint256 maxRoyaltyFeeNumerator,")
            }
            (true, token) => {
                (value["buyer"], value["beneficiary"]) = (json!(self.maker), json!(self.maker));
                let name = if token.is_some() { "ItemOfferApproval" } else { "CollectionOfferApproval" };
                (name, "address buyer,address beneficiary", "")
            }
        };
        let members = format!(
            "uint8 protocol,address cosigner,{maker},{SHARED},{token}uint256 amount,uint256 itemPrice,\
            uint256 expiration,uint256 marketplaceFeeNumerator,{most}uint256 nonce,uint256 masterNonce"
        );
        let contract = json!(venue.contract);
        typed(("PaymentProcessor", venue.setting.as_str()), &contract, &[(name, members.as_str())], &value)
    }
}

/// Lets the contract move what somebody trades.
pub(super) fn approve(stage: &Stage, venue: &Venue, collection: Address) {
    let market = &stage.market;
    let operator = alloy_address(venue.contract);
    market.anvil.send(market.seller(), collection, &setApprovalForAllCall { operator, approved: true });
    let spend = approveCall { spender: operator, amount: U256::from(100 * COIN) };
    market.anvil.send(market.buyer(), market.currency, &spend);
    stage.catch_up();
}

#[test]
fn a_listing_that_allows_no_parts_is_bought_whole_or_not_at_all() {
    for version in VERSIONS {
        let (stage, venue) = open(version);
        let (collection, seller) = (stage.multiples(1), stage.market.seller());
        approve(&stage, &venue, collection);
        let written = Written {
            is_offer: false,
            maker: seller,
            units: Some(10),
            artist: (stage.market.artist(), 500),
            ..Written::of(&stage, collection, 10 * COIN)
        };
        let mut typed = written.typed(&venue);
        typed["value"]["protocol"] = json!(1);
        let listed = stage.put(&venue, seller, &typed);
        is_bought_whole(&stage, &venue, (collection, &listed), 10 * COIN);
    }
}

#[test]
fn a_listing_is_signed_and_bought_with_a_fee_on_top() {
    for version in VERSIONS {
        let (stage, venue) = open(version);
        let (market, collection) = (&stage.market, stage.singles(2));
        let listed =
            stage.list(&venue, collection, "ERC721", &order("1", "1", Address::ZERO, &ETHER.to_string()));
        assert_eq!(stage.only_listing(&venue, collection, "1")["orderId"], json!(listed));
        let orders = units_of(&listed, "1");
        let two = json!([{ "amount": "100", "receiver": market.platform() },
            { "amount": "100", "receiver": market.artist() }]);
        let refused = stage.refused(&venue, collection, &orders, &two);
        assert!(refused.body.contains("2 fees where the orders can carry 1"), "{refused:?}");
        let steps = stage.buying(&venue, collection, &orders, &fee(100, market.platform()));
        assert_eq!(ids(&steps), ["buy"]);
        let [buyer, seller, artist, _] = shared(ETHER);
        let on_top = ETHER / 100;
        let gains = stage.gains(Address::ZERO, market.buyer(), &steps);
        assert_eq!(gains, [buyer - on_top, seller, artist, on_top], "{version}");
        assert_eq!(stage.owner(collection, 1), market.buyer());
        stage.wait_filled(&venue, collection, "1", &listed);

        let listed = stage.list(&venue, collection, "ERC721", &order("2", "1", market.currency, "4000000"));
        stage.only_listing(&venue, collection, "2");
        market.fund(market.buyer(), 4_040_000);
        let orders = units_of(&listed, "1");
        let steps = stage.buying(&venue, collection, &orders, &fee(100, market.platform()));
        assert_eq!(ids(&steps), ["tokenApproval", "buy"]);
        let gains = stage.gains(market.currency, market.buyer(), &steps);
        assert_eq!(gains, [-4_040_000, 3_800_000, 200_000, 40_000], "{version}");
        stage.wait_filled(&venue, collection, "2", &listed);
    }
}

#[test]
fn units_are_bought_in_parts() {
    for version in VERSIONS {
        let (stage, venue) = open(version);
        let (market, collection) = (&stage.market, stage.multiples(1));
        let buyer = market.buyer();
        let listed = stage.list(&venue, collection, "ERC1155", &order("1", "10", market.currency, "1000000"));
        stage.only_listing(&venue, collection, "1");
        market.fund(buyer, 20_000_000);
        let orders = units_of(&listed, "3");
        let steps = stage.buying(&venue, collection, &orders, &fee(200, market.platform()));
        let gains = stage.gains(market.currency, buyer, &steps);
        assert_eq!(gains, [-3_060_000, 2_850_000, 150_000, 60_000], "{version}");
        assert_eq!(stage.units(collection, buyer, 1), 3);
        let seven = |all: &Vec<Value>| all[0]["quantityRemaining"] == json!("7");
        wait("seven remain", || market.listings(collection, "1"), seven);
        let eight = stage.refused(&venue, collection, &units_of(&listed, "8"), &Value::Null);
        assert!(eight.body.contains("where 7 can be filled right now"), "{eight:?}");
        let steps = stage.buying(&venue, collection, &units_of(&listed, "7"), &Value::Null);
        assert_eq!(stage.gains(market.currency, buyer, &steps), shared(7 * COIN), "{version}");
        assert_eq!(stage.units(collection, buyer, 1), 10);
        stage.wait_filled(&venue, collection, "1", &listed);
    }
}

/// Shares that are signed are paid, the artist's where the token tells of none.
#[test]
fn an_order_that_is_put_pays_everybody() {
    for version in VERSIONS {
        let (stage, venue) = open(version);
        let (market, collection) = (&stage.market, stage.multiples(1));
        let [buyer, seller, artist, platform] = stage.people();
        market.anvil.send(seller, collection, &setSilentCall { isSilent: true });
        approve(&stage, &venue, collection);
        let written = Written {
            is_offer: false,
            maker: seller,
            shop: (platform, 250),
            artist: (artist, 1000),
            units: Some(10),
            ..Written::of(&stage, collection, 10 * COIN)
        };
        let listed = stage.put(&venue, seller, &written.typed(&venue));
        assert_eq!(stage.only_listing(&venue, collection, "1")["orderId"], json!(listed));
        market.fund(buyer, 10_000_000);
        let steps = stage.buying(&venue, collection, &units_of(&listed, "4"), &Value::Null);
        let gains = stage.gains(market.currency, buyer, &steps);
        assert_eq!(gains, [-4_000_000, 3_500_000, 400_000, 100_000], "{version}");
        stage.cancel(&venue, collection, seller, &listed);
        stage.wait_status(&venue, collection, &listed, "cancelled");
        market.wait_listings(collection, "1", 0);
        stage.refused(&venue, collection, &units_of(&listed, "1"), &Value::Null);
        assert!(market.anvil.refuses(buyer, &steps[0]), "the contract knows it as cancelled");
    }
}

#[test]
fn several_listings_are_bought_at_once_each_with_its_own_fee() {
    for version in VERSIONS {
        let (stage, venue) = open(version);
        let collection = stage.singles(3);
        let [buyer, _, artist, platform] = stage.people();
        let listed = [("1", 1), ("2", 2), ("3", 3)].map(|(token, hundredths)| {
            let price = (hundredths * ETHER / 100).to_string();
            let listed = stage.list(&venue, collection, "ERC721", &order(token, "1", Address::ZERO, &price));
            stage.only_listing(&venue, collection, token);
            listed
        });
        let orders = listed.iter().map(|id| json!({ "orderId": id, "quantity": "1" })).collect();
        // Shares of all prices together, each on an order of its own.
        let fees = json!([{ "amount": "100", "receiver": platform }, { "amount": "50", "receiver": artist }]);
        let steps = stage.buying(&venue, collection, &orders, &fees);
        assert_eq!(ids(&steps), ["buy"]);
        let gains = stage.gains(Address::ZERO, buyer, &steps);
        let parts = [-609, 570, 33, 6].map(|parts| parts * ETHER / 10_000);
        assert_eq!(gains, parts, "{version}");
        assert_eq!([1, 2, 3].map(|token| stage.owner(collection, token)), [buyer; 3]);
        for (token, listed) in ["1", "2", "3"].iter().zip(&listed) {
            stage.wait_filled(&venue, collection, token, listed);
        }
    }
}

/// Of several, one whose token is gone is passed over, and its money comes back wrapped. Version 2 uses up its number all
/// the same, while 2.1 gives it back.
#[test]
fn a_token_that_is_gone_is_passed_over() {
    for version in VERSIONS {
        let (stage, venue) = open(version);
        let (market, collection) = (&stage.market, stage.singles(3));
        let [buyer, seller, friend, _] = stage.people();
        let listed = ["1", "2", "3"].map(|token| {
            let listed = stage.list(&venue, collection, "ERC721", &order(token, "1", Address::ZERO, "1000"));
            stage.only_listing(&venue, collection, token);
            listed
        });
        let orders = listed.iter().map(|id| json!({ "orderId": id, "quantity": "1" })).collect();
        let steps = stage.buying(&venue, collection, &orders, &Value::Null);
        let transfer = |from, to| transferFromCall {
            from: alloy_address(from),
            to: alloy_address(to),
            tokenId: U256::from(2),
        };
        market.anvil.send(seller, collection, &transfer(seller, friend));
        assert_eq!(stage.moved(Address::ZERO, buyer, &steps), [-3000, 1900, 100, 0], "{version}");
        let wrapped = market.anvil.ask(venue.contract, &wrappedNativeCoinAddressCall {});
        let wrapped = Address::from_bytes(wrapped.into_array());
        assert_eq!(market.anvil.balance(wrapped, buyer), U256::from(1000));
        assert_eq!([1, 2, 3].map(|token| stage.owner(collection, token)), [buyer, friend, buyer]);
        for (token, place) in [("1", 0), ("3", 2)] {
            stage.wait_filled(&venue, collection, token, &listed[place]);
        }
        market.anvil.send(friend, collection, &transfer(friend, seller));
        if version == "2" {
            stage.wait_status(&venue, collection, &listed[1], "cancelled");
            stage.refused(&venue, collection, &units_of(&listed[1], "1"), &Value::Null);
            continue;
        }
        stage.only_listing(&venue, collection, "2");
        let steps = stage.buying(&venue, collection, &units_of(&listed[1], "1"), &Value::Null);
        assert_eq!(stage.gains(Address::ZERO, buyer, &steps), [-1000, 950, 50, 0]);
        stage.wait_filled(&venue, collection, "2", &listed[1]);
    }
}

#[test]
fn offers_for_a_token_and_for_any_are_taken() {
    for version in VERSIONS {
        let (stage, venue) = open(version);
        let (market, collection) = (&stage.market, stage.singles(2));
        let buyer = market.buyer();
        market.fund(buyer, 30_000_000);
        let offered = stage.offer(&venue, collection, "ERC721", &order("1", "1", market.currency, "4000000"));
        assert_eq!(market.wait_offers(collection, "1", 1)[0]["orderId"], json!(offered));
        let orders = units_of(&offered, "1");
        let steps = stage.selling(&venue, collection, &orders, &fee(100, market.platform()));
        // The seller pays the fee on top out of what they have just got.
        assert_eq!(ids(&steps), ["tokenApproval", "tokenApproval", "sell"]);
        let gains = stage.gains(market.currency, market.seller(), &steps);
        assert_eq!(gains, [-4_000_000, 3_760_000, 200_000, 40_000], "{version}");
        assert_eq!(stage.owner(collection, 1), buyer);
        stage.wait_status(&venue, collection, &offered, "filled");

        let several = stage.multiples(2);
        approve(&stage, &venue, several);
        let written = Written { token: None, ..Written::of(&stage, collection, 5 * COIN) };
        let offered = stage.put(&venue, buyer, &written.typed(&venue));
        stage.wait_status(&venue, collection, &offered, "active");
        let orders = json!([{ "orderId": offered, "quantity": "1", "tokenId": "2" }]);
        let steps = stage.selling(&venue, collection, &orders, &Value::Null);
        assert_eq!(stage.gains(market.currency, market.seller(), &steps), shared(5 * COIN), "{version}");
        assert_eq!(stage.owner(collection, 2), buyer);
        stage.wait_status(&venue, collection, &offered, "filled");

        let written =
            Written { token: None, units: Some(5), nonce: 8, ..Written::of(&stage, several, 5 * COIN) };
        let offered = stage.put(&venue, buyer, &written.typed(&venue));
        stage.wait_status(&venue, several, &offered, "active");
        let orders = json!([{ "orderId": offered, "quantity": "2", "tokenId": "2" }]);
        let steps = stage.selling(&venue, several, &orders, &Value::Null);
        assert_eq!(stage.gains(market.currency, market.seller(), &steps), shared(2 * COIN), "{version}");
        assert_eq!(stage.units(several, buyer, 2), 2);
        stage.wait_status(&venue, several, &offered, "active");
        let orders = json!([{ "orderId": offered, "quantity": "3", "tokenId": "1" }]);
        let steps = stage.selling(&venue, several, &orders, &Value::Null);
        assert_eq!(stage.gains(market.currency, market.seller(), &steps), shared(3 * COIN), "{version}");
        stage.wait_status(&venue, several, &offered, "filled");
    }
}

/// A number that its maker takes back on the chain ends its order, and the master number ends them all.
#[test]
fn numbers_are_taken_back_without_the_service() {
    for version in VERSIONS {
        let (stage, venue) = open(version);
        let (market, collection) = (&stage.market, stage.singles(2));
        let [buyer, seller, ..] = stage.people();
        approve(&stage, &venue, collection);
        let written = |token, nonce| Written {
            is_offer: false,
            maker: seller,
            currency: Address::ZERO,
            token: Some(token),
            artist: (Address::ZERO, 500),
            nonce,
            ..Written::of(&stage, collection, 1000)
        };
        let [one, two] = [(1, 7), (2, 8)]
            .map(|(token, nonce)| stage.put(&venue, seller, &written(token, nonce).typed(&venue)));
        stage.only_listing(&venue, collection, "1");
        stage.only_listing(&venue, collection, "2");
        let revoke = |nonce: u64| revokeSingleNonceCall { data: U256::from(nonce).abi_encode().into() };
        market.anvil.send(seller, venue.contract, &revoke(9));
        stage.assert_stands(&venue, collection, &one);
        let steps = stage.buying(&venue, collection, &units_of(&one, "1"), &Value::Null);
        market.anvil.send(seller, venue.contract, &revoke(7));
        stage.wait_status(&venue, collection, &one, "cancelled");
        assert!(market.anvil.refuses(buyer, &steps[0]));
        stage.assert_stands(&venue, collection, &two);
        let steps = stage.buying(&venue, collection, &units_of(&two, "1"), &Value::Null);
        market.anvil.send(seller, venue.contract, &revokeMasterNonceCall {});
        stage.wait_status(&venue, collection, &two, "cancelled");
        assert!(market.anvil.refuses(buyer, &steps[0]));
        stage.refused(&venue, collection, &units_of(&two, "1"), &Value::Null);
        // A new order has the new master number.
        let listed = stage.list(&venue, collection, "ERC721", &order("2", "1", Address::ZERO, "1000"));
        stage.only_listing(&venue, collection, "2");
        let steps = stage.buying(&venue, collection, &units_of(&listed, "1"), &Value::Null);
        assert_eq!(stage.gains(Address::ZERO, buyer, &steps), [-1000, 950, 50, 0], "{version}");
    }
}

#[test]
fn a_fill_that_the_chain_takes_back_leaves_the_order() {
    for version in VERSIONS {
        let (stage, venue) = open(version);
        outlives_a_reorganisation(&stage, &venue);
    }
}

#[test]
fn orders_follow_their_token_and_their_money() {
    for version in VERSIONS {
        let (stage, venue) = open(version);
        follows_its_token(&stage, &venue);
        follows_its_money(&stage, &venue, venue.contract);
    }
}
