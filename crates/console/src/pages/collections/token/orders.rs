//! The listings of a token, and the offers for it.

use bourse_pages::price;
use bourse_pages::records::{Count, Currencies, Order, Page};
use bourse_wire::Timestamp;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::json;

use super::{TokenPage, TokenQuery};
use crate::pages::collections::CollectionRef;
use crate::pages::collections::history::order_path;
use crate::refusal::{Refusal, Submission};
use crate::{format, notice};

/// Rows of a list on the page.
pub(super) const ROWS_MAX: u64 = 10;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Listings,
    Offers,
}

impl Side {
    /// The list's name in addresses, its heading, and the operations that list and count it.
    fn words(self) -> (&'static str, &'static str, &'static str, &'static str) {
        match self {
            Self::Listings => (
                "listings",
                "Listings",
                "Marketplace/ListListingsForCollectible",
                "Marketplace/GetCountOfListingsForCollectible",
            ),
            Self::Offers => (
                "offers",
                "Offers",
                "Marketplace/ListOffersForCollectible",
                "Marketplace/GetCountOfOffersForCollectible",
            ),
        }
    }
}

#[derive(Deserialize)]
struct Answer {
    #[serde(alias = "listings", alias = "offers")]
    orders: Vec<Order>,
    page: Page,
}

pub(super) async fn section(page: &TokenPage<'_>, side: Side) -> Result<Markup, Refusal> {
    let TokenPage { member, collection, token, query, .. } = *page;
    let (list, heading, listing, counting) = side.words();
    let rows = json!({ "page": query.page(list), "pageSize": ROWS_MAX });
    let body = collection.body(json!({ "tokenId": token, "page": rows }));
    let answer = match Submission::of(member.ask_as::<Answer>(listing, &body).await)?.into_result() {
        Ok(answer) => answer,
        Err(error) => return Ok(html! { section { h2 { (heading) } (notice::refused(&error)) } }),
    };
    let Count { count } = member.ask_as(counting, &collection.body(json!({ "tokenId": token }))).await?;
    Ok(html! {
        section id=(list) {
            h2 { (heading) " " span.tally { (format::number(count)) } }
            @if answer.orders.is_empty() { p.soft { "There are none right now." } } @else {
                div.scroll tabindex="0" role="region" aria-label=(heading) { (table(page, &answer.orders, side)) }
                (pages(&answer.page, &collection.token(token, ""), list, query))
            }
        }
    })
}

fn table(page: &TokenPage<'_>, orders: &[Order], side: Side) -> Markup {
    let maker = if side == Side::Listings { "Seller" } else { "Buyer" };
    html! {
        table {
            thead { tr {
                th scope="col" { "Price of one" } th.number scope="col" { "Quantity" } th scope="col" { "Marketplace" }
                th scope="col" { (maker) } th.number scope="col" { "Fees" } th scope="col" { "Until" } th scope="col" { "Order" }
            } }
            tbody { @for order in orders { (row(page.collection, order, page.currencies)) } }
        }
    }
}

fn row(collection: &CollectionRef, order: &Order, currencies: &Currencies) -> Markup {
    let until = Some(order.valid_until).filter(|until| *until != Timestamp::ZERO);
    let fees: Vec<String> = order
        .fee_breakdown
        .iter()
        .map(|fee| format!("{} {} to {}", fee.kind, percent(fee.bps), fee.recipient_address))
        .collect();
    html! {
        tr {
            td { (price::of_order(order, currencies)) }
            td.number title=(order.quantity_available) { (price::decimal(&order.quantity_available_formatted)) }
            td { (order.marketplace.replace('_', " ")) }
            td { (format::hex(order.created_by)) }
            td.number title=(fees.join(", ")) { (percent(order.fee_bps)) }
            td { (format::time_or(until, "no end")) }
            td title={ "since " (order.created_at) } {
                a href=(order_path(collection, &order.marketplace, &order.order_id)) { (format::hex(&order.order_id)) }
            }
        }
    }
}

/// Basis points as a percentage, exactly.
fn percent(bps: i64) -> String {
    let (sign, bps) = (if bps < 0 { "-" } else { "" }, bps.unsigned_abs());
    match bps % 100 {
        0 => format!("{sign}{} %", bps / 100),
        part => format!("{sign}{}.{} %", bps / 100, format!("{part:02}").trim_end_matches('0')),
    }
}

/// The way to the other pages of a list.
pub(super) fn pages(page: &Page, path: &str, list: &str, query: &TokenQuery) -> Markup {
    html! {
        @if page.page > 1 || page.more {
            nav.pages aria-label={ "Pages of " (list) } {
                @if page.page > 1 { a.button.plain href=(query.link(path, list, page.page - 1)) { "← Previous" } }
                span.soft { "Page " (format::number(page.page)) }
                @if page.more { a.button.plain href=(query.link(path, list, page.page + 1)) { "Next →" } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn basis_points_are_percentages() {
        for (bps, text) in [(0, "0 %"), (250, "2.5 %"), (5, "0.05 %"), (10_000, "100 %"), (-110, "-1.1 %")] {
            assert_eq!(percent(bps), text);
        }
    }
}
