//! Operations on audiences.

use crate::route::Credential::{AccessKey, SecretToken};
use crate::route::Route;
use crate::route::Service::Builder;
use crate::rpc::builder as b;

pub(super) fn operations() -> Vec<Route> {
    vec![
        Builder.reads(
            "GetAudience",
            AccessKey,
            "Reads an audience with its contacts and linked contracts.",
            b::get_audience::handle,
        ).example(r#"{"projectId":1,"audienceId":1}"#),
        Builder.reads(
            "ListAudiences",
            AccessKey,
            "Lists the project's audiences.",
            b::list_audiences::handle,
        ),
        Builder.writes("CreateAudience", SecretToken, "Makes an audience.", b::create_audience::handle).example(r#"{"name":"Testers"}"#),
        Builder.writes("UpdateAudience", SecretToken, "Renames an audience.", b::update_audience::handle),
        Builder.writes(
            "DeleteAudience",
            SecretToken,
            "Deletes an audience with its contacts and contract links.",
            b::delete_audience::handle,
        ),
        Builder.writes(
            "AddAudienceContacts",
            SecretToken,
            "Adds contacts, all or none. A contact is known by its address; adding it again updates it.",
            b::add_audience_contacts::handle,
        ).example(r#"{"audienceId":1,"contacts":[{"name":"Ada","address":"0x00000000000000000000000000000000000000ad","email":"ada@example.org"}]}"#),
        Builder.writes(
            "RemoveAudienceContacts",
            SecretToken,
            "Removes contacts. Those that are not there are no error.",
            b::remove_audience_contacts::handle,
        ),
    ]
}
