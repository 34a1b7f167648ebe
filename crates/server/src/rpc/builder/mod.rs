//! Project audiences.

mod add_audience_contacts;
mod create_audience;
mod delete_audience;
mod get_audience;
mod get_audience_registration_public_status;
mod get_registered_audience_contact;
mod is_audience_contact_registered;
mod list_audiences;
mod register_audience_contact;
mod remove_audience_contacts;
mod types;
mod update_audience;
mod wallet_proof;

use crate::route::Credential::{AccessKey, SecretToken, ServiceKey};
use crate::route::Route;
use crate::route::Service::Builder;

/// The operations of this service.
pub(crate) fn operations() -> Vec<Route> {
    let mut operations = project_operations();
    operations.extend(wallet_operations());
    operations
}

/// What wallets do themselves, in audiences that are open for it.
fn wallet_operations() -> Vec<Route> {
    vec![
        Builder.writes(
            "RegisterAudienceContact",
            AccessKey,
            "Signs a wallet up to an audience that is open for it, by its signature.",
            register_audience_contact::handle,
        ).example(r#"{"audienceId":2,"contact":{"name":"Ada"},"walletProof":{"address":"0x00000000000000000000000000000000000000ad","message":"Audience registration","signature":"0x","chainId":80002}}"#),
        Builder.reads(
            "GetRegisteredAudienceContact",
            AccessKey,
            "Reads a wallet's own entry in an audience that is open for registration, by its signature.",
            get_registered_audience_contact::handle,
        ).example(r#"{"audienceId":2,"walletProof":{"address":"0x00000000000000000000000000000000000000ad","message":"Audience registration","signature":"0x","chainId":80002}}"#),
        Builder.reads(
            "IsAudienceContactRegistered",
            AccessKey,
            "Whether a wallet is in an audience that is open for registration.",
            is_audience_contact_registered::handle,
        ).example(r#"{"audienceId":2,"walletAddress":"0x00000000000000000000000000000000000000ad"}"#),
        Builder.reads(
            "GetAudienceRegistrationPublicStatus",
            AccessKey,
            "How many are in an audience that is open for registration.",
            get_audience_registration_public_status::handle,
        ).example(r#"{"audienceId":2}"#),
    ]
}

fn project_operations() -> Vec<Route> {
    vec![
        Builder.reads(
            "GetAudience",
            ServiceKey,
            "Reads an audience with its contacts and linked contracts. An access key must have been made for this service.",
            get_audience::handle,
        ).example(r#"{"projectId":1,"audienceId":1}"#),
        Builder.reads(
            "ListAudiences",
            AccessKey,
            "Lists the project's audiences.",
            list_audiences::handle,
        ),
        Builder.writes("CreateAudience", SecretToken, "Makes an audience.", create_audience::handle).example(r#"{"name":"Testers"}"#),
        Builder.writes("UpdateAudience", SecretToken, "Renames an audience, or opens and closes it for wallets that sign themselves up.", update_audience::handle),
        Builder.writes(
            "DeleteAudience",
            SecretToken,
            "Deletes an audience with its contacts and contract links.",
            delete_audience::handle,
        ),
        Builder.writes(
            "AddAudienceContacts",
            SecretToken,
            "Adds contacts, all or none. A contact is known by its address; adding it again updates it.",
            add_audience_contacts::handle,
        ).example(r#"{"audienceId":1,"contacts":[{"name":"Ada","address":"0x00000000000000000000000000000000000000ad","email":"ada@example.org"}]}"#),
        Builder.writes(
            "RemoveAudienceContacts",
            SecretToken,
            "Removes contacts. Those that are not there are no error.",
            remove_audience_contacts::handle,
        ),
    ]
}
