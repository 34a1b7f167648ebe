//! Orders by their names, in whatever state they are.

use std::collections::{BTreeMap, HashMap};

use bourse_store::CollectionKey;
use bourse_wire::{Address, ChainId, ChainRef, Marketplace, OrderFacts, OrderKey, ServiceName, Text};
use schemars::JsonSchema;
use serde::Deserialize;

use super::filter::{ENTRIES_MAX, too_many};
use super::searchable_within;
use super::types::Order;
use crate::call::Call;
use crate::failure::Failure;
use crate::paging::{Begin, PageAnswer, PageInput, PagePlan};
use crate::route::request;
use crate::rpc::begin_answer;

/// Which orders.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "GetOrdersRequest", extend("additionalProperties" = true))]
pub(crate) struct Request {
    /// Chain, by number or by name.
    chain_id: Option<ChainRef>,
    /// The orders: at most 200.
    input: Vec<OrderName>,
    /// Which page of those that are known; all of them when nothing is said.
    page: Option<PageInput>,
}
request!(exact Request);

/// What an order is known by.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(rename = "GetOrdersInput", extend("additionalProperties" = true))]
pub(crate) struct OrderName {
    /// Contract of its collection.
    contract_address: Address,
    /// The marketplace's own name for it.
    order_id: Text<256>,
    /// Where it can be filled.
    marketplace: Text<64>,
}

/// A page of them.
#[derive(JsonSchema)]
#[schemars(rename = "GetOrdersAnswer")]
#[expect(dead_code, reason = "documents what is written text by text")]
pub(crate) struct Answer {
    /// The orders, in the order asked for. Those that are not known are left out.
    orders: Vec<Order>,
    /// The page.
    page: PageAnswer<'static>,
}

type Key = (Address, Marketplace, String);

impl OrderName {
    fn key(self, service: &ServiceName) -> Key {
        let marketplace =
            Marketplace::parse(self.marketplace.as_str(), service).unwrap_or(Marketplace::Unknown);
        (self.contract_address, marketplace, self.order_id.into_string())
    }
}

pub(crate) async fn handle(call: Call, request: Request) -> Result<Vec<u8>, Failure> {
    let limits = &call.app.settings.limits;
    if request.input.len() > ENTRIES_MAX {
        return Err(too_many("input", request.input.len()).into());
    }
    // A place is that of an order in the input.
    let page =
        PagePlan::<u64>::with_default(request.page, limits.page_size_max.into(), limits)?.in_order(&[])?;
    let chain = call.chain(request.chain_id.as_ref())?;
    let keys: Vec<Key> = request.input.into_iter().map(|name| name.key(&call.app.service_name)).collect();
    let known = read(&call, chain, &keys).await?;
    let found = (0..).zip(&keys).filter_map(|(place, key)| Some((place, key.0, known.get(key)?)));
    let mut found: Vec<(u64, Address, &OrderFacts)> = match page.begin {
        Begin::Skip(count) => found.skip(usize::try_from(count).unwrap_or(usize::MAX)).collect(),
        Begin::After(last) => found.filter(|(place, ..)| *place > last).collect(),
    };
    let more = found.len() > page.limit();
    found.truncate(page.limit());
    let (mut answer, mut patience) = (begin_answer(br#"{"orders":["#), call.patience());
    for (index, (_, address, facts)) in found.iter().enumerate() {
        if index > 0 {
            answer.push(b',');
        }
        let key = CollectionKey { chain, address: *address };
        // A collection that has orders is never gone.
        if let Some(slot) = searchable_within(&call, key, &mut patience).await? {
            slot.read().write_facts(&mut answer, facts, call.now);
        }
    }
    answer.push(b']');
    page.write(&mut answer, found.last().filter(|_| more).map(|(place, ..)| *place))?;
    answer.push(b'}');
    Ok(answer)
}

/// Those of the orders that are known.
async fn read(call: &Call, chain: ChainId, keys: &[Key]) -> Result<HashMap<Key, OrderFacts>, Failure> {
    let mut by_contract: BTreeMap<Address, Vec<OrderKey>> = BTreeMap::new();
    for (address, marketplace, order_id) in keys {
        let key = OrderKey { marketplace: *marketplace, order_id: order_id.clone() };
        by_contract.entry(*address).or_default().push(key);
    }
    let store = &call.app.store;
    let mut known = HashMap::with_capacity(keys.len());
    for (address, names) in by_contract {
        let Some(id) = store.collection(CollectionKey { chain, address }).await? else { continue };
        for facts in store.orders_by_key(id, names).await? {
            known.insert((address, facts.marketplace, facts.order_id.clone()), facts);
        }
    }
    Ok(known)
}
