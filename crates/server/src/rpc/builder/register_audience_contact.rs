//! Signs a wallet up to an audience, by its own word.

use bourse_store::Registration;
use bourse_wire::{Address, ContactInput, Email, Error, ProjectId, RecordId, Text};
use schemars::JsonSchema;
use serde::Deserialize;

use super::types::OkAnswer;
use super::wallet_proof::{Purpose, WalletProof};
use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;

/// The wallet, and what it says of itself.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "RegisterAudienceContactRequest")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    /// The credential's own project, when given.
    project_id: Option<ProjectId>,
    /// Audience id. It must be open for registration.
    audience_id: RecordId,
    /// What the wallet says of itself.
    contact: RegisteredContactInput,
    /// That the wallet signed it.
    wallet_proof: WalletProof,
}
request!(Request, project_id);

/// What a wallet says of itself; what is left out stays as it is.
#[derive(Deserialize, JsonSchema)]
struct RegisteredContactInput {
    /// The wallet, if it is named here too.
    address: Option<Address>,
    /// Name, in one line.
    name: Option<Text<256>>,
    /// E-mail address.
    email: Option<Email>,
}

pub(crate) async fn handle(call: Call, request: Request) -> Result<OkAnswer, Failure> {
    let Request { audience_id, contact, wallet_proof: proof, .. } = request;
    if contact.address.is_some_and(|address| address != proof.address) {
        return Err(Error::invalid("contact.address", "must be the wallet of walletProof").into());
    }
    let (name, email) = (contact.name, contact.email);
    // One line in what is signed, which could else say something else as well.
    if name.as_ref().is_some_and(|name| name.as_str().contains(char::is_control)) {
        return Err(Error::invalid("contact.name", "must be one line").into());
    }
    let email_text = email.as_ref().map(Email::to_string);
    let purpose = Purpose::SignUp { name: name.as_ref().map(Text::as_str), email: email_text.as_deref() };
    proof.check(&call, audience_id, &purpose).await?;
    let contact = ContactInput { address: proof.address, name, email };
    let contacts_max = call.app.settings.limits.registered_contacts_max;
    let registration = Registration { contact, contacts_max };
    call.app.store.register_contact(call.scope(), audience_id, registration, call.now).await?;
    Ok(OkAnswer { ok: true })
}
