//! Blur, second version: listings that its own service must agree to, for whoever has logged in there.
//!
//! An order of it is signed by its maker like others, but the contract takes it only with a fresh signature of Blur over
//! the whole call. So calls come from Blur. They are read and compared with what was asked for before they are passed
//! on.

mod abi;
mod login;
mod logs;
mod order;
mod source;
#[cfg(test)]
mod tests;
mod venues;

use alloy_primitives::{B256, U256};
use bourse_market::facts::Log;
use bourse_market::{Nonces, Series, Standing};
use bourse_wire::{Address, Amount};
use serde_json::Value;

use self::abi::{amountTakenCall, noncesCall};
use self::order::BlurOrder;
pub(crate) use self::venues::FAMILY;
use super::native::{
    self, Answers, Domain, Inquiry, NativeOrder, OrderFault, Proof, SourceFault, SourceRequest,
    SubmittedOrder, prove, returned,
};
use super::{
    Call, Consent, ConsentAnswers, ConsentFault, ConsentOutcome, ConsentQuestions, ConsentRequest,
    ConsentSignature, LogError, NewOrder, OrderMaking, OrderSeed, OrderTerms, Plan, Protocol, Refusal,
    Statement, StoredOrder, Trade, price_of,
};

/// What the protocol is called in messages.
const NAME: &str = "Blur";

/// Blur on one chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blur {
    /// What orders are signed for.
    pub domain: Domain,
    /// The contract that moves tokens.
    pub delegate: Address,
}

impl Protocol for Blur {
    fn contract(&self) -> Address {
        self.domain.contract
    }

    fn read_order(&self, order: SubmittedOrder<'_>) -> Result<NativeOrder, OrderFault> {
        let signed = BlurOrder::read(order, self.domain.contract)?;
        let facts = self.derive(&signed)?;
        let proof = if signed.signature.0.is_empty() {
            Proof::Held
        } else {
            prove(signed.trader, self.domain.digest(signed.hash()), &signed.signature.0)
        };
        let nonces = Nonces::new(self.domain.contract, [(Series::Counter, signed.nonce.0)]);
        Ok(NativeOrder { collection: signed.collection, facts, nonces, text: signed.to_text(), proof })
    }

    fn fill_price(&self, stored: StoredOrder<'_>, quantity: Amount) -> Result<U256, Refusal> {
        let signed: BlurOrder = native::read_stored(stored)?;
        price_of(signed.listing.price.0.into(), quantity)
    }

    fn consent_questions(&self, trade: &Trade<'_>) -> Result<ConsentQuestions, Refusal> {
        if !trade.fees.is_empty() {
            return Err(Refusal::NoFees { protocol: NAME });
        }
        let is_known = trade.consent(login::SUBJECT).is_some();
        let requests = if is_known { Vec::new() } else { vec![login::challenge(trade.taker())] };
        Ok(ConsentQuestions { requests, ..ConsentQuestions::default() })
    }

    fn missing_consents(
        &self,
        trade: &Trade<'_>,
        heard: ConsentAnswers<'_>,
    ) -> Result<Vec<ConsentRequest>, Refusal> {
        if trade.consent(login::SUBJECT).is_some() {
            return Ok(Vec::new());
        }
        let answer = heard.service.first().unwrap_or(&Value::Null);
        let wanted = login::wanted(answer, trade.taker());
        Ok(vec![wanted.map_err(|fault| Refusal::Challenge { protocol: NAME, fault })?])
    }

    fn accept_consent(&self, given: ConsentSignature<'_>) -> Result<ConsentOutcome, ConsentFault> {
        login::show(given)
    }

    fn consent_from_source(&self, answer: &Value, now: u64) -> Result<Consent, SourceFault> {
        login::read(answer, now)
    }

    fn source_requests(&self, trade: &Trade<'_>) -> Result<Vec<SourceRequest>, Refusal> {
        source::ask(trade)
    }

    fn fill(&self, trade: &Trade<'_>, answers: &[Value]) -> Result<Plan, Refusal> {
        self.plan(trade, answers)
    }

    fn make_order(&self, _order: &NewOrder, _seed: OrderSeed<'_>) -> Result<OrderMaking, Refusal> {
        Err(Refusal::MakeElsewhere { protocol: NAME })
    }

    fn cancel(&self, stored: StoredOrder<'_>) -> Result<Call, Refusal> {
        let signed: BlurOrder = native::read_stored(stored)?;
        let (index, amount) = (signed.listing.index.0, signed.listing.amount.0);
        let cancels = vec![abi::Cancel { hash: signed.hash(), index, amount }];
        Ok(Call::of(self.domain.contract, &abi::cancelTradesCall { cancels }))
    }

    fn standing_inquiries(&self, stored: StoredOrder<'_>) -> Result<Vec<Inquiry>, Refusal> {
        let signed: BlurOrder = native::read_stored(stored)?;
        let (to, user) = (self.domain.contract, signed.trader.bytes().into());
        let taken = amountTakenCall { user, hash: signed.hash(), listingIndex: signed.listing.index.0 };
        Ok(vec![Inquiry::new(to, &taken), Inquiry::new(to, &noncesCall { user })])
    }

    fn standing(&self, stored: StoredOrder<'_>, answers: Answers<'_>) -> Option<Standing> {
        let signed: BlurOrder = native::read_stored(stored).ok()?;
        let taken = returned::<amountTakenCall>(answers, 0)?;
        let counter = returned::<noncesCall>(answers, 1)?;
        if let Some(standing) = native::by_counter(counter, signed.nonce.0) {
            return Some(standing);
        }
        let remaining = signed.listing.amount.0.saturating_sub(taken);
        // What was taken back counts as taken.
        if remaining.is_zero() {
            return Some(Standing::Cancelled);
        }
        Some(Standing::Open { remaining: remaining.into() })
    }

    fn terms(&self, stored: StoredOrder<'_>, _answers: Answers<'_>) -> Result<Option<OrderTerms>, Refusal> {
        native::terms(stored, |signed: &BlurOrder| Ok((signed.collection, self.derive(signed)?)))
    }

    fn log_topics(&self) -> &'static [B256] {
        &logs::TOPICS
    }

    fn decode_logs(&self, logs: &[&Log]) -> Vec<Result<Statement, LogError>> {
        logs::decode(logs)
    }
}
