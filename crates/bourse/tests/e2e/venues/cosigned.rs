//! Payment Processor's orders that name a cosigner, whose service agrees to each fill and to each taker.

use alloy_primitives::{B256, Bytes, U256, hex};
use alloy_sol_types::{SolCall as _, SolValue as _, sol};
use bourse_wire::Address;
use serde_json::{Value, json};

use super::payment_processor::{VERSIONS, Written, allow_currency, approve, deploy};
use super::service::Service;
use super::typed::{digest, typed};
use super::{COIN, Stage, Venue, ids};
use crate::anvil::alloy_address;

sol! {
    struct Order {
        uint256 protocol; address maker; address beneficiary; address marketplace; address fallbackRoyaltyRecipient;
        address paymentMethod; address tokenAddress; uint256 tokenId; uint256 amount; uint256 itemPrice; uint256 nonce;
        uint256 expiration; uint256 marketplaceFeeNumerator; uint256 maxRoyaltyFeeNumerator;
        uint256 requestedFillAmount; uint256 minimumFillAmount;
    }
    struct Signature { uint256 v; bytes32 r; bytes32 s; }
    struct Cosignature { address signer; address taker; uint256 expiration; uint256 v; bytes32 r; bytes32 s; }
    struct FeeOnTop { address recipient; uint256 amount; }
    struct TokenSetProof { bytes32 rootHash; bytes32[] proof; }
    function buyListing(bytes data);
    function acceptOffer(bytes data);
}

/// What is cosigned: the maker's signature, until when, and for whom.
const COSIGNATURE: (&str, &str) =
    ("Cosignature", "uint8 v,bytes32 r,bytes32 s,uint256 expiration,address taker");
const LATE: u64 = 4_102_444_800;

/// A market whose cosigner has a service.
struct Desk {
    stage: Stage,
    venue: Venue,
    service: Service,
}

/// An order of which the cosigner knows.
struct Held {
    id: String,
    written: Written,
    signature: Vec<u8>,
}

/// What the cosigner says of an order, and how it tells it.
struct Said {
    cosigner: Address,
    taker: Address,
    expiration: u64,
    token: u64,
    to: Address,
}

impl Desk {
    fn open(version: &str) -> Self {
        let service = Service::start();
        let setting = service.setting("payment_processor");
        let stage = Stage::open_with(&setting, |anvil| vec![deploy(anvil, version)]);
        let venue = stage.venues[0].clone();
        allow_currency(&stage, &venue);
        Self { stage, venue, service }
    }

    fn cosigner(&self) -> Address {
        self.stage.market.anvil.account(5)
    }

    /// Puts an order that its maker has signed, and which names the cosigner.
    fn put(&self, mut written: Written) -> Held {
        written.cosigner = self.cosigner();
        let typed = written.typed(&self.venue);
        let signature = self.stage.sign(written.maker, &typed);
        assert_eq!(self.stage.submit(&self.venue, &typed["value"], &signature), None);
        let id = digest(&typed).to_string();
        self.stage.wait_status(&self.venue, written.collection, &id, "active");
        Held { id, written, signature: hex::decode(signature).unwrap() }
    }

    /// What an honest cosigner says to a taker.
    fn said(&self, taker: Address, token: u64) -> Said {
        Said { cosigner: self.cosigner(), taker, expiration: LATE, token, to: self.venue.contract }
    }

    /// Teaches the service to say something of an order, in a call that pays somebody else what it can.
    fn teach(&self, held: &Held, said: &Said) {
        let (Held { written, signature, .. }, is_offer) = (held, held.written.is_offer);
        let [r, s] = [&signature[..32], &signature[32..64]].map(B256::from_slice);
        let maker = Signature { v: U256::from(signature[64]), r, s };
        let value = json!({ "v": signature[64], "r": r.to_string(), "s": s.to_string(), "expiration": said.expiration.to_string(),
            "taker": said.taker });
        let domain = ("PaymentProcessor", self.venue.setting.as_str());
        let typed = typed(domain, &json!(self.venue.contract), &[COSIGNATURE], &value);
        let own = hex::decode(self.stage.sign(said.cosigner, &typed)).unwrap();
        let cosignature = Cosignature {
            signer: alloy_address(self.cosigner()),
            taker: alloy_address(said.taker),
            expiration: U256::from(said.expiration),
            v: U256::from(own[64]),
            r: B256::from_slice(&own[..32]),
            s: B256::from_slice(&own[32..64]),
        };
        let platform = alloy_address(self.stage.market.platform());
        let units = U256::from(written.units.unwrap_or(1));
        let order = Order {
            protocol: U256::from(if written.units.is_some() { 2 } else { 0 }),
            maker: alloy_address(written.maker),
            beneficiary: platform,
            marketplace: platform,
            fallbackRoyaltyRecipient: platform,
            paymentMethod: alloy_address(written.currency),
            tokenAddress: alloy_address(written.collection),
            tokenId: U256::from(said.token),
            amount: units,
            itemPrice: U256::from(written.price),
            nonce: U256::from(written.nonce),
            expiration: U256::from(LATE),
            marketplaceFeeNumerator: U256::from(9000),
            maxRoyaltyFeeNumerator: U256::from(9000),
            requestedFillAmount: units,
            minimumFillAmount: units,
        };
        let fee = FeeOnTop { recipient: platform, amount: U256::from(written.price) };
        let is_any = written.token.is_none();
        let (set, word) = (TokenSetProof { rootHash: r, proof: Vec::new() }, s);
        let data = match (is_offer, self.venue.setting.as_str()) {
            (false, "2") => (word, order, maker, cosignature, fee).abi_encode_params(),
            (false, _) => (order, maker, cosignature, fee).abi_encode_params(),
            (true, "2") => (word, is_any, order, maker, set, cosignature, fee).abi_encode_params(),
            (true, _) => (is_any, order, maker, set, cosignature, fee).abi_encode_params(),
        };
        let data: Bytes = data.into();
        let (path, call) = if is_offer {
            ("/execute/sell/v7", acceptOfferCall { data }.abi_encode())
        } else {
            ("/execute/buy/v7", buyListingCall { data }.abi_encode())
        };
        let step = |id: &str, data: &[u8]| {
            json!({ "id": id, "kind": "transaction", "items": [{ "status": "incomplete",
                "data": { "from": said.taker, "to": said.to, "data": hex::encode_prefixed(data), "value": "0x0" } }] })
        };
        let answer = json!({ "steps": [step("nft-approval", &[]), step("sale", &call)], "path": [] });
        self.service.knows(path, &held.id, &answer);
    }

    /// Why the service refuses to have an order sold.
    fn refused(&self, held: &Held, token: u64) -> String {
        let body = json!({ "collectionAddress": held.written.collection, "seller": self.stage.market.seller(),
            "marketplace": self.venue.word, "walletType": "unknown", "additionalFees": [],
            "ordersData": [{ "orderId": held.id, "quantity": "1", "tokenId": token.to_string() }] });
        let answer = self.stage.market.marketplace_answer("GenerateSellTransaction", &body);
        assert_eq!(answer.status, 409, "{answer:?}");
        answer.body
    }

    fn selling(&self, held: &Held, units: u64, token: u64) -> Value {
        let orders =
            json!([{ "orderId": held.id, "quantity": units.to_string(), "tokenId": token.to_string() }]);
        self.stage.selling(&self.venue, held.written.collection, &orders, &Value::Null)
    }
}

#[test]
fn cosigned_offers_are_sold_with_what_the_cosigner_says() {
    for version in VERSIONS {
        let desk = Desk::open(version);
        let Desk { stage, venue, .. } = &desk;
        let (market, collection) = (&stage.market, stage.singles(2));
        let (buyer, seller) = (market.buyer(), market.seller());
        market.fund(buyer, 30_000_000);
        approve(stage, venue, collection);

        let item = desk.put(Written::of(stage, collection, 4 * COIN));
        assert!(desk.refused(&item, 1).contains("nothing is known of it"));
        desk.teach(&item, &desk.said(seller, 1));
        let steps = desk.selling(&item, 1, 1);
        assert_eq!(ids(&steps), ["sell"]);
        let gains = stage.gains(market.currency, seller, &steps);
        assert_eq!(gains, [-4_000_000, 3_800_000, 200_000, 0], "{version}: nothing of what else it says");
        assert_eq!(stage.owner(collection, 1), buyer);
        stage.wait_status(venue, collection, &item.id, "filled");

        let any = Written { token: None, nonce: 8, ..Written::of(stage, collection, 2 * COIN) };
        let any = desk.put(any);
        // The service need not even mean the same token: the call is made here.
        desk.teach(&any, &desk.said(seller, 1));
        let gains = stage.gains(market.currency, seller, &desk.selling(&any, 1, 2));
        assert_eq!(gains, [-2_000_000, 1_900_000, 100_000, 0], "{version}");
        assert_eq!(stage.owner(collection, 2), buyer);
        stage.wait_status(venue, collection, &any.id, "filled");

        let several = stage.multiples(1);
        approve(stage, venue, several);
        let parts = Written { units: Some(4), nonce: 9, ..Written::of(stage, several, 4 * COIN) };
        let parts = desk.put(parts);
        desk.teach(&parts, &desk.said(seller, 1));
        for (units, status) in [(1, "active"), (3, "filled")] {
            let gains = stage.gains(market.currency, seller, &desk.selling(&parts, units, 1));
            let price = i128::from(units) * COIN;
            assert_eq!(gains, [-price, price * 95 / 100, price * 5 / 100, 0], "{version}");
            stage.wait_status(venue, several, &parts.id, status);
        }
    }
}

#[test]
fn what_a_cosigner_did_not_say_is_refused() {
    for version in VERSIONS {
        let desk = Desk::open(version);
        let Desk { stage, venue, .. } = &desk;
        let (market, collection) = (&stage.market, stage.singles(1));
        let (seller, friend) = (market.seller(), market.platform());
        market.fund(market.buyer(), 30_000_000);
        approve(stage, venue, collection);
        let offer = desk.put(Written::of(stage, collection, 4 * COIN));
        let honest = || desk.said(seller, 1);
        for (said, reason) in [
            (Said { taker: friend, ..honest() }, "another taker"),
            (Said { cosigner: friend, ..honest() }, "another cosigner"),
            (Said { to: friend, ..honest() }, "another contract"),
        ] {
            desk.teach(&offer, &said);
            let refused = desk.refused(&offer, 1);
            assert!(refused.contains(reason), "{reason}: {refused}");
        }
        // What it said of another order is not for this one.
        let other = desk.put(Written { nonce: 8, ..Written::of(stage, collection, COIN) });
        let mislaid =
            Held { id: offer.id.clone(), written: other.written.clone(), signature: other.signature.clone() };
        desk.teach(&mislaid, &honest());
        assert!(desk.refused(&offer, 1).contains("no cosignature"));
        // Its signature for one maker's is not for another's with the same number.
        let forged =
            Held { id: offer.id.clone(), written: offer.written.clone(), signature: other.signature };
        desk.teach(&forged, &honest());
        assert!(desk.refused(&offer, 1).contains("another cosigner"));
        let answer = json!({ "message": "the order is not fillable" });
        desk.service.knows("/execute/sell/v7", &offer.id, &answer);
        assert!(desk.refused(&offer, 1).contains("the order is not fillable"));
        // What has expired the contract takes from nobody.
        desk.teach(&offer, &Said { expiration: 1, ..honest() });
        assert!(desk.refused(&offer, 1).contains("which is over"));
        desk.teach(&offer, &honest());
        let steps = desk.selling(&offer, 1, 1);
        assert!(market.anvil.refuses(friend, &steps[0]), "for nobody else");
        assert_eq!(stage.gains(market.currency, seller, &steps)[0], -4 * COIN);
    }
}

#[test]
fn cosigned_listings_are_bought_with_what_the_cosigner_says() {
    for version in VERSIONS {
        let desk = Desk::open(version);
        let Desk { stage, venue, .. } = &desk;
        let (market, collection) = (&stage.market, stage.singles(1));
        let (buyer, seller) = (market.buyer(), market.seller());
        approve(stage, venue, collection);
        let listing = desk.put(Written {
            is_offer: false,
            maker: seller,
            currency: Address::ZERO,
            artist: (Address::ZERO, 500),
            ..Written::of(stage, collection, 1000)
        });
        let orders = json!([{ "orderId": listing.id, "quantity": "1" }]);
        stage.refused(venue, collection, &orders, &Value::Null);
        desk.teach(&listing, &desk.said(buyer, 1));
        let steps = stage.buying(venue, collection, &orders, &Value::Null);
        assert!(market.anvil.refuses(seller, &steps[0]), "for nobody else");
        assert_eq!(stage.gains(Address::ZERO, buyer, &steps), [-1000, 950, 50, 0], "{version}");
        stage.wait_filled(venue, collection, "1", &listing.id);
    }
}
