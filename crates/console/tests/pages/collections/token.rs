//! The page of one token.

use std::sync::Arc;

use alloy_primitives::{Bytes, hex};
use bourse_protocols::native::Inquiry;
use bourse_server::Chains;
use bourse_wire::ChainId;
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, ready};
use serde_json::{Value, json};

use super::super::browser::Browser;
use super::{HOSTILE, Room, token};
use crate::support::TestApp;
use crate::support::orders::{ANA, BEN, balance, listing, offer, order, put, with};
use crate::support::seed::RELICS;

const NODE: [(&str, &str); 2] =
    [("networks.polygon.rpc_url", "https://node.example"), ("networks.polygon.id", "137")];

#[tokio::test]
async fn a_token_shows_all_that_is_known_of_it() {
    let weight: Value = serde_json::from_str("1.50").unwrap();
    let more = json!({
        "description": "Old.\nVery old.", "image": "https://a.example/1.png", "externalUrl": "https://a.example/1",
        "attributes": [{ "Metal": "Tin & lead" }, { "trait_type": "Power", "value": 7 }],
        "properties": { "weight": weight, "tags": ["a", "b"] }, "decimals": 2, "updatedAt": "2024-11-01T08:18:33Z",
    });
    let mut changes = vec![token(1, "Bell", more)];
    let fees = json!({ "feeBreakdown": [{ "kind": "royalty", "recipientAddress": BEN, "bps": 250 }], "quantityInitial": "500" });
    changes.push(order(with(listing("0xabcdef0123456789", 1, 1_234_500_000_000_000_001), fees)));
    changes.push(order(offer("deal", 1, 1)));
    changes.extend([balance(1, ANA, 12_345), balance(1, BEN, 5)]);
    let room = Room::of(changes).await;
    let page = room.page("/1").await;
    for said in [
        "<h1><bdi>Bell</bdi></h1>",
        "<bdi>Old.\nVery old.</bdi>",
        "1.234500000000000001 <bdi>M</bdi>",
        "0.000000000000000001 <bdi>M</bdi>",
        "2.5 %",
        &format!("royalty 2.5 % to {BEN}"),
        "<code title=\"0xabcdef0123456789\">0xabcd…6789</code>",
        "title=\"12345\">123.45</td>",
        "title=\"5\">0.05</td>",
        "listed</td>",
        "offer made</td>",
        "href=\"https://a.example/1\" rel=\"noopener noreferrer\"",
        "imported",
        "2024-11-01 08:18 UTC",
    ] {
        assert!(page.html.contains(said), "{said}: {}", page.html);
    }
    for property in ["p.Metal=Tin+%26+lead", "v.Power=7", "v.weight=1.50", "p.tags=a", "p.tags=b"] {
        assert!(page.html.contains(&format!("href=\"{}?{property}\"", room.path)), "{property}");
        assert_eq!(room.page(&format!("?{property}")).await.tokens(), ["1"], "{property}");
    }
    // Numbers and members as they are served, and by themselves.
    assert!(page.says("  \"properties\": {\n    \"weight\": 1.50,"), "{}", page.html);
    let raw = room.page("/1/json").await;
    assert_eq!(raw.headers["content-type"], "application/json; charset=utf-8");
    assert!(raw.html.starts_with("{\n  \"tokenId\": \"1\",") && raw.html.contains("\"weight\": 1.50"));
    for missing in ["/7", "/7/image", "/7/json", "/x", "/-1"] {
        assert_eq!(room.owner.get(&format!("{}{missing}", room.path)).await.status, 404, "{missing}");
    }
}

#[tokio::test]
async fn a_token_that_only_an_order_names_has_a_page() {
    let room = Room::of(vec![order(offer("a", 9, 5))]).await;
    let page = room.page("/9").await;
    assert!(page.says("Without a name") && page.says("It has no properties."));
    assert!(page.html.contains("<h2>Offers <span class=\"tally\">1</span>"));
}

#[tokio::test]
async fn long_lists_have_pages_of_their_own() {
    let mut changes = vec![token(1, "Bell", json!({})), balance(1, ANA, 1_000)];
    changes.extend((1..=23).map(|number| order(listing(&format!("L{number:02}."), 1, 1_000 + number))));
    changes.extend((1..=12).map(|number| order(offer(&format!("O{number:02}."), 1, 1_000 - number))));
    changes.extend((1..=15).map(|number| balance(1, &format!("0x{number:040x}"), number)));
    let room = Room::of(changes).await;
    let page = room.page("/1").await;
    assert!(page.says("L10.") && !page.says("L11.") && page.says("O10.") && !page.says("O11."));
    assert!(
        page.html.contains("Holders <span class=\"tally\">16</span>") && page.says("These hold the most.")
    );
    let (next, both) = (
        format!("{}/1?listings=2#listings", room.path),
        format!("{}/1?listings=3&amp;offers=2#listings", room.path),
    );
    assert!(page.html.contains(&next), "{}", page.html);
    let page = room.page("/1?listings=2&offers=2").await;
    assert!(page.says("L11.") && !page.says("L10.") && page.says("O11.") && !page.says("O01."));
    assert!(page.html.contains(&both) && page.html.contains(&format!("{}/1?offers=2#listings", room.path)));
}

#[tokio::test]
async fn metadata_is_asked_for_again_and_its_state_is_told() {
    let room = Room::with(&NODE, vec![token(1, "Bell", json!({}))]).await;
    assert!(room.page("/1").await.says("imported"));
    let asked = room.owner.post(&format!("{}/1/refresh", room.path), &[]).await;
    assert_eq!((asked.status, asked.location()), (303, format!("{}/1?done=queued", room.path).as_str()));
    let page = room.page("/1?done=queued").await;
    assert!(
        page.html.contains("<code>REFRESHING</code>")
            && page.says("waiting since")
            && page.says("Asked for.")
    );
    assert!(page.says("Ask the chain"));
    for what in ["contract", "tokens"] {
        let asked = room.owner.post(&format!("{}/refresh", room.path), &[("what", what)]).await;
        assert_eq!((asked.status, asked.location()), (303, format!("{}?done=queued", room.path).as_str()));
    }
    assert!(room.page("").await.html.contains("<code>REFRESHING</code>"));
}

#[tokio::test]
async fn what_a_token_says_stays_text_and_pages_stay_small() {
    let attributes: Vec<_> =
        (0..500).map(|number| json!({ format!("<b>{number}"): "<b>\"".repeat(100) })).collect();
    let more = json!({
        "description": HOSTILE.repeat(2_000), "image": "javascript:alert(1)", "animationUrl": "data:text/html,<b>",
        "externalUrl": "javascript:alert(1)//https://", "video": "https://a.example/\"onclick=", "attributes": attributes,
        "properties": { HOSTILE: { "<b>": "<b>" } },
    });
    let room = Room::of(vec![token(1, HOSTILE, more)]).await;
    let page = room.page("/1").await;
    assert!(
        page.says(HOSTILE) && page.html.contains("…</bdi></p>") && page.says("more are in the raw metadata")
    );
    assert!(page.html.contains("href=\"https://a.example/&quot;onclick=\" rel=\"noopener noreferrer\""));
    assert!(
        page.html.contains("<code><bdi>javascript:alert(1)</bdi></code>")
            && page.says("in the metadata itself")
    );
    page.is_unharmed();
    assert!(room.owner.get(&format!("{}/1/json", room.path)).await.html.len() > 200_000);
}

/// A chain on which somebody gets so many millionths of every price.
struct Generous(Option<u64>);

impl Chains for Generous {
    fn ask_all(&self, chain: ChainId, asked: Vec<Inquiry>) -> BoxFuture<'_, Option<Vec<Option<Bytes>>>> {
        assert_eq!((chain, asked.len()), (ChainId(137), 1));
        let words = format!("{:064x}{:064x}", 1, 1_000_000);
        assert!(hex::encode(&asked[0].data).ends_with(&words), "token 1 for a million: {asked:?}");
        let told =
            |amount: u64| Some(vec![Some(hex::decode(format!("{:064x}{amount:064x}", 1)).unwrap().into())]);
        ready(self.0.and_then(told)).boxed()
    }
}

#[tokio::test]
async fn the_royalty_is_told_when_somebody_wants_to_know() {
    for (told, said) in [
        (Some(50_000), "5 % of a sale"),
        (Some(12_345), "1.2345 % of a sale"),
        (None, "the chain does not tell"),
    ] {
        let prepare = async |store: &bourse_store::Store, _: &_, _: &_| {
            put(store, vec![token(1, "Bell", json!({}))]).await;
        };
        let (app, ()) = TestApp::asking(&[], Some(Arc::new(Generous(told))), prepare).await;
        let viewer = Browser::of_viewer(&app, app.project_a.id).await;
        let path = format!("/console/projects/{}/collections/polygon/{RELICS}/1", app.project_a.id);
        assert!(!viewer.get(&path).await.says("Royalty"));
        let page = viewer.get(&format!("{path}?royalty=ask")).await;
        assert!(page.says(said), "{}", page.html);
    }
}
