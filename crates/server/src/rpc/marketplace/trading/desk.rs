//! Where a trade is prepared: one marketplace, and one collection as it is at this moment.

use std::sync::Arc;

use bourse_market::protocols::own::Own;
use bourse_market::protocols::{AskedFee, Fill, Kept, Permission, Plan, Protocol, Refusal, Trade};
use bourse_store::{CollectionId, CollectionKey};
use bourse_wire::{
    Address, Amount, ChainId, ChainRef, Error, Marketplace, OrderFacts, OrderSide, ServiceName, Text,
};
use futures_util::future::join_all;

use super::super::searchable;
use super::{Step, StepId};
use crate::app::App;
use crate::call::Call;
use crate::chains::{Allowance, Operator, Royalty};
use crate::failure::Failure;
use crate::resident::Slot;

/// One marketplace, and one collection as it is at this moment.
pub(crate) struct Desk {
    pub(crate) call: Call,
    pub(crate) key: CollectionKey,
    pub(crate) id: CollectionId,
    pub(crate) slot: Arc<Slot>,
    pub(crate) marketplace: Marketplace,
    pub(crate) protocol: Box<dyn Protocol + Send + Sync>,
}

impl Desk {
    /// Prepares to trade a collection on the marketplace that a member of the request names.
    pub(crate) async fn open(
        call: Call,
        (chain, collection): (Option<&ChainRef>, Address),
        (member, word): (&str, &Text<64>),
    ) -> Result<Self, Failure> {
        let key = call.collection(chain, collection)?;
        let app = Arc::clone(&call.app);
        let marketplace = marketplace(member, word.as_str(), &app.service_name)?;
        let protocol = protocol(&app, key.chain, marketplace)
            .ok_or_else(|| no_protocol(member, marketplace, &app.service_name))?;
        let missing = || Error::not_found(format_args!("collection {} on chain {}", key.address, key.chain));
        let id = app.store.collection(key).await?.ok_or_else(missing)?;
        // Another process may have committed what this one is about to take over.
        for (_, version) in app.store.versions(vec![id]).await? {
            app.resident.follow(key, version).await?;
        }
        let slot = searchable(&app, key).await?.ok_or_else(missing)?;
        Ok(Self { call, key, id, slot, marketplace, protocol })
    }

    /// The marketplace's name.
    pub(crate) fn word(&self) -> String {
        self.marketplace.word(&self.call.app.service_name)
    }

    /// A trade of some units of each order, with royalties as the chain tells them where fees depend on it.
    pub(crate) async fn trade<'a>(
        &self,
        orders: &'a [(OrderFacts, Amount)],
        fees: &[AskedFee],
        taker: Address,
    ) -> Result<Trade<'a>, Failure> {
        let fill = |(order, quantity): &'a (OrderFacts, Amount)| {
            Fill::new(&*self.protocol, Kept { order, native: None }, *quantity)
        };
        let fills = orders.iter().map(fill);
        let mut fills = fills.collect::<Result<Vec<_>, _>>().map_err(refused)?;
        if !fees.is_empty() {
            let told = join_all(fills.iter().map(|fill| self.royalty(fill))).await;
            for (fill, royalty) in fills.iter_mut().zip(told) {
                fill.royalty = royalty.unwrap_or(fill.royalty);
            }
        }
        Ok(Trade::new(self.key.address, fills, fees, taker).map_err(refused)?)
    }

    /// What of the price of a listing goes to the makers of the token; `None` when that is not known or not needed.
    async fn royalty(&self, fill: &Fill<'_>) -> Option<Amount> {
        let token_id = fill.order.token_id.filter(|_| fill.order.side == OrderSide::Listing)?;
        let price = fill.price.into();
        let (market, collection) = (self.protocol.contract(), self.key.address);
        let asked = Royalty { market, collection, token_id, price };
        self.call.app.chains.royalty(self.key.chain, asked).await
    }

    /// The calls that make a trade, and what must be allowed before.
    pub(crate) fn plan(&self, trade: &Trade<'_>) -> Result<Plan, Failure> {
        Ok(self.protocol.fill(trade, &[]).map_err(refused)?)
    }

    /// The steps by which somebody allows what a plan needs, without what is known to be allowed.
    pub(crate) async fn approvals(&self, owner: Address, needed: &[Permission]) -> Vec<Step> {
        let missing = join_all(needed.iter().map(|permission| self.lacks(owner, *permission))).await;
        let missing = needed.iter().zip(missing).filter(|(_, lacks)| *lacks);
        missing.map(|(needed, _)| Step::transaction(StepId::TokenApproval, &needed.call())).collect()
    }

    /// Whether something may not be allowed yet.
    async fn lacks(&self, owner: Address, needed: Permission) -> bool {
        let (chains, chain) = (&self.call.app.chains, self.key.chain);
        match needed {
            Permission::Spend { currency, spender, amount } => {
                let allowance = chains.allowance(chain, Allowance { currency, owner, spender }).await;
                allowance.is_none_or(|allowance| allowance < amount)
            }
            Permission::Move { collection, operator } => {
                let asked = Operator { collection, owner, operator };
                chains.is_operator(chain, asked).await != Some(true)
            }
            Permission::Grant { .. } => true,
        }
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

/// How a marketplace is spoken with on a chain; `None` for those that are not spoken with.
fn protocol(app: &App, chain: ChainId, marketplace: Marketplace) -> Option<Box<dyn Protocol + Send + Sync>> {
    let markets = app.settings.networks.markets(chain.0);
    match marketplace {
        Marketplace::OwnV1 => Some(Box::new(Own::v1(markets.own_v1))),
        Marketplace::OwnV2 => Some(Box::new(Own::v2(markets.own_v2, markets.batch_helper))),
        _ => None,
    }
}

fn no_protocol(member: &str, marketplace: Marketplace, service: &ServiceName) -> Error {
    let own = [Marketplace::OwnV1, Marketplace::OwnV2].map(|own| own.word(service)).join(" and ");
    let word = marketplace.word(service);
    Error::invalid(member, format_args!("no transactions can be made for {word}, only for {own}"))
}

/// Why a trade is refused, under the member that is the reason.
pub(crate) fn refused(refusal: Refusal) -> Error {
    let member = match &refusal {
        Refusal::FeeCount { .. }
        | Refusal::FeeReceiver { .. }
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
        | Refusal::Whole { .. }
        | Refusal::Indivisible { .. }
        | Refusal::Uncountable { .. }
        | Refusal::AnyToken { .. }
        | Refusal::Held { .. }
        | Refusal::Source { .. }
        | Refusal::Login { .. }
        | Refusal::CancelElsewhere { .. }
        | Refusal::MakeElsewhere { .. }
        | Refusal::Unknown { .. } => "ordersData",
    };
    Error::invalid(member, refusal)
}
