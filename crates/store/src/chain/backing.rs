//! What the funds of makers cover of their offers. No block states it, so it is looked up and written by itself.

use bourse_market::OpenOffers;
use bourse_market::facts::Block;
use bourse_wire::{Address, Amount, ChainId, OrderFacts, OrderKey, OrderSide, OrderStatus, Timestamp};

use super::restate::{Restated, restate};
use crate::args::args;
use crate::collections::CollectionKey;
use crate::columns::selection;
use crate::orders::is_known;
use crate::session::{Session, list};
use crate::{Pending, Store, StoreError};

/// How many units of an offer its maker can pay for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backing {
    /// The offer.
    pub key: OrderKey,
    /// How many units; `None` when nobody knows.
    pub units: Option<Amount>,
}

/// Whose money stands behind an offer: a maker's, in a currency, for an operator to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Payer {
    /// The maker of the offer.
    pub maker: Address,
    /// The currency.
    pub currency: Address,
    /// Who takes the money.
    pub operator: Address,
}

selection! { Payer {
    maker = "orders.maker",
    currency = "orders.currency_address",
    operator = "orders.operator",
} }

/// What remains of offers together.
struct SumOfOffers {
    count: u64,
    cost: Amount,
}

selection! { SumOfOffers {
    count = "open_offers.count",
    cost = "open_offers.cost",
} }

/// Which offers are meant.
#[derive(Clone, Debug)]
pub enum OfferScope {
    /// All.
    Everything,
    /// Those that a block after this one made or changed.
    ChangedAfter(u64),
    /// Those on the collections of these contracts.
    Collections(Vec<Address>),
}

impl Store {
    /// Whose money stands behind offers on followed collections of a chain that may still be filled. An offer in the
    /// chain's own currency has nobody's: there are no allowances of it.
    pub fn payers(&self, chain: ChainId, scope: OfferScope, now: Timestamp) -> Pending<'_, Vec<Payer>> {
        self.read(move |mut session| Box::pin(async move { payers(&mut session, chain, scope, now).await }))
    }

    /// The offers of these makers on followed collections of a chain that may still be filled, as far as no time is
    /// concerned, and of which it is known who takes the money.
    pub fn open_offers(
        &self,
        chain: ChainId,
        makers: Vec<Address>,
    ) -> Pending<'_, Vec<(CollectionKey, OrderFacts)>> {
        self.read(move |mut session| Box::pin(async move { open_offers(&mut session, chain, makers).await }))
    }

    /// The offers on a chain behind which the same money stands, and which stand or will when their time comes: of contracts
    /// that are followed, and signed ones. An offer that nothing covers any more is none of them: whoever took the permission
    /// back did not ask for the offer to come alive with the next one.
    pub fn offers_of(&self, chain: ChainId, payer: Payer, now: Timestamp) -> Pending<'_, OpenOffers> {
        self.read(move |mut session| {
            Box::pin(async move { offers_of(&mut session, chain, payer, now).await })
        })
    }

    /// Writes what the makers of offers can pay for as of a block; tells how many are different now.
    pub fn set_backing(
        &self,
        collection: CollectionKey,
        at: Block,
        backing: Vec<Backing>,
    ) -> Pending<'_, u64> {
        let changes_kept = self.options.changes_kept;
        self.write(move |mut session| {
            Box::pin(async move {
                let (side, status) = (OrderSide::Offer.number(), OrderStatus::Active.number());
                let orders =
                    backing.into_iter().map(|Backing { key, units }| (key, args![units, side, status]));
                let restated = Restated { at, sql: BACKING, orders: orders.collect() };
                restate(&mut session, collection, restated, changes_kept).await
            })
        })
    }
}

/// Offers that may still be filled, as far as no time is concerned. Written out, as SQLite takes a partial index only
/// for what it can see.
const IS_OPEN: &str = "orders.side = 2 AND orders.status = 1 AND orders.operator IS NOT NULL
    AND orders.quantity_remaining <> '0'";

/// What is written of an offer of which other funds cover another part now.
const BACKING: &str =
    "UPDATE orders SET backing = $4 WHERE collection_id = $1 AND marketplace = $2 AND order_id = $3
    AND side = $5 AND status = $6 AND operator IS NOT NULL AND backing IS DISTINCT FROM $4";

/// Makers that one statement names.
const MAKERS_PER_READ: usize = 500;

async fn payers(
    session: &mut Session<'_>,
    chain: ChainId,
    scope: OfferScope,
    now: Timestamp,
) -> Result<Vec<Payer>, StoreError> {
    let mut args = args![chain, now, Timestamp::ZERO, Address::ZERO];
    let scope = match scope {
        OfferScope::Everything => String::new(),
        OfferScope::ChangedAfter(number) => {
            args.extend(args![number]);
            "AND orders.block_number > $5".to_owned()
        }
        OfferScope::Collections(contracts) => {
            let named = list(contracts.len(), args.len());
            args.extend(contracts.into_iter().flat_map(|contract| args![contract]));
            format!("AND collections.contract_address IN ({named})")
        }
    };
    // `CROSS` has SQLite begin with the collections. Times of blocks have no fraction, and sort as texts.
    let sql = format!(
        "FROM followed_collections followed CROSS JOIN collections CROSS JOIN orders
        WHERE followed.chain_id = $1 AND collections.collection_id = followed.collection_id
        AND orders.collection_id = followed.collection_id AND {IS_OPEN} {scope}
        AND (orders.valid_until > $2 OR orders.valid_until = $3) AND orders.currency_address <> $4
        GROUP BY orders.maker, orders.currency_address, orders.operator"
    );
    session.select(sql, args).await
}

async fn open_offers(
    session: &mut Session<'_>,
    chain: ChainId,
    makers: Vec<Address>,
) -> Result<Vec<(CollectionKey, OrderFacts)>, StoreError> {
    let mut offers = Vec::new();
    for makers in makers.chunks(MAKERS_PER_READ) {
        // `CROSS` has SQLite begin with the makers.
        let sql = format!(
            "FROM orders CROSS JOIN followed_collections followed CROSS JOIN collections
            WHERE orders.maker IN ({}) AND {IS_OPEN} AND followed.chain_id = $1
            AND followed.collection_id = orders.collection_id
            AND collections.collection_id = orders.collection_id AND {}",
            list(makers.len(), 1),
            is_known()
        );
        let args = args![chain].into_iter().chain(makers.iter().flat_map(|maker| args![*maker])).collect();
        offers.extend(session.select::<(CollectionKey, OrderFacts)>(sql, args).await?);
    }
    Ok(offers)
}

/// Adds them up where they are: somebody may have very many.
async fn offers_of(
    session: &mut Session<'_>,
    chain: ChainId,
    payer: Payer,
    now: Timestamp,
) -> Result<OpenOffers, StoreError> {
    // Without its end a time sorts as text before the same with a part of a second.
    let sql = format!(
        "FROM (SELECT COUNT(*) AS count, {} AS cost FROM orders CROSS JOIN collections
        WHERE orders.maker = $1 AND {IS_OPEN} AND orders.currency_address = $2 AND orders.operator = $3
        AND collections.collection_id = orders.collection_id AND collections.chain_id = $4 AND {}
        AND (orders.backing IS NULL OR orders.backing <> '0')
        AND (orders.valid_until = $5 OR RTRIM(orders.valid_until, 'Z') > $6)) AS open_offers",
        session.offer_costs(),
        is_known()
    );
    let now = now.to_string();
    let now = now.trim_end_matches('Z');
    let args = args![payer.maker, payer.currency, payer.operator, chain, Timestamp::ZERO, now];
    let sum: Option<SumOfOffers> = session.select_first(sql, args).await?;
    Ok(sum.map_or_else(OpenOffers::default, |sum| OpenOffers {
        count: usize::try_from(sum.count).unwrap_or(usize::MAX),
        cost: sum.cost.value(),
    }))
}
