//! Blur v2, against a contract of ours that checks what theirs checks: its oracle signs each call for whom it lets in.

use alloy_primitives::{B256, Bytes, U256, hex, keccak256};
use alloy_sol_types::{SolCall as _, SolValue as _, sol};
use bourse_wire::Address;
use serde_json::{Value, json};

use super::follow::{is_made_elsewhere, rests_without_its_token};
use super::service::{Service, Signer};
use super::typed::{struct_hash, typed};
use super::{ETHER, Stage, Venue, fee, ids};
use crate::anvil::{Anvil, alloy_address, setApprovalForAllCall};

sol! {
    struct FeeRate { address recipient; uint16 rate; }
    struct Order {
        address trader; address collection; bytes32 listingsRoot; uint256 numberOfListings; uint256 expirationTime;
        uint8 assetType; FeeRate makerFee; uint256 salt;
    }
    #[derive(Copy)]
    struct Listing { uint256 index; uint256 tokenId; uint256 amount; uint256 price; }
    struct Taker { uint256 tokenId; uint256 amount; }
    struct Exchange { uint256 index; bytes32[] proof; Listing listing; Taker taker; }
    struct TakeAskSingle {
        Order order; Exchange exchange; FeeRate takerFee; bytes signature; address tokenRecipient;
    }
    struct TakeAsk {
        Order[] orders; Exchange[] exchanges; FeeRate takerFee; bytes signatures; address tokenRecipient;
    }
    function takeAskSingle(TakeAskSingle inputs, bytes oracleSignature);
    function takeAsk(TakeAsk inputs, bytes oracleSignature);
    function hashTakeAskSingle(TakeAskSingle inputs, address caller) returns (bytes32 hash);
    function hashTakeAsk(TakeAsk inputs, address caller) returns (bytes32 hash);
    function incrementNonce();
}

const ORDER: &str = "address trader,address collection,bytes32 listingsRoot,uint256 numberOfListings,\
    uint256 expirationTime,uint8 assetType,FeeRate makerFee,uint256 salt,uint8 orderType,uint256 nonce";
const FEE_RATE: (&str, &str) = ("FeeRate", "address recipient,uint16 rate");
const LATE: u64 = 4_102_444_800;
/// What the contract's oracle says is good for so many blocks.
const BLOCKS: u64 = 5;
const MESSAGE: &str = "Sign in to Blur\n\nChallenge: 4a7d";

/// A market with Blur, whose service lets everybody in.
struct Desk {
    stage: Stage,
    venue: Venue,
    service: Service,
    oracle: Signer,
}

/// Listings of the seller that were signed together, one unit of each token, of which 1 % of the price is the artist's.
struct Signed {
    order: Order,
    signature: Vec<u8>,
    listings: [Listing; 2],
    ids: [String; 2],
}

fn leaf(listing: &Listing) -> B256 {
    keccak256(listing.abi_encode())
}

impl Desk {
    fn open() -> Self {
        let (service, oracle) = (Service::start(), Signer::new());
        let key = oracle.address();
        let deploy = |anvil: &Anvil| {
            let mover = anvil.deploy_foreign("TokenMover", &[]);
            let contract = anvil.deploy_foreign("BlurCheck", &[key, mover].map(alloy_address).abi_encode());
            vec![Venue { mover, setting: mover.to_string(), ..Venue::new("blur", contract) }]
        };
        let stage = Stage::open_with(&service.setting("blur"), deploy);
        let venue = stage.venues[0].clone();
        let desk = Self { stage, venue, service, oracle };
        let challenge = json!({ "message": MESSAGE, "walletAddress": desk.stage.market.buyer(),
            "expiresOn": "2099-01-01T00:00:00.000Z", "hmac": "5f0c" });
        desk.service.knows("/auth/challenge", "", &challenge);
        desk.service.knows("/auth/login", "signature", &json!({ "accessToken": "a session" }));
        desk
    }

    /// Puts two listings of the seller.
    fn put(&self, collection: Address, units: u64, nonce: u64) -> Signed {
        let market = &self.stage.market;
        let (seller, artist) = (market.seller(), market.artist());
        let call = setApprovalForAllCall { operator: alloy_address(self.venue.mover), approved: true };
        market.anvil.send(seller, collection, &call);
        self.stage.catch_up();
        let listings = [(0, 1, 1000), (1, 2, ETHER)].map(|(index, token, price)| Listing {
            index: U256::from(index),
            tokenId: U256::from(token),
            amount: U256::from(units),
            price: U256::from(price),
        });
        let mut leaves = listings.each_ref().map(leaf);
        let proofs = [leaves[1], leaves[0]];
        leaves.sort_unstable();
        let root = keccak256(leaves.concat());
        let order = Order {
            trader: alloy_address(seller),
            collection: alloy_address(collection),
            listingsRoot: root,
            numberOfListings: U256::from(2),
            expirationTime: U256::from(LATE),
            assetType: u8::from(units > 1),
            makerFee: FeeRate { recipient: alloy_address(artist), rate: 100 },
            salt: U256::from(7),
        };
        let value = json!({ "trader": seller, "collection": collection, "listingsRoot": root.to_string(),
            "numberOfListings": "2", "expirationTime": LATE.to_string(), "assetType": order.assetType,
            "makerFee": { "recipient": artist, "rate": 100 }, "salt": "7", "orderType": 0,
            "nonce": nonce.to_string() });
        let contract = json!(self.venue.contract);
        let typed = typed(("Blur Exchange", "1.0"), &contract, &[("Order", ORDER), FEE_RATE], &value);
        let signature = self.stage.sign(seller, &typed);
        let ids = [0, 1].map(|place| {
            let listing = &listings[place];
            let mut native = value.clone();
            native["listing"] = json!({ "index": listing.index.to_string(), "price": listing.price.to_string(),
                "tokenId": listing.tokenId.to_string(), "amount": listing.amount.to_string() });
            native["proof"] = json!([proofs[place].to_string()]);
            // The marketplace shows the signature to nobody.
            assert_eq!(self.stage.submit(&self.venue, &native, if place == 0 { &signature } else { "" }), None);
            let id = format!("{}:{place}", struct_hash(&typed));
            self.stage.wait_status(&self.venue, collection, &id, "active");
            id
        });
        Signed { order, signature: hex::decode(signature).unwrap(), listings, ids }
    }

    /// The oracle agrees to a call, as of now.
    fn agree(&self, hash: B256) -> Bytes {
        let anvil = &self.stage.market.anvil;
        let number: U256 = anvil.rpc("eth_blockNumber", &json!([])).as_str().unwrap().parse().unwrap();
        let number = number.to::<u32>().to_be_bytes();
        let (r, s, v) = self.oracle.sign(keccak256([hash.as_slice(), &number].concat()));
        let key = self.oracle.address();
        [r.as_slice(), s.as_slice(), &[v], &number, key.bytes().as_slice()].concat().into()
    }

    fn exchange(signed: &Signed, place: usize, units: u64) -> Exchange {
        let Listing { tokenId, .. } = signed.listings[place];
        Exchange {
            index: U256::ZERO,
            proof: vec![leaf(&signed.listings[1 - place])],
            listing: signed.listings[place],
            taker: Taker { tokenId, amount: U256::from(units) },
        }
    }

    /// Teaches the service to answer who buys these tokens with a call for somebody.
    fn teach(&self, signed: &Signed, places: &[usize], units: u64, recipient: Address) {
        let caller = alloy_address(self.stage.market.buyer());
        let recipient = alloy_address(recipient);
        let no_fee = FeeRate { recipient: alloy_address(Address::ZERO), rate: 0 };
        let mut exchanges: Vec<Exchange> =
            places.iter().map(|place| Self::exchange(signed, *place, units)).collect();
        let (order, signature) = (signed.order.clone(), Bytes::from(signed.signature.clone()));
        let anvil = &self.stage.market.anvil;
        let data = if exchanges.len() == 1 {
            let exchange = exchanges.remove(0);
            let inputs =
                TakeAskSingle { order, exchange, takerFee: no_fee, signature, tokenRecipient: recipient };
            let hash =
                anvil.ask(self.venue.contract, &hashTakeAskSingleCall { inputs: inputs.clone(), caller });
            takeAskSingleCall { inputs, oracleSignature: self.agree(hash) }.abi_encode()
        } else {
            let inputs = TakeAsk {
                orders: vec![order],
                exchanges,
                takerFee: no_fee,
                signatures: signature,
                tokenRecipient: recipient,
            };
            let hash = anvil.ask(self.venue.contract, &hashTakeAskCall { inputs: inputs.clone(), caller });
            takeAskCall { inputs, oracleSignature: self.agree(hash) }.abi_encode()
        };
        let value: U256 = places.iter().map(|place| signed.listings[*place].price * U256::from(units)).sum();
        let sent = json!({ "to": self.venue.contract, "data": hex::encode_prefixed(data),
            "value": { "type": "BigNumber", "hex": format!("{value:#x}") } });
        let answer = json!({ "success": true, "buys": [{ "txnData": sent }], "cancelReasons": [] });
        let token = signed.listings[places[0]].tokenId;
        let path = format!("/v1/buy/{}", Address::from_bytes(signed.order.collection.into_array()));
        self.service.knows(&path, &format!("\"tokenId\":\"{token}\""), &answer);
    }

    fn buying(&self, collection: Address, orders: &[(&str, u64)]) -> Value {
        let orders = orders
            .iter()
            .map(|(id, units)| json!({ "orderId": id, "quantity": units.to_string() }))
            .collect();
        self.stage.buying(&self.venue, collection, &orders, &Value::Null)
    }
}

/// What everybody gains when the buyer pays a price: 1 % are the artist's.
fn shared(price: i128) -> [i128; 4] {
    [-price, price * 99 / 100, price / 100, 0]
}

#[test]
fn buyers_log_in_and_buy_what_the_oracle_agrees_to() {
    let desk = Desk::open();
    let Desk { stage, venue, .. } = &desk;
    let (market, collection) = (&stage.market, stage.singles(2));
    let buyer = market.buyer();
    let signed = desk.put(collection, 1, 0);
    let orders = json!([{ "orderId": signed.ids[0], "quantity": "1" }]);
    let refused = stage.refused(venue, collection, &orders, &fee(100, market.platform()));
    assert!(refused.body.contains("Blur cannot pay fees"), "{refused:?}");
    let steps = desk.buying(collection, &[(&signed.ids[0], 1)]);
    assert_eq!((ids(&steps), &steps[0]["data"]), (vec!["signEIP191"], &json!(MESSAGE)));
    stage.carry_out(buyer, &steps);
    // A call that gives the token to somebody else is not passed on.
    desk.teach(&signed, &[0], 1, market.platform());
    let refused = stage.refused(venue, collection, &orders, &Value::Null);
    assert!(refused.body.contains("another recipient"), "{refused:?}");
    desk.teach(&signed, &[1], 1, buyer);
    desk.teach(&signed, &[0], 1, buyer);
    let steps = desk.buying(collection, &[(&signed.ids[0], 1)]);
    assert_eq!(ids(&steps), ["buy"]);
    assert!(market.anvil.refuses(market.platform(), &steps[0]), "for nobody else");
    assert_eq!(stage.gains(Address::ZERO, buyer, &steps), shared(1000));
    assert_eq!(stage.owner(collection, 1), buyer);
    stage.wait_filled(venue, collection, "1", &signed.ids[0]);
    stage.assert_stands(venue, collection, &signed.ids[1]);

    // What the oracle says does not last.
    let outdated = desk.buying(collection, &[(&signed.ids[1], 1)]);
    market.anvil.mine(BLOCKS + 1);
    assert!(market.anvil.refuses(buyer, &outdated[0]));
    desk.teach(&signed, &[1], 1, buyer);
    let steps = desk.buying(collection, &[(&signed.ids[1], 1)]);
    assert_eq!(stage.gains(Address::ZERO, buyer, &steps), shared(ETHER));
    stage.wait_filled(venue, collection, "2", &signed.ids[1]);
}

/// Several are one call, of which what is gone meanwhile is passed over, and its money comes back.
#[test]
fn several_listings_are_bought_at_once() {
    let desk = Desk::open();
    let Desk { stage, venue, .. } = &desk;
    let (market, collection) = (&stage.market, stage.multiples(2));
    let buyer = market.buyer();
    let signed = desk.put(collection, 4, 0);
    let [one, two] = [0, 1].map(|place| signed.ids[place].as_str());
    stage.carry_out(buyer, &desk.buying(collection, &[(one, 4)]));
    desk.teach(&signed, &[0, 1], 4, buyer);
    let steps = desk.buying(collection, &[(one, 4), (two, 4)]);
    assert_eq!(ids(&steps), ["buy"]);
    stage.cancel(venue, collection, market.seller(), two);
    stage.wait_status(venue, collection, two, "cancelled");
    assert_eq!(stage.moved(Address::ZERO, buyer, &steps), shared(4000));
    assert_eq!([1, 2].map(|token| stage.units(collection, buyer, token)), [4, 0]);
    stage.wait_filled(venue, collection, "1", one);

    let collection = stage.singles(2);
    let signed = desk.put(collection, 1, 0);
    let [one, two] = [0, 1].map(|place| signed.ids[place].as_str());
    desk.teach(&signed, &[0, 1], 1, buyer);
    let steps = desk.buying(collection, &[(one, 1), (two, 1)]);
    assert_eq!(stage.gains(Address::ZERO, buyer, &steps), shared(ETHER + 1000));
    for (token, id) in [("1", one), ("2", two)] {
        stage.wait_filled(venue, collection, token, id);
    }
}

#[test]
fn listings_follow_their_token_and_the_number_of_their_maker() {
    let desk = Desk::open();
    let Desk { stage, venue, .. } = &desk;
    let (market, collection) = (&stage.market, stage.singles(2));
    let [buyer, seller, ..] = stage.people();
    let signed = desk.put(collection, 1, 0);
    let [one, two] = [0, 1].map(|place| signed.ids[place].as_str());
    stage.carry_out(buyer, &desk.buying(collection, &[(one, 1)]));
    desk.teach(&signed, &[0], 1, buyer);
    rests_without_its_token(stage, venue, collection, one);
    stage.cancel(venue, collection, seller, two);
    stage.wait_status(venue, collection, two, "cancelled");
    stage.assert_stands(venue, collection, one);
    let outdated = desk.buying(collection, &[(one, 1)]);
    market.anvil.send(seller, venue.contract, &incrementNonceCall {});
    stage.wait_status(venue, collection, one, "cancelled");
    assert!(market.anvil.refuses(buyer, &outdated[0]));
    let orders = json!([{ "orderId": one, "quantity": "1" }]);
    stage.refused(venue, collection, &orders, &Value::Null);
    // The next ones have the new number.
    let signed = desk.put(collection, 1, 1);
    desk.teach(&signed, &[0], 1, buyer);
    let steps = desk.buying(collection, &[(&signed.ids[0], 1)]);
    assert_eq!(stage.gains(Address::ZERO, buyer, &steps), shared(1000));
}

/// Making is for its own service alone.
#[test]
fn nothing_is_made_for_blur() {
    let desk = Desk::open();
    is_made_elsewhere(&desk.stage, &desk.venue, desk.stage.singles(1), "Blur");
}
