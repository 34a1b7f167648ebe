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
use self::order::ProcessorListing;
use crate::native::{
    self, Answers, Domain, Inquiry, NativeOrder, OrderFault, SubmittedOrder, prove, returned,
};
use crate::{
    Call, ConsentAnswers, ConsentFault, ConsentOutcome, ConsentQuestions, ConsentRequest, ConsentSignature,
    LogError, NewOrder, OrderMaking, OrderSeed, OrderTerms, Plan, Protocol, Refusal, Statement, StoredOrder,
    Trade,
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

    fn read_order(&self, order: SubmittedOrder<'_>) -> Result<NativeOrder, OrderFault> {
        let signed = ProcessorListing::read(order, self.domain.contract)?;
        let facts = self.derive(&signed)?;
        let proof = prove(signed.seller, self.digest(&signed), &signed.signature.0);
        let numbers = [(Series::Nonce, signed.number()), (Series::Counter, signed.master_nonce.0)];
        let nonces = Nonces::new(self.domain.contract, numbers);
        Ok(NativeOrder { collection: signed.token_address, facts, nonces, text: signed.to_text(), proof })
    }

    fn fill_price(&self, stored: StoredOrder<'_>, quantity: Amount) -> Result<U256, Refusal> {
        let signed: ProcessorListing = native::read_stored(stored)?;
        let whole = signed.amount.0;
        if quantity.value() != whole {
            return Err(Refusal::Whole { order_id: stored.facts.order_id.clone(), quantity: whole });
        }
        Ok(signed.min_price.0)
    }

    fn consent_questions(&self, trade: &Trade<'_>) -> Result<ConsentQuestions, Refusal> {
        if !trade.fees.is_empty() {
            return Err(Refusal::NoFees { protocol: NAME });
        }
        let call = masterNoncesCall { account: trade.taker().bytes().into() };
        let inquiries = vec![Inquiry::new(self.domain.contract, &call)];
        Ok(ConsentQuestions { inquiries, ..ConsentQuestions::default() })
    }

    fn missing_consents(
        &self,
        trade: &Trade<'_>,
        heard: ConsentAnswers<'_>,
    ) -> Result<Vec<ConsentRequest>, Refusal> {
        self.unsigned(trade, heard)
    }

    fn accept_consent(&self, given: ConsentSignature<'_>) -> Result<ConsentOutcome, ConsentFault> {
        self.take_approval(given)
    }

    fn fill(&self, trade: &Trade<'_>, _answers: &[Value]) -> Result<Plan, Refusal> {
        self.plan(trade)
    }

    fn make_order(&self, _order: &NewOrder, _seed: OrderSeed<'_>) -> Result<OrderMaking, Refusal> {
        Err(Refusal::Replaced { protocol: NAME })
    }

    fn cancel(&self, stored: StoredOrder<'_>) -> Result<Call, Refusal> {
        let signed: ProcessorListing = native::read_stored(stored)?;
        let (marketplace, nonce) = (signed.marketplace.bytes().into(), signed.nonce.0);
        Ok(Call::of(self.domain.contract, &abi::revokeSingleNonceCall { marketplace, nonce }))
    }

    fn standing_inquiries(&self, stored: StoredOrder<'_>) -> Result<Vec<Inquiry>, Refusal> {
        let signed: ProcessorListing = native::read_stored(stored)?;
        let call = masterNoncesCall { account: signed.seller.bytes().into() };
        Ok(vec![Inquiry::new(self.domain.contract, &call)])
    }

    /// The contract tells nobody whether the listing's own number was used; only its logs do.
    fn standing(&self, stored: StoredOrder<'_>, answers: Answers<'_>) -> Option<Standing> {
        let signed: ProcessorListing = native::read_stored(stored).ok()?;
        let current = returned::<masterNoncesCall>(answers, 0)?;
        native::by_counter(current, signed.master_nonce.0)
    }

    fn terms(&self, stored: StoredOrder<'_>, _answers: Answers<'_>) -> Result<Option<OrderTerms>, Refusal> {
        native::terms(stored, |signed: &ProcessorListing| Ok((signed.token_address, self.derive(signed)?)))
    }

    fn log_topics(&self) -> &'static [B256] {
        &logs::TOPICS
    }

    fn decode_logs(&self, logs: &[&Log]) -> Vec<Result<Statement, LogError>> {
        logs::decode(self, logs)
    }
}
