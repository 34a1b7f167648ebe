//! What a contract says of an order that it keeps.

use alloy_primitives::{Bytes, U256};
use bourse_market::Standing;
use bourse_wire::{Address, Amount, OrderFacts, OrderSide, Timestamp, TokenId};

use super::Own;
use super::abi::{Request, isRequestValidCall};
use super::calls::number;
use crate::logs::address;
use crate::native::{Answers, Inquiry, returned};
use crate::{OrderTerms, Refusal, StoredOrder};

/// Units that the contract is asked about. How many can be filled follows from what it keeps of the order.
const UNITS: u64 = 1;

impl Own {
    /// Whether the order can be filled, and what it is, in one question.
    pub(super) fn ask(&self, stored: StoredOrder<'_>) -> Result<Vec<Inquiry>, Refusal> {
        let call =
            isRequestValidCall { requestId: number(stored.facts)?, quantity: Amount::from(UNITS).value() };
        Ok(vec![Inquiry::new(self.contract, &call)])
    }
}

/// Something that every contract of the marketplace answers, whatever it keeps. An address without code answers nothing, and
/// takes whatever is sent to it.
pub(super) fn anything(contract: Address) -> Inquiry {
    let call = isRequestValidCall { requestId: U256::ZERO, quantity: U256::from(UNITS) };
    Inquiry::new(contract, &call)
}

/// Whether a contract answered to [`anything`] as those of the marketplace do.
pub(super) fn is_market(answer: Option<&Bytes>) -> bool {
    returned::<isRequestValidCall>(&[answer.cloned()], 0).is_some()
}

/// What became of an order by the answer to [`Own::ask`].
pub(super) fn standing(answers: Answers<'_>) -> Option<Standing> {
    let answer = returned::<isRequestValidCall>(answers, 0)?;
    Some(match () {
        () if answer.request.creator.is_zero() => Standing::Absent,
        () if !answer.valid => Standing::Refused,
        () => Standing::Open { remaining: Amount::from(answer.request.quantity) },
    })
}

/// What an order is by the answer to [`Own::ask`]. The contract keeps neither when an order began nor how large it was.
pub(super) fn terms(stored: &OrderFacts, answers: Answers<'_>) -> Option<OrderTerms> {
    let answer = returned::<isRequestValidCall>(answers, 0)?;
    let Request { creator, isListing, tokenContract, tokenId, expiry, currency, pricePerToken, .. } =
        answer.request;
    let facts = OrderFacts {
        side: if isListing { OrderSide::Listing } else { OrderSide::Offer },
        maker: address(creator),
        token_id: Some(TokenId::from(tokenId)),
        price_amount: Amount::from(pricePerToken),
        currency: address(currency),
        valid_until: Timestamp::from_unix_seconds(expiry.saturating_to()),
        ..stored.clone()
    };
    Some(OrderTerms { collection: address(tokenContract), facts })
}
