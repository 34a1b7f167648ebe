//! What projects say of their storefronts.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

use bourse_store::testing::{TestDatabase, operator};
use bourse_store::{Act, AuditPage, Extent, ProjectScope, StoreError};
use bourse_wire::{Code, Storefront};

fn at(domain: &str) -> Storefront {
    Storefront { domain: domain.parse().unwrap(), ..Storefront::default() }
}

#[tokio::test]
async fn a_storefront_is_its_project_s_and_a_host_is_one_project_s() {
    let database = TestDatabase::fresh().await.unwrap();
    let store = database.open().await.unwrap();
    let mut scopes = Vec::new();
    for name in ["one", "other"] {
        let project = store.create_project(name.parse().unwrap(), operator()).await.unwrap();
        scopes.push(ProjectScope::of_operator(project.id));
    }
    assert_eq!(store.storefront(scopes[0]).await.unwrap(), None);
    let put = store.put_storefront(scopes[0], at("shop.example"), operator()).await.unwrap();
    assert_eq!(store.storefront(scopes[0]).await.unwrap(), Some(put));
    assert_eq!(store.storefront(scopes[1]).await.unwrap(), None);
    let found = async |domain: &str| store.project_at(domain.to_owned()).await.unwrap();
    assert_eq!(found("shop.example").await, Some(scopes[0].project()));
    let taken = store.put_storefront(scopes[1], at("shop.example"), operator()).await;
    assert!(matches!(taken, Err(StoreError::Refused(error)) if error.code == Code::RequestConflict));
    // Several may be at no host, and who leaves one leaves it to others.
    store.put_storefront(scopes[1], at(""), operator()).await.unwrap();
    store.put_storefront(scopes[0], at(""), operator()).await.unwrap();
    store.put_storefront(scopes[1], at("shop.example"), operator()).await.unwrap();
    assert_eq!((found("shop.example").await, found("").await), (Some(scopes[1].project()), None));
    let page = AuditPage { before: None, limit: 100 };
    let log = store.audit(Extent::Everything, page).await.unwrap();
    let changes = log.iter().filter(|entry| entry.act == Some(Act::StorefrontChanged));
    assert_eq!(changes.count(), 4, "what was refused is no change");
    store.close().await;
}
