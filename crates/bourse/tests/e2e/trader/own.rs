//! Our own marketplaces: contracts that keep orders, and say themselves what of them can be filled.

use alloy_primitives::{B256, U256, Uint, hex};
use alloy_sol_types::{SolEvent as _, sol};
use bourse_wire::Address;
use serde_json::Value;

use super::orders::{Order, Ours, Theirs};
use super::rules::{Asked, Question, Rules, Skill};
use super::scene::Scene;
use crate::anvil::{alloy_address, invalidateRequestsCall, isRequestValidCall, setRoyaltyInfoCall};

sol! {
    event RequestCreated(
        uint256 indexed requestId, address indexed creator, address indexed tokenContract, uint256 tokenId,
        bool isListing, uint256 quantity, address currency, uint256 pricePerToken, uint256 expiry
    );
    function getRoyaltyInfo(address tokenContract, uint256 tokenId, uint256 cost)
        returns (address recipient, uint256 royalty);
    function royaltyLeft(uint256 requestId) returns (uint256 royalty, uint256 quantity);
    function invalidBeforeId(address creator) returns (uint256);
    function invalidTokenBeforeId(address creator, address tokenContract) returns (uint256);

    interface OfCollection {
        function invalidateRequests(address tokenContract);
    }
}

/// The price of which a royalty is as much as its basis points.
const WHOLE: u64 = 10_000;

/// A version of the contract.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Version {
    First,
    Second,
    /// The second as others have deployed it.
    Deployed,
}

pub(super) struct Own(pub(super) Version);

impl Rules for Own {
    fn skills(&self) -> &'static [Skill] {
        match self.0 {
            Version::First => &[Skill::Parts, Skill::Fees],
            Version::Second | Version::Deployed => &[Skill::Parts, Skill::Fees, Skill::Native],
        }
    }

    fn end_all(&self, scene: &Scene, who: Address, collection: Option<Address>) -> bool {
        if self.0 == Version::First {
            return false;
        }
        let (anvil, contract) = (&scene.stage.market.anvil, scene.venue.contract);
        match collection {
            Some(collection) => {
                let call = OfCollection::invalidateRequestsCall { tokenContract: alloy_address(collection) };
                anvil.send(who, contract, &call)
            }
            None => anvil.send(who, contract, &invalidateRequestsCall {}),
        };
        true
    }

    fn set_custom_royalty(&self, scene: &Scene, recipient: Address, bps: u64) -> bool {
        let (anvil, fee) = (&scene.stage.market.anvil, Uint::from(bps));
        let (contract, recipient) = (alloy_address(scene.multiples), alloy_address(recipient));
        let call = setRoyaltyInfoCall { tokenContract: contract, recipient, fee };
        anvil.send(anvil.account(0), scene.venue.contract, &call);
        true
    }

    fn order_topic(&self) -> Option<String> {
        Some(RequestCreated::SIGNATURE_HASH.to_string())
    }

    fn read_log(&self, log: &Value) -> Option<Order> {
        let topics = log["topics"].as_array().unwrap().iter();
        let topics: Vec<B256> = topics.map(|topic| topic.as_str().unwrap().parse().unwrap()).collect();
        let data = hex::decode(log["data"].as_str().unwrap()).unwrap();
        let made = RequestCreated::decode_raw_log(topics, &data).unwrap();
        let address = |raw: alloy_primitives::Address| Address::from_bytes(raw.into_array());
        Some(Order {
            id: made.requestId.to_string(),
            maker: address(made.creator),
            is_listing: made.isListing,
            collection: address(made.tokenContract),
            token: Some(made.tokenId.to()),
            units: made.quantity.to(),
            is_whole: false,
            currency: address(made.currency),
            price: made.pricePerToken.to(),
            expiry: made.expiry.to(),
            signed: None,
        })
    }

    fn questions(&self, scene: &Scene, order: &Order, ours: Option<&Ours>) -> Vec<Question> {
        let (request, contract) = (order.id.parse::<U256>().unwrap(), scene.venue.contract);
        let available = ours.map_or(0, |ours| ours.available);
        let remaining = ours.map_or(1, |ours| ours.remaining.max(1));
        let is_valid = |units: u64| {
            Question::new(contract, &isRequestValidCall { requestId: request, quantity: U256::from(units) })
        };
        let royalty = |cost: u64| {
            let call = getRoyaltyInfoCall {
                tokenContract: alloy_address(order.collection),
                tokenId: U256::from(order.token.unwrap()),
                cost: U256::from(cost),
            };
            Question::new(contract, &call)
        };
        let mut questions = vec![
            is_valid(available.max(1)),
            is_valid(available + 1),
            royalty(WHOLE),
            royalty(order.price * remaining),
            // The deployed one does not know it, and fails.
            Question::new(contract, &royaltyLeftCall { requestId: request }),
        ];
        if self.0 != Version::First {
            let (creator, collection) = (alloy_address(order.maker), alloy_address(order.collection));
            questions.push(Question::new(contract, &invalidBeforeIdCall { creator }));
            questions.push(Question::new(
                contract,
                &invalidTokenBeforeIdCall { creator, tokenContract: collection },
            ));
        }
        questions
    }

    fn theirs(&self, asked: &Asked<'_>) -> Theirs {
        let valid = asked.returned::<isRequestValidCall>(0).unwrap();
        let remaining: u64 = U256::from_be_bytes(valid.request[5].0).to();
        let id: U256 = asked.order.id.parse().unwrap();
        if valid.request[0].is_zero() {
            return Theirs::Unknown;
        }
        if self.0 != Version::First {
            let before_all = asked.returned::<invalidBeforeIdCall>(5).unwrap();
            let before = asked.returned::<invalidTokenBeforeIdCall>(6).unwrap();
            if id < before_all.max(before) {
                return Theirs::Over(&["cancelled"]);
            }
        }
        if asked.is_expired() {
            return Theirs::Over(&["expired"]);
        }
        let told = asked.ours.map_or(0, |ours| ours.available);
        let one_more = asked.returned::<isRequestValidCall>(1).unwrap();
        // What can be filled is what the service says, or less, or more.
        let available = match () {
            () if told < remaining && one_more.valid => told + 1,
            () if told > 0 && !valid.valid => told - 1,
            () => told,
        };
        Theirs::Standing { remaining, available, fee_bps: Some(fee_bps(asked, remaining)) }
    }
}

/// What goes to others of the price of all that remains: what holds for the token, or the share that the order is held to where
/// that is less, rounded up.
fn fee_bps(asked: &Asked<'_>, remaining: u64) -> u64 {
    let royalty = |place: usize| {
        let royalty = asked.returned::<getRoyaltyInfoCall>(place).unwrap();
        // Nobody gets it.
        if royalty.recipient.is_zero() { U256::ZERO } else { royalty.royalty }
    };
    let (rate, due) = (royalty(2), royalty(3));
    let price = U256::from(asked.order.price) * U256::from(remaining);
    match asked.returned::<royaltyLeftCall>(4) {
        Some(left) if left.royalty < due => (left.royalty * U256::from(WHOLE)).div_ceil(price).to(),
        _ => rate.to(),
    }
}
