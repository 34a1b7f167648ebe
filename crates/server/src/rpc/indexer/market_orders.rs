//! Finding the orders of a marketplace page by page, whatever became of them. What is asked for is looked at order by order, and
//! only so many orders for each page.

use bourse_store::CollectionId;
use bourse_wire::{Address, Error, OrderFacts, OrderKey, OrderSide, Timestamp, TokenId};
use schemars::JsonSchema;

use super::market::{Market, MarketplaceOrder, OrderState, made_at};
use super::rows::separate;
use super::types::check_sort;
use crate::call::Call;
use crate::failure::Failure;
use crate::paging::{Begin, PageAnswer, PageInput, PagePlan};
use crate::rpc::begin_answer;
use crate::rpc::metadata::check_batch;

/// How often one call asks the store, and for how many orders each time.
const LOOKS_MAX: usize = 4;
const LOOK_ORDERS: usize = 500;

/// A page of orders.
#[derive(JsonSchema)]
#[schemars(rename = "GetMarketplaceOrdersAnswer")]
#[expect(dead_code, reason = "documents what is written order by order")]
pub(crate) struct Answer {
    /// The orders, in the order of their names, which are texts.
    orders: Vec<MarketplaceOrder>,
    /// The page. One may have fewer orders than asked for, or none, while there are more.
    page: PageAnswer<'static>,
}

/// Which orders.
#[derive(Default)]
pub(super) struct Wanted {
    /// One of which they must be, unless there are none.
    pub(super) kinds: Vec<Kind>,
    pub(super) currencies: Vec<Address>,
    /// Only these; any when none are named.
    pub(super) names: Vec<String>,
    pub(super) states: Vec<OrderState>,
    /// A block behind which they changed.
    pub(super) behind_block: Option<u64>,
    /// A time, in seconds since 1970, after which they were made.
    pub(super) made_after: Option<i64>,
    /// A time by which the open ones have not expired.
    pub(super) open_at: Option<Timestamp>,
}

/// What members of a request are called, to be named where they are refused.
pub(super) struct Names {
    pub(super) kinds: &'static str,
    pub(super) currencies: &'static str,
    pub(super) orders: &'static str,
    pub(super) states: &'static str,
}

/// Whose orders for which tokens.
#[derive(Default)]
pub(super) struct Kind {
    pub(super) side: Option<OrderSide>,
    pub(super) makers: Vec<Address>,
    pub(super) not_makers: Vec<Address>,
    pub(super) tokens: Vec<TokenId>,
}

impl Kind {
    fn has(&self, order: &OrderFacts) -> bool {
        self.side.is_none_or(|side| side == order.side)
            && (self.makers.is_empty() || self.makers.contains(&order.maker))
            && !self.not_makers.contains(&order.maker)
            && (self.tokens.is_empty() || order.token_id.is_some_and(|token| self.tokens.contains(&token)))
    }
}

impl Wanted {
    /// The same, unless it is too much for one request, of which the members that say it are called so.
    pub(super) fn checked(self, call: &Call, names: &Names) -> Result<Self, Error> {
        let limits = &call.app.settings.limits;
        let (max, tokens_max) = (limits.batch_contracts_max, limits.batch_tokens_max);
        let accounts = self.kinds.iter().map(|kind| kind.makers.len() + kind.not_makers.len()).sum();
        let tokens = self.kinds.iter().map(|kind| kind.tokens.len()).sum();
        check_batch(names.kinds, "filters", self.kinds.len(), max)?;
        check_batch(names.kinds, "accounts", accounts, max)?;
        check_batch(names.kinds, "token ids", tokens, tokens_max)?;
        check_batch(names.currencies, "currencies", self.currencies.len(), max)?;
        check_batch(names.orders, "orders", self.names.len(), tokens_max)?;
        check_batch(names.states, "statuses", self.states.len(), max)?;
        Ok(self)
    }

    fn has(&self, order: &OrderFacts) -> bool {
        let state = OrderState::of(order.status);
        let has_expired = |at| order.valid_until <= at && order.valid_until != Timestamp::ZERO;
        (self.kinds.is_empty() || self.kinds.iter().any(|kind| kind.has(order)))
            && (self.currencies.is_empty() || self.currencies.contains(&order.currency))
            && (self.states.is_empty() || self.states.contains(&state))
            && self.behind_block.is_none_or(|block| order.block_number > block)
            && self.made_after.is_none_or(|time| made_at(order).unix_seconds() > time)
            && !(state == OrderState::Open && self.open_at.is_some_and(has_expired))
    }
}

/// Answers with a page of them. A page begins behind the order of a name.
pub(super) async fn answer(
    call: &Call,
    market: &Market,
    wanted: &Wanted,
    page: Option<PageInput>,
) -> Result<Vec<u8>, Failure> {
    let page = PagePlan::<String>::new(page, &call.app.settings.limits)?;
    check_sort(&page)?;
    let (found, next) = match call.app.store.collection(market.key).await? {
        Some(id) => find(call, (id, market), wanted, &page).await?,
        None => return Err(missing(market).into()),
    };
    let mut answer = begin_answer(br#"{"orders":["#);
    let first = answer.len();
    for order in found.into_iter().filter_map(|facts| market.order(facts)) {
        separate(&mut answer, first);
        serde_json::to_writer(&mut answer, &order)?;
    }
    answer.push(b']');
    page.write(&mut answer, next)?;
    answer.push(b'}');
    Ok(answer)
}

fn missing(market: &Market) -> Error {
    Error::not_found(format_args!("contract {} on chain {}", market.key.address, market.key.chain))
}

/// The orders of a page, and behind which name the next one begins when there are more.
async fn find(
    call: &Call,
    (id, market): (CollectionId, &Market),
    wanted: &Wanted,
    page: &PagePlan<String>,
) -> Result<(Vec<OrderFacts>, Option<String>), Failure> {
    let (mut behind, skip) = match &page.begin {
        Begin::Skip(skip) => (String::new(), usize::try_from(*skip).unwrap_or(usize::MAX)),
        Begin::After(name) => (name.clone(), 0),
    };
    let count = skip.saturating_add(page.limit());
    let mut found: Vec<OrderFacts> = Vec::new();
    let mut next = None;
    for _ in 0..LOOKS_MAX {
        let orders = look(call, (id, market), wanted, &behind).await?;
        next = orders.last().filter(|_| orders.len() == LOOK_ORDERS).map(|last| last.order_id.clone());
        found.extend(orders.into_iter().filter(|order| wanted.has(order)));
        if found.len() > count {
            found.truncate(count);
            next = found.last().map(|last| last.order_id.clone());
            break;
        }
        match &next {
            Some(last) => behind.clone_from(last),
            None => break,
        }
    }
    if skip > 0 && next.is_some() && found.len() <= skip {
        let reason = "is too far away: go on with the `after` of each answer";
        return Err(Error::invalid("page.page", reason).into());
    }
    Ok((found.split_off(skip.min(found.len())), next))
}

/// The orders behind a name, some at a time, or those that are named.
async fn look(
    call: &Call,
    (id, market): (CollectionId, &Market),
    wanted: &Wanted,
    behind: &str,
) -> Result<Vec<OrderFacts>, Failure> {
    let (store, marketplace) = (&call.app.store, market.marketplace);
    if wanted.names.is_empty() {
        return Ok(store.orders_behind(id, marketplace, behind.to_owned(), LOOK_ORDERS as u64).await?);
    }
    let keys = wanted.names.iter().map(|name| OrderKey { marketplace, order_id: name.clone() }).collect();
    let mut orders = store.orders_by_key(id, keys).await?;
    orders.retain(|order| order.order_id.as_str() > behind);
    orders.sort_unstable_by(|a, b| a.order_id.cmp(&b.order_id));
    Ok(orders)
}
