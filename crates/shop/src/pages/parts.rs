//! What several pages show: tokens as cards, orders for the script, names, what happened.

use bourse_pages::format;
use bourse_pages::price;
use bourse_pages::records::{Activity, Collectible, Currencies, Order};
use bourse_pictures::Size;
use bourse_wire::{ActivityAction, Address, Amount, ContractInfo, TokenId, TokenMetadata};
use maud::{Markup, html};
use serde_json::{Value, json};

use super::images;
use crate::asking::{CollectionRef, Visit};

/// Characters of a name that are shown.
const NAME_CHARS: usize = 120;

/// What a collection is called.
pub(super) fn collection_name(collection: &CollectionRef, info: Option<&ContractInfo>) -> String {
    let name = info.map_or("", |info| info.name.trim());
    if name.is_empty() { collection.key.address.to_string() } else { name.chars().take(NAME_CHARS).collect() }
}

/// What a token is called.
pub(super) fn token_name(visit: &Visit, token: &TokenMetadata) -> String {
    match token.name.trim() {
        "" => visit.words.say_of("token.unnamed", &token.token_id.to_string()),
        name => name.chars().take(NAME_CHARS).collect(),
    }
}

/// What the script has to know of a collection to trade in it.
pub(super) fn trading(visit: &Visit, collection: &CollectionRef, currencies: &Currencies) -> Value {
    let trading = &collection.trading;
    let networks = &visit.shop.backstage.settings().networks;
    let allowed = currencies.all.iter().filter(|known| {
        trading.currency_options.is_empty() || trading.currency_options.contains(&known.contract_address)
    });
    let told = |currency: &bourse_pages::records::Currency| json!({ "address": currency.contract_address, "symbol": currency.symbol, "decimals": currency.decimals });
    json!({
        "chain": collection.key.chain.0,
        "network": format::network(networks, collection.key.chain),
        "address": collection.key.address,
        "path": collection.path,
        "type": trading.contract_type,
        "market": trading.destination_marketplace,
        "feeBps": fee_bps(visit, collection),
        "coin": coin(currencies),
        "currencies": allowed.map(told).collect::<Vec<_>>(),
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
        "name": token.map(|token| token.name.chars().take(NAME_CHARS).collect::<String>()),
    })
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
    let token = &row.metadata;
    html! {
        li.token data-token=(token.token_id) {
            a.portrait href=(collection.token(token.token_id)) tabindex="-1" aria-hidden="true" {
                (images::of_token(visit, collection, token, Size::Medium))
            }
            div.told {
                h3 { a href=(collection.token(token.token_id)) { bdi { (token_name(visit, token)) } } }
                @match &row.listing {
                    Some(listing) => {
                        p.price { (price::of_order(listing, currencies)) }
                        p.acts {
                            (action("buy", &order_data(listing, Some(token), currencies), visit.say("token.buy")))
                            (action("basket", &order_data(listing, Some(token), currencies), visit.say("token.to_basket")))
                        }
                    }
                    None => p.price.soft { (visit.say("token.not_listed")) },
                }
                @if let Some(offer) = &row.offer {
                    p.soft { (visit.say("token.best_offer")) " " (price::of_order(offer, currencies)) }
                }
            }
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
