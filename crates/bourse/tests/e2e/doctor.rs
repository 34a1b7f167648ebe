//! `bourse doctor`.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use bourse_store::testing::{change_unnoticed, keep_uncounted, on_citus};
use bourse_store::{CollectionKey, Event, EventKind, ProjectScope};
use bourse_wire::ChainId;

use crate::http::{self, Credential};
use crate::instance::{Instance, free_port, seen_within};
use crate::market::Market;
use crate::process::{Done, WAIT_MAX};

const CHECKS: [&str; 8] = [
    "configuration",
    "data directory",
    "disk",
    "uploaded files",
    "signing secret",
    "database",
    "migrations",
    "clock",
];

fn doctor(instance: &Instance, arguments: &[&str]) -> Done {
    let command = instance.bare_command(&[&["doctor"], arguments].concat());
    instance.start(command).wait(WAIT_MAX)
}

#[test]
fn a_fresh_directory_and_one_in_use_are_healthy() {
    let instance = Instance::new();
    let fresh = instance.run(&["doctor"]);
    assert_eq!(fresh.status.code(), Some(0), "{fresh:?}");
    assert!(fresh.stdout.lines().all(|line| line.starts_with("ok    ")), "{}", fresh.stdout);
    let engine = if instance.is_postgres() { "PostgreSQL answers" } else { "SQLite answers" };
    assert!(
        fresh.stdout.contains(engine) && fresh.stdout.contains("the next start migrates"),
        "{}",
        fresh.stdout
    );
    let _server = instance.serve();
    let checks = instance.json(&["doctor"]);
    let names: Vec<&str> =
        checks.as_array().unwrap().iter().map(|check| check["check"].as_str().unwrap()).collect();
    let cluster = if on_citus() { &["nodes", "commits"][..] } else { &[] };
    assert_eq!(names, [&CHECKS[..7], cluster, &CHECKS[7..]].concat());
    assert!(checks.as_array().unwrap().iter().all(|check| check["ok"] == true), "{checks}");
}

/// On a cluster only.
#[test]
fn a_role_that_may_not_tell_nodes_how_transactions_ended_is_told_so() {
    if !on_citus() {
        return;
    }
    let instance = Instance::new();
    drop(instance.serve());
    let commits = |database: &str| {
        let done = doctor(&instance, &["--data", "data", "--database", database]);
        let line = done.stdout.lines().find(|line| line.contains("  commits  ")).unwrap_or_default();
        line.to_owned()
    };
    let url = instance.database_url();
    assert!(commits(&url).starts_with("ok    commits "), "{}", commits(&url));
    let reader = format!("{url}{}options[role]=pg_read_all_data", if url.contains('?') { '&' } else { '?' });
    let told = commits(&reader);
    assert!(told.starts_with("FAIL  commits ") && told.contains("GRANT EXECUTE ON FUNCTION"), "{told}");
}

#[test]
fn a_service_that_runs_compares_its_memory_with_the_database() {
    let instance = Instance::new();
    let project = instance.create_project("deep");
    let server = instance.serve();
    let contract = "0x00000000000000000000000000000000000000aa";
    let token =
        serde_json::json!({ "chainId": 137, "contractAddress": contract, "tokenId": "1", "name": "Axe" });
    let secret = Credential::Token(&project.token);
    server.call("Ingest/PutTokens", secret, &serde_json::json!({ "tokens": [token] })).ok();
    let asked = serde_json::json!({ "chainID": 137, "contractAddress": contract, "tokenIDs": [1] });
    server.call("Metadata/GetTokenMetadata", secret, &asked).ok();
    let listen = format!("127.0.0.1:{}", server.port);
    let deep = |whole: &[&str]| instance.run(&[&["doctor", "--deep", "--listen", &listen], whole].concat());
    for done in [deep(&[]), deep(&["--whole"])] {
        assert_eq!(done.status.code(), Some(0), "{done:?}");
        assert!(done.stdout.contains("1 of 1 loaded collections are as stored"), "{}", done.stdout);
    }
    // The row is changed, and nobody is told.
    instance.with_store(async |store| {
        let key = CollectionKey { chain: ChainId(137), address: contract.parse().unwrap() };
        let id = store.collection(key).await.unwrap().unwrap();
        let sql = "UPDATE tokens SET metadata = REPLACE(metadata, 'Axe', 'Sword') WHERE collection_id = $1";
        change_unnoticed(store, id, sql).await.unwrap();
    });
    let done = deep(&[]);
    assert_eq!(done.status.code(), Some(1), "{done:?}");
    assert!(done.stdout.contains("FAIL  memory") && done.stdout.contains(contract), "{}", done.stdout);
    let served = server.call("Metadata/GetTokenMetadata", secret, &asked).ok();
    assert_eq!(served["tokenMetadata"][0]["name"], "Sword");
    assert_eq!(deep(&[]).status.code(), Some(0), "it was put right");
    // Whoever has another signing secret is not let in, and without a service there is nothing to compare.
    assert_eq!(http::get(server.port, "/self-check").unwrap().status, 401);
    drop(server);
    let done = deep(&[]);
    assert!(done.status.success() && done.stdout.contains("nothing is in memory"), "{done:?}");
}

#[test]
fn events_that_are_kept_are_counted_again() {
    let instance = Instance::new();
    let project = instance.create_project("deep");
    let server = instance.serve();
    let wallets =
        ["0x0000000000000000000000000000000000000001", "0x0000000000000000000000000000000000000002"];
    let at = "2026-01-02T03:04:05Z";
    let event = json!({ "wallet": wallets[0], "kind": "transaction", "at": at });
    let secret = Credential::Token(&project.token);
    server.call("Ingest/TrackEvents", secret, &json!({ "batchId": "1", "events": [event] })).ok();
    let charts = || {
        let done = instance.run(&["doctor", "--deep", "--listen", &format!("127.0.0.1:{}", server.port)]);
        let line =
            done.stdout.lines().find(|line| line.contains("  charts  ")).unwrap_or_default().to_owned();
        (done.status.code(), line)
    };
    let (code, told) = charts();
    assert!(code == Some(0) && told.contains("nothing to count again"), "{told}");
    let keep = |number: usize| {
        let kept = Event {
            id: number.to_string(),
            wallet: wallets[number].parse().unwrap(),
            kind: EventKind::Transaction,
            at: at.parse().unwrap(),
        };
        let scope = ProjectScope::of_operator(project.id.try_into().unwrap());
        instance.with_store(async |store| keep_uncounted(store, scope, vec![kept]).await.unwrap());
    };
    keep(0);
    let (code, told) = charts();
    assert!(
        code == Some(0) && told.contains("1 events of 1 projects, of 1 days, were counted again"),
        "{told}"
    );
    // One that charts lack.
    keep(1);
    let (code, told) = charts();
    let lacks = format!("project {}: 2026-01-02 lacks 1 events and 1 wallets", project.id);
    assert!(code == Some(1) && told.starts_with("FAIL") && told.contains(&lacks), "{told}");
}

#[test]
fn contracts_are_asked_whether_balances_are_as_they_were_followed() {
    let market = Market::open();
    let collection = market.singles(market.seller());
    let listed = || market.instance.json(&["collection", "list", "hardhat"]);
    seen_within(WAIT_MAX, "the collection is live", listed, |listed| listed[0]["live"] == true);
    let listen = format!("127.0.0.1:{}", market.server().port);
    let deep = || market.instance.run(&["doctor", "--deep", "--listen", &listen]);
    let done = deep();
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    assert!(done.stdout.contains("1 balances of 1 followed collections are what"), "{}", done.stdout);
    // As if a node had left out that the token went to somebody else.
    market.instance.with_store(async |store| {
        let id = store.collection(CollectionKey { chain: ChainId(31337), address: collection }).await;
        let sql = "UPDATE balances SET account = '0x00000000000000000000000000000000000000ee' \
            WHERE collection_id = $1";
        change_unnoticed(store, id.unwrap().unwrap(), sql).await.unwrap();
    });
    let done = deep();
    assert_eq!(done.status.code(), Some(1), "{done:?}");
    let told = format!("holds 1 of token 1 of {collection} by what was followed, and 0 by its contract");
    assert!(done.stdout.contains("FAIL  chains") && done.stdout.contains(&told), "{}", done.stdout);
}

#[test]
fn a_database_that_does_not_answer_is_told() {
    let instance = Instance::new();
    let url = format!("postgres://user:hunter2@127.0.0.1:{}/name", free_port());
    // All at once, as each waits for a while whether the database comes up.
    let start = |arguments: &[&str]| {
        instance.start(instance.bare_command(&[arguments, &["--database", &url, "--data", "data"]].concat()))
    };
    let processes = [&["doctor"][..], &["doctor", "--json"], &["serve"]].map(start);
    let [text, json, serve] = processes.map(|process| process.wait(WAIT_MAX));
    for done in [&text, &json, &serve] {
        assert_eq!(done.status.code(), Some(1), "{done:?}");
        assert!(!done.stdout.contains("hunter2") && !done.stderr.contains("hunter2"), "{done:?}");
    }
    let failed: Vec<&str> = text.stdout.lines().filter(|line| line.starts_with("FAIL  ")).collect();
    assert_eq!(failed.len(), 1, "{}", text.stdout);
    assert!(failed[0].contains("database") && failed[0].contains("storage.database"), "{failed:?}");
    let checks: Value = serde_json::from_str(&json.stdout).unwrap();
    let failed: Vec<&Value> =
        checks.as_array().unwrap().iter().filter(|check| check["ok"] == false).collect();
    assert_eq!(failed.len(), 1, "{checks}");
    assert_eq!(failed[0]["check"], "database");
    assert!(serve.stderr.contains("bourse: the database is not available"), "{}", serve.stderr);
}

#[test]
fn a_data_directory_that_cannot_be_used_is_told() {
    let instance = Instance::new();
    let inside_a_file = instance.directory().join("file").join("data");
    std::fs::write(instance.directory().join("file"), "").unwrap();
    let done = doctor(
        &instance,
        &["--data", inside_a_file.to_str().unwrap(), "--database", &instance.database_url()],
    );
    assert_eq!(done.status.code(), Some(1), "{done:?}");
    assert!(
        done.stdout.contains("FAIL  data directory") && done.stdout.contains("cannot be made"),
        "{}",
        done.stdout
    );
    let closed = instance.directory().join("closed");
    std::fs::create_dir(&closed).unwrap();
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o500)).unwrap();
    if std::fs::write(closed.join("probe"), "").is_ok() {
        println!("the superuser may write anywhere: skipped");
        return;
    }
    let done = doctor(&instance, &["--data", "closed", "--database", &instance.database_url()]);
    assert_eq!(done.status.code(), Some(1), "{done:?}");
    assert!(done.stdout.contains("FAIL  data directory  closed cannot be written to"), "{}", done.stdout);
}

#[test]
fn settings_that_are_wrong_are_told() {
    let instance = Instance::new();
    std::fs::write(instance.directory().join("bourse.toml"), "[nonsense]\na = 1\n").unwrap();
    let done = instance.run(&["doctor"]);
    assert_eq!(done.status.code(), Some(1), "{done:?}");
    assert!(
        done.stdout.starts_with("FAIL  configuration") && done.stdout.contains("nonsense"),
        "{}",
        done.stdout
    );
}

/// What `--shop` says of one thing: whether it is well, and the rest of the line.
fn shop_line(instance: &Instance, name: &str, variables: &[(&str, &str)]) -> (bool, String) {
    let mut command = instance.command(&["doctor", "--shop"]);
    command.envs(variables.iter().copied());
    let done = instance.start(command).wait(WAIT_MAX);
    let of =
        |line: &str| Some((line.starts_with("ok"), line.get(6..)?.strip_prefix(name)?.trim().to_owned()));
    done.stdout.lines().find_map(of).unwrap_or_else(|| panic!("{name}: {done:?}"))
}

#[test]
fn what_a_market_lacks_is_told_before_money_is_taken() {
    let mut market = Market::open();
    let instance = &market.instance;
    let line = |name: &str| shop_line(instance, name, &[]);
    let (is_well, said) = line("public address");
    assert!(!is_well && said.contains("server.public_url is empty"), "{said}");
    let named = [("BOURSE_SERVER__PUBLIC_URL", "https://shop.example")];
    assert_eq!(shop_line(instance, "public address", &named), (true, "https://shop.example".to_owned()));
    assert!(line("administrators").1.contains("bourse console link"));
    assert_eq!(
        line("storefronts"),
        (false, "no project has one: fill in the page Storefront of the project in the console".to_owned())
    );
    if instance.is_postgres() {
        assert!(line("last backup").0);
    } else {
        assert!(!line("last backup").0);
        let file = instance.directory().join("backup.tar.gz");
        assert!(instance.run(&["backup", file.to_str().unwrap()]).status.success());
        assert!(line("last backup").0);
    }

    let collection = market.singles(market.seller());
    market.wait_followed(collection);
    let storefront = json!({ "storefront": { "domain": "shop.example" } });
    market.server().call("Admin/PutStorefront", market.secret(), &storefront).ok();
    assert_eq!(line("storefronts"), (true, "shop.example".to_owned()));
    assert_eq!(line("fees"), (true, "none is taken".to_owned()));
    assert_eq!(line("chain nodes"), (true, "hardhat (its coins are worth nothing)".to_owned()));
    let followed = (true, "1 followed".to_owned());
    seen_within(WAIT_MAX, "the collection is followed", || line("contracts"), |line| *line == followed);
    let nowhere = "0x00000000000000000000000000000000000000aa";
    let moved = [("BOURSE_NETWORKS__HARDHAT__OWN_V2", nowhere)];
    let (is_well, said) = shop_line(instance, "chain nodes", &moved);
    assert!(!is_well && said.contains(nowhere), "{said}");

    let (is_well, said) = line("access keys");
    assert!(!is_well && said.contains("works from everywhere"), "{said}");
    let project = market.project.id.to_string();
    instance.json(&[
        "key",
        "create",
        &project,
        "--origin",
        "https://shop.example",
        "--service",
        "marketplace",
    ]);
    let all = instance.json(&["key", "list", &project]);
    let open = all.as_array().unwrap().iter().find(|key| key["allowedOrigins"] == json!([])).unwrap();
    instance.json(&["key", "disable", &project, &open["keyId"].to_string()]);
    assert!(line("access keys").0);
    let storefront = json!({ "storefront": { "domain": "shop.example",
        "marketCollections": [{ "chainId": 31337, "itemsAddress": nowhere, "feePercentage": 2.5 }] } });
    market.server().call("Admin/PutStorefront", market.secret(), &storefront).ok();
    assert!(line("fees").1.contains("fees that nobody receives"));
    let (is_well, said) = line("contracts");
    assert!(!is_well && said.contains(&format!("bourse collection add 31337 {nowhere}")), "{said}");

    // The chain goes on, and nobody follows it.
    market.kill();
    market.anvil.rpc("evm_increaseTime", &json!([7_200]));
    market.anvil.mine(1);
    let (is_well, said) = shop_line(&market.instance, "contracts", &[]);
    assert!(!is_well && said.contains("chain 31337 was read up to block"), "{said}");
}
