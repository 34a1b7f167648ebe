//! Files of collections and tokens.

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::IntoResponse as _;
use bourse_server::{AssetOwner, StoredFile};
use bourse_store::AssetRecord;
use bourse_wire::{Asset, Error, RecordId, Text, TokenId};
use maud::{Markup, html};
use serde_json::json;

use super::collection::{self, Input};
use super::{path, token};
use crate::access::{Member, Owner};
use crate::form::{Form, Upload};
use crate::notice::Done;
use crate::refusal::{Refusal, Submission};
use crate::{Answer, format, see_other};

/// The longest image that is written into a page itself, in bytes.
const INLINE_BYTES_MAX: usize = 16 * 1024;

/// Members of metadata that a file usually stands for.
const FIELDS: [&str; 4] = ["image", "animation_url", "video", "audio"];

pub(super) async fn upload_for_collection(Owner(member): Owner, form: Form) -> Answer {
    let owner = AssetOwner { collection: member.id("collection")?, token: None };
    uploaded(&member, owner, upload(&member, owner, &form).await).await
}

pub(super) async fn upload_for_token(Owner(member): Owner, form: Form) -> Answer {
    let owner = AssetOwner { collection: member.id("collection")?, token: Some(member.part("token")?) };
    uploaded(&member, owner, upload(&member, owner, &form).await).await
}

/// Puts another file in the place of the one that an asset has.
pub(super) async fn replace(Owner(member): Owner, form: Form) -> Answer {
    let known = find(&member).await?;
    let owner = AssetOwner { collection: known.collection, token: known.token_id };
    let put = async {
        let stored = store(&member, &form).await?;
        Ok(member.console().set_file(member.scope(), known.id, stored).await.map(drop)?)
    };
    uploaded(&member, owner, put.await).await
}

pub(super) async fn delete(Owner(member): Owner, _form: Form) -> Answer {
    let known = find(&member).await?;
    member.ask("Collections/DeleteAsset", &json!({ "assetId": known.id })).await?;
    let owner = AssetOwner { collection: known.collection, token: known.token_id };
    Ok(see_other(&Done::Removed.at(&home(&member, owner))))
}

/// The file, for members of the project, published or not.
pub(super) async fn file(member: Member, headers: HeaderMap) -> Answer {
    let known = find(&member).await?;
    let (status, mut headers, body) = member.console().asset_file(known, &headers).await?;
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    Ok((status, headers, body).into_response())
}

async fn upload(member: &Member, owner: AssetOwner, form: &Form) -> Result<(), Refusal> {
    if let Some(token) = owner.token {
        member.console().store().hosted_token(member.scope(), owner.collection, token).await?;
    } else {
        member.console().store().hosted_collection(member.scope(), owner.collection).await?;
    }
    let field: Text<64> = form.read("field")?;
    if field.as_str().is_empty() {
        return Err(Error::invalid("member", "say which member of the metadata the file stands for").into());
    }
    let stored = store(member, form).await?;
    member.console().set_file_of_member(member.scope(), owner, field, stored).await?;
    Ok(())
}

async fn store(member: &Member, form: &Form) -> Result<StoredFile, Refusal> {
    let chosen = form.file("file").ok_or_else(|| Error::invalid("file", "choose one that is not empty"))?;
    let Upload { filename, content, .. } = chosen;
    Ok(member.console().store_file(filename, content.clone()).await?)
}

/// Goes on to what has the file now, or shows why it has not.
async fn uploaded(member: &Member, owner: AssetOwner, result: Result<(), Refusal>) -> Answer {
    match Submission::of(result)? {
        Submission::Accepted(()) => Ok(see_other(&Done::Uploaded.at(&home(member, owner)))),
        Submission::Rejected(error) => match owner.token {
            Some(token) => {
                let page = token::page(member, token, Some(&error)).await?;
                Ok((StatusCode::UNPROCESSABLE_ENTITY, page).into_response())
            }
            None => collection::refused(member, &Input { error: Some(&error), ..Input::default() }).await,
        },
    }
}

fn home(member: &Member, owner: AssetOwner) -> String {
    match owner.token {
        Some(token) => token::path(member, owner.collection, token, ""),
        None => path(member, owner.collection, ""),
    }
}

/// The asset in the path, which is one of the collection in the path.
async fn find(member: &Member) -> Result<AssetRecord, Refusal> {
    let known = member.console().store().asset(member.scope(), member.id("asset")?).await?;
    if known.collection == member.id("collection")? { Ok(known) } else { Err(Refusal::missing("file")) }
}

/// An image that is kept here or is written out in the metadata. What is elsewhere is not fetched: whoever runs that
/// place would learn who looks.
pub(super) fn picture(member: &Member, collection: RecordId, image: &str) -> Markup {
    let ours = format!("{}/assets/", member.console().collection_url(member.project.id, collection));
    let kept = image.strip_prefix(&ours).and_then(|id| id.parse::<u64>().ok());
    let is_inline = image.starts_with("data:image/") && image.len() <= INLINE_BYTES_MAX;
    html! {
        @if let Some(id) = kept {
            img.picture src=(path(member, collection, &format!("/assets/{id}/file"))) alt="" loading="lazy";
        } @else if is_inline {
            img.picture src=(image) alt="";
        } @else {
            div.picture.none aria-hidden="true" { @if image.is_empty() { "no image" } @else { "image elsewhere" } }
        }
    }
}

pub(super) fn list(member: &Member, owner: AssetOwner, assets: &[Asset]) -> Markup {
    html! {
        @if assets.is_empty() {
            p.empty { "No file was uploaded." }
        } @else {
            div.scroll tabindex="0" {
                table {
                    thead { tr {
                        th scope="col" { "Stands for" } th scope="col" { "File" } th scope="col" { "Type" }
                        th.number scope="col" { "Bytes" } th scope="col" { "Size" } th scope="col" { "Changed" }
                        th scope="col" { span.unseen { "Actions" } }
                    } }
                    tbody { @for asset in assets { (row(member, asset)) } }
                }
            }
        }
        @if member.is_owner() { (upload_form(member, owner)) }
    }
}

fn row(member: &Member, asset: &Asset) -> Markup {
    let at = |rest: &str| path(member, asset.collection_id, &format!("/assets/{}{rest}", asset.id));
    let name = if asset.filename.is_empty() { format!("asset {}", asset.id) } else { asset.filename.clone() };
    html! {
        tr {
            th.name scope="row" { (asset.metadata_field) }
            td.text {
                @if asset.url.is_empty() { (name) " " span.soft { "(none yet)" } } @else { a href=(at("/file")) { (name) } }
            }
            td { (asset.mime_type) }
            td.number { @if asset.filesize > 0 { (format::number(asset.filesize)) } }
            td { @if let (Some(width), Some(height)) = (asset.width, asset.height) { (width) " × " (height) } }
            td { (format::time(asset.updated_at)) }
            td.actions {
                @if member.is_owner() {
                    form.inline method="post" enctype="multipart/form-data" action=(at("/file")) {
                        (member.visitor.form_token())
                        input type="file" name="file" required aria-label={ "Another file for " (name) };
                        button.plain { "Replace" span.unseen { " " (name) } }
                    }
                    form method="post" action=(at("/delete")) data-confirm={ "Delete " (name) "?" } {
                        (member.visitor.form_token())
                        button.danger { "Delete" span.unseen { " " (name) } }
                    }
                }
            }
        }
    }
}

fn upload_form(member: &Member, owner: AssetOwner) -> Markup {
    let id = owner.token.map_or_else(|| "fields".to_owned(), |token: TokenId| format!("fields-{token}"));
    html! {
        details.panel {
            summary { "Upload a file" }
            form.stacked method="post" enctype="multipart/form-data" action={ (home(member, owner)) "/assets" } {
                (member.visitor.form_token())
                label {
                    "The member of the metadata that it stands for"
                    input name="field" value="image" list=(id) maxlength="64" required;
                }
                datalist id=(id) { @for field in FIELDS { option value=(field) {} } }
                label { "File" input type="file" name="file" required; }
                p.hint { "Images, films, sounds and models, told by what is in them. The newest file for a member counts." }
                button { "Upload" }
            }
        }
    }
}
