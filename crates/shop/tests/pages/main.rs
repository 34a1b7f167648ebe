//! The shop, page by page, without a browser's engine: whole requests against a whole application, on a database of the
//! test's own.
//!
//! `STORE=sqlite` (the default) or `STORE=postgres` chooses the engine. The application and who calls it are those of the
//! server's tests.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]
#![expect(clippy::disallowed_methods, reason = "the seed comes from the environment or from the clock")]

mod crowds;
mod heads;
mod hosts;
mod markets;
mod pictures;
mod sales;
mod scale;
mod shops;
mod sitemaps;
mod sizes;
#[path = "../../../server/tests/suite/support/mod.rs"]
#[expect(dead_code, reason = "the server's tests need more of it")]
mod support;

use std::sync::Arc;

use bourse_pictures::Pictures;
use bourse_server::{App, Backstage, Entrance};
use bourse_shop::Languages;

/// What the support code has called: the service with its shops.
fn service(app: Arc<App>) -> Entrance {
    let pictures = Pictures::new(Backstage::new(Arc::clone(&app)));
    bourse_shop::with_shops(bourse_server::service(Arc::clone(&app)), app, pictures, Languages::default())
}
