//! 0x: orders with shares on top of their price, in parts where there are many of a token.

use alloy_primitives::U256;
use alloy_sol_types::{SolCall as _, SolValue as _, sol};
use bourse_wire::Address;
use serde_json::{Value, json};

use super::contract_makers::{PRICE, Wallet};
use super::follow::{
    comes_back_when_its_end_was_found_by_asking, follows_its_money, follows_its_token,
    outlives_a_reorganisation,
};
use super::typed::typed;
use super::{COIN, ETHER, Stage, Venue, fee, ids, units_of};
use crate::anvil::{Anvil, alloy_address, approveCall, setApprovalForAllCall};
use crate::market::{order, wait};

sol! {
    struct Fee { address recipient; uint256 amount; bytes feeData; }
    struct Property { address propertyValidator; bytes propertyData; }
    struct ERC721Order {
        uint8 direction; address maker; address taker; uint256 expiry; uint256 nonce; address erc20Token;
        uint256 erc20TokenAmount; Fee[] fees; address erc721Token; uint256 erc721TokenId;
        Property[] erc721TokenProperties;
    }

    struct Features { address registry; address ownable; }
    function initializeZeroEx(address owner, address zeroEx, Features features);
    function migrate() returns (bytes4);

    interface Proxy {
        function migrate(address target, bytes data, address newOwner);
        function cancelERC721Order(uint256 orderNonce);
        function preSignERC721Order(ERC721Order order);
    }
}

/// The proxy with what trades tokens.
pub(crate) fn deploy(anvil: &Anvil) -> Vec<Venue> {
    let owner = anvil.account(0);
    let migration = anvil.deploy_foreign("InitialMigration", &alloy_address(owner).abi_encode());
    let proxy = anvil.deploy_foreign("ZeroEx", &alloy_address(migration).abi_encode());
    let features = Features {
        registry: alloy_address(anvil.deploy_foreign("SimpleFunctionRegistryFeature", &[])),
        ownable: alloy_address(anvil.deploy_foreign("OwnableFeature", &[])),
    };
    let initialize =
        initializeZeroExCall { owner: alloy_address(owner), zeroEx: alloy_address(proxy), features };
    anvil.send(owner, migration, &initialize);
    let wrapped = anvil.deploy_foreign("WETH9V06", &[]);
    for feature in ["ERC721OrdersFeature", "ERC1155OrdersFeature"] {
        let feature = anvil.deploy_foreign(feature, &[proxy, wrapped].map(alloy_address).abi_encode());
        let migrate = Proxy::migrateCall {
            target: alloy_address(feature),
            data: migrateCall {}.abi_encode().into(),
            newOwner: alloy_address(owner),
        };
        anvil.send(owner, proxy, &migrate);
    }
    vec![Venue::new("zerox", proxy)]
}

fn open() -> (Stage, Venue) {
    let stage = Stage::open(deploy);
    let venue = stage.venues[0].clone();
    (stage, venue)
}

#[test]
fn a_listing_is_signed_and_bought() {
    let (stage, venue) = open();
    let (market, collection) = (&stage.market, stage.singles(2));
    let listed =
        stage.list(&venue, collection, "ERC721", &order("1", "1", Address::ZERO, &ETHER.to_string()));
    assert_eq!(stage.only_listing(&venue, collection, "1")["orderId"], json!(listed));
    let orders = units_of(&listed, "1");
    let refused = stage.refused(&venue, collection, &orders, &fee(100, market.platform()));
    assert!(refused.body.contains("0x cannot pay fees"), "{refused:?}");
    let steps = stage.buying(&venue, collection, &orders, &Value::Null);
    assert_eq!(ids(&steps), ["buy"]);
    assert_eq!(stage.gains(Address::ZERO, market.buyer(), &steps), [-ETHER, ETHER, 0, 0]);
    assert_eq!(stage.owner(collection, 1), market.buyer());
    stage.wait_filled(&venue, collection, "1", &listed);

    let listed = stage.list(&venue, collection, "ERC721", &order("2", "1", market.currency, "4000000"));
    stage.only_listing(&venue, collection, "2");
    market.fund(market.buyer(), 4_000_000);
    let steps = stage.buying(&venue, collection, &units_of(&listed, "1"), &Value::Null);
    assert_eq!(ids(&steps), ["tokenApproval", "buy"]);
    assert_eq!(stage.gains(market.currency, market.buyer(), &steps), [-4 * COIN, 4 * COIN, 0, 0]);
    assert_eq!(stage.owner(collection, 2), market.buyer());
    stage.wait_filled(&venue, collection, "2", &listed);
}

/// The contract knows these orders from their maker, and nobody has signed them.
#[test]
fn an_order_that_was_signed_on_the_chain_long_ago_is_found_by_who_comes_later() {
    let (stage, venue) = open();
    let (market, collection) = (&stage.market, stage.singles(1));
    let seller = market.seller();
    let approve = setApprovalForAllCall { operator: alloy_address(venue.contract), approved: true };
    market.anvil.send(seller, collection, &approve);
    let order = pre_signed(seller, collection, ETHER);
    market.anvil.send(seller, venue.contract, &Proxy::preSignERC721OrderCall { order });
    let listed = stage.only_listing(&venue, collection, "1")["orderId"].clone();
    market.anvil.mine(300);
    let fresh = market.anew();
    fresh.put_currencies();
    fresh.follow(collection);
    fresh.wait_followed(collection);
    let fresh = Stage { market: fresh, venues: vec![venue.clone()] };
    assert_eq!(fresh.only_listing(&venue, collection, "1")["orderId"], listed);
    let steps = fresh.buying(&venue, collection, &units_of(listed.as_str().unwrap(), "1"), &Value::Null);
    assert_eq!(fresh.gains(Address::ZERO, fresh.market.buyer(), &steps), [-ETHER, ETHER, 0, 0]);
}

/// The contract knows no other signatures of contracts.
#[test]
fn a_contract_lists_by_telling_the_marketplace() {
    let (stage, venue) = open();
    let (market, collection) = (&stage.market, stage.singles(1));
    let wallet = Wallet::deploy(&stage);
    wallet.receive(&stage, collection, 1);
    let approve = setApprovalForAllCall { operator: alloy_address(venue.contract), approved: true };
    wallet.send(&stage, collection, approve.abi_encode());
    let order = pre_signed(wallet.address, collection, PRICE);
    wallet.send(&stage, venue.contract, Proxy::preSignERC721OrderCall { order }.abi_encode());
    let listed = stage.only_listing(&venue, collection, "1")["orderId"].as_str().unwrap().to_owned();
    let steps = stage.buying(&venue, collection, &units_of(&listed, "1"), &Value::Null);
    assert_eq!(stage.gains(Address::ZERO, market.buyer(), &steps)[0], -PRICE);
    assert_eq!(stage.owner(collection, 1), market.buyer());
    assert_eq!(market.anvil.native_balance(wallet.address), U256::from(PRICE));
    stage.wait_filled(&venue, collection, "1", &listed);
}

/// A listing of the first token that its maker tells the contract of.
fn pre_signed(maker: Address, collection: Address, price: i128) -> ERC721Order {
    ERC721Order {
        direction: 0,
        maker: alloy_address(maker),
        taker: alloy_address(Address::ZERO),
        expiry: U256::from(4_102_444_800_u64),
        nonce: U256::from(7),
        erc20Token: alloy_address(Address::from_bytes([0xee; 20])),
        erc20TokenAmount: U256::from(price),
        fees: Vec::new(),
        erc721Token: alloy_address(collection),
        erc721TokenId: U256::from(1),
        erc721TokenProperties: Vec::new(),
    }
}

/// An order, written without the service.
struct Written {
    is_offer: bool,
    maker: Address,
    currency: Address,
    price: i128,
    /// Who gets what on top of the price.
    fees: Vec<(Address, i128)>,
    collection: Address,
    /// None is any.
    token: Option<u64>,
    /// None in a collection with one of each.
    units: Option<u64>,
}

impl Stage {
    fn put_zerox(&self, venue: &Venue, written: &Written) -> String {
        let Written { is_offer, maker, currency, price, fees, collection, token, units } = written;
        let currency = match *currency {
            Address::ZERO => Address::from_bytes([0xee; 20]),
            currency => currency,
        };
        let fee = |(recipient, amount): &(Address, i128)| json!({ "recipient": recipient, "amount": amount.to_string(), "feeData": "0x" });
        let any = json!({ "propertyValidator": Address::ZERO, "propertyData": "0x" });
        let properties: Vec<Value> = token.is_none().then_some(any).into_iter().collect();
        let (id, nonce) =
            (token.unwrap_or(0).to_string(), self.market.anvil.rpc("eth_blockNumber", &json!([])));
        let nonce: U256 = nonce.as_str().unwrap().parse().unwrap();
        let mut order = json!({ "direction": u8::from(*is_offer), "maker": maker, "taker": Address::ZERO,
            "expiry": "4102444800", "nonce": nonce.to_string(), "erc20Token": currency,
            "erc20TokenAmount": price.to_string(), "fees": fees.iter().map(fee).collect::<Vec<_>>() });
        let kind = if units.is_some() { "erc1155" } else { "erc721" };
        order[format!("{kind}Token")] = json!(collection);
        order[format!("{kind}TokenId")] = json!(id);
        order[format!("{kind}TokenProperties")] = json!(properties);
        let shared = "uint8 direction,address maker,address taker,uint256 expiry,uint256 nonce,address erc20Token,\
            uint256 erc20TokenAmount,Fee[] fees";
        let token_members =
            format!("address {kind}Token,uint256 {kind}TokenId,Property[] {kind}TokenProperties");
        let (name, members) = match units {
            Some(units) => {
                order["erc1155TokenAmount"] = json!(units.to_string());
                ("ERC1155Order", format!("{shared},{token_members},uint128 erc1155TokenAmount"))
            }
            None => ("ERC721Order", format!("{shared},{token_members}")),
        };
        let types = [
            (name, members.as_str()),
            ("Fee", "address recipient,uint256 amount,bytes feeData"),
            ("Property", "address propertyValidator,bytes propertyData"),
        ];
        let contract = json!(venue.contract);
        self.put(venue, *maker, &typed(("ZeroEx", "1.0.0"), &contract, &types, &order))
    }
}

/// Lets the marketplace move the seller's tokens of a collection.
fn approve(stage: &Stage, venue: &Venue, collection: Address) {
    let call = setApprovalForAllCall { operator: alloy_address(venue.contract), approved: true };
    stage.market.anvil.send(stage.market.seller(), collection, &call);
    stage.catch_up();
}

#[test]
fn an_order_that_is_put_is_bought_in_parts_and_pays_everybody() {
    let (stage, venue) = open();
    let (market, collection) = (&stage.market, stage.multiples(1));
    let [buyer, seller, artist, platform] = stage.people();
    approve(&stage, &venue, collection);
    let listed = stage.put_zerox(
        &venue,
        &Written {
            is_offer: false,
            maker: seller,
            currency: market.currency,
            price: 10 * COIN,
            fees: vec![(artist, COIN / 2), (platform, COIN / 4)],
            collection,
            token: Some(1),
            units: Some(10),
        },
    );
    let listing = stage.only_listing(&venue, collection, "1");
    assert_eq!((&listing["orderId"], &listing["priceAmount"]), (&json!(listed), &json!("1075000")));
    market.fund(buyer, 20_000_000);
    let steps = stage.buying(&venue, collection, &units_of(&listed, "3"), &Value::Null);
    assert_eq!(ids(&steps), ["tokenApproval", "buy"]);
    let gains = stage.gains(market.currency, buyer, &steps);
    assert_eq!(gains, [-3_225_000, 3_000_000, 150_000, 75_000]);
    assert_eq!(stage.units(collection, buyer, 1), 3);
    let seven = |all: &Vec<Value>| all[0]["quantityRemaining"] == json!("7");
    wait("seven remain", || market.listings(collection, "1"), seven);
    stage.refused(&venue, collection, &units_of(&listed, "8"), &Value::Null);
    let steps = stage.buying(&venue, collection, &units_of(&listed, "7"), &Value::Null);
    let gains = stage.gains(market.currency, buyer, &steps);
    assert_eq!(gains, [-7_525_000, 7_000_000, 350_000, 175_000]);
    assert_eq!(stage.units(collection, buyer, 1), 10);
    stage.wait_filled(&venue, collection, "1", &listed);
}

#[test]
fn several_listings_are_bought_all_or_none() {
    let (stage, venue) = open();
    let (market, collection) = (&stage.market, stage.singles(3));
    let [buyer, seller, ..] = stage.people();
    let listed = [("1", 1), ("2", 2), ("3", 3)].map(|(token, hundredths)| {
        let price = (hundredths * ETHER / 100).to_string();
        let listed = stage.list(&venue, collection, "ERC721", &order(token, "1", Address::ZERO, &price));
        stage.only_listing(&venue, collection, token);
        listed
    });
    let orders = listed.iter().map(|id| json!({ "orderId": id, "quantity": "1" })).collect();
    let steps = stage.buying(&venue, collection, &orders, &Value::Null);
    assert_eq!(ids(&steps), ["buy"]);
    stage.cancel(&venue, collection, seller, &listed[1]);
    assert!(market.anvil.refuses(buyer, &steps[0]));
    stage.wait_status(&venue, collection, &listed[1], "cancelled");
    stage.refused(&venue, collection, &orders, &Value::Null);
    let orders = [0, 2].map(|place| json!({ "orderId": listed[place], "quantity": "1" }));
    let steps = stage.buying(&venue, collection, &orders.into_iter().collect(), &Value::Null);
    let gains = stage.gains(Address::ZERO, buyer, &steps);
    assert_eq!(gains, [-4, 4, 0, 0].map(|hundredths| hundredths * ETHER / 100));
    assert_eq!([1, 2, 3].map(|token| stage.owner(collection, token)), [buyer, seller, buyer]);
    for (token, listed) in [("1", &listed[0]), ("3", &listed[2])] {
        stage.wait_filled(&venue, collection, token, listed);
    }

    // Parts of several, of which there are many each.
    let collection = stage.multiples(2);
    let listed = ["1", "2"].map(|token| {
        let listed =
            stage.list(&venue, collection, "ERC1155", &order(token, "10", market.currency, "1000000"));
        stage.only_listing(&venue, collection, token);
        json!({ "orderId": listed, "quantity": "4" })
    });
    market.fund(buyer, 8_000_000);
    let steps = stage.buying(&venue, collection, &listed.iter().cloned().collect(), &Value::Null);
    assert_eq!(ids(&steps), ["tokenApproval", "buy"]);
    assert_eq!(stage.gains(market.currency, buyer, &steps), [-8 * COIN, 8 * COIN, 0, 0]);
    for token in [1, 2] {
        assert_eq!(stage.units(collection, buyer, token), 4);
        let six = |all: &Vec<Value>| all[0]["quantityRemaining"] == json!("6");
        wait("six remain", || market.listings(collection, &token.to_string()), six);
    }
}

#[test]
fn offers_for_a_token_and_for_any_are_taken() {
    let (stage, venue) = open();
    let (market, collection) = (&stage.market, stage.singles(2));
    let [buyer, seller, artist, _] = stage.people();
    market.fund(buyer, 30_000_000);
    let offered = stage.offer(&venue, collection, "ERC721", &order("1", "1", market.currency, "4000000"));
    assert_eq!(market.wait_offers(collection, "1", 1)[0]["orderId"], json!(offered));
    let steps = stage.selling(&venue, collection, &units_of(&offered, "1"), &Value::Null);
    assert_eq!(ids(&steps), ["tokenApproval", "sell"]);
    assert_eq!(stage.gains(market.currency, seller, &steps), [-4 * COIN, 4 * COIN, 0, 0]);
    assert_eq!(stage.owner(collection, 1), buyer);
    stage.wait_status(&venue, collection, &offered, "filled");

    let several = stage.multiples(2);
    let allow = approveCall { spender: alloy_address(venue.contract), amount: U256::from(20 * COIN) };
    market.anvil.send(buyer, market.currency, &allow);
    stage.catch_up();
    let any = |collection, units| Written {
        is_offer: true,
        maker: buyer,
        currency: market.currency,
        price: 5 * COIN,
        fees: vec![(artist, COIN / 2)],
        collection,
        token: None,
        units,
    };
    let offered = stage.put_zerox(&venue, &any(collection, None));
    stage.wait_status(&venue, collection, &offered, "active");
    let orders = json!([{ "orderId": offered, "quantity": "1", "tokenId": "2" }]);
    let steps = stage.selling(&venue, collection, &orders, &Value::Null);
    // Who offers pays the shares on top.
    assert_eq!(stage.gains(market.currency, seller, &steps), [-5_500_000, 5_000_000, 500_000, 0]);
    assert_eq!(stage.owner(collection, 2), buyer);
    stage.wait_status(&venue, collection, &offered, "filled");

    let offered = stage.put_zerox(&venue, &any(several, Some(5)));
    stage.wait_status(&venue, several, &offered, "active");
    let orders = json!([{ "orderId": offered, "quantity": "2", "tokenId": "2" }]);
    let steps = stage.selling(&venue, several, &orders, &Value::Null);
    assert_eq!(stage.gains(market.currency, seller, &steps), [-2_200_000, 2_000_000, 200_000, 0]);
    assert_eq!(stage.units(several, buyer, 2), 2);
}

#[test]
fn an_end_that_was_found_by_asking_and_taken_back_leaves_the_order() {
    let (stage, venue) = open();
    comes_back_when_its_end_was_found_by_asking(&stage, &venue, ["cancelled", "cancelled"]);
}

#[test]
fn a_fill_that_the_chain_takes_back_leaves_the_order() {
    let (stage, venue) = open();
    outlives_a_reorganisation(&stage, &venue);
}

#[test]
fn a_listing_follows_its_token_and_what_its_maker_allows() {
    let (stage, venue) = open();
    follows_its_token(&stage, &venue);
    follows_its_money(&stage, &venue, venue.contract);
    // Taken back on the chain, without the service: by the number that both orders have.
    let (market, collection) = (&stage.market, stage.singles(1));
    let seller = market.seller();
    let listed = stage.list(&venue, collection, "ERC721", &order("1", "1", Address::ZERO, "1000"));
    stage.only_listing(&venue, collection, "1");
    let body = json!({ "collectionAddress": collection, "maker": seller, "marketplace": venue.word,
        "orderId": listed });
    let steps = market.steps("GenerateCancelTransaction", &body);
    let call = alloy_primitives::hex::decode(steps[0]["data"].as_str().unwrap()).unwrap();
    let call = Proxy::cancelERC721OrderCall::abi_decode(&call).unwrap();
    let other = Proxy::cancelERC721OrderCall { orderNonce: call.orderNonce + U256::ONE };
    market.anvil.send(seller, venue.contract, &other);
    stage.assert_stands(&venue, collection, &listed);
    market.anvil.send(seller, venue.contract, &call);
    market.wait_listings(collection, "1", 0);
    stage.wait_status(&venue, collection, &listed, "cancelled");
    stage.refused(&venue, collection, &units_of(&listed, "1"), &Value::Null);
}
