//! Project audiences.

mod add_audience_contacts;
mod create_audience;
mod delete_audience;
mod get_audience;
mod list_audiences;
mod remove_audience_contacts;
mod types;
mod update_audience;

use crate::route::Credential::{AccessKey, SecretToken, ServiceKey};
use crate::route::Route;
use crate::route::Service::Builder;

/// The operations of this service.
pub(crate) fn operations() -> Vec<Route> {
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
        Builder.writes("UpdateAudience", SecretToken, "Renames an audience.", update_audience::handle),
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
