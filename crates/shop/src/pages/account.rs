//! What an account has, sells, and is offered, in the collections of the shop.

use bourse_pages::format;
use bourse_pages::records::{Collectible, Currencies, Page};
use bourse_wire::Address;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::{Value, json};

use super::parts;
use crate::Answer;
use crate::asking::{CollectionRef, Visit};
use crate::page::Head;
use crate::refusal::Refusal;

/// Collections that are looked through.
const LOOKED_AT: usize = 12;
/// Tokens of each collection in each list.
const ROWS_MAX: u64 = 12;

/// A list of an account: the key of its heading, the side that is asked for, and whether it is of what the account holds
/// or of the orders that it made.
const LISTS: [(&str, &str, bool, bool); 4] = [
    ("account.holds", "listing", true, true),
    ("account.sells", "listing", false, false),
    ("account.offered", "offer", true, false),
    ("account.wants", "offer", false, false),
];

pub(super) async fn show(visit: Visit) -> Answer {
    let account: Address = visit.part("account")?;
    let market = visit.market().await?;
    let mut lists: [Vec<Markup>; LISTS.len()] = Default::default();
    for collection in market.iter().take(LOOKED_AT) {
        let currencies = visit.currencies(collection).await?;
        for ((_, side, is_held, is_all), list) in LISTS.iter().zip(&mut lists) {
            let filter = if *is_held {
                json!({ "inAccounts": [account], "includeEmpty": is_all })
            } else {
                json!({ "ordersCreatedBy": [account], "includeEmpty": false })
            };
            list.extend(cards(&visit, collection, &currencies, (*side, &filter)).await?);
        }
    }
    let body = html! {
        h1 { (format::hex(account)) }
        p.soft { code { (account) } }
        @for ((key, ..), list) in LISTS.iter().zip(&lists) {
            section {
                h2 { (visit.say(key)) }
                @if list.is_empty() { p.soft { (visit.say("account.nothing")) } } @else { ul.tokens { @for card in list { (card) } } }
            }
        }
    };
    let (path, title) = (visit.path(&format!("/a/{account}")), account.to_string());
    let head = Head { title: &title, description: "", path: &path, image: None, is_private: true };
    Ok(visit.page(&head, &Value::Null, &body))
}

/// The tokens of a list in one collection.
async fn cards(
    visit: &Visit,
    collection: &CollectionRef,
    currencies: &Currencies,
    (side, filter): (&str, &Value),
) -> Result<Vec<Markup>, Refusal> {
    #[derive(Deserialize)]
    struct Found {
        collectibles: Vec<Collectible>,
        page: Page,
    }
    let body = collection.body(json!({ "side": side, "filter": filter, "page": { "pageSize": ROWS_MAX } }));
    let answer = visit.ask::<Found>("Marketplace/ListCollectibles", &body).await;
    let Some(Ok(found)) = Refusal::unless_missing(Refusal::told(answer))? else { return Ok(Vec::new()) };
    let mut cards: Vec<Markup> =
        found.collectibles.iter().map(|row| parts::card(visit, collection, row, currencies)).collect();
    if found.page.more {
        cards.push(html! { li.token { a href=(collection.path) { (visit.say("account.more")) } } });
    }
    Ok(cards)
}
