//! LooksRare: whole orders, of which its contract takes royalties and its own share when they are filled.

use alloy_primitives::{FixedBytes, U256, keccak256};
use alloy_sol_types::{SolCall as _, SolValue as _, sol};
use bourse_wire::Address;
use serde_json::{Value, json};

use super::contract_makers::{PRICE, a_contract_lists_and_offers};
use super::follow::{
    comes_back_when_its_end_was_found_by_asking, follows_its_money, follows_its_token,
    outlives_a_reorganisation,
};
use super::typed::{struct_hash, typed};
use super::{COIN, ETHER, Stage, Venue, fee, ids, units_of};
use crate::anvil::{Anvil, alloy_address, approveCall, setApprovalForAllCall};
use crate::market::order;

sol! {
    struct Maker {
        uint8 quoteType; uint256 globalNonce; uint256 subsetNonce; uint256 orderNonce; uint256 strategyId;
        uint8 collectionType; address collection; address currency; address signer; uint256 startTime; uint256 endTime;
        uint256 price; uint256[] itemIds; uint256[] amounts; bytes additionalParameters;
    }
    struct Taker { address recipient; bytes additionalParameters; }
    function executeCollectionStrategyWithTakerAsk(Taker takerAsk, Maker makerBid);
    function allowOperator(address operator);
    function grantApprovals(address[] operators);
    function revokeApprovals(address[] operators);
    function updateCurrencyStatus(address currency, bool isAllowed);
    function updateCreatorFeeManager(address manager);
    function addStrategy(
        uint16 standardProtocolFeeBp, uint16 minTotalFeeBp, uint16 maxProtocolFeeBp, bytes4 selector, bool isMakerBid,
        address implementation
    );
    function incrementBidAskNonces(bool bid, bool ask);
    function cancelSubsetNonces(uint256[] subsetNonces);
}

const MAKER: (&str, &str) = (
    "Maker",
    "uint8 quoteType,uint256 globalNonce,uint256 subsetNonce,uint256 orderNonce,uint256 strategyId,\
    uint8 collectionType,address collection,address currency,address signer,uint256 startTime,uint256 endTime,\
    uint256 price,uint256[] itemIds,uint256[] amounts,bytes additionalParameters",
);
const SIGNED_FOR: (&str, &str) = ("LooksRareProtocol", "2");

/// The protocol with its own share going to the platform, and offers for any token.
pub(crate) fn deploy(anvil: &Anvil) -> Vec<Venue> {
    let (owner, platform) = (anvil.account(0), anvil.account(4));
    let wrapped = anvil.deploy_foreign("WETH9V06", &[]);
    let manager = anvil.deploy_foreign("TransferManager", &alloy_address(owner).abi_encode());
    let arguments = [owner, platform, manager, wrapped].map(alloy_address).abi_encode();
    let contract = anvil.deploy_foreign("LooksRareProtocol", &arguments);
    anvil.send(owner, manager, &allowOperatorCall { operator: alloy_address(contract) });
    let registry = anvil.deploy_foreign("NoRoyalties", &[]);
    let royalties =
        anvil.deploy_foreign("CreatorFeeManagerWithRoyalties", &alloy_address(registry).abi_encode());
    anvil.send(owner, contract, &updateCreatorFeeManagerCall { manager: alloy_address(royalties) });
    let strategy = anvil.deploy_foreign("StrategyCollectionOffer", &[]);
    let any_token = addStrategyCall {
        standardProtocolFeeBp: 50,
        minTotalFeeBp: 50,
        maxProtocolFeeBp: 200,
        selector: FixedBytes(executeCollectionStrategyWithTakerAskCall::SELECTOR),
        isMakerBid: true,
        implementation: alloy_address(strategy),
    };
    anvil.send(owner, contract, &any_token);
    vec![Venue { mover: manager, setting: manager.to_string(), ..Venue::new("looks_rare", contract) }]
}

fn open() -> (Stage, Venue) {
    let stage = Stage::open(deploy);
    let venue = stage.venues[0].clone();
    for currency in [Address::ZERO, stage.market.currency] {
        let allow = updateCurrencyStatusCall { currency: alloy_address(currency), isAllowed: true };
        stage.market.anvil.send(stage.market.anvil.account(0), venue.contract, &allow);
    }
    (stage, venue)
}

/// What everybody gains when the buyer pays a price: 5 % are the artist's, 0.5 % the marketplace's.
fn shared(price: i128) -> [i128; 4] {
    [-price, price * 945 / 1000, price * 50 / 1000, price * 5 / 1000]
}

#[test]
fn a_listing_is_allowed_twice_signed_and_bought() {
    let (stage, venue) = open();
    let (market, collection) = (&stage.market, stage.singles(2));
    let listing = |token: &str, currency, price: i128| {
        let listing = order(token, "1", currency, &price.to_string());
        let body = json!({ "collectionAddress": collection, "owner": market.seller(), "contractType": "ERC721",
            "orderbook": venue.word, "listing": listing, "walletType": "unknown" });
        market.steps("GenerateListingTransaction", &body)
    };
    let steps = listing("1", Address::ZERO, ETHER);
    assert_eq!(ids(&steps), ["tokenApproval", "tokenApproval", "signEIP712"]);
    assert_eq!((&steps[0]["to"], &steps[1]["to"]), (&json!(collection), &json!(venue.mover)));
    let listed = stage.carry_out(market.seller(), &steps).unwrap();
    assert_eq!(stage.only_listing(&venue, collection, "1")["orderId"], json!(listed));
    let orders = units_of(&listed, "1");
    let refused = stage.refused(&venue, collection, &orders, &fee(100, market.platform()));
    assert!(refused.body.contains("LooksRare cannot pay fees"), "{refused:?}");
    let steps = stage.buying(&venue, collection, &orders, &Value::Null);
    assert_eq!(ids(&steps), ["buy"]);
    assert_eq!(stage.gains(Address::ZERO, market.buyer(), &steps), shared(ETHER));
    assert_eq!(stage.owner(collection, 1), market.buyer());
    stage.wait_filled(&venue, collection, "1", &listed);

    let steps = listing("2", market.currency, 4 * COIN);
    assert_eq!(ids(&steps), ["signEIP712"]);
    let listed = stage.carry_out(market.seller(), &steps).unwrap();
    stage.only_listing(&venue, collection, "2");
    market.fund(market.buyer(), 4_000_000);
    let steps = stage.buying(&venue, collection, &units_of(&listed, "1"), &Value::Null);
    assert_eq!(ids(&steps), ["tokenApproval", "buy"]);
    assert_eq!(stage.gains(market.currency, market.buyer(), &steps), shared(4 * COIN));
    assert_eq!(stage.owner(collection, 2), market.buyer());
    stage.wait_filled(&venue, collection, "2", &listed);
}

#[test]
fn several_listings_are_bought_all_or_none() {
    let (stage, venue) = open();
    let (market, collection) = (&stage.market, stage.multiples(3));
    let [buyer, seller, ..] = stage.people();
    for (currency, unit) in [(Address::ZERO, ETHER / 100), (market.currency, COIN)] {
        let listed = ["1", "2", "3"].map(|token| {
            let listed =
                stage.list(&venue, collection, "ERC1155", &order(token, "3", currency, &unit.to_string()));
            stage.only_listing(&venue, collection, token);
            listed
        });
        let part = stage.refused(&venue, collection, &units_of(&listed[0], "1"), &Value::Null);
        assert!(part.body.contains("as a whole, with all its 3 units"), "{part:?}");
        let orders = listed.iter().map(|id| json!({ "orderId": id, "quantity": "3" })).collect();
        market.fund(buyer, 9_000_000);
        let steps = stage.buying(&venue, collection, &orders, &Value::Null);
        assert_eq!(ids(&steps).last(), Some(&"buy"));
        let purchase = steps[ids(&steps).len() - 1].clone();
        assert_eq!(purchase["price"], json!((9 * unit).to_string()));
        stage.cancel(&venue, collection, seller, &listed[1]);
        assert!(market.anvil.refuses(buyer, &purchase));
        stage.wait_status(&venue, collection, &listed[1], "cancelled");
        stage.refused(&venue, collection, &orders, &Value::Null);
        let orders = [0, 2].map(|place| json!({ "orderId": listed[place], "quantity": "3" }));
        let steps = stage.buying(&venue, collection, &orders.into_iter().collect(), &Value::Null);
        assert_eq!(stage.gains(currency, buyer, &steps), shared(6 * unit));
        for (token, listed) in [("1", &listed[0]), ("3", &listed[2])] {
            stage.wait_filled(&venue, collection, token, listed);
        }
    }
    assert_eq!([1, 2, 3].map(|token| stage.units(collection, buyer, token)), [6, 0, 6]);
}

#[test]
fn offers_for_a_token_and_for_any_are_taken() {
    let (stage, venue) = open();
    let (market, collection) = (&stage.market, stage.singles(2));
    let [buyer, seller, ..] = stage.people();
    market.fund(buyer, 20_000_000);
    let offered = stage.offer(&venue, collection, "ERC721", &order("1", "1", market.currency, "4000000"));
    assert_eq!(market.wait_offers(collection, "1", 1)[0]["orderId"], json!(offered));
    let steps = stage.selling(&venue, collection, &units_of(&offered, "1"), &Value::Null);
    assert_eq!(ids(&steps), ["tokenApproval", "tokenApproval", "sell"]);
    assert_eq!(stage.gains(market.currency, seller, &steps), shared(4 * COIN));
    assert_eq!(stage.owner(collection, 1), buyer);
    stage.wait_status(&venue, collection, &offered, "filled");

    let allow = approveCall { spender: alloy_address(venue.contract), amount: U256::from(5 * COIN) };
    market.anvil.send(buyer, market.currency, &allow);
    stage.catch_up();
    let mut any = maker(buyer, collection, (market.currency, 5 * COIN), 7);
    (any["quoteType"], any["strategyId"], any["itemIds"]) = (json!(0), json!("1"), json!([]));
    let offered = stage.put(&venue, buyer, &signed(&venue, &any));
    stage.wait_status(&venue, collection, &offered, "active");
    let orders = json!([{ "orderId": offered, "quantity": "1", "tokenId": "2" }]);
    let steps = stage.selling(&venue, collection, &orders, &Value::Null);
    assert_eq!(ids(&steps), ["sell"]);
    assert_eq!(stage.gains(market.currency, seller, &steps), shared(5 * COIN));
    assert_eq!(stage.owner(collection, 2), buyer);
    stage.wait_status(&venue, collection, &offered, "filled");
}

/// A listing of the first token, written without the service.
fn maker(signer: Address, collection: Address, (currency, price): (Address, i128), nonce: u64) -> Value {
    json!({ "quoteType": 1, "globalNonce": "0", "subsetNonce": "3", "orderNonce": nonce.to_string(), "strategyId": "0",
        "collectionType": 0, "collection": collection, "currency": currency, "signer": signer, "startTime": "0",
        "endTime": "4102444800", "price": price.to_string(), "itemIds": ["1"], "amounts": ["1"],
        "additionalParameters": "0x" })
}

fn signed(venue: &Venue, maker: &Value) -> Value {
    typed(SIGNED_FOR, &json!(venue.contract), &[MAKER], maker)
}

/// Lets the marketplace move the seller's tokens of a collection.
fn approve(stage: &Stage, venue: &Venue, collection: Address) {
    let (anvil, seller) = (&stage.market.anvil, stage.market.seller());
    let operator = alloy_address(venue.mover);
    anvil.send(seller, collection, &setApprovalForAllCall { operator, approved: true });
    anvil.send(seller, venue.mover, &grantApprovalsCall { operators: vec![alloy_address(venue.contract)] });
    stage.catch_up();
}

#[test]
fn one_of_two_orders_is_bought_that_are_signed_at_once() {
    let (stage, venue) = open();
    let (market, collection) = (&stage.market, stage.singles(2));
    let seller = market.seller();
    approve(&stage, &venue, collection);
    let mut makers = [9, 10].map(|nonce| maker(seller, collection, (Address::ZERO, ETHER), nonce));
    makers[1]["itemIds"] = json!(["2"]);
    let names = makers.clone().map(|maker| struct_hash(&signed(&venue, &maker)));
    let tree = typed(
        SIGNED_FOR,
        &json!(venue.contract),
        &[("BatchOrder", "Maker[2] tree"), MAKER],
        &json!({ "tree": makers }),
    );
    let signature = stage.sign(seller, &tree);
    let mut second = makers[1].clone();
    second["merkleRoot"] = json!(keccak256(names.concat()).to_string());
    second["merkleProof"] = json!([{ "value": names[0].to_string(), "position": 0 }]);
    assert_eq!(stage.submit(&venue, &second, &signature), None);
    let listing = stage.only_listing(&venue, collection, "2");
    assert_eq!(listing["orderId"], json!(names[1].to_string()));
    let steps = stage.buying(&venue, collection, &units_of(&names[1].to_string(), "1"), &Value::Null);
    assert_eq!(stage.gains(Address::ZERO, market.buyer(), &steps), shared(ETHER));
    assert_eq!(stage.owner(collection, 2), market.buyer());
    stage.wait_filled(&venue, collection, "2", &names[1].to_string());
}

#[test]
fn a_contract_lists_and_offers_by_what_its_owner_signs() {
    let (stage, venue) = open();
    a_contract_lists_and_offers(&stage, &venue, shared(PRICE)[1]);
}

#[test]
fn a_listing_follows_its_token_and_what_its_maker_allows() {
    let (stage, venue) = open();
    follows_its_token(&stage, &venue);
    follows_its_money(&stage, &venue, venue.contract);
    let (market, collection) = (&stage.market, stage.singles(1));
    let seller = market.seller();
    let listed = stage.list(&venue, collection, "ERC721", &order("1", "1", Address::ZERO, "1000"));
    stage.only_listing(&venue, collection, "1");
    let operators = vec![alloy_address(venue.contract)];
    // Twice: at first the chain may still be asked what the order is.
    for _ in 0..2 {
        market.anvil.send(seller, venue.mover, &revokeApprovalsCall { operators: operators.clone() });
        market.wait_listings(collection, "1", 0);
        stage.refused(&venue, collection, &units_of(&listed, "1"), &Value::Null);
        market.anvil.send(seller, venue.mover, &grantApprovalsCall { operators: operators.clone() });
        stage.only_listing(&venue, collection, "1");
    }
}

#[test]
fn an_end_that_was_found_by_asking_and_taken_back_leaves_the_order() {
    let (stage, venue) = open();
    // It keeps the same of a number that is used up and of one that was taken back.
    comes_back_when_its_end_was_found_by_asking(&stage, &venue, ["cancelled", "cancelled"]);
}

#[test]
fn a_fill_that_the_chain_takes_back_leaves_the_order() {
    let (stage, venue) = open();
    outlives_a_reorganisation(&stage, &venue);
}

#[test]
fn numbers_that_move_end_orders() {
    let (stage, venue) = open();
    let (market, collection) = (&stage.market, stage.singles(1));
    let seller = market.seller();
    approve(&stage, &venue, collection);
    let listed =
        stage.put(&venue, seller, &signed(&venue, &maker(seller, collection, (Address::ZERO, ETHER), 1)));
    stage.only_listing(&venue, collection, "1");
    let over = |listed: &str| {
        market.wait_listings(collection, "1", 0);
        stage.wait_status(&venue, collection, listed, "cancelled");
        stage.refused(&venue, collection, &units_of(listed, "1"), &Value::Null);
    };
    let others = cancelSubsetNoncesCall { subsetNonces: vec![U256::from(2)] };
    market.anvil.send(seller, venue.contract, &others);
    stage.assert_stands(&venue, collection, &listed);
    let group = cancelSubsetNoncesCall { subsetNonces: vec![U256::from(3)] };
    market.anvil.send(seller, venue.contract, &group);
    over(&listed);

    // The number of bids has nothing to do with listings.
    let listed = stage.list(&venue, collection, "ERC721", &order("1", "1", Address::ZERO, "1000"));
    stage.only_listing(&venue, collection, "1");
    market.anvil.send(seller, venue.contract, &incrementBidAskNoncesCall { bid: true, ask: false });
    stage.assert_stands(&venue, collection, &listed);
    market.anvil.send(seller, venue.contract, &incrementBidAskNoncesCall { bid: false, ask: true });
    over(&listed);
    let listed = stage.list(&venue, collection, "ERC721", &order("1", "1", Address::ZERO, "1000"));
    stage.only_listing(&venue, collection, "1");
    let steps = stage.buying(&venue, collection, &units_of(&listed, "1"), &Value::Null);
    market.anvil.perform(market.buyer(), &steps);
    stage.wait_filled(&venue, collection, "1", &listed);
}
