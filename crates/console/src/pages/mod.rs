//! The pages, one file each.

mod account;
mod analytics;
mod audiences;
mod audit;
mod collections;
mod credentials;
mod explorer;
mod home;
mod hosted;
mod join;
mod members;
mod networks;
mod overview;
mod people;
mod projects;
mod second_factor;
mod sign_in;
mod storefront;
mod usage;
mod webhooks;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};

use super::page;
use crate::Console;

/// Every address of the console.
pub(super) fn routes() -> Router<Arc<Console>> {
    Router::new()
        .route("/console", get(home::show))
        .route("/console/", get(home::show))
        .route("/console/style.css", get(page::style))
        .route("/console/script.js", get(page::script))
        .route("/console/sign-in", get(sign_in::show).post(sign_in::enter))
        .route("/console/sign-in/code", get(sign_in::show_code).post(sign_in::enter_code))
        .route("/console/sign-out", post(sign_in::leave))
        .route("/console/join/{link}", get(join::show).post(join::accept))
        .route("/console/account", get(account::show))
        .route("/console/account/password", post(account::change_password))
        .route("/console/account/sign-out-everywhere", post(account::leave_everywhere))
        .route("/console/account/second-factor", get(second_factor::show))
        .route("/console/account/second-factor/begin", post(second_factor::begin))
        .route("/console/account/second-factor/confirm", post(second_factor::confirm))
        .route("/console/account/second-factor/renew", post(second_factor::renew))
        .route("/console/account/second-factor/off", post(second_factor::switch_off))
        .route("/console/people", get(people::show))
        .route("/console/people/invite", post(people::invite))
        .route("/console/people/invites/{invite}/revoke", post(people::revoke))
        .route("/console/people/{account}/remove", post(people::remove))
        .route("/console/audit", get(audit::show))
        .route("/console/audit/export", get(audit::export))
        .route("/console/networks", get(networks::show))
        .route("/console/networks/{chain}/{address}/unfollow", post(networks::unfollow))
        .route("/console/projects", get(projects::show).post(projects::create))
        .nest("/console/projects/{project}", of_project())
}

fn of_project() -> Router<Arc<Console>> {
    Router::new()
        .route("/", get(overview::show))
        .route("/rename", post(overview::rename))
        .route("/members", get(members::show))
        .route("/members/invite", post(members::invite))
        .route("/members/invites/{invite}/revoke", post(members::revoke))
        .route("/members/{account}/role", post(members::set_role))
        .route("/members/{account}/remove", post(members::remove))
        .route("/audit", get(audit::show_project))
        .route("/audit/export", get(audit::export_project))
        .merge(audiences::routes())
        .merge(collections::routes())
        .merge(analytics::routes())
        .route("/usage", get(usage::show))
        .merge(credentials::routes())
        .merge(explorer::routes())
        .merge(hosted::routes())
        .merge(storefront::routes())
        .merge(webhooks::routes())
}
