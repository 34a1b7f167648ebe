//! Pages for people beside operations: the places that they have among all requests.

use std::sync::Arc;

use axum::Router;
use axum::routing::get;
use tokio::sync::Semaphore;

use crate::service;
use crate::support::TestApp;
use crate::support::actor::Actor;

/// Who takes all places at one prefix has none left at another one of the same pages, and leaves other pages theirs.
#[tokio::test]
async fn pages_of_several_prefixes_are_one_side() {
    let app = TestApp::with(&[("limits.project_requests_max", "2")]).await;
    let [arrived, held] = [(); 2].map(|()| Arc::new(Semaphore::new(0)));
    let (told, waited) = (Arc::clone(&arrived), Arc::clone(&held));
    let slow = get(async move || {
        told.add_permits(1);
        waited.acquire().await.unwrap().forget();
    });
    let pages = Router::new().route("/slow", slow).route("/quick", get(async || ()));
    let others = Router::new().route("/others", get(async || ()));
    let entrance = service(Arc::clone(&app.app));
    let entrance = entrance.with_pages(&["/slow", "/quick"], pages).with_pages(&["/others"], others);
    let visitor = Actor::new(entrance);
    let beside = async {
        arrived.acquire().await.unwrap().forget();
        assert_eq!(visitor.get("/quick").await.status, 503);
        assert_eq!(visitor.get("/others").await.status, 200);
        held.add_permits(1);
    };
    let (slow, ()) = tokio::join!(visitor.get("/slow"), beside);
    assert_eq!((slow.status, visitor.get("/quick").await.status), (200, 200));
}
