//! The pages, one file each.

mod account;
mod basket;
mod collection;
mod filters;
mod home;
pub(crate) mod images;
mod parts;
mod sale;
mod shops;
mod sitemap;
mod token;

use std::sync::Arc;

use axum::Router;
use axum::routing::get;

use crate::{Shop, page};

/// Every address of the shops.
pub(super) fn routes() -> Router<Arc<Shop>> {
    Router::new()
        .route("/", get(shops::front))
        .route("/robots.txt", get(shops::robots))
        .route("/shop", get(shops::show))
        .route("/shop/", get(shops::show))
        .route("/shop/style.css", get(page::style))
        .route("/shop/script.js", get(page::script))
        .route("/shop/words/{language}", get(page::words))
        .nest("/shop/{project}", of_project())
}

fn of_project() -> Router<Arc<Shop>> {
    Router::new()
        .route("/", get(home::show))
        .route("/theme.css", get(page::theme))
        .route("/logo/image", get(images::logo))
        .route("/icon/image", get(images::icon))
        .route("/sitemap.xml", get(sitemap::show))
        .route("/sitemap/pages.xml", get(sitemap::pages))
        .route("/c/{chain}/{address}", get(collection::show))
        .route("/c/{chain}/{address}/sitemap/{page}", get(sitemap::tokens))
        .route("/c/{chain}/{address}/{token}", get(token::show))
        .route("/c/{chain}/{address}/{token}/image", get(images::show))
        .route("/basket", get(basket::show))
        .route("/sale/{chain}/{address}", get(sale::show))
        .route("/sale/{chain}/{address}/{token}/image", get(images::sold))
        .route("/a/{account}", get(account::show))
}
