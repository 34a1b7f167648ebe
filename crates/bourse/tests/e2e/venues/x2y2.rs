//! X2Y2, against a contract of ours that checks what theirs checks: its service signs each settlement.

use alloy_primitives::{B256, Bytes, U256, hex, keccak256};
use alloy_sol_types::{SolCall as _, SolValue as _, sol};
use bourse_wire::Address;
use serde_json::{Value, json};

use super::follow::{is_made_elsewhere, rests_without_its_token};
use super::service::{Service, Signer};
use super::{COIN, ETHER, Stage, Venue, fee, ids, units_of};
use crate::anvil::{Anvil, alloy_address, approveCall, setApprovalForAllCall};

sol! {
    struct OrderItem { uint256 price; bytes data; }
    struct Order {
        uint256 salt; address user; uint256 network; uint256 intent; uint256 delegateType; uint256 deadline;
        address currency; bytes dataMask; OrderItem[] items; bytes32 r; bytes32 s; uint8 v; uint8 signVersion;
    }
    struct Fee { uint256 percentage; address to; }
    struct SettleDetail {
        uint8 op; uint256 orderIdx; uint256 itemIdx; uint256 price; bytes32 itemHash; address executionDelegate;
        bytes dataReplacement; uint256 bidIncentivePct; uint256 aucMinIncrementPct; uint256 aucIncDurationSecs;
        Fee[] fees;
    }
    struct SettleShared {
        uint256 salt; uint256 deadline; uint256 amountToEth; uint256 amountToWeth; address user; bool canFail;
    }
    struct RunInput {
        Order[] orders; SettleDetail[] details; SettleShared shared; bytes32 r; bytes32 s; uint8 v;
    }
    struct Pair { address token; uint256 tokenId; }
    struct Units { address token; uint256 tokenId; uint256 amount; }
    function run(RunInput input);
    function cancel(bytes32[] items, uint256 deadline, uint8 v, bytes32 r, bytes32 s);
}

const LATE: u64 = 4_102_444_800;
/// Where the number of a token is in what an order is for: behind where the list begins, its length and the collection.
const TOKEN_WORD: usize = 3;

/// A market with X2Y2 and its service.
struct Desk {
    stage: Stage,
    venue: Venue,
    service: Service,
    signer: Signer,
    movers: [Address; 2],
}

/// An order that its maker has signed, of which only the service knows the signature.
struct Held {
    id: String,
    number: u64,
    order: Order,
    is_offer: bool,
}

/// What is signed: by whom, for what, and for how much.
struct Terms {
    is_offer: bool,
    collection: Address,
    /// None is any.
    token: Option<u64>,
    units: u64,
    currency: Address,
    price: i128,
    number: u64,
}

impl Desk {
    fn open() -> Self {
        let (service, signer) = (Service::start(), Signer::new());
        let (key, mut movers) = (signer.address(), [Address::ZERO; 2]);
        let deploy = |anvil: &Anvil| {
            movers = [0, 1].map(|_| anvil.deploy_foreign("TokenMover", &[]));
            let arguments = [key, movers[0], movers[1]].map(alloy_address).abi_encode();
            let contract = anvil.deploy_foreign("X2Y2Check", &arguments);
            vec![Venue { setting: format!("{} {}", movers[0], movers[1]), ..Venue::new("x2y2", contract) }]
        };
        let stage = Stage::open_with(&service.setting("x2y2"), deploy);
        let venue = stage.venues[0].clone();
        Self { stage, venue, service, signer, movers }
    }

    /// What an order is for, in the form of the contract that moves it.
    fn data(terms: &Terms, token: u64) -> Bytes {
        let (collection, token) = (alloy_address(terms.collection), U256::from(token));
        if terms.units > 1 {
            let units = Units { token: collection, tokenId: token, amount: U256::from(terms.units) };
            return vec![units].abi_encode().into();
        }
        vec![Pair { token: collection, tokenId: token }].abi_encode().into()
    }

    /// Puts an order as the service publishes it.
    fn put(&self, terms: &Terms) -> Held {
        let market = &self.stage.market;
        let maker = if terms.is_offer { market.buyer() } else { market.seller() };
        let data = Self::data(terms, terms.token.unwrap_or(0));
        let mut mask = Vec::new();
        if terms.token.is_none() {
            mask = vec![0; data.len()];
            mask[TOKEN_WORD * 32..][..32].fill(0xff);
        }
        let item = OrderItem { price: U256::from(terms.price), data };
        let mut order = Order {
            salt: U256::from(terms.number),
            user: alloy_address(maker),
            network: U256::from(31_337),
            intent: U256::from(if terms.is_offer { 3 } else { 1 }),
            delegateType: U256::from(if terms.units > 1 { 2 } else { 1 }),
            deadline: U256::from(LATE),
            currency: alloy_address(terms.currency),
            dataMask: mask.into(),
            items: vec![item.clone()],
            r: B256::ZERO,
            s: B256::ZERO,
            v: 0,
            signVersion: 1,
        };
        let head = (
            order.salt,
            order.user,
            order.network,
            order.intent,
            order.delegateType,
            order.deadline,
            order.currency,
            order.dataMask.clone(),
        );
        let (salt, user, network, intent, kind, deadline, currency, mask) = head.clone();
        let hashed =
            (salt, user, network, intent, kind, deadline, currency, mask, U256::ONE, order.items.clone());
        // Wallets sign the hash as a text of its bytes.
        let hash = keccak256(hashed.abi_encode_params());
        let signature = market.anvil.rpc("eth_sign", &json!([maker, hash.to_string()]));
        let signature = hex::decode(signature.as_str().unwrap()).unwrap();
        (order.r, order.s) = (B256::from_slice(&signature[..32]), B256::from_slice(&signature[32..64]));
        order.v = signature[64];
        let (salt, user, network, intent, kind, deadline, currency, mask) = head;
        let id = keccak256(
            (salt, user, network, intent, kind, deadline, currency, mask, item).abi_encode_params(),
        );
        let native = json!({ "id": terms.number, "type": if terms.is_offer { "buy" } else { "sell" },
            "currency": terms.currency, "price": terms.price.to_string(), "amount": terms.units, "maker": maker,
            "taker": null, "deadline": LATE, "itemHash": id.to_string(), "delegateType": order.delegateType.to_string().parse::<u8>().unwrap(),
            "nft": { "token": terms.collection, "tokenId": terms.token.map(|token| token.to_string()) } });
        assert_eq!(self.stage.submit(&self.venue, &native, ""), None);
        let id = id.to_string();
        self.stage.wait_status(&self.venue, terms.collection, &id, "active");
        Held { id, number: terms.number, order, is_offer: terms.is_offer }
    }

    /// Teaches the service to sign a settlement with whoever takes an order: 0.5 % are the platform's.
    fn teach(&self, held: &Held, taker: Address, replacement: Bytes) {
        let multiple = usize::from(held.order.delegateType == U256::from(2));
        let detail = SettleDetail {
            op: if held.is_offer { 2 } else { 1 },
            orderIdx: U256::ZERO,
            itemIdx: U256::ZERO,
            price: held.order.items[0].price,
            itemHash: held.id.parse().unwrap(),
            executionDelegate: alloy_address(self.movers[multiple]),
            dataReplacement: replacement,
            bidIncentivePct: U256::ZERO,
            aucMinIncrementPct: U256::ZERO,
            aucIncDurationSecs: U256::ZERO,
            fees: vec![Fee { percentage: U256::from(5000), to: alloy_address(self.stage.market.platform()) }],
        };
        let shared = SettleShared {
            salt: U256::from(held.number),
            deadline: U256::from(LATE),
            amountToEth: U256::ZERO,
            amountToWeth: U256::ZERO,
            user: alloy_address(taker),
            canFail: false,
        };
        let details = vec![detail];
        let hash = keccak256((shared.clone(), U256::ONE, details.clone()).abi_encode_params());
        let (r, s, v) = self.signer.sign(hash);
        let input = RunInput { orders: vec![held.order.clone()], details, shared, r, s, v };
        let data = runCall { input }.abi_encode();
        let answer = json!({ "success": true,
            "data": [{ "order_id": held.number, "input": hex::encode_prefixed(&data[4..]) }] });
        let about = format!("\"orderId\":\"{}\"", held.number);
        self.service.knows("/api/orders/sign", &about, &answer);
    }

    /// Lets X2Y2 move the seller's tokens and the buyer's money.
    fn approve(&self, collection: Address) {
        let market = &self.stage.market;
        for mover in self.movers {
            let operator = alloy_address(mover);
            let all = setApprovalForAllCall { operator, approved: true };
            market.anvil.send(market.seller(), collection, &all);
        }
        let spend =
            approveCall { spender: alloy_address(self.venue.contract), amount: U256::from(50 * COIN) };
        market.anvil.send(market.buyer(), market.currency, &spend);
        self.stage.catch_up();
    }

    fn listing(&self, collection: Address, token: u64, currency: Address, price: i128) -> Held {
        let terms = Terms {
            is_offer: false,
            collection,
            token: Some(token),
            units: 1,
            currency,
            price,
            number: token,
        };
        self.put(&terms)
    }
}

/// What everybody gains when the buyer pays a price.
fn shared(price: i128) -> [i128; 4] {
    [-price, price * 995 / 1000, 0, price * 5 / 1000]
}

#[test]
fn listings_are_bought_with_what_the_service_signs() {
    let desk = Desk::open();
    let Desk { stage, venue, .. } = &desk;
    let (market, collection) = (&stage.market, stage.singles(2));
    let buyer = market.buyer();
    desk.approve(collection);
    let held = desk.listing(collection, 1, Address::ZERO, ETHER);
    let orders = units_of(&held.id, "1");
    let refused = stage.refused(venue, collection, &orders, &fee(100, market.platform()));
    assert!(refused.body.contains("X2Y2 cannot pay fees"), "{refused:?}");
    let refused = stage.refused(venue, collection, &orders, &Value::Null);
    assert!(refused.body.contains("nothing is known of it"), "{refused:?}");
    desk.teach(&held, market.platform(), Bytes::new());
    let refused = stage.refused(venue, collection, &orders, &Value::Null);
    assert!(refused.body.contains("another taker"), "{refused:?}");
    desk.teach(&held, buyer, Bytes::new());
    let steps = stage.buying(venue, collection, &orders, &Value::Null);
    assert_eq!(ids(&steps), ["buy"]);
    assert!(market.anvil.refuses(market.platform(), &steps[0]), "for nobody else");
    assert_eq!(stage.gains(Address::ZERO, buyer, &steps), shared(ETHER));
    assert_eq!(stage.owner(collection, 1), buyer);
    stage.wait_filled(venue, collection, "1", &held.id);

    let held = desk.listing(collection, 2, market.currency, 4 * COIN);
    market.fund(buyer, 4_000_000);
    desk.teach(&held, buyer, Bytes::new());
    let steps = stage.buying(venue, collection, &units_of(&held.id, "1"), &Value::Null);
    assert_eq!(stage.gains(market.currency, buyer, &steps), shared(4 * COIN));
    stage.wait_filled(venue, collection, "2", &held.id);
}

/// Each of several is a call of its own, as the service signs one settlement for each.
#[test]
fn several_listings_are_bought_one_after_another() {
    let desk = Desk::open();
    let Desk { stage, venue, .. } = &desk;
    let (market, collection) = (&stage.market, stage.multiples(2));
    let buyer = market.buyer();
    desk.approve(collection);
    let held = [1, 2].map(|token| {
        let terms = Terms {
            is_offer: false,
            collection,
            token: Some(token),
            units: 10,
            currency: Address::ZERO,
            price: 2000,
            number: token,
        };
        let held = desk.put(&terms);
        desk.teach(&held, buyer, Bytes::new());
        held
    });
    stage.refused(venue, collection, &units_of(&held[0].id, "4"), &Value::Null);
    let orders = held.iter().map(|held| json!({ "orderId": held.id, "quantity": "10" })).collect();
    let steps = stage.buying(venue, collection, &orders, &Value::Null);
    assert_eq!(ids(&steps), ["buy", "buy"]);
    assert_eq!(stage.gains(Address::ZERO, buyer, &steps), shared(4000));
    assert_eq!([1, 2].map(|token| stage.units(collection, buyer, token)), [10, 10]);
    for (token, held) in ["1", "2"].iter().zip(&held) {
        stage.wait_filled(venue, collection, token, &held.id);
    }
}

#[test]
fn offers_for_a_token_and_for_any_are_taken() {
    let desk = Desk::open();
    let Desk { stage, venue, .. } = &desk;
    let (market, collection) = (&stage.market, stage.singles(3));
    let (buyer, seller) = (market.buyer(), market.seller());
    market.fund(buyer, 20_000_000);
    desk.approve(collection);
    let terms = |token, number| Terms {
        is_offer: true,
        collection,
        token,
        units: 1,
        currency: market.currency,
        price: 4 * COIN,
        number,
    };
    let item = desk.put(&terms(Some(1), 7));
    desk.teach(&item, seller, Bytes::new());
    let orders = json!([{ "orderId": item.id, "quantity": "1", "tokenId": "1" }]);
    let steps = stage.selling(venue, collection, &orders, &Value::Null);
    assert_eq!(ids(&steps), ["sell"]);
    assert_eq!(stage.gains(market.currency, seller, &steps), shared(4 * COIN));
    assert_eq!(stage.owner(collection, 1), buyer);
    stage.wait_status(venue, collection, &item.id, "filled");

    let any = desk.put(&terms(None, 8));
    let orders = json!([{ "orderId": any.id, "quantity": "1", "tokenId": "2" }]);
    let body = json!({ "collectionAddress": collection, "seller": seller, "marketplace": venue.word,
        "ordersData": orders, "additionalFees": [], "walletType": "unknown" });
    // A settlement that would take another token of the seller is not passed on.
    desk.teach(&any, seller, Desk::data(&terms(None, 8), 3));
    let refused = market.marketplace_answer("GenerateSellTransaction", &body);
    assert!(refused.status == 409 && refused.body.contains("another token"), "{refused:?}");
    // The service tells the token alone; the rest of the item stays as its maker signed it.
    let mut told = vec![0; any.order.dataMask.len()];
    told[TOKEN_WORD * 32 + 31] = 2;
    desk.teach(&any, seller, told.into());
    let steps = stage.selling(venue, collection, &orders, &Value::Null);
    assert_eq!(stage.gains(market.currency, seller, &steps), shared(4 * COIN));
    assert_eq!(stage.owner(collection, 2), buyer);
    stage.wait_status(venue, collection, &any.id, "filled");
}

#[test]
fn listings_follow_their_token_and_what_the_service_takes_back() {
    let desk = Desk::open();
    let Desk { stage, venue, .. } = &desk;
    let (market, collection) = (&stage.market, stage.singles(1));
    let [buyer, seller, ..] = stage.people();
    desk.approve(collection);
    let held = desk.listing(collection, 1, Address::ZERO, 1000);
    desk.teach(&held, buyer, Bytes::new());
    rests_without_its_token(stage, venue, collection, &held.id);
    let steps = stage.buying(venue, collection, &units_of(&held.id, "1"), &Value::Null);
    let body = json!({ "collectionAddress": collection, "maker": seller, "marketplace": venue.word,
        "orderId": held.id });
    let refused = market.marketplace_answer("GenerateCancelTransaction", &body);
    assert!(refused.status == 400 && refused.body.contains("X2Y2 takes orders back only"), "{refused:?}");
    let items: Vec<B256> = vec![held.id.parse().unwrap()];
    let hash = keccak256((U256::ONE, items.clone(), U256::from(LATE)).abi_encode_params());
    let (r, s, v) = desk.signer.sign(hash);
    let call = cancelCall { items, deadline: U256::from(LATE), v, r, s };
    market.anvil.send(seller, venue.contract, &call);
    stage.wait_status(venue, collection, &held.id, "cancelled");
    assert!(market.anvil.refuses(buyer, &steps[0]));
    stage.refused(venue, collection, &units_of(&held.id, "1"), &Value::Null);
    is_made_elsewhere(stage, venue, collection, "X2Y2");
}
