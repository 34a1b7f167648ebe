//! How the networks are doing, and for administrators the service itself.

use axum::extract::Path;
use axum::response::Response;
use bourse_chain::{Phase, RateTeller, Snapshot};
use bourse_server::settings::Network;
use bourse_store::{CollectionKey, Followed};
use bourse_wire::{Address, ChainId, Currency, Timestamp};
use maud::{Markup, html};

use crate::access::{Administrator, Visitor};
use crate::form::Form;
use crate::notice::Done;
use crate::page::copyable;
use crate::refusal::Refusal;
use crate::{Answer, format, see_other};

/// Followed collections of a network that a page lists.
const COLLECTIONS_SHOWN: usize = 50;

/// A network, and what is known of it.
struct NetworkReport<'n> {
    network: &'n Network,
    /// How following it goes in this process; nothing without nodes.
    status: Option<Snapshot>,
    /// The newest block that was followed by whichever process.
    checkpoint: Option<u64>,
    followed: Vec<Followed>,
    currencies: Vec<Currency>,
}

pub(super) async fn show(visitor: Visitor) -> Answer {
    page(&visitor).await
}

/// Stops following a collection, whoever asked for it.
pub(super) async fn unfollow(
    Administrator(visitor): Administrator,
    Path((chain, address)): Path<(String, String)>,
    _form: Form,
) -> Answer {
    let console = &visitor.console;
    let chain = console.chain(&chain).map_err(|_| Refusal::missing("network"))?;
    let address: Address = address.parse().map_err(|_| Refusal::missing("collection"))?;
    let key = CollectionKey { chain, address };
    console.store().unfollow(key, visitor.actor()).await?;
    Ok(see_other(&Done::Unfollowed.at("/console/networks")))
}

async fn page(visitor: &Visitor) -> Result<Response, Refusal> {
    let console = &visitor.console;
    let currencies = console.store().currencies().await?;
    let is_used = |network: &&Network| {
        network.configured || currencies.iter().any(|currency| currency.chain_id.0 == network.id)
    };
    let (used, others): (Vec<&Network>, Vec<&Network>) =
        console.settings().networks.iter().partition(is_used);
    let mut networks = Vec::with_capacity(used.len());
    for network in used {
        networks.push(report(visitor, network, &currencies).await?);
    }
    let body = html! {
        h1 { "Networks" }
        @if networks.iter().all(|report| report.status.is_none()) { (nothing_followed()) }
        @for report in &networks { (section(visitor, report)) }
        @if !others.is_empty() {
            details.panel {
                summary { (others.len()) " more networks are known by name" }
                p.hint { "Requests may name them. Nothing of them is followed until the settings name a node." }
                ul.traits { @for network in others { li { (network.name) " " span.soft { (network.id) } } } }
            }
        }
        @if visitor.account.administrator { (service(visitor).await?) }
    };
    Ok(visitor.page("Networks", &body))
}

async fn report<'n>(
    visitor: &Visitor,
    network: &'n Network,
    currencies: &[Currency],
) -> Result<NetworkReport<'n>, Refusal> {
    let (store, chain) = (visitor.console.store(), ChainId(network.id));
    let state = store.chain_state(chain).await?;
    Ok(NetworkReport {
        network,
        status: visitor.console.nodes().get(chain).map(|nodes| nodes.status()),
        checkpoint: state.map(|state| state.checkpoint.number),
        followed: store.followed(chain).await?,
        currencies: currencies.iter().filter(|currency| currency.chain_id == chain).cloned().collect(),
    })
}

fn nothing_followed() -> Markup {
    let settings = "[networks.amoy]\nid = 80002\nrpc_url = \"https://YOUR_NODE\"";
    html! {
        div.empty {
            p {
                "No network has a node, so no chain is followed: what is shown of tokens, balances and orders is what was "
                "imported. Name a node in " code { "bourse.toml" } " and start the service again, then add a collection with "
                code { "bourse collection add" } "."
            }
            (copyable("network-settings", settings))
        }
    }
}

fn section(visitor: &Visitor, report: &NetworkReport) -> Markup {
    let network = report.network;
    html! {
        section.panel {
            h2 { (network.name) " " span.soft { "chain " (network.id) } }
            @if let Some(status) = &report.status {
                (progress(report, status))
                (collections(visitor, report))
            } @else {
                p.empty {
                    "Nothing of it is followed: it has no node. Set " code { "networks." (network.name) ".rpc_url" }
                    " and start the service again."
                }
            }
            (rates(report))
        }
    }
}

fn progress(report: &NetworkReport, status: &Snapshot) -> Markup {
    let checkpoint = status.checkpoint.map(|block| block.number).or(report.checkpoint);
    let lag = status.head.zip(checkpoint).map(|(head, checkpoint)| head.number.saturating_sub(checkpoint));
    let (words, is_bad) = match &status.phase {
        Phase::Starting => ("starting", false),
        Phase::Standby => ("another server follows it", false),
        Phase::CatchingUp => ("catching up", false),
        Phase::Live => ("live", false),
        Phase::Stopped { .. } => ("stopped", true),
    };
    let number = |number: Option<u64>| number.map_or_else(|| "not known yet".to_owned(), format::number);
    let live = report.followed.iter().filter(|followed| followed.live).count();
    html! {
        p { span.badge.bad[is_bad] { (words) } }
        @if let Phase::Stopped { message } = &status.phase { p.notice.refused { (message) } }
        dl.facts {
            dt { "Newest block" }
            dd { (number(status.head.map(|block| block.number))) @if let Some(head) = status.head { " · " (format::time(head.at)) } }
            dt { "Followed up to" } dd { (number(checkpoint)) }
            dt { "Blocks behind" } dd { (number(lag)) }
            dt { "Collections" } dd { (format::number(report.followed.len())) ", " (format::number(live)) " of them live" }
            dt { "Blocks taken back" } dd { (times(status.reorgs)) }
            dt { "Nodes" } dd { @for node in report.network.shown_nodes() { code { (node) } br; } }
            @if !status.nodes.is_empty() {
                dt { "Nodes in trouble" }
                dd {
                    @for one in &status.nodes {
                        code { (one.node) } " at " (format::time(one.trouble.at)) ": " (one.trouble.message) br;
                    }
                }
            }
            @if let Some(subscription) = &status.subscription {
                dt { "New blocks" }
                dd {
                    @if subscription.is_alive { "told by " } @else { "asked for, until they are told by " }
                    code { (subscription.node) }
                    @if let Some(trouble) = &subscription.trouble {
                        ", which last failed at " (format::time(trouble.at)) ": " (trouble.message)
                    }
                }
            }
            dt { "Requests to them" } dd { (format::number(status.requests)) }
            dt { "Errors" }
            dd {
                (format::number(status.errors))
                @if let Some(last) = &status.last_error { ", the last at " (format::time(last.at)) ": " (last.message) }
            }
        }
    }
}

fn times(count: u64) -> String {
    if count == 1 { "once".to_owned() } else { format!("{} times", format::number(count)) }
}

fn collections(visitor: &Visitor, report: &NetworkReport) -> Markup {
    if report.followed.is_empty() {
        return html! {
            p.soft {
                "No collection of it is followed yet. Add one with " code { "bourse collection add" } " or "
                code { "Admin/CreateCollection" } "."
            }
        };
    }
    let more = report.followed.len().saturating_sub(COLLECTIONS_SHOWN);
    let is_administrator = visitor.account.administrator;
    html! {
        details.snippet {
            summary { "Collections that are followed" }
            div.scroll tabindex="0" {
                table {
                    thead { tr {
                        th scope="col" { "Contract" } th.number scope="col" { "From block" }
                        th.number scope="col" { "Next block" } th scope="col" { "State" }
                        @if is_administrator { th scope="col" { span.unseen { "Actions" } } }
                    } }
                    tbody {
                        @for followed in report.followed.iter().take(COLLECTIONS_SHOWN) {
                            tr {
                                td { code { (followed.key.address) } }
                                td.number { (format::number(followed.from)) }
                                td.number { (format::number(followed.next_block)) }
                                td { @if followed.live { "live" } @else { "reading history" } }
                                @if is_administrator { td.actions { (leaving(visitor, followed)) } }
                            }
                        }
                    }
                }
            }
            @if more > 0 {
                p.soft {
                    "and " (format::number(more)) " more"
                    @if is_administrator { ": " code { "bourse collection list" } " has them all" }
                }
            }
        }
    }
}

fn leaving(visitor: &Visitor, followed: &Followed) -> Markup {
    let CollectionKey { chain, address } = followed.key;
    html! {
        form method="post" action={ "/console/networks/" (chain) "/" (address) "/unfollow" }
            data-confirm={
                "Stop following " (address) " for all projects? It is no longer kept up to date, and its holders and open "
                "orders are forgotten."
            } {
            (visitor.form_token())
            button.danger { "Stop following" span.unseen { " " (address) } }
        }
    }
}

/// Who tells what a currency is worth.
fn teller(report: &NetworkReport, currency: &Currency) -> String {
    let mut sources = report.network.following.rates.iter();
    match sources.find(|source| source.currency == currency.contract_address).map(|source| &source.teller) {
        Some(RateTeller::Link { url, .. }) => url.to_string(),
        Some(RateTeller::Operator(_)) => "the settings".to_owned(),
        None => "an import".to_owned(),
    }
}

fn rates(report: &NetworkReport) -> Markup {
    let told_at =
        |currency: &Currency| currency.rate.as_ref().map(|told| told.at).filter(|at| *at != Timestamp::ZERO);
    html! {
        @if !report.currencies.is_empty() {
            details.snippet {
                summary { "Currencies and what they are worth" }
                div.scroll tabindex="0" {
                    table {
                        thead { tr {
                            th scope="col" { "Currency" } th scope="col" { "Contract" }
                            th.number scope="col" { "US dollars a unit" } th scope="col" { "Told by" } th scope="col" { "At" }
                        } }
                        tbody {
                            @for currency in &report.currencies {
                                tr {
                                    th.name scope="row" { (currency.symbol) " " span.soft { (currency.name) } }
                                    td { (format::hex(currency.contract_address)) }
                                    td.number {
                                        @match &currency.rate { Some(told) => (told.rate), None => span.soft { "not known" } }
                                    }
                                    td { (teller(report, currency)) }
                                    td { (format::time_or(told_at(currency), "not known")) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

async fn service(visitor: &Visitor) -> Result<Markup, Refusal> {
    let console = &visitor.console;
    let schema = console.store().schema_state().await?;
    let seconds = (console.now().unix_nanos() - console.started_at().unix_nanos()) / 1_000_000_000;
    Ok(html! {
        section {
            h2 { "This service" }
            dl.facts {
                dt { "Version" } dd { (env!("CARGO_PKG_VERSION")) }
                dt { "Runs since" } dd { (format::time(console.started_at())) " · " (duration(seconds)) }
                dt { "Database" } dd { (console.store().engine_name()) }
                dt { "Schema" }
                dd { (schema.applied) @if schema.applied != schema.known { " (this program knows " (schema.known) ")" } }
                dt { "Data directory" } dd { code { (console.settings().storage.data.display()) } }
                dt { "Public address" } dd { code { (console.settings().public_url()) } }
            }
        }
    })
}

/// So many seconds, in the two largest units that they fill.
fn duration(seconds: i128) -> String {
    let units = [(86_400, "d"), (3_600, "h"), (60, "min"), (1, "s")];
    let mut rest = seconds.max(0);
    let mut words = Vec::new();
    for (length, unit) in units {
        if rest >= length || !words.is_empty() || unit == "s" {
            words.push(format!("{} {unit}", rest / length));
            rest %= length;
        }
    }
    words.truncate(2);
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::duration;

    #[test]
    fn durations_read_well() {
        for (seconds, text) in
            [(-5, "0 s"), (59, "59 s"), (60, "1 min 0 s"), (3_725, "1 h 2 min"), (90_061, "1 d 1 h")]
        {
            assert_eq!(duration(seconds), text);
        }
    }
}
