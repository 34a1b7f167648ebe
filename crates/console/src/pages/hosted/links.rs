//! Contracts whose metadata a collection serves.

use bourse_wire::{Code, ContractCollection, Error, RecordId};
use maud::{Markup, html};
use serde_json::json;

use super::collection::{Input, refused};
use super::path;
use crate::access::{Member, Owner};
use crate::form::Form;
use crate::notice::Done;
use crate::refusal::{Refusal, Submission};
use crate::{Answer, format, see_other};

pub(super) async fn create(Owner(member): Owner, form: Form) -> Answer {
    let collection = member.id("collection")?;
    match Submission::of(link(&member, collection, &form).await)? {
        Submission::Accepted(()) => Ok(see_other(&Done::Created.at(&path(&member, collection, "")))),
        Submission::Rejected(error) => {
            let (chain, contract) = (form.text("chain"), form.text("contract"));
            refused(&member, &Input { error: Some(&error), chain, contract, ..Input::default() }).await
        }
    }
}

pub(super) async fn remove(Owner(member): Owner, form: Form) -> Answer {
    let body = json!({ "chainId": form.text("chain"), "contractAddress": form.text("contract") });
    member.ask("Collections/DeleteContractCollection", &body).await?;
    Ok(see_other(&Done::Removed.at(&path(&member, member.id("collection")?, ""))))
}

/// Links a contract. One that another collection serves is taken over only if the form says so.
async fn link(member: &Member, collection: RecordId, form: &Form) -> Result<(), Refusal> {
    let link = json!({
        "chainId": Some(form.text("chain")).filter(|chain| !chain.is_empty()),
        "contractAddress": form.text("contract"),
        "collectionId": collection,
    });
    let body = json!({ "contractCollection": link });
    match member.ask("Collections/CreateContractCollection", &body).await {
        Err(Refusal::Refused(Error { code: Code::RequestConflict, .. })) if form.is_set("take_over") => {
            member.ask("Collections/UpdateContractCollection", &body).await.map(drop)
        }
        Err(Refusal::Refused(error)) if error.code == Code::RequestConflict => {
            let message =
                "this contract has a collection already: tick the box below to let it be served from here";
            Err(Error::new(error.code, message).into())
        }
        other => other.map(drop),
    }
}

pub(super) fn list(member: &Member, collection: RecordId, links: &[ContractCollection]) -> Markup {
    if links.is_empty() {
        return html! { p.empty { "No contract is linked with this collection." } };
    }
    let networks = &member.console().settings().networks;
    html! {
        div.scroll tabindex="0" {
            table {
                thead { tr {
                    th scope="col" { "Network" } th scope="col" { "Contract" }
                    th scope="col" { span.unseen { "Actions" } }
                } }
                tbody {
                    @for link in links {
                        tr {
                            td { (format::network(networks, link.chain_id)) }
                            td { code { (link.contract_address) } }
                            td.actions {
                                @if member.is_owner() {
                                    form method="post" action=(path(member, collection, "/contracts/remove"))
                                        data-confirm={ "Unlink " (link.contract_address) "?" } {
                                        (member.visitor.form_token())
                                        input type="hidden" name="chain" value=(link.chain_id);
                                        input type="hidden" name="contract" value=(link.contract_address);
                                        button.danger { "Unlink" span.unseen { " " (link.contract_address) } }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

pub(super) fn creation(member: &Member, collection: RecordId, typed: &Input<'_>) -> Markup {
    let is_typed = !typed.chain.is_empty() || !typed.contract.is_empty();
    html! {
        details.panel open[is_typed] {
            summary { "Link a contract" }
            form.stacked method="post" action=(path(member, collection, "/contracts")) {
                (member.visitor.form_token())
                label {
                    "Network, by name or number"
                    input name="chain" value=(typed.chain) list="networks" required;
                }
                datalist id="networks" {
                    @for network in &member.console().settings().networks { option value=(network.name) {} }
                }
                label {
                    "Contract"
                    input name="contract" value=(typed.contract) placeholder="0x…" maxlength="42" required spellcheck="false";
                }
                label.box {
                    input type="checkbox" name="take_over" value="yes";
                    "even if another collection serves it now"
                }
                button { "Link contract" }
            }
        }
    }
}
