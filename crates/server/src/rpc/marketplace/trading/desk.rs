//! Where a trade is prepared: one marketplace, and one collection as it is at this moment.

use std::sync::Arc;

use bourse_market::OpenOffers;
use bourse_protocols::venues::Venue;
use bourse_protocols::{
    Approval, ConsentAnswers, ConsentQuestions, ConsentRequest, Fill, Permission, Plan, Protocol, Refusal,
    RequestedFee, Royalty, StoredOrder, Trade,
};
use bourse_store::{CollectionId, CollectionKey, Payer};
use bourse_wire::{Address, ChainId, ChainRef, Error, Marketplace, ServiceName, Text};
use serde_json::{Value, json};

use super::super::execute::CONSENT;
use super::super::searchable;
use super::{ApprovalStep, ChosenOrder, Step};
use crate::call::Call;
use crate::failure::Failure;
use crate::resident::Slot;

/// One marketplace, and one collection as it is at this moment.
pub(crate) struct Desk {
    pub(crate) call: Call,
    pub(crate) key: CollectionKey,
    pub(crate) id: CollectionId,
    pub(crate) slot: Arc<Slot>,
    pub(crate) marketplace: Marketplace,
    venue: Arc<Venue>,
}

/// What a request says of where it trades.
#[derive(Clone, Copy)]
pub(crate) struct VenueRequest<'a> {
    pub(crate) chain: Option<&'a ChainRef>,
    pub(crate) collection: Address,
    /// The member that names the marketplace.
    pub(crate) member: &'static str,
    pub(crate) marketplace: &'a Text<64>,
}

/// What a taker does next.
pub(crate) enum Next {
    /// Signs something, and then asks again.
    Sign(Vec<Step>),
    /// Sends calls.
    Send(Plan),
}

impl Desk {
    /// Prepares to trade a collection on the marketplace that a member of the request names.
    pub(crate) async fn open(call: Call, request: VenueRequest<'_>) -> Result<Self, Failure> {
        let VenueRequest { chain, collection, member, marketplace: word } = request;
        let key = call.collection(chain, collection)?;
        let app = Arc::clone(&call.app);
        let marketplace = marketplace(member, word.as_str(), &app.service_name)?;
        let venue = app.registry.venue(key.chain, marketplace);
        let venue = venue.ok_or_else(|| no_contract(member, marketplace, key.chain, &app.service_name))?;
        let missing = || Error::not_found(format_args!("collection {} on chain {}", key.address, key.chain));
        let id = app.store.collection(key).await?.ok_or_else(missing)?;
        // Another process may have committed what this one is about to take over, or the database may be an older one by now.
        for (_, mark) in app.store.versions(vec![id]).await? {
            app.resident.follow_stored(key, mark).await;
        }
        let slot = searchable(&call, key).await?.ok_or_else(missing)?;
        Ok(Self { call, key, id, slot, marketplace, venue })
    }

    /// The marketplace's name.
    pub(crate) fn word(&self) -> String {
        self.marketplace.word(&self.call.app.service_name)
    }

    /// The contract that new orders are for.
    pub(crate) fn newest(&self) -> Result<&dyn Protocol, Failure> {
        Ok(self.venue.newest().ok_or_else(|| self.nowhere())?)
    }

    /// The contract that an order is for.
    pub(crate) fn protocol_of(&self, stored: StoredOrder<'_>) -> Result<&dyn Protocol, Error> {
        self.venue.protocol_of(stored).ok_or_else(|| self.nowhere())
    }

    fn nowhere(&self) -> Error {
        no_contract("marketplace", self.marketplace, self.key.chain, &self.call.app.service_name)
    }

    /// The one contract that all of these orders are for.
    pub(crate) fn protocol_of_all(&self, orders: &[ChosenOrder]) -> Result<&dyn Protocol, Error> {
        let first = orders.first().ok_or_else(|| refused(Refusal::Empty))?;
        let protocol = self.protocol_of(first.stored())?;
        for other in orders {
            let contract = self.protocol_of(other.stored())?.contract();
            if contract != protocol.contract() {
                let reason = format!(
                    "the orders are for different contracts, {} and {contract}: fill those of each on their own",
                    protocol.contract()
                );
                return Err(Error::invalid("ordersData", reason));
            }
        }
        Ok(protocol)
    }

    /// A trade of some units of each order, with royalties as the chain tells them where fees depend on it.
    pub(crate) async fn trade<'a>(
        &self,
        protocol: &dyn Protocol,
        orders: &'a [ChosenOrder],
        fees: &[RequestedFee],
        taker: Address,
    ) -> Result<Trade<'a>, Failure> {
        let fill = |chosen: &'a ChosenOrder| {
            let fill = Fill::new(protocol, chosen.stored(), chosen.quantity)?;
            Ok(Fill { token_id: chosen.token_id, ..fill })
        };
        let mut fills = orders.iter().map(fill).collect::<Result<Vec<_>, _>>().map_err(refused)?;
        self.tell_royalties(protocol, &mut fills).await;
        let trade = Trade::new(self.key.address, fills, fees, taker).map_err(refused)?;
        Ok(trade.at(self.now()))
    }

    /// Puts royalties into fills of which whoever makes them must know.
    async fn tell_royalties(&self, protocol: &dyn Protocol, fills: &mut [Fill<'_>]) {
        let mut told = Vec::new();
        for (place, fill) in fills.iter().enumerate() {
            told.extend(protocol.royalty_inquiry(self.key.address, fill).map(|inquiry| (place, inquiry)));
        }
        let inquiries = told.iter().map(|(_, inquiry)| inquiry.clone()).collect();
        let answers = self.call.app.chains.ask_some(self.key.chain, inquiries).await;
        for ((place, _), answer) in told.into_iter().zip(answers) {
            fills[place].chain_royalty = Royalty::read(answer.as_ref());
        }
    }

    /// What the taker of a trade does next: signs something, or sends the calls that make it.
    pub(crate) async fn next(&self, protocol: &dyn Protocol, trade: Trade<'_>) -> Result<Next, Failure> {
        let (app, whose) = (&self.call.app, (self.marketplace, trade.taker()));
        let mut consents = app.consents.of(whose, self.call.now);
        let mut trade = trade.with_consents(consents.clone());
        let mut unsigned = self.unsigned(protocol, &trade).await?;
        if !unsigned.is_empty() {
            let stored = app.consents.stored(&app.store, whose, self.call.now).await?;
            if stored.iter().any(|stored| !consents.contains(stored)) {
                consents.clone_from(&stored);
                trade = trade.with_consents(stored);
                unsigned = self.unsigned(protocol, &trade).await?;
            }
        }
        if !unsigned.is_empty() {
            return Ok(Next::Sign(unsigned));
        }
        let requests = protocol.source_requests(&trade).map_err(refused)?;
        let answers = match app.sources.ask(self.marketplace, requests).await {
            Err(unanswered) if !consents.is_empty() && unanswered.is_unauthorized() => {
                app.consents.forget(&app.store, whose, consents).await?;
                let trade = trade.with_consents(Vec::new());
                return Ok(Next::Sign(self.unsigned(protocol, &trade).await?));
            }
            answers => answers.map_err(Error::from)?,
        };
        Ok(Next::Send(protocol.fill(&trade, &answers).map_err(refused)?))
    }

    /// Refuses a trade for which there would be no next step, without asking the service of the marketplace: whoever only looks at
    /// orders takes nothing of what the operator may ask there.
    pub(crate) async fn check_payable(
        &self,
        protocol: &dyn Protocol,
        trade: Trade<'_>,
    ) -> Result<(), Failure> {
        let questions = protocol.consent_questions(&trade).map_err(refused)?;
        // What is refused for want of a signature has a step, which is told as any other refusal is.
        let requests = protocol.source_requests(&trade).unwrap_or_default();
        if questions.requests.is_empty() && requests.is_empty() {
            return self.next(protocol, trade).await.map(drop);
        }
        Ok(self.call.app.sources.check_configured(self.marketplace).map_err(Error::from)?)
    }

    /// The time of day, in seconds of Unix time.
    fn now(&self) -> u64 {
        u64::try_from(self.call.now.unix_seconds()).unwrap_or_default()
    }

    /// The steps by which the taker of a trade signs what they have not yet.
    async fn unsigned(&self, protocol: &dyn Protocol, trade: &Trade<'_>) -> Result<Vec<Step>, Failure> {
        let app = &self.call.app;
        let ConsentQuestions { inquiries, requests } = protocol.consent_questions(trade).map_err(refused)?;
        let chain = app.chains.ask_some(self.key.chain, inquiries).await;
        let service = app.sources.ask(self.marketplace, requests).await.map_err(Error::from)?;
        let answers = ConsentAnswers { chain: &chain, service: &service, now: self.now() };
        let missing = protocol.missing_consents(trade, answers).map_err(refused)?;
        Ok(missing.into_iter().map(|request| self.consent_step(protocol, trade.taker(), request)).collect())
    }

    /// The step by which a taker signs something, and which tells `Execute` what for.
    fn consent_step(&self, protocol: &dyn Protocol, taker: Address, request: ConsentRequest) -> Step {
        let body = [
            ("kind".to_owned(), json!(CONSENT)),
            ("chainId".to_owned(), json!(self.key.chain)),
            ("marketplace".to_owned(), json!(self.word())),
            ("contract".to_owned(), json!(protocol.contract())),
            ("wallet".to_owned(), json!(taker)),
            ("terms".to_owned(), Value::Object(request.terms)),
        ];
        Step::consent(request.payload, request.price, body.into_iter().collect())
    }

    /// The calls by which somebody allows what a plan needs, without what is known to be allowed.
    pub(crate) async fn approvals(
        &self,
        owner: Address,
        needed: &[Permission],
    ) -> Result<Vec<ApprovalStep>, Failure> {
        let (chains, chain) = (&self.call.app.chains, self.key.chain);
        let mut approvals = Vec::with_capacity(needed.len());
        for permission in needed {
            approvals.push(Approval::new(*permission, self.open_offers(owner, *permission).await?));
        }
        let asked = approvals.iter().map(|approval| approval.inquiry(owner)).collect();
        let answers = chains.ask_some(chain, asked).await;
        let mut steps = Vec::new();
        for (place, approval) in approvals.iter().enumerate() {
            let answer = answers.get(place).and_then(Option::as_ref);
            if approval.is_given(answer) {
                continue;
            }
            let tried = chains.ask_some(chain, approval.trial(chain, owner, answer)).await;
            let calls = approval.calls(chain, answer, &tried);
            steps.extend(calls.into_iter().map(|call| ApprovalStep { call, note: approval.note() }));
        }
        Ok(steps)
    }

    /// The offers that stand on the money which a permission is for.
    async fn open_offers(&self, maker: Address, needed: Permission) -> Result<OpenOffers, Failure> {
        let Permission::Spend { currency, spender: operator, .. } = needed else {
            return Ok(OpenOffers::default());
        };
        let payer = Payer { maker, currency, operator };
        Ok(self.call.app.store.offers_of(self.key.chain, payer, self.call.now).await?)
    }
}

/// The marketplace that a word names.
fn marketplace(member: &str, word: &str, service: &ServiceName) -> Result<Marketplace, Error> {
    match Marketplace::parse(word, service) {
        None => Err(Error::invalid(member, format_args!("`{word}` is not known"))),
        Some(Marketplace::Unknown) => Err(Error::invalid(member, "must name a marketplace")),
        Some(marketplace) => Ok(marketplace),
    }
}

fn no_contract(member: &str, marketplace: Marketplace, chain: ChainId, service: &ServiceName) -> Error {
    let word = marketplace.word(service);
    Error::invalid(member, format_args!("{word} has no contract on chain {chain}"))
}

/// Why a trade is refused, under the member that is the reason.
pub(crate) fn refused(refusal: Refusal) -> Error {
    let member = match &refusal {
        // Nothing is wrong with the request.
        Refusal::Held { .. }
        | Refusal::Source { .. }
        | Refusal::Challenge { .. }
        | Refusal::LostRoyalty { .. }
        | Refusal::NoContract { .. }
        | Refusal::Unknown { .. } => return Error::conflict(refusal.to_string()),
        Refusal::NoShares
        | Refusal::FeeCount { .. }
        | Refusal::FeeReceiver { .. }
        | Refusal::FeeToMaker { .. }
        | Refusal::FeeSum { .. }
        | Refusal::NoFees { .. }
        | Refusal::FeeFraction { .. }
        | Refusal::FeeSlots { .. } => "additionalFees",
        Refusal::Empty
        | Refusal::Sides
        | Refusal::Currencies { .. }
        | Refusal::Overflow
        | Refusal::Native
        | Refusal::OrderId { .. }
        | Refusal::Expiry
        | Refusal::NotSigned { .. }
        | Refusal::Damaged { .. }
        | Refusal::Units { .. }
        | Refusal::Whole { .. }
        | Refusal::Indivisible { .. }
        | Refusal::Uncountable { .. }
        | Refusal::NoAnyToken
        | Refusal::AnyToken { .. }
        | Refusal::Consent { .. }
        | Refusal::Replaced { .. }
        | Refusal::CancelElsewhere { .. }
        | Refusal::MakeElsewhere { .. } => "ordersData",
    };
    Error::invalid(member, refusal)
}
