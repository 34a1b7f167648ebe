//! Editing the metadata of collections and tokens.

use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use bourse_wire::{Error, RecordId, TokenId};
use maud::{Markup, html};
use serde_json::{Value, json};

use super::record::{Draft, Subject, wanted, wants_rows};
use super::{path, titled, token as token_page};
use crate::access::{Member, Owner};
use crate::form::Form;
use crate::notice::Done;
use crate::page::Section;
use crate::refusal::{Refusal, Submission};
use crate::{Answer, notice, see_other};

/// What is edited, and how it is stored.
struct StoredRecord {
    subject: Subject,
    title: String,
    /// Where it is shown; it is edited one step further.
    home: String,
    metadata: Value,
    /// Whether a token is hidden; nothing that a collection's form asks for.
    is_private: Option<bool>,
}

pub(super) async fn collection(Owner(member): Owner) -> Answer {
    let edited = stored_collection(&member).await?;
    Ok(page(&member, &edited, &Draft::of(edited.subject, &edited.metadata), None))
}

pub(super) async fn token(Owner(member): Owner) -> Answer {
    let edited = stored_token(&member).await?;
    Ok(page(&member, &edited, &Draft::of(edited.subject, &edited.metadata), None))
}

pub(super) async fn save_collection(Owner(member): Owner, form: Form) -> Answer {
    let edited = stored_collection(&member).await?;
    let id: RecordId = member.id("collection")?;
    let metadata = wanted(edited.subject, &form, &edited.metadata);
    let body = metadata.map(|metadata| json!({ "collection": { "id": id, "metadata": metadata } }));
    save(&member, edited, &form, "Collections/UpdateCollection", body).await
}

pub(super) async fn save_token(Owner(member): Owner, form: Form) -> Answer {
    let mut edited = stored_token(&member).await?;
    let (collection, token): (RecordId, TokenId) = (member.id("collection")?, member.part("token")?);
    if !super::record::is_json(&form) {
        edited.is_private = Some(form.is_set("private"));
    }
    let private = edited.is_private;
    let metadata = wanted(edited.subject, &form, &edited.metadata);
    let body = metadata.map(|metadata| {
        json!({ "collectionId": collection, "tokenId": token, "token": metadata, "private": private })
    });
    save(&member, edited, &form, "Collections/UpdateToken", body).await
}

/// Saves what was typed, or shows the editor again with what was typed and why it was not saved.
async fn save(
    member: &Member,
    edited: StoredRecord,
    form: &Form,
    operation: &str,
    body: Result<Value, Error>,
) -> Answer {
    let draft = || Draft::of(edited.subject, &edited.metadata).typed(form);
    if wants_rows(form) {
        return Ok(page(member, &edited, &draft(), None));
    }
    let saved = match body {
        Ok(body) => member.ask(operation, &body).await.map(drop),
        Err(error) => Err(error.into()),
    };
    match Submission::of(saved)? {
        Submission::Accepted(()) => Ok(see_other(&Done::Changed.at(&edited.home))),
        Submission::Rejected(error) => {
            let page = page(member, &edited, &draft(), Some(&error));
            Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
        }
    }
}

/// Straight from the store: operations put the links of uploaded files where there are none, and what is edited is
/// saved.
async fn stored_collection(member: &Member) -> Result<StoredRecord, Refusal> {
    let id = member.id("collection")?;
    let hosted = member.console().store().hosted_collection(member.scope(), id).await?;
    Ok(StoredRecord {
        subject: Subject::Collection,
        title: titled(&hosted.metadata.name, format_args!("Collection {id}")),
        home: path(member, id, ""),
        metadata: json!(hosted.metadata),
        is_private: None,
    })
}

async fn stored_token(member: &Member) -> Result<StoredRecord, Refusal> {
    let hosted = token_page::stored(member, member.part("token")?).await?;
    let id = hosted.metadata.token_id;
    Ok(StoredRecord {
        subject: Subject::Token,
        title: titled(&hosted.metadata.name, format_args!("Token {id}")),
        home: token_page::path(member, member.id("collection")?, id, ""),
        metadata: json!(hosted.metadata),
        is_private: Some(hosted.private),
    })
}

fn page(member: &Member, edited: &StoredRecord, draft: &Draft, error: Option<&Error>) -> Response {
    let body = html! {
        p.trail {
            a href=(member.path("/hosted")) { "Hosted metadata" } " › " a href=(edited.home) { (edited.title) }
        }
        h1 { "Edit " (edited.title) }
        @if let Some(error) = error { (notice::refused(error)) }
        (form_editor(member, edited, draft))
        (json_editor(member, edited, draft))
    };
    member.page(Section::Hosted, "Edit metadata", &body)
}

fn form_editor(member: &Member, edited: &StoredRecord, draft: &Draft) -> Markup {
    html! {
        form.stacked.wide method="post" action={ (edited.home) "/edit" } {
            (member.visitor.form_token())
            (draft.fields())
            @if let Some(is_private) = edited.is_private {
                label.box {
                    input type="checkbox" name="private" value="yes" checked[is_private];
                    "private: hidden although its collection is published"
                }
            }
            div.buttons {
                button { "Save" }
                button.plain name="do" value="rows" { "More rows" }
                a.button.plain href=(edited.home) { "Cancel" }
            }
        }
    }
}

fn json_editor(member: &Member, edited: &StoredRecord, draft: &Draft) -> Markup {
    html! {
        details.panel open[draft.is_json_typed()] {
            summary { "Edit as JSON" }
            form.stacked.wide method="post" action={ (edited.home) "/edit" } {
                (member.visitor.form_token())
                input type="hidden" name="as" value="json";
                (draft.json_field())
                div.buttons {
                    button { "Save JSON" }
                    a.button.plain href=(edited.home) { "Cancel" }
                }
            }
        }
    }
}
