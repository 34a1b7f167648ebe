//! The table of operations. Everything that has a list of operations derives it from here.

mod admin;
mod analytics;
mod builder;
mod collections;
mod ingest;
mod marketplace;
mod metadata;

use std::ops::Deref;
use std::sync::Arc;

use hashbrown::HashMap;

use crate::metrics::{Metrics, OperationMetrics};
use crate::route::{Route, Service};

/// Every operation.
pub fn operations() -> Vec<Route> {
    let mut operations: Vec<Route> = Service::ALL.into_iter().map(Route::ping).collect();
    operations.extend(metadata::operations());
    operations.extend(collections::operations());
    operations.extend(marketplace::operations());
    operations.extend(builder::operations());
    operations.extend(analytics::operations());
    operations.extend(ingest::operations());
    operations.extend(admin::operations());
    operations
}

/// An operation with its metrics.
pub(crate) struct Registered {
    route: Route,
    pub(crate) metrics: OperationMetrics,
}

impl Deref for Registered {
    type Target = Route;

    fn deref(&self) -> &Route {
        &self.route
    }
}

/// The operations by service and name.
pub(crate) struct Routes(HashMap<&'static str, HashMap<&'static str, Arc<Registered>>>);

impl Routes {
    pub(crate) fn new(metrics: &Metrics) -> Self {
        let mut routes: HashMap<_, HashMap<_, _>> = HashMap::new();
        for route in operations() {
            let metrics = metrics.operation(route.service.short(), route.name);
            let (service, name) = (route.service.name(), route.name);
            routes.entry(service).or_default().insert(name, Arc::new(Registered { route, metrics }));
        }
        Self(routes)
    }

    pub(crate) fn find(&self, service: &str, operation: &str) -> Option<Arc<Registered>> {
        self.0.get(service)?.get(operation).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_of_the_interface_is_routed_once() {
        let mut names: Vec<String> = operations().iter().map(Route::path).collect();
        let all = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all);
        let interface = [
            "Metadata/TokenCollectionFilters",
            "Metadata/SearchTokenMetadata",
            "Metadata/GetTokenMetadataBatch",
            "Metadata/GetContractInfoBatch",
            "Collections/GetToken",
            "Marketplace/ListCollectibles",
            "Marketplace/GetCountOfFilteredCollectibles",
            "Marketplace/GetFloorOrder",
            "Marketplace/ListListingsForCollectible",
            "Marketplace/GetHighestPriceListingForCollectible",
            "Marketplace/GenerateBuyTransaction",
            "Builder/GetAudience",
            "Analytics/ComputeByService",
            "Analytics/WalletsMonthly",
            "Analytics/WalletsDaily",
            "Analytics/WalletsTxnSentDaily",
            "Analytics/MarketWalletsDaily",
            "Analytics/MarketWalletsMonthly",
            "Analytics/D7RetentionByCohort",
            "Analytics/D1RetentionByCohort",
            "Analytics/TotalNewWallets",
        ];
        for name in interface {
            assert!(names.contains(&format!("/rpc/{name}")), "{name}");
        }
    }

    /// Every operation with its effect, its credential and whether viewers of a project may call it: who reads this
    /// list sees a wrong one.
    #[test]
    fn every_operation_declares_its_effect() {
        let rows = operations().into_iter().filter(|route| route.name != "Ping").map(|route| {
            let viewers = if route.is_for_viewers() { "viewers" } else { "owners" };
            let path = format!("{}/{}", route.service.name(), route.name);
            format!("{path} {:?} {:?} {viewers}", route.effect, route.credential)
        });
        insta::assert_snapshot!(rows.collect::<Vec<_>>().join("\n"), @"");
    }

    #[test]
    fn viewers_change_nothing() {
        let all = operations();
        let own = all.iter().filter(|route| !route.is_for_viewers()).map(Route::path);
        let words = [
            "Create",
            "Update",
            "Delete",
            "Publish",
            "Unpublish",
            "Add",
            "Remove",
            "Put",
            "Cancel",
            "Invalidate",
            "Track",
        ];
        let changes =
            |path: &String| words.iter().any(|word| path.split('/').nth(3).unwrap().starts_with(word));
        let own: Vec<String> = own.collect();
        assert!(own.len() > 20, "{own:?}");
        for route in &all {
            let path = route.path();
            assert_eq!(changes(&path), own.contains(&path), "{path}");
        }
    }

    #[test]
    fn the_readme_tells_of_every_operation() {
        let readme = include_str!("../../../../README.md");
        for route in operations() {
            let row = format!(
                "
| {}/{} | ",
                route.service.name(),
                route.name
            );
            assert!(readme.contains(&row), "README.md lacks the row {row}");
        }
    }
}
