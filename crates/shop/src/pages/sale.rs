//! What a contract sells that mints tokens for whoever pays.

use bourse_pages::records::{Currencies, Currency, Page};
use bourse_pages::{format, price};
use bourse_pictures::Size;
use bourse_wire::{Address, Amount, TokenMetadata};
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{images, parts};
use crate::Answer;
use crate::asking::{PICTURE, SaleRef, Visit};
use crate::page::Head;
use crate::refusal::Refusal;

/// Tokens on a page.
const ROWS_MAX: u64 = 24;
/// Currencies that the script is told of.
const CURRENCIES_MAX: usize = 40;

/// A token that is for sale.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Item {
    metadata: TokenMetadata,
    primary_sale_item: Terms,
}

/// On which terms.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Terms {
    contract_type: String,
    currency_address: Address,
    price_amount: Amount,
    price_amount_formatted: String,
    supply: Amount,
    unlimited_supply: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Items {
    primary_sale_items: Vec<Item>,
    page: Page,
}

pub(super) async fn show(visit: Visit) -> Answer {
    let sale = visit.sale().await?;
    let query = visit.uri.0.query().unwrap_or_default();
    let after = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "after");
    let mut page = json!({ "pageSize": ROWS_MAX });
    if let Some((_, after)) = after {
        page["after"] = json!(after);
    }
    let chain = sale.chain.to_string();
    let body = json!({ "chainId": chain, "primarySaleContractAddress": sale.contract, "page": page });
    let found = Refusal::told(visit.ask::<Items>("Marketplace/ListPrimarySaleItems", &body).await)?;
    let currencies = visit.currencies_of(sale.chain).await?;
    let title = if sale.name.is_empty() { visit.say("sale.title") } else { sale.name.as_str() };
    let body = html! {
        nav.crumbs aria-label=(visit.say("frame.crumbs")) { a href=(visit.path("")) { (visit.say("frame.collections")) } }
        h1 { bdi { (title) } }
        @match &found {
            Err(error) => p.refused role="alert" { (error.to_string()) },
            Ok(found) => (items(&visit, &sale, found, &currencies)),
        }
    };
    let data = json!({ "collection": {
        "chain": sale.chain.0,
        "network": format::network(&visit.shop.backstage.settings().networks, sale.chain),
        "address": sale.items,
        "sale": sale.contract,
        "path": sale.path,
        "coin": parts::coin(&currencies),
        "currencies": told(found.as_ref().ok(), &currencies),
    } });
    let head = Head { title, description: "", path: &sale.path, image: None, is_private: !query.is_empty() };
    Ok(visit.page(&head, &data, &body))
}

/// The currencies that the script has to know: those of what is shown, and some others, which it tells apart from them.
fn told(found: Option<&Items>, currencies: &Currencies) -> Value {
    let items = found.map_or(&[][..], |found| &found.primary_sale_items);
    let is_used = |known: &&Currency| {
        items.iter().any(|item| item.primary_sale_item.currency_address == known.contract_address)
    };
    let (used, others): (Vec<_>, Vec<_>) = currencies.all.iter().partition(is_used);
    let told = used.into_iter().chain(others).take(CURRENCIES_MAX);
    told.map(|currency| json!({ "address": currency.contract_address, "symbol": currency.symbol, "decimals": currency.decimals }))
        .collect()
}

fn items(visit: &Visit, sale: &SaleRef, found: &Items, currencies: &Currencies) -> Markup {
    let next = found.page.after.as_deref().filter(|_| found.page.more).map(|after| {
        let query = form_urlencoded::Serializer::new(String::new()).append_pair("after", after).finish();
        format!("{}?{query}", sale.path)
    });
    html! {
        @if found.primary_sale_items.is_empty() { p.empty { (visit.say("sale.nothing")) } }
        ul.tokens { @for item in &found.primary_sale_items { (card(visit, sale, item, currencies)) } }
        @if let Some(next) = next {
            nav.pages aria-label=(visit.say("frame.pages")) { a.button rel="next" href=(next) { (visit.say("frame.next")) " →" } }
        }
    }
}

fn card(visit: &Visit, sale: &SaleRef, item: &Item, currencies: &Currencies) -> Markup {
    let Item { metadata, primary_sale_item: terms } = item;
    let name = parts::token_name(visit, metadata);
    let path = format!("{}/{}{PICTURE}", sale.path, metadata.token_id);
    let currency = currencies.get(terms.currency_address);
    // Of an ERC-721 token there is one at most.
    let available = if terms.contract_type == "ERC1155" { terms.supply } else { Amount::from(1) };
    let data = json!({
        "token": metadata.token_id,
        "name": parts::title(&name),
        "price": terms.price_amount,
        "currency": terms.currency_address,
        "symbol": currency.map(|known| known.symbol.as_str()),
        "decimals": currency.map(|known| known.decimals),
        "available": available,
    });
    html! {
        li.token {
            span.portrait aria-hidden="true" { (images::of_token(visit, &path, metadata, Size::Medium)) }
            div.told {
                h3 { bdi { (name) } }
                p.price { (price::amount(terms.price_amount, &terms.price_amount_formatted, terms.currency_address, currencies)) }
                @if !terms.unlimited_supply { p.soft { (visit.words.say_of("sale.left", &format::number(terms.supply))) } }
                p.acts { (parts::action("mint", &data, visit.say("token.buy"))) }
            }
        }
    }
}
