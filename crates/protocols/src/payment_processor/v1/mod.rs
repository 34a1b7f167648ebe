//! Payment Processor, first version: whoever buys a listing signs for it as its seller did, and both signatures go into
//! the call. Offers of this version, which sellers would have to sign for, are not taken.

mod abi;
mod fill;
mod logs;
mod order;
#[cfg(test)]
mod tests;

use alloy_primitives::{B256, U256};
use bourse_market::facts::Log;
use bourse_market::{Nonces, Series, Standing};
use bourse_wire::{Address, Amount, Marketplace};
use serde_json::Value;

use self::abi::masterNoncesCall;
use self::order::Signed;
use crate::native::{self, Admitted, Answers, Domain, Inquiry, Submitted, Unfit, prove, returned};
use crate::{
    BeforeConsent, Call, ConsentFault, Given, Heard, Kept, LogError, Making, NewOrder, Plan, Protocol,
    Refusal, Seed, Statement, Taken, Trade, Wanted,
};

/// What the protocol is called in messages.
const NAME: &str = "Payment Processor 1";

/// Payment Processor in its first version, as one marketplace uses it on one chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PaymentProcessorV1 {
    /// The marketplace.
    pub marketplace: Marketplace,
    /// What orders are signed for.
    pub domain: Domain,
}

impl Protocol for PaymentProcessorV1 {
    fn contract(&self) -> Address {
        self.domain.contract
    }

    fn admit(&self, order: Submitted<'_>) -> Result<Admitted, Unfit> {
        let signed = Signed::read(order, self.domain.contract)?;
        let facts = self.derive(&signed)?;
        let proof = prove(signed.seller, self.digest(&signed), &signed.signature.0);
        let numbers = [(Series::Nonce, signed.number()), (Series::Counter, signed.master_nonce.0)];
        let nonces = Nonces::new(self.domain.contract, numbers);
        Ok(Admitted { collection: signed.token_address, facts, nonces, text: signed.to_text(), proof })
    }

    fn price(&self, kept: Kept<'_>, quantity: Amount) -> Result<U256, Refusal> {
        let signed: Signed = native::kept(kept)?;
        let whole = signed.amount.0;
        if quantity.value() != whole {
            return Err(Refusal::Whole { order_id: kept.order.order_id.clone(), quantity: whole });
        }
        Ok(signed.min_price.0)
    }

    fn before_consent(&self, trade: &Trade<'_>) -> Result<BeforeConsent, Refusal> {
        if !trade.fees.is_empty() {
            return Err(Refusal::NoFees { protocol: NAME });
        }
        let call = masterNoncesCall { account: trade.taker().bytes().into() };
        let inquiries = vec![Inquiry::new(self.domain.contract, &call)];
        Ok(BeforeConsent { inquiries, ..BeforeConsent::default() })
    }

    fn wanted(&self, trade: &Trade<'_>, heard: Heard<'_>) -> Result<Vec<Wanted>, Refusal> {
        self.unsigned(trade, heard)
    }

    fn take(&self, given: Given<'_>) -> Result<Taken, ConsentFault> {
        self.take_approval(given)
    }

    fn fill(&self, trade: &Trade<'_>, _answers: &[Value]) -> Result<Plan, Refusal> {
        self.plan(trade)
    }

    fn make(&self, _order: &NewOrder, _seed: Seed<'_>) -> Result<Making, Refusal> {
        Err(Refusal::Replaced { protocol: NAME })
    }

    fn cancel(&self, kept: Kept<'_>) -> Result<Call, Refusal> {
        let signed: Signed = native::kept(kept)?;
        let (marketplace, nonce) = (signed.marketplace.bytes().into(), signed.nonce.0);
        Ok(Call::of(self.domain.contract, &abi::revokeSingleNonceCall { marketplace, nonce }))
    }

    fn inquiries(&self, kept: Kept<'_>) -> Result<Vec<Inquiry>, Refusal> {
        let signed: Signed = native::kept(kept)?;
        let call = masterNoncesCall { account: signed.seller.bytes().into() };
        Ok(vec![Inquiry::new(self.domain.contract, &call)])
    }

    /// The contract tells nobody whether the listing's own number was used; only its logs do.
    fn standing(&self, kept: Kept<'_>, answers: Answers<'_>) -> Option<Standing> {
        let signed: Signed = native::kept(kept).ok()?;
        let current = returned::<masterNoncesCall>(answers, 0)?;
        (current != signed.master_nonce.0).then_some(Standing::Cancelled)
    }

    fn topics(&self) -> &'static [B256] {
        &logs::TOPICS
    }

    fn decode(&self, logs: &[&Log]) -> Vec<Result<Statement, LogError>> {
        logs::decode(logs, (self.marketplace, self.domain.contract))
    }
}
