//! `bourse demo`.

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};

use bourse_store::testing::load_all;
use bourse_store::{CollectionKey, CountsCursor, ProjectScope, Store};
use bourse_wire::{ChainId, Day, PageInput};
use serde_json::{Value, json};

use crate::http::Credential;
use crate::instance::{Instance, Server};
use crate::process::POLL_INTERVAL;

/// How long the first start may take in a debug build, on a machine with much else to do.
pub(crate) const FILL_LIMIT: Duration = Duration::from_mins(5);
/// The chain of its contracts.
pub(crate) const CHAIN: ChainId = ChainId(80002);
/// Stages of filling at which the demo is killed.
const STAGES: usize = 5;

fn demo(instance: &Instance) -> Server {
    let mut server = instance.serve_unready("demo", &[]);
    println!("the demo answered after {:?}", server.wait_ready(FILL_LIMIT));
    server
}

fn credentials(instance: &Instance) -> Value {
    let path = instance.data().join("credentials.json");
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "only its owner may read it");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// How much of everything there is: tokens of both contracts, commits of events, audiences, contacts, projects, hosted
/// collections and their tokens.
fn amounts(instance: &Instance, credentials: &Value) -> [u64; 8] {
    let scope = ProjectScope::of_operator(credentials["projectId"].as_u64().unwrap().try_into().unwrap());
    let key = |index: usize| CollectionKey {
        chain: ChainId(credentials["chainId"].as_u64().unwrap()),
        address: credentials["contracts"][index]["address"].as_str().unwrap().parse().unwrap(),
    };
    instance.with_store(async |store| {
        let mut tokens = [0; 2];
        for (index, count) in tokens.iter_mut().enumerate() {
            let id = store.collection(key(index)).await.unwrap().unwrap();
            *count = load_all(store, id).await.unwrap().tokens.len() as u64;
        }
        let audiences = store.audiences(scope).await.unwrap();
        let page = PageInput::default().resolve(100, 100).unwrap();
        let hosted = store.hosted_collections(scope, &page).await.unwrap();
        [
            tokens[0],
            tokens[1],
            store.counts(scope, CountsCursor::default()).await.unwrap().version,
            audiences.len() as u64,
            audiences.iter().map(|audience| audience.contact_count).sum(),
            store.projects().await.unwrap().len() as u64,
            hosted.len() as u64,
            hosted.iter().map(|collection| collection.token_count).sum(),
        ]
    })
}

#[test]
fn it_fills_an_empty_directory_and_takes_it_up_again() {
    let instance = Instance::new();
    let mut server = demo(&instance);
    let first = credentials(&instance);
    let members: Vec<&String> = first.as_object().unwrap().keys().collect();
    let documented = [
        "metadataUrl",
        "apiUrl",
        "marketplaceUrl",
        "network",
        "chainId",
        "projectId",
        "accessKey",
        "secretToken",
        "trialKey",
        "collectionId",
        "audienceId",
        "contracts",
    ];
    assert_eq!(members, documented);
    assert_eq!(first["apiUrl"], json!(format!("http://127.0.0.1:{}", server.port)));
    assert_eq!(first["marketplaceUrl"], json!(format!("http://127.0.0.1:{}/amoy", server.port)));
    for contract in first["contracts"].as_array().unwrap() {
        assert_eq!(contract.as_object().unwrap().keys().collect::<Vec<_>>(), ["address", "type"]);
    }
    assert_eq!(first["contracts"][0]["type"], json!("ERC721"));
    check_printed_calls(&instance, &server);
    let filled = amounts(&instance, &first);
    assert!(filled[0] + filled[1] >= 2_000, "{filled:?}");
    assert_eq!(filled[5..7], [1, 1], "one project, one hosted collection");
    server.process.kill();
    let server = demo(&instance);
    let second = credentials(&instance);
    let kept =
        ["projectId", "accessKey", "secretToken", "trialKey", "collectionId", "audienceId", "contracts"];
    for member in kept {
        assert_eq!(first[member], second[member], "{member}");
    }
    assert_eq!(second["apiUrl"], json!(format!("http://127.0.0.1:{}", server.port)), "the new address");
    check_calls(&server, &first);
    assert_eq!(amounts(&instance, &second), filled, "nothing is there twice");
}

/// Runs what the demo prints, by a shell, as its reader would.
fn check_printed_calls(instance: &Instance, server: &Server) {
    let printed = server.process.stdout().replace("\\\n", " ");
    let calls: Vec<&str> = printed.lines().filter(|line| line.starts_with("curl ")).collect();
    assert_eq!(calls.len(), 5, "{printed}");
    let operations =
        ["GetTokenMetadataBatch", "GetToken ", "GetAudience", "ListCollectibles", "WalletsDaily"];
    for (operation, call) in operations.iter().zip(&calls) {
        assert!(call.contains(operation), "{call}");
    }
    if Command::new("curl").arg("--version").output().is_err() {
        println!("there is no curl: the printed calls were not run");
        return check_calls(server, &credentials(instance));
    }
    for call in calls {
        let call = call.replacen("curl -s", "curl -s --max-time 20 -w '\\n%{http_code}'", 1);
        let output = Command::new("sh").args(["-c", &call]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let (body, status) = text.rsplit_once('\n').unwrap();
        assert_eq!(status, "200", "{call}: {body}");
        assert!(serde_json::from_str::<Value>(body).unwrap().is_object(), "{call}: {body}");
    }
}

/// The credentials give access to every kind of data.
fn check_calls(server: &Server, credentials: &Value) {
    let text = |member: &str| credentials[member].as_str().unwrap();
    let (key, token) = (Credential::Key(text("accessKey")), Credential::Token(text("secretToken")));
    let contract = credentials["contracts"][0]["address"].as_str().unwrap();
    let body = json!({ "chainID": "amoy", "contractTokenMap": { contract: ["1", "2"] } });
    let tokens = server.call("Metadata/GetTokenMetadataBatch", key, &body).ok();
    assert!(tokens.to_string().contains("\"tokenId\":\"2\""), "{tokens}");
    let body = json!({ "collectionId": credentials["collectionId"], "tokenId": "1" });
    assert!(server.call("Collections/GetToken", token, &body).ok()["token"]["name"].is_string());
    let audience =
        server.call("Builder/GetAudience", key, &json!({ "audienceId": credentials["audienceId"] })).ok();
    assert!(!audience["contacts"].as_array().unwrap().is_empty());
    assert!(transactions(server, credentials) > 100);
}

/// Transactions of the last months.
fn transactions(server: &Server, credentials: &Value) -> u64 {
    let token = Credential::Token(credentials["secretToken"].as_str().unwrap());
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
    let today = i32::try_from(now / 86_400).unwrap();
    let [start, end] = [today - 1_000, today].map(Day::from_number);
    let body = json!({ "filter": { "startDate": start, "endDate": end } });
    let answer = server.call("Analytics/WalletsTxnSentTotal", token, &body).ok();
    answer["walletStats"][0]["value"].as_u64().unwrap()
}

#[test]
fn a_directory_with_projects_of_its_own_is_refused() {
    let instance = Instance::new();
    let project = instance.create_project("my own");
    let said = instance.failure(&["demo"]);
    assert!(said.contains("projects of your own") && said.contains("--data"), "{said}");
    assert!(!instance.data().join("credentials.json").exists());
    let projects = instance.json(&["project", "list"]);
    assert_eq!(projects.as_array().unwrap().len(), 1);
    assert_eq!(projects[0]["projectId"], json!(project.id));
}

/// Waits until filling came to its start, the project, records of contracts, the audiences, or the hosted collection.
fn wait_for_stage(instance: &Instance, stage: usize) {
    let started = Instant::now();
    // Opened only once it is waited for: at first the demo makes the tables itself.
    let wait = async |store: &Store| {
        while !reached(store, stage).await {
            assert!(started.elapsed() < FILL_LIMIT, "stage {stage} did not come");
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    };
    if stage > 0 {
        instance.with_store(wait);
    }
}

async fn reached(store: &Store, stage: usize) -> bool {
    let Some(project) = store.projects().await.unwrap().into_iter().next() else { return false };
    let scope = ProjectScope::of_operator(project.id);
    let page = PageInput::default().resolve(1, 1).unwrap();
    match stage {
        1 => true,
        2 => !store.collections_of(CHAIN, 0, 1).await.unwrap().is_empty(),
        3 => !store.audiences(scope).await.unwrap().is_empty(),
        _ => !store.hosted_collections(scope, &page).await.unwrap().is_empty(),
    }
}

#[test]
fn killed_while_it_fills_it_starts_again_and_is_whole() {
    let instance = Instance::new();
    for stage in 0..STAGES {
        let mut server = instance.serve_unready("demo", &[]);
        // Further and further, so that each start finds more of what the one before it made.
        wait_for_stage(&instance, stage);
        server.process.kill();
        println!("killed at stage {stage}, filled: {}", instance.data().join("credentials.json").exists());
    }
    let server = demo(&instance);
    let made = credentials(&instance);
    check_calls(&server, &made);
    let found = amounts(&instance, &made);
    let undisturbed = Instance::new();
    let other = demo(&undisturbed);
    let expected = amounts(&undisturbed, &credentials(&undisturbed));
    // Events end at the moment that the demo was made, which is a little later; all else is the same.
    assert_eq!((&found[..2], &found[3..]), (&expected[..2], &expected[3..]));
    let (sent, later) = (transactions(&server, &made), transactions(&other, &credentials(&undisturbed)));
    assert!(sent <= later && sent + 100 > later, "{sent} transactions where {later} are expected");
}
