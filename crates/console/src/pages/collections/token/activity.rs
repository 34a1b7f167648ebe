//! What happened to a token.

use bourse_pages::price;
use bourse_pages::records::{Activity, Currencies, Page};
use bourse_wire::ActivityAction;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::json;

use super::TokenPage;
use super::orders::{ROWS_MAX, pages};
use crate::format;
use crate::refusal::Refusal;

const LIST: &str = "activity";

#[derive(Deserialize)]
struct Answer {
    activities: Vec<Activity>,
    page: Page,
}

pub(super) async fn section(page: &TokenPage<'_>) -> Result<Markup, Refusal> {
    let TokenPage { member, collection, token, query, currencies } = *page;
    let page = json!({ "page": query.page(LIST), "pageSize": ROWS_MAX });
    let body = collection.body(json!({ "tokenId": token, "page": page }));
    let answer: Answer = member.ask_as("Marketplace/ListCollectibleActivities", &body).await?;
    Ok(html! {
        section id=(LIST) {
            h2 { "Activity" }
            @if answer.activities.is_empty() { p.soft { "Nothing is known to have happened." } } @else {
                div.scroll tabindex="0" role="region" aria-label="Activity" {
                    table {
                        thead { tr {
                            th scope="col" { "When" } th scope="col" { "What" } th scope="col" { "Price of one" }
                            th.number scope="col" { "Quantity" } th scope="col" { "From" } th scope="col" { "To" }
                            th scope="col" { "Where" }
                        } }
                        tbody { @for activity in &answer.activities { (row(activity, currencies)) } }
                    }
                }
                (pages(&answer.page, &collection.token(token, ""), LIST, query))
            }
        }
    })
}

fn row(activity: &Activity, currencies: &Currencies) -> Markup {
    let priced = activity.price_amount.zip(activity.price_currency_address);
    let formatted = activity.price_amount_formatted.as_deref().unwrap_or_default();
    html! {
        tr {
            td { (format::time(activity.activity_created_at)) }
            td { (word(activity.action)) }
            td { @if let Some((amount, currency)) = priced { (price::amount(amount, formatted, currency, currencies)) } }
            td.number { (format::number(activity.quantity)) }
            td { (format::hex(activity.from)) }
            td { @if let Some(to) = activity.to { (format::hex(to)) } }
            td {
                @if activity.tx_hash.is_empty() { (activity.source.replace('_', " ")) }
                @else { (format::hex(&activity.tx_hash)) }
            }
        }
    }
}

fn word(action: ActivityAction) -> &'static str {
    match action {
        ActivityAction::Unknown => "not known",
        ActivityAction::Listing => "listed",
        ActivityAction::Offer => "offer made",
        ActivityAction::Mint => "minted",
        ActivityAction::Sale => "sold",
        ActivityAction::ListingCancel => "listing cancelled",
        ActivityAction::OfferCancel => "offer cancelled",
        ActivityAction::Transfer => "transferred",
    }
}
