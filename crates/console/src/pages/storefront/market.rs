//! How a collection trades.

use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use bourse_wire::{
    Address, ChainId, Error, FilterCondition, FilterExclusion, FilterSettings, MarketCollectionTerms,
    Storefront,
};
use maud::{Markup, html};

use super::fields::{Fields, one_a_line, read_lines};
use super::{Drafts, find, put, settle};
use crate::access::{Member, Owner};
use crate::form::Form;
use crate::notice::Done;
use crate::page::Section;
use crate::refusal::{Refusal, Submission};
use crate::{Answer, format, notice, see_other};

pub(super) fn path(member: &Member, chain: ChainId, address: Address) -> String {
    member.path(&format!("/storefront/market/{chain}/{address}"))
}

/// Has a collection trade that is in no market of the project's.
pub(super) async fn add(Owner(member): Owner, form: Form) -> Answer {
    let mut storefront = find(&member).await?;
    let added = named(&member, &form)
        .map(|(chain, address)| terms_of(&mut storefront, chain, address).hidden = false);
    let added = match added {
        Ok(()) => put(&member, &storefront).await,
        Err(error) => Err(error.into()),
    };
    settle(&member, added, Done::Added, &Drafts::default()).await
}

fn named(member: &Member, form: &Form) -> Result<(ChainId, Address), Error> {
    Ok((member.console().chain(form.text("chain"))?, form.read("contract")?))
}

/// What is said of how a collection trades, which is as usual at first.
fn terms_of(storefront: &mut Storefront, chain: ChainId, address: Address) -> &mut MarketCollectionTerms {
    let all = &mut storefront.market_collections;
    let is_this = |terms: &MarketCollectionTerms| (terms.chain_id, terms.items_address) == (chain, address);
    let place = all.iter().position(is_this).unwrap_or_else(|| {
        all.push(MarketCollectionTerms::usual(chain, address));
        all.len() - 1
    });
    &mut all[place]
}

fn asked_for(member: &Member) -> Result<(ChainId, Address), Refusal> {
    let chain = member.console().chain(member.name("chain")).map_err(|_| Refusal::missing("page"))?;
    Ok((chain, member.part("address")?))
}

pub(super) async fn edit(Owner(member): Owner) -> Answer {
    let (chain, address) = asked_for(&member)?;
    let mut storefront = find(&member).await?;
    Ok(page(&member, terms_of(&mut storefront, chain, address), &Fields::default(), None))
}

pub(super) async fn save(Owner(member): Owner, form: Form) -> Answer {
    let (chain, address) = asked_for(&member)?;
    let mut storefront = find(&member).await?;
    let known = terms_of(&mut storefront, chain, address).clone();
    let saved = match wanted(&form, &known) {
        Ok(terms) => {
            *terms_of(&mut storefront, chain, address) = terms;
            put(&member, &storefront).await
        }
        Err(error) => Err(error.into()),
    };
    match Submission::of(saved)? {
        Submission::Accepted(()) => Ok(see_other(&Done::Changed.at(&member.path("/storefront")))),
        Submission::Rejected(error) => {
            let page = page(&member, &known, &Fields::typed(&form), Some(&error));
            Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
        }
    }
}

fn wanted(form: &Form, known: &MarketCollectionTerms) -> Result<MarketCollectionTerms, Error> {
    let filter_order = read_lines(form, "filter_order")?;
    let exclusions =
        form.lines("exclusions").iter().map(|line| exclusion(line)).collect::<Result<Vec<_>, _>>()?;
    let is_filtered = !filter_order.is_empty() || !exclusions.is_empty();
    Ok(MarketCollectionTerms {
        hidden: form.is_set("hidden"),
        banner_url: form.read_if_set("banner")?.unwrap_or_default(),
        fee_percentage: form.read_if_set("fee")?.unwrap_or_default(),
        currency_options: read_lines(form, "currencies")?,
        destination_marketplace: form.read_if_set("destination")?.unwrap_or_default(),
        filter_settings: is_filtered.then_some(FilterSettings { filter_order, exclusions }),
        sort_order: form.read_if_set("place")?,
        private: form.is_set("private"),
        ..known.clone()
    })
}

/// A property, or a property and a value of it with `=` between.
fn exclusion(line: &str) -> Result<FilterExclusion, Error> {
    let wrong = |error| Error::invalid("exclusions", error);
    let (key, value) = match line.split_once('=') {
        Some((key, value)) => (key.trim(), Some(value.trim())),
        None => (line, None),
    };
    let condition = if value.is_some() { FilterCondition::SpecificValue } else { FilterCondition::EntireKey };
    let value = value.map(str::parse).transpose().map_err(wrong)?;
    Ok(FilterExclusion { key: key.parse().map_err(wrong)?, condition, value })
}

fn shown(exclusion: &FilterExclusion) -> String {
    match &exclusion.value {
        Some(value) => format!("{} = {}", exclusion.key.as_str(), value.as_str()),
        None => exclusion.key.as_str().to_owned(),
    }
}

fn page(
    member: &Member,
    terms: &MarketCollectionTerms,
    fields: &Fields<'_>,
    error: Option<&Error>,
) -> Response {
    let filters = terms.filter_settings.clone().unwrap_or_default();
    let order: Vec<&str> = filters.filter_order.iter().map(bourse_wire::Text::as_str).collect();
    let exclusions: Vec<String> = filters.exclusions.iter().map(shown).collect();
    let place = terms.sort_order.map(|place| place.to_string()).unwrap_or_default();
    let networks = &member.console().settings().networks;
    let body = html! {
        p.trail { a href=(member.path("/storefront")) { "Storefront" } }
        h1 { "How " (format::hex(terms.items_address)) " trades" }
        p { "On " (format::network(networks, terms.chain_id)) "." }
        @if let Some(error) = error { (notice::refused(error)) }
        form.stacked.panel method="post" action=(path(member, terms.chain_id, terms.items_address)) {
            (member.visitor.form_token())
            (fields.line("Fee of a trade, in percent", "fee", &terms.fee_percentage.to_string()))
            (fields.lines(
                "Currencies to trade in, by address, one a line; all that are known when there are none",
                "currencies",
                &one_a_line(&terms.currency_options),
            ))
            (fields.line(
                "Where new orders go; the service's own marketplace when it is empty",
                "destination",
                terms.destination_marketplace.as_str(),
            ))
            (fields.line("Picture across its page, as a link", "banner", terms.banner_url.as_str()))
            (fields.lines("Properties to filter by, in their order, one a line", "filter_order", &one_a_line(&order)))
            (fields.lines(
                "Properties that nobody filters by, or one value of one (name = value), one a line",
                "exclusions",
                &one_a_line(&exclusions),
            ))
            (fields.line("Its place among the others, the lowest first", "place", &place))
            (fields.tick("for whoever has a key of this project only", "private", terms.private))
            (fields.tick("left out", "hidden", terms.hidden))
            div.buttons {
                button { "Save" }
                a.button.plain href=(member.path("/storefront")) { "Cancel" }
            }
        }
    };
    member.page(Section::Storefront, "How a collection trades", &body)
}

/// Those that are left out, so that they can be taken in again.
pub(super) fn hidden(member: &Member, storefront: &Storefront) -> Markup {
    let hidden: Vec<_> = storefront.market_collections.iter().filter(|terms| terms.hidden).collect();
    html! {
        @if !hidden.is_empty() {
            p {
                "Left out: "
                @for terms in hidden {
                    a href=(path(member, terms.chain_id, terms.items_address)) { (terms.items_address) } " "
                }
            }
        }
    }
}

pub(super) fn addition(member: &Member) -> Markup {
    html! {
        details.panel {
            summary { "Another collection" }
            p { "Of a collection that is not in the project's market, what is known here is shown." }
            form.inline method="post" action=(member.path("/storefront/market")) {
                (member.visitor.form_token())
                label { "Network" input name="chain" required; }
                label { "Contract" input name="contract" required; }
                button { "Have it trade" }
            }
        }
    }
}
