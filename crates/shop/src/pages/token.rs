//! One token: what it is, how rare that is, who sells and wants it, whose it is, and what happened to it.

use bourse_catalog::{Value as PropertyValue, properties_of};
use bourse_pages::property::finding;
use bourse_pages::records::{Activity, Count, Currencies, Facet, Order};
use bourse_pages::{format, price};
use bourse_pictures::Size;
use bourse_store::CollectionKey;
use bourse_wire::{Address, Amount, Timestamp, TokenId, TokenMetadata};
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::{Value, json};

use super::images;
use super::parts::{self, action, fitting, order_data, shortened};
use crate::Answer;
use crate::asking::{CollectionRef, Visit, body_of};
use crate::page::Head;
use crate::refusal::Refusal;

/// Characters of the description that are shown, and what they may take in the page.
const DESCRIPTION_CHARS: usize = 4_000;
const DESCRIPTION_BYTES: usize = 10_000;
/// Properties that are shown, and what they may take in the page.
const PROPERTIES_MAX: usize = 60;
const PROPERTIES_BYTES_MAX: usize = 20_000;
/// Characters of a name or a value of a property, what they may take in the page, and bytes of a link to the tokens that share it.
const PROPERTY_CHARS: usize = 80;
const PROPERTY_BYTES: usize = 200;
const LINK_BYTES_MAX: usize = 500;
/// What a list of orders may take in the page, in bytes.
const ORDERS_BYTES_MAX: usize = 20_000;
/// Rows of each list.
const ROWS_MAX: u64 = 10;

/// What everything on the page is about.
struct Token<'t> {
    visit: &'t Visit,
    collection: &'t CollectionRef,
    currencies: &'t Currencies,
    id: TokenId,
    metadata: TokenMetadata,
    /// The metadata as it is answered, text by text.
    raw: Value,
}

pub(super) async fn show(visit: Visit) -> Answer {
    let (collection, id) = (visit.collection().await?, visit.part::<TokenId>("token")?);
    let currencies = visit.currencies(&collection).await?;
    let raw = token_json(&visit, collection.key, id).await?;
    let metadata: TokenMetadata = serde_json::from_value(raw.clone())?;
    let token = Token { visit: &visit, collection: &collection, currencies: &currencies, id, metadata, raw };
    let info = visit.contract_info(&collection).await?;
    let name = parts::token_name(&visit, &token.metadata);
    let body = html! {
        nav.crumbs aria-label=(visit.say("frame.crumbs")) {
            a href=(visit.path("")) { (visit.say("frame.collections")) } " › "
            a href=(collection.path) { bdi { (parts::collection_name(&collection, info.as_ref())) } }
        }
        div.single {
            div.portrait { (images::of_token(&visit, &collection.picture(id), &token.metadata, Size::Large)) }
            div {
                h1 { bdi { (name) } }
                p { (parts::number(id)) " · " (visit.words.say_of("token.on", &collection.network)) }
                (owners(&token).await?)
                p.acts { (maker_actions(&token)) }
                @if !token.metadata.description.is_empty() {
                    p.long { (shortened(&token.metadata.description, (DESCRIPTION_CHARS, DESCRIPTION_BYTES))) }
                }
            }
        }
        (orders(&token, true).await?)
        (orders(&token, false).await?)
        (properties(&token).await?)
        (activity(&token).await?)
    };
    let path = collection.token(id);
    let data = json!({
        "collection": parts::trading(&visit, &collection, &currencies),
        "token": { "id": id, "name": parts::title(&name), "path": path },
    });
    let description = token.metadata.description.as_str();
    let image = images::shared(&visit, &collection, &token.metadata);
    let head = Head { title: &name, description, path: &path, image: image.as_deref(), is_private: false };
    Ok(visit.page(&head, &data, &body))
}

pub(super) async fn token_json(
    visit: &Visit,
    contract: CollectionKey,
    token: TokenId,
) -> Result<Value, Refusal> {
    let body = body_of(contract, json!({ "tokenIDs": [token] }));
    let mut answer: Value = visit.ask("Metadata/GetTokenMetadata", &body).await?;
    let found = answer.get_mut("tokenMetadata").and_then(|tokens| tokens.get_mut(0)).map(Value::take);
    if let Some(found) = found {
        return Ok(found);
    }
    // One that only orders or balances name has no metadata, and a page all the same.
    let body = body_of(contract, json!({ "tokenId": token }));
    let mut answer: Value = visit.ask("Marketplace/GetCollectible", &body).await?;
    answer.get_mut("metadata").map(Value::take).ok_or(Refusal::Missing)
}

/// What somebody who has it, or wants it, can do. The script shows what fits the wallet.
fn maker_actions(token: &Token<'_>) -> Markup {
    let name = parts::token_name(token.visit, &token.metadata);
    let data = json!({ "token": token.id, "name": parts::title(&name) });
    html! {
        (action("list", &data, token.visit.say("token.list")))
        (action("offer", &data, token.visit.say("token.offer")))
    }
}

async fn owners(token: &Token<'_>) -> Result<Markup, Refusal> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Balance {
        account_address: Address,
        balance: Amount,
    }
    #[derive(Deserialize)]
    struct Balances {
        balances: Vec<Balance>,
    }
    let Token { visit, collection, id, .. } = *token;
    let body = json!({
        "chainId": collection.key.chain.to_string(),
        "filter": { "contractAddresses": [collection.key.address], "tokenIDs": [id] },
        "omitMetadata": true,
        "page": { "pageSize": ROWS_MAX },
    });
    let answer = visit.ask::<Balances>("Indexer/GetTokenBalancesByContract", &body).await;
    let owners = Refusal::told(answer)?.map(|answer| answer.balances).unwrap_or_default();
    Ok(html! {
        @if !owners.is_empty() {
            p.owners data-live="owners" {
                (visit.say("token.owned")) " "
                @for owner in &owners { (parts::units(owner.balance)) (parts::account(visit, owner.account_address)) " " }
            }
        }
    })
}

/// The listings of the token, or the offers for it.
async fn orders(token: &Token<'_>, is_listing: bool) -> Result<Markup, Refusal> {
    #[derive(Deserialize)]
    struct Found {
        #[serde(alias = "listings", alias = "offers")]
        orders: Vec<Order>,
    }
    let Token { visit, collection, currencies, id, .. } = *token;
    let (title, nothing, operation, anchor) = if is_listing {
        ("token.listings", "token.no_listings", "Marketplace/ListListingsForCollectible", "listings")
    } else {
        ("token.offers", "token.no_offers", "Marketplace/ListOffersForCollectible", "offers")
    };
    let filter = json!({ "marketplace": visit.marketplaces() });
    let body = collection.body(json!({ "tokenId": id, "filter": filter, "page": { "pageSize": ROWS_MAX } }));
    let found: Found = visit.ask(operation, &body).await?;
    let rows = found.orders.iter().map(|order| order_row(token, order, is_listing, currencies));
    let rows = fitting(rows, &mut { ORDERS_BYTES_MAX });
    Ok(html! {
        section id=(anchor) data-live=(anchor) {
            h2 { (visit.say(title)) }
            @if rows.is_empty() { p.soft { (visit.say(nothing)) } }
            ul.orders { @for row in &rows { (row) } }
        }
    })
}

fn order_row(token: &Token<'_>, order: &Order, is_listing: bool, currencies: &Currencies) -> Markup {
    let visit = token.visit;
    let data = order_data(order, Some(&token.metadata), currencies);
    let until = Some(order.valid_until).filter(|until| *until != Timestamp::ZERO);
    html! {
        li data-id=(order.order_id) {
            span.price { (parts::units(order.quantity_available)) (price::of_order(order, currencies)) }
            span.soft {
                (visit.say(if is_listing { "token.seller" } else { "token.buyer" })) " " (parts::account(visit, order.created_by))
                " · " (order.marketplace.replace('_', " "))
                @if let Some(until) = until { " · " (visit.say("token.until")) " " (format::time(until)) }
            }
            span.acts {
                @if is_listing {
                    (action("buy", &data, visit.say("token.buy")))
                    (action("basket", &data, visit.say("token.to_basket")))
                } @else { (action("accept", &data, visit.say("token.accept"))) }
                (action("cancel", &data, visit.say("token.cancel")))
            }
        }
    }
}

/// Its properties, each with how many tokens share it.
async fn properties(token: &Token<'_>) -> Result<Markup, Refusal> {
    #[derive(Deserialize)]
    struct Facets {
        filters: Vec<Facet>,
    }
    let Token { visit, collection, .. } = *token;
    let properties = properties_of(&token.raw.to_string());
    if properties.is_empty() {
        return Ok(html! {});
    }
    let Facets { filters } = visit
        .ask("Metadata/GetTokenMetadataPropertyFilters", &collection.body(json!({ "includeCounts": true })))
        .await?;
    let Count { count } =
        visit.ask("Marketplace/GetCountOfAllCollectibles", &collection.body(json!({}))).await?;
    let rows = properties.iter().take(PROPERTIES_MAX);
    let rows = rows.map(|(name, value)| property(token, name, value, (filters.as_slice(), count)));
    let rows = fitting(rows, &mut { PROPERTIES_BYTES_MAX });
    Ok(html! {
        section {
            h2 { (visit.say("token.properties")) }
            dl.properties { @for row in &rows { (row) } }
        }
    })
}

fn property(token: &Token<'_>, name: &str, value: &PropertyValue, (facets, all): (&[Facet], u64)) -> Markup {
    let (field, text) = finding(name, value);
    let shown = shortened(&text, (PROPERTY_CHARS, PROPERTY_BYTES));
    let query = form_urlencoded::Serializer::new(String::new()).append_pair(&field, &text).finish();
    let facet = facets.iter().find(|facet| facet.name == name);
    let is_it = |known: &Value| PropertyValue::from_json(known).as_ref() == Some(value);
    let count = facet.and_then(|facet| facet.counts.iter().find(|known| is_it(&known.value)));
    html! {
        div {
            dt { (shortened(name, (PROPERTY_CHARS, PROPERTY_BYTES))) }
            dd {
                // A long value would make an address that no server takes.
                @if query.len() > LINK_BYTES_MAX { (shown) }
                @else { a href={ (token.collection.path) "?" (query) } { (shown) } }
                @if let Some(count) = count { span.soft { " " (share(count.count, all)) } }
            }
        }
    }
}

/// So many of all, in percent.
fn share(part: u64, all: u64) -> String {
    let permille = u128::from(part) * 1000 / u128::from(all.max(1));
    match permille {
        0 => "< 0.1 %".to_owned(),
        permille => format!("{}.{} %", permille / 10, permille % 10),
    }
}

async fn activity(token: &Token<'_>) -> Result<Markup, Refusal> {
    #[derive(Deserialize)]
    struct Latest {
        activities: Vec<Activity>,
    }
    let Token { visit, collection, currencies, id, .. } = *token;
    let body = collection.body(json!({ "tokenId": id, "page": { "pageSize": ROWS_MAX } }));
    let latest: Latest = visit.ask("Marketplace/ListCollectibleActivities", &body).await?;
    Ok(html! {
        section data-live="history" {
            @if !latest.activities.is_empty() {
                h2 { (visit.say("history.title")) }
                (parts::history(visit, &latest.activities, currencies))
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn shares_are_percentages() {
        for (part, all, text) in
            [(1, 4, "25.0 %"), (1, 3, "33.3 %"), (1, 10_000, "< 0.1 %"), (7, 7, "100.0 %"), (0, 0, "< 0.1 %")]
        {
            assert_eq!(share(part, all), text);
        }
    }
}
