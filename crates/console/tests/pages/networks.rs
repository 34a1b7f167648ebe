//! Network status: what every visitor sees, and what only administrators do.

use std::time::{Duration, Instant};

use bourse_market::facts::{Block, BlockHash};
use bourse_store::Invited;
use bourse_store::testing::operator_at;
use bourse_wire::ChainId;
use serde_json::json;

use super::browser::Browser;
use crate::support::TestApp;
use crate::support::seed::RELICS;

const PATH: &str = "/console/networks";

#[tokio::test]
async fn without_nodes_it_says_what_to_do() {
    let app = TestApp::with(&[("networks.polygon.id", "137")]).await;
    let currency = json!([{
        "chainId": 137, "contractAddress": RELICS, "name": "<b>Coin</b>", "symbol": "CO\"IN", "decimals": 6,
        "exchangeRate": "1.000000000000000001",
    }]);
    app.project_a.call("Ingest/PutCurrencies", json!({ "currencies": currency })).await.ok();
    let visitor = Browser::of(&app, Invited::Person).await;
    let page = visitor.get(PATH).await;
    assert_eq!(page.status, 200);
    for said in
        ["No network has a node", "rpc_url", "networks.polygon.rpc_url", "Nothing of it is followed", "amoy"]
    {
        assert!(page.says(said), "{said} {}", page.html);
    }
    // Chain data is hostile, and rates are exact.
    for said in ["<b>Coin</b>", "CO\"IN", "1.000000000000000001", "an import"] {
        assert!(page.says(said), "{said} {}", page.html);
    }
    assert!(!page.html.contains("<b>Coin"));
    assert!(!page.says("Data directory"));
    let administrator = Browser::of(&app, Invited::Administrator).await.get(PATH).await;
    for said in [
        "Data directory",
        env!("CARGO_PKG_VERSION"),
        app.store.engine_name(),
        "https://bourse.example",
        "0 s",
    ] {
        assert!(administrator.says(said), "{said} {}", administrator.html);
    }
    let guest = app.anonymous.get(PATH).await;
    assert_eq!(
        (guest.status, guest.header("location")),
        (303, "/console/sign-in?next=%2Fconsole%2Fnetworks")
    );
}

#[tokio::test]
async fn nodes_are_shown_without_their_keys() {
    let nodes = "https://user:hunter2@a.example/v2/hunter2 https://b.example:8545";
    let app = TestApp::with(&[("networks.polygon.id", "137"), ("networks.polygon.rpc_url", nodes)]).await;
    let key = bourse_store::CollectionKey { chain: ChainId(137), address: RELICS.parse().unwrap() };
    app.store.follow(key, 1_234_567, operator_at(app.now())).await.unwrap();
    let hash = BlockHash::default();
    let block = Block { number: 7_654_321, hash, parent: hash, at: app.now() };
    app.store.start_chain(ChainId(137), block).await.unwrap();
    let page = Browser::of_viewer(&app, app.project_b.id).await.get(PATH).await;
    for said in ["https://********@a.example/********", "https://b.example:8545", "starting", "not known yet"]
    {
        assert!(page.says(said), "{said} {}", page.html);
    }
    assert!(
        page.says(RELICS)
            && page.says("1\u{202f}234\u{202f}567")
            && page.says("7\u{202f}654\u{202f}321")
            && page.says("reading history")
    );
    assert!(!page.says("hunter2") && !page.says("No network has a node"));
}

#[tokio::test]
async fn administrators_end_what_anybody_follows_and_others_do_not() {
    let nodes = [("networks.polygon.id", "137"), ("networks.polygon.rpc_url", "https://a.example")];
    let app = TestApp::with(&nodes).await;
    let body = json!({ "chainId": 137, "contractAddress": RELICS });
    for project in [&app.project_a, &app.project_b] {
        project.call("Admin/CreateCollection", body.clone()).await.ok();
    }
    let unfollow = format!("{PATH}/137/{RELICS}/unfollow");
    let owner = Browser::of_owner(&app, app.project_a.id).await;
    assert!(!owner.get(PATH).await.says("Stop following"));
    assert_eq!(owner.post(&unfollow, &[]).await.status, 403);
    let administrator = Browser::of(&app, Invited::Administrator).await;
    let page = administrator.get(PATH).await;
    assert!(page.html.contains(&format!("action=\"{unfollow}\"")), "{}", page.html);
    assert!(page.html.contains("data-confirm=\"Stop following"), "{}", page.html);
    for elsewhere in ["137/0x12", "atlantis/0x12", &format!("1/{RELICS}")] {
        assert_eq!(
            administrator.post(&format!("{PATH}/{elsewhere}/unfollow"), &[]).await.status,
            404,
            "{elsewhere}"
        );
    }
    assert_eq!(app.store.followed(ChainId(137)).await.unwrap().len(), 1);
    let done = administrator.post(&unfollow, &[]).await;
    assert_eq!((done.status, done.location()), (303, "/console/networks?done=unfollowed"));
    assert_eq!(app.store.followed(ChainId(137)).await.unwrap(), []);
    assert!(administrator.get(done.location()).await.says("No longer followed"));
    assert_eq!(administrator.post(&unfollow, &[]).await.status, 404);
}

#[tokio::test]
async fn a_node_that_does_not_answer_is_told_of() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let node = format!("http://127.0.0.1:{port}/hunter2");
    let app = TestApp::with(&[("networks.polygon.id", "137"), ("networks.polygon.rpc_url", &node)]).await;
    let visitor = Browser::of(&app, Invited::Person).await;
    let background = app.background();
    let started = Instant::now();
    let page = loop {
        let page = visitor.get(PATH).await;
        if page.says("the last at") {
            break page;
        }
        assert!(started.elapsed() < Duration::from_mins(2), "{}", page.html);
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    background.stop().await;
    assert!(page.says(&format!("http://127.0.0.1:{port}: ")) && !page.says("hunter2"), "{}", page.html);
}
