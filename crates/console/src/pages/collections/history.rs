//! Who said what of a collection, or of one of its orders.

use axum::http::Uri;
use bourse_server::logbook;
use bourse_store::{Attribution, AttributionPage};
use bourse_wire::{Marketplace, OrderKey, ServiceName};
use maud::{Markup, html};

use super::CollectionRef;
use super::contract::{self, About};
use crate::access::Member;
use crate::form::Form;
use crate::page::Section;
use crate::refusal::Refusal;
use crate::{Answer, format};

/// Entries on a page.
const ROWS_MAX: u64 = 50;

pub(super) async fn show(member: Member, uri: Uri) -> Answer {
    let query = Form::of_query(uri.query().unwrap_or_default());
    let collection = CollectionRef::of(&member)?;
    let about = About::ask(&member, &collection).await?;
    let service = ServiceName::new(&member.console().settings().service.name);
    let order = order_key(&query, &service)?;
    let before = query.text("before").parse::<u64>().ok();
    let page = AttributionPage { before, limit: ROWS_MAX };
    let store = member.console().store();
    let (found, more_before) = if let Some(order) = &order {
        let of_order = store.order_attributions(collection.key, order.clone(), page).await?;
        (of_order.found, of_order.more_before)
    } else {
        let found = store.attributions(collection.key, page).await?;
        let is_full = found.len() as u64 == ROWS_MAX;
        let last = found.last().filter(|_| is_full).map(|last| last.version);
        (found, last)
    };
    let here = match &order {
        Some(order) => order_path(&collection, &order.marketplace.word(&service), &order.order_id),
        None => format!("{}/history", collection.path),
    };
    let older = more_before.map(|version| {
        let sign = if order.is_some() { '&' } else { '?' };
        format!("{here}{sign}before={version}")
    });
    let body = html! {
        (contract::heading(&member, &collection, &about))
        h2 {
            @match &order {
                Some(order) => { "History of order " code { (order.order_id) } }
                None => { "History" }
            }
        }
        p.soft {
            "Who stated what, the newest first. Of what the chain states, orders are kept. "
            a href=(collection.path) { "Back to the collection" }
        }
        @if !found.is_empty() { (table(&member, &collection, &service, &found)) }
        @else if more_before.is_some() { p.empty { "Nothing so far: there is more to look through." } }
        @else { p.empty { "Nobody stated anything, or it was too long ago." } }
        nav.pages aria-label="Pages" {
            @if before.is_some() { a rel="first" href=(here) { "← Newest" } }
            @if let Some(older) = older { a rel="next" href=(older) { "Older →" } }
        }
    };
    Ok(member.page(Section::Collections, "History", &body))
}

/// Where the history of an order is.
pub(super) fn order_path(collection: &CollectionRef, marketplace: &str, order_id: &str) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("marketplace", marketplace).append_pair("order", order_id);
    format!("{}/history?{}", collection.path, query.finish())
}

fn order_key(query: &Form, service: &ServiceName) -> Result<Option<OrderKey>, Refusal> {
    if query.text("order").is_empty() {
        return Ok(None);
    }
    let marketplace = Marketplace::parse(query.text("marketplace"), service);
    let marketplace = marketplace.ok_or_else(|| Refusal::missing("marketplace"))?;
    Ok(Some(OrderKey { marketplace, order_id: query.text("order").to_owned() }))
}

fn table(
    member: &Member,
    collection: &CollectionRef,
    service: &ServiceName,
    found: &[Attribution],
) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label="History" {
            table {
                thead { tr {
                    th.number scope="col" { "Version" } th scope="col" { "When" } th scope="col" { "Who" }
                    th scope="col" { "What" } th scope="col" { "Orders" }
                } }
                tbody { @for one in found { tr {
                    td.number { (format::number(one.version)) }
                    td { (format::time(one.at)) }
                    td { bdi { (author(member, one)) } }
                    td { (logbook::attribution_counts(one)) }
                    td {
                        @for key in one.order_keys.iter().take(3) {
                            a href=(order_path(collection, &key.marketplace.word(service), &key.order_id)) {
                                (format::hex(&key.order_id))
                            } " "
                        }
                        @if one.orders > 3 && one.order_keys.len() > 1 { span.soft { "…" } }
                    }
                } } }
            }
        }
    }
}

/// Who said it. Which project it was is told to administrators, and to its own members.
fn author(member: &Member, attribution: &Attribution) -> String {
    let author = &attribution.author;
    let is_own = author.sender().is_some_and(|sender| sender.project == member.project.id);
    if member.visitor.account.administrator || is_own { author.full_name() } else { author.public_name() }
}
