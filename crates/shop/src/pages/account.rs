//! What an account has, sells, and is offered, in the collections of the shop; whoever has its wallet trades with all of it here.

use bourse_pages::format;
use bourse_pages::records::{Collectible, Currencies, Currency, Page};
use bourse_wire::Address;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::{Value, json};

use super::parts::{self, action, order_data};
use crate::Answer;
use crate::asking::{CollectionRef, Visit};
use crate::page::Head;
use crate::refusal::Refusal;

/// Collections that are looked through.
const LOOKED_AT: usize = 12;
/// Tokens of each list, and what those of all lists may take in the page, in bytes.
const CARDS_MAX: usize = 10;
const CARDS_BYTES_MAX: usize = 80_000;

/// A list of an account.
struct List {
    /// The key of its heading.
    heading: &'static str,
    side: &'static str,
    /// Whether it is of what the account holds, or of the orders that it made.
    is_held: bool,
    /// Whether tokens without an order belong to it.
    is_all: bool,
}

const LISTS: [List; 4] = [
    List { heading: "account.holds", side: "listing", is_held: true, is_all: true },
    List { heading: "account.sells", side: "listing", is_held: false, is_all: false },
    List { heading: "account.offered", side: "offer", is_held: true, is_all: false },
    List { heading: "account.wants", side: "offer", is_held: false, is_all: false },
];

impl List {
    /// Its tokens in a collection, as operations look for them.
    fn filter(&self, visit: &Visit, account: Address) -> Value {
        let whose = if self.is_held { "inAccounts" } else { "ordersCreatedBy" };
        json!({ whose: [account], "includeEmpty": self.is_all, "marketplaces": visit.marketplaces() })
    }

    /// The address of the page that shows all of them in a collection.
    fn address(&self, collection: &CollectionRef, account: Address) -> String {
        let whose = if self.is_held { "owner" } else { "maker" };
        let side = if self.side == "offer" { "&side=offer" } else { "" };
        let only = if self.is_all { "" } else { "&only=1" };
        format!("{}?{whose}={account}{side}{only}", collection.path)
    }
}

/// What is shown of a list so far, and how much more there is room for.
struct Shown {
    blocks: Vec<Markup>,
    cards_left: usize,
}

pub(super) async fn show(visit: Visit) -> Answer {
    let account: Address = visit.part("account")?;
    let market = visit.market().await?;
    let mut lists = LISTS.map(|_| Shown { blocks: Vec::new(), cards_left: CARDS_MAX });
    let mut room = CARDS_BYTES_MAX;
    for collection in market.iter().take(LOOKED_AT) {
        let currencies = visit.currencies(collection).await?;
        for (list, shown) in LISTS.iter().zip(&mut lists) {
            add(&visit, (collection, &currencies), (list, account), shown, &mut room).await?;
        }
    }
    let body = html! {
        h1 { (format::hex(account)) }
        p.soft { code { (account) } }
        @for (list, shown) in LISTS.iter().zip(&lists) {
            section {
                h2 { (visit.say(list.heading)) }
                @if shown.blocks.is_empty() { p.soft { (visit.say("account.nothing")) } }
                @for block in &shown.blocks { (block) }
            }
        }
    };
    let (path, title) = (visit.path(&format!("/a/{account}")), account.to_string());
    let head = Head { title: &title, description: "", path: &path, image: None, is_private: true };
    Ok(visit.page(&head, &Value::Null, &body))
}

/// Adds the tokens of a list in one collection, as far as there is room for them.
async fn add(
    visit: &Visit,
    (collection, currencies): (&CollectionRef, &Currencies),
    (list, account): (&List, Address),
    shown: &mut Shown,
    room: &mut usize,
) -> Result<(), Refusal> {
    #[derive(Deserialize)]
    struct Found {
        collectibles: Vec<Collectible>,
        page: Page,
    }
    // Where there is no room left, it is still told whether there is anything.
    let page = json!({ "pageSize": shown.cards_left.max(1) });
    let filter = list.filter(visit, account);
    let body = collection.body(json!({ "side": list.side, "filter": filter, "page": page }));
    let answer = visit.ask::<Found>("Marketplace/ListCollectibles", &body).await;
    let Some(Ok(found)) = Refusal::unless_missing(Refusal::told(answer))? else { return Ok(()) };
    let wanted = found.collectibles.len().min(if *room == 0 { 0 } else { shown.cards_left });
    let rows = &found.collectibles[..wanted];
    let trading = html! { (trading(visit, (collection, currencies), list, rows)) };
    if !rows.is_empty() {
        *room = room.saturating_sub(trading.0.len());
    }
    let cards = rows.iter().map(|row| card(visit, (collection, currencies), (list, account), row));
    let cards = parts::fitting(cards, room);
    shown.cards_left = if cards.len() < wanted { 0 } else { shown.cards_left - wanted };
    let is_more = found.page.more || cards.len() < found.collectibles.len();
    if cards.is_empty() && !is_more {
        return Ok(());
    }
    let more = || list.address(collection, account);
    shown.blocks.push(html! {
        ul.tokens data-collection=[(!cards.is_empty()).then_some(trading)] {
            @for card in &cards { (card) }
            @if is_more { li.token { a href=(more()) { (visit.say("account.more")) } } }
        }
    });
    Ok(())
}

/// What the script has to know to trade with these tokens, and no more: there may be many such blocks.
fn trading(
    visit: &Visit,
    (collection, currencies): (&CollectionRef, &Currencies),
    list: &List,
    rows: &[Collectible],
) -> Value {
    let orders = rows.iter().flat_map(|row| [&row.listing, &row.offer]).flatten();
    let used: Vec<Address> = orders.map(|order| order.price_currency_address).collect();
    // What is held can be put up for sale in any currency that there is here.
    let is_told = |known: &&Currency| {
        used.contains(&known.contract_address) || (list.is_all && parts::is_option(collection, known))
    };
    parts::trading_in(visit, collection, currencies, is_told)
}

/// A token of a list, with what whoever has the wallet of the account can do about it there.
fn card(
    visit: &Visit,
    (collection, currencies): (&CollectionRef, &Currencies),
    (list, account): (&List, Address),
    row: &Collectible,
) -> Markup {
    let token = &row.metadata;
    let order = if list.side == "offer" { &row.offer } else { &row.listing };
    let order = order.as_ref().map(|order| order_data(order, Some(token), currencies));
    let name = parts::token_name(visit, token);
    let act = match order {
        _ if list.is_all => {
            let data = json!({ "token": token.token_id, "name": parts::title(&name), "holder": account });
            action("list", &data, visit.say("token.list"))
        }
        None => html! {},
        Some(mut offer) if list.is_held => {
            offer["holder"] = json!(account);
            action("accept", &offer, visit.say("token.accept"))
        }
        Some(made) => action("cancel", &made, visit.say("token.cancel")),
    };
    let told = html! {
        // Where orders are looked for that the account made, those of others are not.
        @if list.is_held || row.listing.is_some() { (parts::for_sale(visit, row, currencies)) }
        (parts::best_offer(visit, row, currencies))
        p.acts { (act) }
    };
    parts::card_of(visit, collection, token, &told)
}
