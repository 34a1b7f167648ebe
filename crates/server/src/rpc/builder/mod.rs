//! Project audiences.

pub(crate) mod add_audience_contacts;
pub(crate) mod create_audience;
pub(crate) mod delete_audience;
pub(crate) mod get_audience;
pub(crate) mod list_audiences;
pub(crate) mod remove_audience_contacts;
pub(crate) mod types;
pub(crate) mod update_audience;
