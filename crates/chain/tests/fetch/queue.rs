//! The worker: from the queue through contracts and hosts to tokens, with everything going wrong on the way.

use std::time::{Duration, Instant};

use crate::web::{Reply, Server, answer, ok};
use crate::worker::{CHAIN, CODE, WAIT_MAX, World, contract, name_of, now};
use bourse_chain::fetch::{CallFailed, Pace};
use bourse_store::{Due, ProjectScope, Refresh, RefreshReason, RefreshedThing};
use bourse_wire::{MetadataStatus, TaskStatus, TokenId};

const AVAILABLE: Option<MetadataStatus> = Some(MetadataStatus::Available);
const NOT_AVAILABLE: Option<MetadataStatus> = Some(MetadataStatus::NotAvailable);

/// Answers `/7` with a token named `#7`.
fn numbered(path: &str, _: usize) -> Reply {
    ok(&format!(r##"{{"name":"#{}"}}"##, path.trim_start_matches('/')))
}

#[tokio::test]
async fn minted_tokens_become_available() {
    let server = Server::start(numbered).await;
    let world = World::new(&[("good.example", &server)]).await;
    world.links(1..=60, |id| format!("http://good.example:{}/{id}", server.port));
    world.mint(60).await;
    let worker = world.start();
    world.wait_until(60, |token| token.status == AVAILABLE).await;
    worker.stop().await;
    for token in world.tokens().await {
        assert_eq!(token.name, format!("#{}", token.token_id));
        assert!(token.last_fetched.is_some() && token.queued_at.is_none());
    }
    assert_eq!(server.asked(), 60, "each was fetched once");
}

#[tokio::test]
async fn links_of_every_kind() {
    let cid = "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG";
    let transaction = "bNbA3TEQVL60xlgCcqdz4ZPHFZ711cZ3hmkpGttDt_U";
    let one = Server::start(|_, _| answer("504 Gateway Timeout", &[], b"")).await;
    let two = Server::start(|path, _| ok(&format!(r#"{{"name":"{path}"}}"#))).await;
    let world = World::new(&[("one.example", &one), ("two.example", &two), ("ar.example", &two)]).await;
    world.links(1..=1, |_| format!("ipfs://{cid}/1"));
    world.links(2..=2, |_| format!("ar://{transaction}"));
    world.links(3..=3, |_| format!("http://two.example:{}/{{id}}", two.port));
    world.links(4..=4, |_| "data:application/json;base64,eyJuYW1lIjoiNCJ9".to_owned());
    world.links(5..=5, |_| r#"data:application/json,{"name":"5"}"#.to_owned());
    world.links(6..=6, |_| r#"{"name":"6"}"#.to_owned());
    world.mint(6).await;
    let worker = world.start();
    world.wait_until(6, |token| token.status == AVAILABLE).await;
    worker.stop().await;
    let names: Vec<String> = world.tokens().await.into_iter().map(|token| token.name).collect();
    let id = format!("/{:064x}", 3);
    assert_eq!(
        names,
        [format!("/ipfs/{cid}/1"), format!("/{transaction}"), id, "4".into(), "5".into(), "6".into()]
    );
    assert!(one.asked() >= 1, "the first gateway was tried");
}

#[tokio::test]
async fn a_gateway_that_failed_is_not_the_first_to_be_asked_again() {
    let cid = "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG";
    let one = Server::start(|_, _| answer("503 Service Unavailable", &[("Retry-After", "3600")], b"")).await;
    let two = Server::start(numbered).await;
    let world = World::new(&[("one.example", &one), ("two.example", &two)]).await;
    world.links(1..=60, |id| format!("ipfs://{cid}/{id}"));
    world.mint(60).await;
    let worker = world.start();
    world.wait_until(60, |token| token.status == AVAILABLE).await;
    worker.stop().await;
    assert!(one.asked() <= 4, "{} requests to a gateway that asked for quiet", one.asked());
}

#[tokio::test]
async fn what_cannot_be_had_is_not_available_and_tried_again_later() {
    let server =
        Server::start(
            |_, count| if count < 3 { answer("404 Not Found", &[], b"") } else { ok(r#"{"name":"late"}"#) },
        )
        .await;
    let world = World::new(&[("late.example", &server)]).await;
    let scope = world.project().await;
    world.links(1..=1, |_| format!("http://late.example:{}/", server.port));
    world.mint(1).await;
    let asked = world.store.refresh(scope, contract(), Refresh::Tokens(vec![1.into()]), now()).await.unwrap();
    let worker = world.start();
    wait(async || world.store.task(scope, asked.task.id).await.unwrap().status() == TaskStatus::Failed).await;
    assert_eq!(server.asked(), 3, "as often as the settings say");
    let task = world.store.task(scope, asked.task.id).await.unwrap();
    let why = "the host answers with status 404".to_owned();
    assert_eq!(task.reasons, [RefreshReason { of: RefreshedThing::Token(1.into()), why }]);
    assert_eq!(world.tokens().await[0].status, NOT_AVAILABLE);
    world.pass(World::pace().given_up_retry);
    world.wait_until(1, |token| token.status == AVAILABLE && token.name == "late").await;
    worker.stop().await;
    assert_eq!(world.store.task(scope, asked.task.id).await.unwrap().status(), TaskStatus::Completed);
}

#[tokio::test]
async fn what_will_not_change_soon_is_given_up_at_once() {
    let bomb = format!(r#"{{"properties":{}1{}}}"#, "[".repeat(20_000), "]".repeat(20_000));
    let server = Server::start(move |path, _| match path {
        "/large" => ok(&"x".repeat(3_000_000)),
        "/bomb" => ok(&bomb),
        "/html" => ok("<html></html>"),
        _ => Reply::Bytes(
            b"HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n".to_vec(),
        ),
    })
    .await;
    let world = World::new(&[("odd.example", &server)]).await;
    let scope = world.project().await;
    let at = |path: &str| format!("http://odd.example:{}/{path}", server.port);
    let links = [
        (at("large"), "the answer has more than 1000000 bytes"),
        (at("bomb"), "what the link leads to is not a JSON object"),
        (at("html"), "what the link leads to is not a JSON object"),
        (at("redirect"), "the host's address is link-local"),
        ("http://10.0.0.1/".to_owned(), "the host's address is private"),
        ("http://elsewhere.example/".to_owned(), "the host's address is of this machine"),
        ("ftp://odd.example/".to_owned(), "links of the kind `ftp` are not followed"),
        (
            format!("data:,{}", "x".repeat(1_000_001)),
            "the link has 1000001 bytes where at most 1000000 are allowed",
        ),
        ("data:;base64,%%%".to_owned(), "the link cannot be read: its base64 is wrong"),
        ("ipfs://../../etc".to_owned(), "the link cannot be read: it names no content of IPFS"),
    ];
    for (index, (link, _)) in links.iter().enumerate() {
        world.links([index as u64 + 1], |_| link.clone());
    }
    let count = links.len() as u64;
    world.mint(count).await;
    let wanted = Refresh::Tokens((1..=count + 5).map(TokenId::from).collect());
    let asked = world.store.refresh(scope, contract(), wanted, now()).await.unwrap();
    let worker = world.start();
    wait(async || world.store.task(scope, asked.task.id).await.unwrap().status() == TaskStatus::Failed).await;
    worker.stop().await;
    for RefreshReason { of, why } in world.store.task(scope, asked.task.id).await.unwrap().reasons {
        let index = (1..=count).position(|id| RefreshedThing::Token(TokenId::from(id)) == of).unwrap();
        assert!(why.starts_with(links[index].1), "{:.80}: {why}", links[index].0);
    }
    assert!(world.tokens().await.iter().all(|token| token.status == NOT_AVAILABLE && token.name.is_empty()));
}

#[tokio::test]
async fn a_host_that_asks_for_quiet_gets_it() {
    let server = Server::start(|_, count| {
        if count == 0 {
            answer("429 Too Many Requests", &[("Retry-After", "1")], b"")
        } else {
            ok(r#"{"name":"x"}"#)
        }
    })
    .await;
    let world = World::new(&[("busy.example", &server)]).await;
    world.links(1..=1, |_| format!("http://busy.example:{}/", server.port));
    world.mint(1).await;
    let began = Instant::now();
    let worker = world.start();
    wait(async || server.asked() == 1).await;
    world.links(2..=20, |_| format!("http://busy.example:{}/", server.port));
    world.mint(20).await;
    world.wait_until(20, |token| token.status == AVAILABLE).await;
    worker.stop().await;
    assert!(began.elapsed() >= Duration::from_secs(1), "{:?}", began.elapsed());
    assert_eq!(server.asked(), 21, "nobody asked in between");
}

/// 150 tokens of a host that never answers come first in the queue; 50 good ones come after them.
#[tokio::test]
async fn bad_tokens_do_not_delay_good_ones() {
    let silent = Server::start(|_, _| Reply::Silence).await;
    let good = Server::start(numbered).await;
    let mut world = World::new(&[("silent.example", &silent), ("good.example", &good)]).await;
    world.settings.rules.timeout = Duration::from_secs(1);
    world.links(1..=150, |id| format!("http://silent.example:{}/{id}", silent.port));
    world.links(151..=200, |id| format!("http://good.example:{}/{id}", good.port));
    world.mint(200).await;
    let worker = world.start();
    world.wait_until(50, |token| token.status == AVAILABLE).await;
    let tried = silent.asked();
    worker.stop().await;
    // Of the silent ones each takes a second, four at a time; alone the good ones take a small part of one.
    println!("50 good tokens came when {tried} of 150 bad ones were tried");
    assert!(tried < 75, "the good ones waited until {tried} bad ones were tried");
}

/// Far more tokens than a host has places: most are put off once, and come back when there is a place for them.
#[tokio::test]
async fn a_large_collection_at_one_host_is_not_asked_for_over_and_over() {
    let server = Server::start(numbered).await;
    let world = World::new(&[("good.example", &server)]).await;
    world.links(1..=160, |id| format!("http://good.example:{}/{id}", server.port));
    world.mint(160).await;
    let worker = world.start();
    world.wait_until(160, |token| token.status == AVAILABLE).await;
    worker.stop().await;
    assert_eq!(server.asked(), 160);
    // Both standards are asked for each token each time.
    let asked = world.calls() / 2;
    assert!(asked < 3 * 160, "the contract was asked {asked} times for 160 tokens");
}

#[tokio::test]
async fn a_node_that_is_down_costs_no_attempts() {
    let server = Server::start(numbered).await;
    let world = World::new(&[("good.example", &server)]).await;
    world.fail_calls(Some(CallFailed::Unreachable("down".to_owned())));
    world.links(1..=3, |id| format!("http://good.example:{}/{id}", server.port));
    world.mint(3).await;
    let worker = world.start();
    wait(async || world.calls() > 20).await;
    assert!(world.tokens().await.iter().all(|token| token.status == NOT_AVAILABLE));
    world.fail_calls(None);
    world.wait_until(3, |token| token.status == AVAILABLE).await;
    worker.stop().await;
}

#[tokio::test]
async fn killed_in_the_middle_nothing_is_lost() {
    let server = Server::start(numbered).await;
    let world = World::new(&[("good.example", &server)]).await;
    world.links(1..=200, |id| format!("http://good.example:{}/{id}", server.port));
    world.mint(200).await;
    for share in [40, 100] {
        let worker = world.start();
        wait(async || server.asked() >= share).await;
        worker.kill().await;
        world.pass(World::pace().lease);
    }
    let before = server.asked();
    assert!(before < 200, "there is something left to do");
    let worker = world.start();
    world.wait_until(200, |token| token.status == AVAILABLE).await;
    worker.stop().await;
    assert!(world.tokens().await.iter().all(|token| token.name == format!("#{}", token.token_id)));
    // Only what the dead ones held was fetched again.
    assert!(server.asked() <= 200 + 2 * 4 * World::pace().concurrent_max, "{} requests", server.asked());
    assert!(world.queue(now()).await.is_empty());
}

#[tokio::test]
async fn told_to_stop_it_gives_back_what_it_holds() {
    let silent = Server::start(|_, _| Reply::Silence).await;
    let pace = Pace { lease: Duration::from_hours(1), ..World::pace() };
    let world = World::with_pace(&[("silent.example", &silent)], pace).await;
    world.links(1..=4, |id| format!("http://silent.example:{}/{id}", silent.port));
    world.mint(4).await;
    let worker = world.start();
    wait(async || silent.asked() >= 2).await;
    assert!(world.queue(now()).await.len() < 4);
    worker.stop().await;
    let left = world.queue(now()).await;
    assert_eq!(left.len(), 4, "all can be taken at once");
    assert!(left.iter().all(|item| item.attempts == 0));
}

#[tokio::test]
async fn two_workers_share_the_work() {
    let server = Server::start(numbered).await;
    let world = World::new(&[("good.example", &server)]).await;
    world.links(1..=120, |id| format!("http://good.example:{}/{id}", server.port));
    world.mint(120).await;
    let (one, two) = (world.start(), world.start());
    world.wait_until(120, |token| token.status == AVAILABLE).await;
    one.stop().await;
    two.stop().await;
    assert_eq!(server.asked(), 120, "nothing was fetched twice");
}

#[tokio::test]
async fn contracts_say_what_they_are() {
    let server =
        Server::start(|_, _| ok(r#"{"description":"Old things","image":"https://i.example/l.png"}"#)).await;
    let world = World::new(&[("good.example", &server)]).await;
    world.mint(1).await;
    world.contract_link(&format!("http://good.example:{}/", server.port));
    let scope = world.project().await;
    let asked = world.store.refresh(scope, contract(), Refresh::Contract, now()).await.unwrap();
    let worker = world.start();
    wait(async || world.store.task(scope, asked.task.id).await.unwrap().status() == TaskStatus::Completed)
        .await;
    worker.stop().await;
    let id = world.store.collection(contract()).await.unwrap().unwrap();
    let info: serde_json::Value =
        serde_json::from_str(&world.store.contract(id).await.unwrap().unwrap()).unwrap();
    assert_eq!(
        (&info["name"], &info["symbol"], &info["type"]),
        (&name_of().into(), &"RLC".into(), &"ERC721".into())
    );
    assert_eq!((&info["logoURI"], &info["status"]), (&"https://i.example/l.png".into(), &"AVAILABLE".into()));
    assert_eq!(info["extensions"]["description"], "Old things");
    assert_eq!(info["owner"], format!("0x{}", "08".repeat(20)));
    let hash = alloy_primitives::keccak256(CODE).to_string();
    assert_eq!((&info["deployed"], &info["bytecodeHash"]), (&true.into(), &hash.into()));
}

#[tokio::test]
async fn what_a_project_asks_for_comes_first_and_is_its_own() {
    let server = Server::start(numbered).await;
    let world = World::new(&[("good.example", &server)]).await;
    world.links(1..=2, |id| format!("http://good.example:{}/{id}", server.port));
    world.mint(2).await;
    let scope: ProjectScope = world.project().await;
    let worker = world.start();
    world.wait_until(2, |token| token.status == AVAILABLE).await;
    let asked = world.store.refresh(scope, contract(), Refresh::Tokens(vec![2.into()]), now()).await.unwrap();
    wait(async || world.store.task(scope, asked.task.id).await.unwrap().status() == TaskStatus::Completed)
        .await;
    worker.stop().await;
    assert_eq!(server.asked(), 3);
    let due = Due { chains: vec![CHAIN], busy_hosts: Vec::new(), limit: 9, now: now(), until: now() };
    assert!(world.store.take_due(due).await.unwrap().is_empty());
}

/// Waits until something is so.
async fn wait(mut is_so: impl AsyncFnMut() -> bool) {
    let began = Instant::now();
    while !is_so().await {
        assert!(began.elapsed() < WAIT_MAX, "it did not come to be");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
