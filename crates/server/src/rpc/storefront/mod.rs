//! Storefronts.

mod lookup_marketplace;

use crate::route::Credential::AccessKey;
use crate::route::Route;
use crate::route::Service::Storefront;

/// The operations of this service.
pub(crate) fn operations() -> Vec<Route> {
    vec![
        Storefront
            .reads(
                "LookupMarketplace",
                AccessKey,
                "The storefront of a project: its looks, what trades in it, and what it sells.",
                lookup_marketplace::handle,
            )
            .example(r#"{"projectId":1}"#),
    ]
}
