//! What is followed.

use serde_json::json;

use crate::support::TestApp;
use crate::support::seed::RELICS;
use crate::support::transcript::Transcript;

#[tokio::test]
async fn followed_collections() {
    let node = ("networks.polygon.rpc_url", "https://node.example");
    let app = TestApp::with(&[node, ("networks.polygon.id", "137")]).await;
    let mut said = Transcript::default();
    let a = &app.project_a;
    let body = json!({ "chainId": "polygon", "contractAddress": RELICS, "fromBlock": 51 });
    said.call(a, "Admin/CreateCollection", body.clone()).await;
    said.call(a, "Admin/CreateCollection", body).await;
    for body in [
        json!({ "chainId": "mainnet", "contractAddress": RELICS }),
        json!({ "chainId": "polygon", "contractAddress": "0x0000000000000000000000000000000000000000" }),
        json!({ "chainId": "polygon", "contractAddress": RELICS, "fromBlock": u64::MAX }),
        json!({ "chainId": "polygon" }),
    ] {
        said.call(a, "Admin/CreateCollection", body).await;
    }
    said.call(
        a,
        "Admin/CreateCollection",
        json!({ "chainId": "polygon", "contractAddress": RELICS, "fromBlock": 50 }),
    )
    .await;
    let body = json!({ "chainId": "polygon", "contractAddress": RELICS });
    said.call(&app.project_b, "Admin/DeleteCollection", body.clone()).await;
    said.call(a, "Admin/DeleteCollection", body.clone()).await;
    said.call(a, "Admin/DeleteCollection", body).await;
    said.call(a, "Admin/DeleteCollection", json!({ "chainId": "polygon" })).await;
    insta::assert_snapshot!(said.text());
}
