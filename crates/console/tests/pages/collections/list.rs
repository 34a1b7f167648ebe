//! The list of a project's collections, opening any, and following new ones.

use bourse_store::Change;
use serde_json::{Value, json};

use super::super::browser::{Browser, Page, escaped};
use super::{HOSTILE, Room, token};
use crate::support::TestApp;
use crate::support::market::put;
use crate::support::orders::{listing, order};
use crate::support::seed::{RELICS, RELICS_MIXED, UNKNOWN, contract_info};

const NODE: [(&str, &str); 2] =
    [("networks.polygon.rpc_url", "https://node.example"), ("networks.polygon.id", "137")];

#[tokio::test]
async fn a_project_sees_its_own_collections_with_their_numbers() {
    let changes = vec![
        token(1, "One", json!({})),
        token(2, "Two", json!({})),
        order(listing("a", 1, 1_500_000_000_000_000_000)),
    ];
    let room = Room::of(changes).await;
    let page = room.owner.get(&room.list).await;
    for said in ["Relics", "ERC1155", "polygon", "1.5 <bdi>M</bdi>", "≈ $3.00", "not followed", &room.path]
    {
        assert!(page.html.contains(said), "{said}: {}", page.html);
    }
    assert!(page.html.contains("<td class=\"number\">2</td>"), "{}", page.html);
    // Another project has none, and does not see this one.
    let other = Browser::of_owner(&room.app, room.app.project_b.id).await;
    let own = other.get(&format!("/console/projects/{}/collections", room.app.project_b.id)).await;
    assert!(own.says("This project has no collection yet") && !own.says("Relics"));
    assert_eq!(other.get(&room.list).await.status, 404);
    assert_eq!(other.get(&room.path).await.status, 404);
}

#[tokio::test]
async fn what_is_put_is_in_the_list_and_long_lists_have_pages() {
    let app = TestApp::start().await;
    let owner = Browser::of_owner(&app, app.project_a.id).await;
    let list = format!("/console/projects/{}/collections", app.project_a.id);
    let contract = |number| json!({ "address": format!("0x{number:040x}"), "name": format!("C{number}."), "contractType": "ERC721" });
    let contracts: Vec<Value> = (1..=27).map(contract).collect();
    put(&app, "PutContracts", json!({ "chainId": 137, "contracts": contracts })).await;
    let (first, second) = (owner.get(&list).await, owner.get(&format!("{list}?page=2")).await);
    assert!(first.html.contains("collections?page=2\"") && first.says("no listing"));
    assert!(second.html.contains("collections?page=1\"") && !second.html.contains("rel=\"next\""));
    let says = |page: &Page, number: u32| page.html.contains(&format!("<bdi>C{number}.</bdi>"));
    let counts = [&first, &second].map(|page| (1..=27).filter(|number| says(page, *number)).count());
    assert_eq!(counts, [25, 2]);
    assert!((1..=27).all(|number| says(&first, number) != says(&second, number)));
    assert!(owner.get(&format!("{list}?page=9")).await.says("behind the last one"));
}

#[tokio::test]
async fn any_contract_is_opened_by_network_and_address() {
    let room = Room::of(Vec::new()).await;
    let open = async |query: &str| room.owner.get(&format!("{}/open?{query}", room.list)).await;
    let page = open(&format!("network=Polygon&address=+{RELICS_MIXED}+")).await;
    assert_eq!((page.status, page.location()), (303, room.path.as_str()));
    let page = open(&format!("network=mainnet&address={UNKNOWN}")).await;
    assert_eq!(page.location(), format!("{}/mainnet/{UNKNOWN}", room.list));
    let unknown = room.owner.get(page.location()).await;
    assert_eq!(unknown.status, 200);
    assert!(unknown.says("No token of this contract is known yet") && unknown.says("Ingest/PutTokens"));
    for (query, said) in [
        (format!("network=atlantis&address={RELICS}"), "`atlantis` is not the name or number of a network"),
        ("network=&address=0x12".to_owned(), "network: name one"),
        ("network=polygon&address=%3Cb%3E%22".to_owned(), "is not an address"),
    ] {
        let page = open(&query).await;
        assert_eq!(page.status, 422, "{query}");
        assert!(page.says(said), "{query}: {}", page.html);
        page.is_unharmed();
    }
    let page = open("network=atlantis&address=%3Cb%3E%22").await;
    assert_eq!((page.value("network"), page.value("address")), ("atlantis".to_owned(), "<b>\"".to_owned()));
    for path in
        ["polygon/0x12", "atlantis/0x12", &format!("atlantis/{RELICS}"), &format!("polygon/{RELICS}/x")]
    {
        assert_eq!(room.owner.get(&format!("{}/{path}", room.list)).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn owners_follow_collections_and_viewers_do_not() {
    let room = Room::with(&NODE, Vec::new()).await;
    let (viewer, stranger) = (
        Browser::of_viewer(&room.app, room.app.project_a.id).await,
        Browser::of_owner(&room.app, room.app.project_b.id).await,
    );
    let follow = format!("{}/follow", room.list);
    let fields = [("follow_network", "polygon"), ("follow_address", UNKNOWN), ("from_block", "51")];
    assert_eq!(viewer.post(&follow, &fields).await.status, 403);
    assert_eq!(viewer.post_file(&follow, &fields, ("x.csv", b"x")).await.status, 403);
    assert_eq!(stranger.post(&follow, &fields).await.status, 404);
    assert!(!viewer.get(&room.list).await.says("Follow a collection"));
    for (changed, said) in [
        (("follow_address", "<b>\"0x"), "is not an address"),
        (("follow_address", "0x0000000000000000000000000000000000000000"), "the zero address is no contract"),
        (("from_block", "many"), "from_block: invalid digit"),
        (("follow_network", "mainnet"), "has no node"),
    ] {
        let fields = fields.map(|field| if field.0 == changed.0 { changed } else { field });
        let page = room.owner.post(&follow, &fields).await;
        assert_eq!(page.status, 422, "{changed:?}");
        assert!(page.says(said), "{said}: {}", page.html);
        for (field, typed) in &fields[1..] {
            assert_eq!(page.value(field), *typed);
        }
        page.is_unharmed();
    }
    assert_eq!(room.app.store.followed(bourse_wire::ChainId(137)).await.unwrap(), []);
    let page = room.owner.post(&follow, &fields).await;
    let expected = format!("{}/polygon/{UNKNOWN}?done=queued", room.list);
    assert_eq!((page.status, page.location()), (303, expected.as_str()), "{}", page.html);
    let followed = room.app.store.followed(bourse_wire::ChainId(137)).await.unwrap();
    assert_eq!((followed[0].from, followed[0].key.address.to_string().as_str()), (51, UNKNOWN));
    let list = viewer.get(&room.list).await;
    assert!(list.html.contains(UNKNOWN) && list.says("reading history, next is block 51"), "{}", list.html);
}

#[tokio::test]
async fn owners_end_what_their_project_follows_and_viewers_do_not() {
    let room = Room::with(&NODE, Vec::new()).await;
    let (viewer, stranger) = (
        Browser::of_viewer(&room.app, room.app.project_a.id).await,
        Browser::of_owner(&room.app, room.app.project_b.id).await,
    );
    let fields = [("follow_network", "polygon"), ("follow_address", UNKNOWN), ("from_block", "51")];
    assert_eq!(room.owner.post(&format!("{}/follow", room.list), &fields).await.status, 303);
    let page = format!("{}/polygon/{UNKNOWN}", room.list);
    let unfollow = format!("{page}/unfollow");
    let is_followed = async || !room.app.store.followed(bourse_wire::ChainId(137)).await.unwrap().is_empty();
    let shown = room.owner.get(&page).await;
    assert!(shown.html.contains(&format!("action=\"{unfollow}\"")), "{}", shown.html);
    assert!(shown.html.contains("data-confirm=\"Stop following"), "{}", shown.html);
    assert!(!viewer.get(&page).await.says("Stop following"));
    assert_eq!(viewer.post(&unfollow, &[]).await.status, 403);
    assert_eq!(stranger.post(&unfollow, &[]).await.status, 404);
    // The other project sees the same collection, but did not ask for it.
    let of_other = page.replace(
        &format!("/projects/{}/", room.app.project_a.id),
        &format!("/projects/{}/", room.app.project_b.id),
    );
    let theirs = stranger.get(&of_other).await;
    assert!(theirs.says("followed") && !theirs.says("Stop following"), "{}", theirs.html);
    let refused = stranger.post(&format!("{of_other}/unfollow"), &[]).await;
    assert!(refused.status == 422 && refused.says("does not follow"), "{} {}", refused.status, refused.html);
    assert!(is_followed().await);
    let done = room.owner.post(&unfollow, &[]).await;
    assert_eq!((done.status, done.location()), (303, format!("{page}?done=unfollowed").as_str()));
    assert!(!is_followed().await);
    let shown = room.owner.get(done.location()).await;
    assert!(shown.says("No longer followed") && !shown.says("Stop following"), "{}", shown.html);
}

#[tokio::test]
async fn without_a_node_there_is_nothing_to_follow_with() {
    let room = Room::of(Vec::new()).await;
    let page = room.owner.get(&room.list).await;
    assert!(page.says("No network has a node") && !page.html.contains("follow_address"));
}

#[tokio::test]
async fn what_contracts_say_of_themselves_stays_text() {
    let mut info = contract_info(RELICS, HOSTILE);
    info["symbol"] = json!("<b>S");
    info["logoURI"] = json!("javascript:alert(1)\" onerror=\"alert(1)");
    info["extensions"]["link"] = json!("javascript:alert(1)");
    info["extensions"]["description"] = json!(format!("{HOSTILE}{}", "long ".repeat(3_000)));
    info["extensions"]["verifiedBy"] = json!("<b>me");
    let room = Room::of(vec![token(1, "One", json!({})), Change::Contract(info.to_string())]).await;
    for page in [room.owner.get(&room.list).await, room.page("").await, room.page("/1").await] {
        assert!(page.html.contains(&escaped(HOSTILE)), "{}", page.html);
        page.is_unharmed();
    }
    let page = room.page("").await;
    assert!(
        page.html.contains("<code><bdi>javascript:alert(1)</bdi></code>")
            && page.html.contains("…</bdi></dd>")
    );
    // One that leads to the web is a link that tells nobody where it was followed from.
    info["extensions"]["link"] = json!("https://a.example/?a=\"b");
    let room = Room::of(vec![Change::Contract(info.to_string())]).await;
    let link = "href=\"https://a.example/?a=&quot;b\" rel=\"noopener noreferrer\"";
    assert!(room.page("").await.html.contains(link));
}
