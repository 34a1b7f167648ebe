//! `bourse move`.

use serde_json::json;

use crate::http::Credential;
use crate::instance::{Instance, Project, Server, free_port};
use crate::process::{Done, WAIT_MAX};

const LINES: &str = concat!(
    r#"{"type":"contract","chainId":137,"address":"0x1111111111111111111111111111111111111111","contractType":"ERC721","#,
    r#""name":"Relics","deployed":true}"#,
    "\n",
    r#"{"type":"token","chainId":137,"contractAddress":"0x1111111111111111111111111111111111111111","tokenId":"5","name":"Lantern"}"#,
    "\n",
);

/// Runs a command on the data directory of an installation, whose database is in it.
fn embedded(instance: &Instance, arguments: &[&str]) -> Done {
    let mut command = instance.bare_command(arguments);
    command.arg("--data").arg(instance.data());
    instance.start(command).wait(WAIT_MAX)
}

#[test]
fn an_installation_is_moved_and_served_from_there() {
    let instance = Instance::new();
    if !instance.is_postgres() {
        return;
    }
    let made = embedded(&instance, &["project", "create", "Traveller", "--json"]);
    assert!(made.status.success(), "{made:?}");
    let project = Project::read(&serde_json::from_str(&made.stdout).unwrap());
    let lines = instance.directory().join("lines.jsonl");
    std::fs::write(&lines, LINES).unwrap();
    assert!(embedded(&instance, &["import", lines.to_str().unwrap()]).status.success());

    let from = format!("sqlite:{}", instance.data().join("bourse.db").display());
    let to = instance.database_url();
    let arguments = ["move", "--from", from.as_str(), "--to", to.as_str(), "--json"];
    // Not while it is served.
    let port = free_port();
    let mut command = instance.bare_command(&["serve", "--listen", &format!("127.0.0.1:{port}")]);
    command.arg("--data").arg(instance.data());
    let mut server = Server { process: instance.start(command), port };
    server.wait_ready(WAIT_MAX);
    let refused = embedded(&instance, &arguments);
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    assert!(refused.stderr.contains("is in use: stop the service"), "{}", refused.stderr);
    drop(server);

    let moved = embedded(&instance, &arguments);
    assert!(moved.status.success(), "{moved:?}");
    let told: serde_json::Value = serde_json::from_str(&moved.stdout).unwrap();
    assert_eq!(told["rows"], told["copied"]);
    let tokens = told["tables"].as_array().unwrap().iter().find(|table| table["table"] == "tokens");
    assert_eq!(tokens.unwrap()["rows"], 1);

    let server = instance.serve();
    let answer = server.list_audiences(Credential::Token(&project.token));
    assert_eq!(answer.status, 200, "{answer:?}");
    let body = json!({ "chainID": "137", "contractAddress": "0x1111111111111111111111111111111111111111", "tokenIDs": ["5"] });
    let answer = server.call("Metadata/GetTokenMetadata", Credential::Key(&project.key), &body);
    assert_eq!(answer.ok()["tokenMetadata"][0]["name"], "Lantern");
    drop(server);
    // And not into what is in use.
    let refused = embedded(&instance, &arguments);
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    assert!(refused.stderr.contains("is not empty"), "{}", refused.stderr);
}

#[test]
fn only_from_sqlite_to_postgres() {
    let instance = Instance::new();
    for (from, to, said) in [
        ("sqlite:a.db", "sqlite:b.db", "an installation is moved --from sqlite:PATH --to postgres://"),
        (
            "postgres://a@127.0.0.1/a",
            "postgres://a@127.0.0.1/b",
            "an installation is moved --from sqlite:PATH",
        ),
        ("a.db", "postgres://a@127.0.0.1/b", "--from must be empty, sqlite:PATH or postgres://"),
        ("sqlite:missing.db", "postgres://a@127.0.0.1:1/b", "there is no database missing.db"),
    ] {
        let refused = embedded(&instance, &["move", "--from", from, "--to", to]);
        assert_eq!(refused.status.code(), Some(1), "{refused:?}");
        assert!(refused.stderr.contains(said), "{}", refused.stderr);
    }
}
