//! What several pages show: tokens as cards, orders for the script, names, what happened.

use bourse_pages::format;
use bourse_pages::price;
use bourse_pages::records::{Activity, Collectible, Currencies, Currency, Order};
use bourse_pictures::Size;
use bourse_wire::{ActivityAction, Address, Amount, ContractInfo, TokenId, TokenMetadata};
use maud::{Markup, html};
use serde_json::{Value, json};

use super::images;
use crate::asking::{CollectionRef, Visit};

/// Characters of a name that are shown, and what it may take in the page: some have to be written longer there than they are.
const NAME_CHARS: usize = 120;
const NAME_BYTES: usize = 300;
/// What it may take once more for the script, which puts it into titles.
const TITLE_BYTES: usize = 100;
/// Currencies that somebody can choose from.
const CURRENCIES_MAX: usize = 40;

/// The start of a text that somebody else wrote: so many characters at most, and so many bytes in a page.
pub(super) fn bounded(text: &str, chars_max: usize, bytes_max: usize) -> &str {
    let mut bytes = 0;
    let mut letters = text.char_indices().enumerate();
    let end = letters.find(|(place, (_, letter))| {
        bytes += match letter {
            '"' => "\\&quot;".len(),
            '&' => "&amp;".len(),
            '<' | '>' => "&lt;".len(),
            '\\' => 2,
            letter if letter.is_control() => "\\u0000".len(),
            letter => letter.len_utf8(),
        };
        *place == chars_max || bytes > bytes_max
    });
    end.map_or(text, |(_, (end, _))| &text[..end])
}

/// The same in its own direction, with a sign where there is more of it.
pub(super) fn shortened(text: &str, (chars_max, bytes_max): (usize, usize)) -> Markup {
    let short = bounded(text, chars_max, bytes_max);
    html! { bdi { (short) @if short.len() < text.len() { "…" } } }
}

/// As many parts of a page as there is room for, in bytes; the first in any case.
pub(super) fn fitting(parts: impl Iterator<Item = Markup>, room: &mut usize) -> Vec<Markup> {
    let mut found = Vec::new();
    for part in parts {
        if part.0.len() > *room && !found.is_empty() {
            break;
        }
        *room = room.saturating_sub(part.0.len());
        found.push(part);
    }
    found
}

/// What a collection is called.
pub(super) fn collection_name(collection: &CollectionRef, info: Option<&ContractInfo>) -> String {
    let name = info.map_or("", |info| info.name.trim());
    if name.is_empty() {
        collection.key.address.to_string()
    } else {
        bounded(name, NAME_CHARS, NAME_BYTES).to_owned()
    }
}

/// What a token is called.
pub(super) fn token_name(visit: &Visit, token: &TokenMetadata) -> String {
    match token.name.trim() {
        "" => visit.words.say_of("token.unnamed", &token.token_id.to_string()),
        name => bounded(name, NAME_CHARS, NAME_BYTES).to_owned(),
    }
}

/// What the script has to know of a collection to trade in it.
pub(super) fn trading(visit: &Visit, collection: &CollectionRef, currencies: &Currencies) -> Value {
    trading_in(visit, collection, currencies, |known| is_option(collection, known))
}

/// Whether orders of a collection can be made in a currency.
pub(super) fn is_option(collection: &CollectionRef, known: &Currency) -> bool {
    let options = &collection.trading.currency_options;
    options.is_empty() || options.contains(&known.contract_address)
}

/// The same with some of the currencies.
pub(super) fn trading_in(
    visit: &Visit,
    collection: &CollectionRef,
    currencies: &Currencies,
    is_told: impl Fn(&&Currency) -> bool,
) -> Value {
    let trading = &collection.trading;
    let networks = &visit.shop.backstage.settings().networks;
    let told = |currency: &Currency| json!({ "address": currency.contract_address, "symbol": currency.symbol, "decimals": currency.decimals });
    json!({
        "chain": collection.key.chain.0,
        "network": format::network(networks, collection.key.chain),
        "address": collection.key.address,
        "path": collection.path,
        "type": trading.contract_type,
        "market": trading.destination_marketplace,
        "feeBps": fee_bps(visit, collection),
        "coin": coin(currencies),
        "currencies": currencies.all.iter().filter(is_told).take(CURRENCIES_MAX).map(told).collect::<Vec<_>>(),
    })
}

/// What the chain's own coin is called, in which values of transactions are, whether or not anything is sold for it.
pub(super) fn coin(currencies: &Currencies) -> Option<&str> {
    currencies.get(Address::ZERO).map(|coin| coin.symbol.as_str())
}

/// What the operator takes of a trade, in basis points.
pub(super) fn fee_bps(visit: &Visit, collection: &CollectionRef) -> u64 {
    let site = &visit.storefront().site;
    if site.fee_receiver.is_none() {
        return 0;
    }
    let percent = collection.trading.fee_percentage;
    if percent <= 0.0 {
        return site.fee_bps.into();
    }
    // Two digits of a percentage, which is between 0 and 100.
    format!("{:.0}", percent * 100.0).parse().unwrap_or_default()
}

/// An order as the script needs it.
pub(super) fn order_data(order: &Order, token: Option<&TokenMetadata>, currencies: &Currencies) -> Value {
    let currency = currencies.get(order.price_currency_address);
    json!({
        "id": order.order_id,
        "market": order.marketplace,
        "maker": order.created_by,
        "price": order.price_amount,
        "currency": order.price_currency_address,
        "symbol": currency.map(|known| known.symbol.as_str()),
        "decimals": currency.map(|known| known.decimals),
        "available": order.quantity_available,
        "token": token.map(|token| token.token_id),
        "name": token.map(|token| title(&token.name)),
    })
}

/// A name as the script needs it.
pub(super) fn title(name: &str) -> &str {
    bounded(name.trim(), NAME_CHARS, TITLE_BYTES)
}

/// A button that only the script can do something with, and so shows.
pub(super) fn action(act: &str, data: &Value, label: &str) -> Markup {
    html! { button.act type="button" data-act=(act) data-order=(data) hidden { (label) } }
}

/// A token as a card.
pub(super) fn card(
    visit: &Visit,
    collection: &CollectionRef,
    row: &Collectible,
    currencies: &Currencies,
) -> Markup {
    let told = html! {
        (for_sale(visit, row, currencies))
        (best_offer(visit, row, currencies))
    };
    card_of(visit, collection, &row.metadata, &told)
}

/// The same with what is told of the token.
pub(super) fn card_of(
    visit: &Visit,
    collection: &CollectionRef,
    token: &TokenMetadata,
    told: &Markup,
) -> Markup {
    html! {
        li.token data-token=(token.token_id) {
            a.portrait href=(collection.token(token.token_id)) tabindex="-1" aria-hidden="true" {
                (images::of_token(visit, &collection.picture(token.token_id), token, Size::Medium))
            }
            div.told {
                h3 { a href=(collection.token(token.token_id)) { bdi { (token_name(visit, token)) } } }
                (told)
            }
        }
    }
}

/// For how much a token can be bought.
pub(super) fn for_sale(visit: &Visit, row: &Collectible, currencies: &Currencies) -> Markup {
    let data = |listing| order_data(listing, Some(&row.metadata), currencies);
    html! {
        @match &row.listing {
            Some(listing) => {
                p.price { (price::of_order(listing, currencies)) }
                p.acts {
                    (action("buy", &data(listing), visit.say("token.buy")))
                    (action("basket", &data(listing), visit.say("token.to_basket")))
                }
            }
            None => p.price.soft { (visit.say("token.not_listed")) },
        }
    }
}

/// The best offer for a token, where there is one.
pub(super) fn best_offer(visit: &Visit, row: &Collectible, currencies: &Currencies) -> Markup {
    html! {
        @if let Some(offer) = &row.offer {
            p.soft { (visit.say("token.best_offer")) " " (price::of_order(offer, currencies)) }
        }
    }
}

/// What stands in the place of a token's picture: the first letter of its name.
pub(super) fn letter(token: &TokenMetadata) -> Markup {
    let letter: String = token.name.trim().chars().take(1).collect();
    html! { span.picture { bdi { (letter) } } }
}

/// Units as people read them; nothing of one.
pub(super) fn units(quantity: Amount) -> Markup {
    html! { @if quantity != Amount::from(1) { span.units { (format::number(quantity)) " × " } } }
}

/// What happened, as rows of a table.
pub(super) fn history(visit: &Visit, activities: &[Activity], currencies: &Currencies) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label=(visit.say("history.title")) {
            table {
                thead { tr {
                    th scope="col" { (visit.say("history.when")) } th scope="col" { (visit.say("history.what")) }
                    th scope="col" { (visit.say("history.price")) } th scope="col" { (visit.say("history.from")) }
                    th scope="col" { (visit.say("history.to")) }
                } }
                tbody { @for activity in activities {
                    tr {
                        td { (format::time(activity.activity_created_at)) }
                        td { (visit.say(word(activity.action))) }
                        td { (units(activity.quantity)) (price_of(activity, currencies)) }
                        td { (account(visit, activity.from)) }
                        td { @if let Some(to) = activity.to { (account(visit, to)) } }
                    }
                } }
            }
        }
    }
}

/// The price of what happened, where it has one.
pub(super) fn price_of(activity: &Activity, currencies: &Currencies) -> Markup {
    let priced = activity.price_amount.zip(activity.price_currency_address);
    let formatted = activity.price_amount_formatted.as_deref().unwrap_or_default();
    html! { @if let Some((amount, currency)) = priced { (price::amount(amount, formatted, currency, currencies)) } }
}

/// An account, as a way to its page.
pub(super) fn account(visit: &Visit, account: Address) -> Markup {
    html! { a href=(visit.path(&format!("/a/{account}"))) { (format::hex(account)) } }
}

fn word(action: ActivityAction) -> &'static str {
    match action {
        ActivityAction::Unknown => "history.unknown",
        ActivityAction::Listing => "history.listed",
        ActivityAction::Offer => "history.offered",
        ActivityAction::Mint => "history.minted",
        ActivityAction::Sale => "history.sold",
        ActivityAction::ListingCancel => "history.listing_cancelled",
        ActivityAction::OfferCancel => "history.offer_cancelled",
        ActivityAction::Transfer => "history.transferred",
    }
}

/// A token's number, shortened where it is long.
pub(super) fn number(token: TokenId) -> Markup {
    html! { span.id { "#" (format::hex(token)) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_others_take_so_much_and_no_more() {
        assert_eq!(bounded("Relic", 10, 10), "Relic");
        assert_eq!(bounded("Relic", 4, 10), "Reli");
        assert_eq!(bounded("ééé", 10, 5), "éé");
        assert_eq!(bounded("\"\"\"", 10, 20), "\"\"");
        let hostile = "\"&<>\\\u{1}é".repeat(100);
        let written = html! { p title=(json!(bounded(&hostile, 500, 300))) {} }.into_string();
        assert!((280..=330).contains(&written.len()), "{} {written}", written.len());
    }

    #[test]
    fn what_does_not_fit_is_left_out_but_for_the_first() {
        let parts = |bytes: &[usize]| {
            let parts: Vec<Markup> = bytes.iter().map(|bytes| html! { ("x".repeat(*bytes)) }).collect();
            let mut room = 10;
            let found = fitting(parts.into_iter(), &mut room).len();
            (found, room)
        };
        assert_eq!(parts(&[4, 4, 4, 1]), (2, 2));
        assert_eq!(parts(&[40, 1]), (1, 0));
    }
}
