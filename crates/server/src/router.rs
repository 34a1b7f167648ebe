//! All operations. Each service has its table in `rpc/<service>/mod.rs`; everything that has a list of operations derives
//! it from here.

use std::ops::Deref;
use std::sync::Arc;

use hashbrown::HashMap;

use crate::metrics::{Metrics, OperationMetrics};
use crate::route::{Route, Service};
use crate::rpc::{
    admin, analytics, builder, collections, indexer, ingest, marketplace, metadata, storefront,
};

/// Every operation.
pub fn operations() -> Vec<Route> {
    let pings = Service::ALL.into_iter().map(Route::ping);
    pings.chain(Service::ALL.into_iter().flat_map(operations_of)).collect()
}

fn operations_of(service: Service) -> Vec<Route> {
    match service {
        Service::Metadata => metadata::operations(),
        Service::Collections => collections::operations(),
        Service::Marketplace => marketplace::operations(),
        Service::Builder => builder::operations(),
        Service::Analytics => analytics::operations(),
        Service::Indexer => indexer::operations(),
        Service::IndexerGateway => indexer::gateway::operations(),
        Service::Ingest => ingest::operations(),
        Service::Admin => admin::operations(),
        Service::Storefront => storefront::operations(),
    }
}

/// An operation with its metrics.
pub(crate) struct Registered {
    pub(crate) route: Arc<Route>,
    pub(crate) metrics: OperationMetrics,
}

impl Deref for Registered {
    type Target = Route;

    fn deref(&self) -> &Route {
        &self.route
    }
}

/// The operations by service and name.
pub(crate) struct Routes(HashMap<&'static str, HashMap<&'static str, Registered>>);

impl Routes {
    pub(crate) fn new(metrics: &Metrics) -> Self {
        let mut routes: HashMap<_, HashMap<_, _>> = HashMap::new();
        for route in operations() {
            let metrics = metrics.operation(route.service.short(), route.name);
            let (service, name) = (route.service.name(), route.name);
            routes.entry(service).or_default().insert(name, Registered { route: Arc::new(route), metrics });
        }
        Self(routes)
    }

    pub(crate) fn find(&self, service: &str, operation: &str) -> Option<&Registered> {
        self.0.get(service)?.get(operation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::route::{Credential, Effect};

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
            "Toggle",
            "Pause",
            "Resume",
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

    /// Credential and effect are compared, too: who reads that table sees a wrong one.
    #[test]
    fn the_documentation_tells_of_every_operation() {
        let page = include_str!("../../../docs/operations.md");
        for route in operations() {
            let credential = match route.credential {
                Credential::None => "none",
                Credential::AccessKey | Credential::ServiceKey => "access key",
                Credential::SecretToken => "secret token",
            };
            let effect = match route.effect {
                Effect::Reads => "reads",
                Effect::Writes => "writes",
            };
            let path = format!("{}/{}", route.service.name(), route.name);
            let row = format!("\n| {path} | {} | {credential} | {effect} |", route.summary);
            assert!(page.contains(&row), "docs/operations.md lacks the row {row}");
        }
    }
}
