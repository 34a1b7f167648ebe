//! What is known of a contract.

use bourse_store::Followed;
use bourse_wire::{ContractInfo, ContractType, MetadataStatus, Timestamp};
use maud::{Markup, html};
use serde_json::json;

use super::browse;
use super::records::contract_info;
use super::{CollectionRef, images};
use crate::Answer;
use crate::access::{Member, Owner};
use crate::form::Form;
use crate::notice::Done;
use crate::refusal::{Refusal, Submission};
use crate::{format, see_other};

/// Characters of a contract's name and of its description that are shown.
const NAME_CHARS: usize = 120;
const DESCRIPTION_CHARS: usize = 2_000;

/// A contract, and whether its chain is followed for it.
pub(super) struct About {
    /// What it is called, or the start of its address.
    pub(super) name: String,
    info: Option<ContractInfo>,
    followed: Option<Followed>,
    /// Whether it is followed because this project asked for it.
    is_followed_here: bool,
}

impl About {
    pub(super) async fn ask(member: &Member, collection: &CollectionRef) -> Result<Self, Refusal> {
        let info = contract_info(member, collection).await?;
        let store = member.console().store();
        let followed = store.following(collection.key).await?;
        let is_followed_here = match &followed {
            Some(followed) => store.is_follower(member.scope(), followed.id).await?,
            None => false,
        };
        Ok(Self { name: name(collection, info.as_ref()), info, followed, is_followed_here })
    }
}

/// What a contract is called.
pub(super) fn name(collection: &CollectionRef, info: Option<&ContractInfo>) -> String {
    let name: String = info.map_or("", |info| info.name.trim()).chars().take(NAME_CHARS).collect();
    if name.is_empty() {
        let address = collection.key.address.to_string();
        return format!("{}…", address.get(..10).unwrap_or_default());
    }
    name
}

/// Asks for the contract, or for all of its tokens, to be fetched anew.
pub(super) async fn refresh(Owner(member): Owner, form: Form) -> Answer {
    let collection = CollectionRef::of(&member)?;
    let operation = match form.text("what") {
        "tokens" => "Metadata/RefreshAllContractTokens",
        _ => "Metadata/RefreshContractInfo",
    };
    match Submission::of(member.ask(operation, &collection.body(json!({}))).await)? {
        Submission::Accepted(_) => Ok(see_other(&Done::Queued.at(&collection.path))),
        Submission::Rejected(error) => browse::refused(&member, &collection, &error).await,
    }
}

/// Stops following the contract for the project.
pub(super) async fn unfollow(Owner(member): Owner, _form: Form) -> Answer {
    let collection = CollectionRef::of(&member)?;
    match Submission::of(member.ask("Admin/DeleteCollection", &collection.body(json!({}))).await)? {
        Submission::Accepted(_) => Ok(see_other(&Done::Unfollowed.at(&collection.path))),
        Submission::Rejected(error) => browse::refused(&member, &collection, &error).await,
    }
}

/// The contract's name with its picture, and what it is.
pub(super) fn heading(member: &Member, collection: &CollectionRef, about: &About) -> Markup {
    let info = about.info.as_ref();
    let kind = info.map_or(ContractType::Unknown, |info| info.r#type);
    html! {
        nav.crumbs aria-label="Breadcrumb" { a href=(member.path("/collections")) { "Collections" } }
        header.titled {
            (images::of_contract(collection, info))
            div {
                h1 { bdi { (about.name) } }
                p.badges {
                    @if kind != ContractType::Unknown { span.badge { (kind) } }
                    span.badge { (collection.network) }
                    @if info.is_some_and(|info| info.extensions.verified) { span.badge { "verified" } }
                    @if about.followed.is_some() { span.badge { "followed" } }
                    (format::hex(collection.key.address))
                }
            }
        }
    }
}

/// Whether the chain is followed for a collection, and how far that is.
pub(super) fn following(followed: Option<&Followed>) -> Markup {
    html! {
        @match followed {
            None => span.soft { "not followed" },
            Some(followed) if followed.live => { "live, at block " (format::number(followed.next_block.saturating_sub(1))) }
            Some(followed) => { "reading history, next is block " (format::number(followed.next_block)) }
        }
    }
}

/// How far fetching is.
pub(super) fn state(source: &str, status: Option<MetadataStatus>, queued_at: Option<Timestamp>) -> Markup {
    html! {
        @match status.filter(|_| source == "contract") {
            None => { "imported" }
            Some(status) => {
                code { (status) } " "
                span.soft {
                    @match status {
                        MetadataStatus::NotAvailable => { "nothing was fetched so far" }
                        MetadataStatus::Refreshing => { "it is being fetched anew; what is shown was known before" }
                        MetadataStatus::Available => { "it was fetched" }
                    }
                    @if let Some(at) = queued_at { ", waiting since " (format::time(at)) }
                }
            }
        }
    }
}

/// An instant that is the zero time where nobody knows it.
pub(super) fn known_time(at: Timestamp) -> Markup {
    format::time_or(Some(at).filter(|at| *at != Timestamp::ZERO), "not known")
}

pub(super) fn facts(member: &Member, collection: &CollectionRef, about: &About) -> Markup {
    let networks = &member.console().settings().networks;
    html! {
        details.panel.about {
            summary { "About the contract" }
            dl.facts {
                dt { "Address" } dd { code { (collection.key.address) } }
                dt { "Network" } dd { (collection.network) ", chain " (collection.key.chain) }
                dt { "Following" } dd { (following(about.followed.as_ref())) }
                @if let Some(info) = &about.info {
                    dt { "Type" } dd { (info.r#type) @if !info.symbol.is_empty() { ", " bdi { (info.symbol) } } }
                    @if !info.extensions.description.is_empty() {
                        dt { "Description" } dd.long { (format::shortened(&info.extensions.description, DESCRIPTION_CHARS)) }
                    }
                    @if !info.extensions.link.is_empty() { dt { "Website" } dd { (format::web_link(&info.extensions.link)) } }
                    @if info.extensions.verified { dt { "Verified by" } dd { bdi { (info.extensions.verified_by) } } }
                    @if info.extensions.origin_address != collection.key.address {
                        dt { "Comes from" }
                        dd {
                            code { (info.extensions.origin_address) }
                            @if info.extensions.origin_chain_id != 0 {
                                " on " (format::network(networks, bourse_wire::ChainId(info.extensions.origin_chain_id)))
                            }
                        }
                    }
                    dt { "Information" } dd { (state(&info.source, info.status, info.queued_at)) }
                    dt { "Changed" } dd { (known_time(info.updated_at)) }
                }
            }
            p { a href={ (collection.path) "/history" } { "Who stated what of it" } }
            @if member.is_owner() {
                (refreshing(member, collection))
                @if about.is_followed_here { (leaving(member, collection, about)) }
            }
        }
    }
}

fn leaving(member: &Member, collection: &CollectionRef, about: &About) -> Markup {
    let consequence = "It is no longer kept up to date, and its holders and open orders are forgotten, unless another \
        project or the operator follows it.";
    html! {
        form method="post" action={ (collection.path) "/unfollow" }
            data-confirm={ "Stop following " (about.name) "? " (consequence) } {
            (member.visitor.form_token())
            p.hint { (consequence) }
            button.danger { "Stop following" }
        }
    }
}

fn refreshing(member: &Member, collection: &CollectionRef) -> Markup {
    let button = |what: &str, text: &str| {
        html! {
            form method="post" action={ (collection.path) "/refresh" } {
                (member.visitor.form_token())
                input type="hidden" name="what" value=(what);
                button.plain { (text) }
            }
        }
    };
    html! {
        div.buttons {
            (button("contract", "Fetch the contract anew"))
            (button("tokens", "Fetch the metadata of all tokens anew"))
        }
    }
}
