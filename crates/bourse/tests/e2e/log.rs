//! `bourse log`: who stated what, and who administered what.

use serde_json::{Value, json};

use crate::import::{CONTRACT, file, lines, token};
use crate::instance::Instance;

fn words<'v>(log: &'v Value, member: &str) -> Vec<&'v str> {
    log.as_array().unwrap().iter().map(|entry| entry[member].as_str().unwrap()).collect()
}

#[test]
fn the_operator_is_told_who_said_what() {
    let instance = Instance::new();
    let order = json!({ "type": "order", "orderId": "7", "marketplace": "opensea", "side": "listing", "chainId": 137,
        "collectionContractAddress": CONTRACT, "tokenId": "1", "createdBy": CONTRACT, "priceAmount": "5",
        "priceCurrencyAddress": CONTRACT, "validUntil": "2030-01-01T00:00:00Z" });
    file(&instance, "one.jsonl", lines(&[token(1, "One"), order]));
    instance.json(&["import", "one.jsonl"]);
    file(&instance, "two.jsonl", lines(&[token(2, "Two")]));
    instance.json(&["import", "two.jsonl"]);

    let of_collection = ["log", "--network", "137", "--contract", CONTRACT];
    let log = instance.json(&of_collection);
    assert_eq!(words(&log, "author"), ["operator", "operator"]);
    assert_eq!((&log[0]["tokenCount"], &log[0]["orderCount"]), (&json!(1), &json!(0)));
    let expected = json!([{ "marketplace": "opensea", "orderId": "7" }]);
    assert_eq!((&log[1]["orderCount"], &log[1]["orders"]), (&json!(1), &expected));
    let newest = instance.json(&[&of_collection[..], &["--limit", "1"]].concat());
    assert_eq!(newest.as_array().unwrap().len(), 1);
    let of_order =
        instance.json(&[&of_collection[..], &["--order", "7", "--marketplace", "opensea"]].concat());
    assert_eq!((of_order.as_array().unwrap().len(), &of_order[0]["version"]), (1, &log[1]["version"]));
    let people = instance.run(&of_collection[..5]).stdout;
    assert!(people.contains("the operator") && people.contains("1 order, 1 token: opensea 7"), "{people}");
    for (arguments, reason) in [
        (&["log", "--network", "137"][..], "needs --contract"),
        (&["log", "--contract", CONTRACT], "needs --network"),
        (&["log", "--order", "7"], "needs --network"),
        (&["log", "--network", "137", "--contract", CONTRACT, "--order", "7"], "needs --marketplace"),
    ] {
        assert!(instance.failure(arguments).contains(reason), "{arguments:?}");
    }
}

#[test]
fn what_the_command_line_administers_is_written_down() {
    let instance = Instance::new();
    let project = instance.create_project("logged");
    let id = project.id.to_string();
    instance.json(&["grant", "remove", &id, "currencies"]);
    instance.json(&["console", "link"]);
    let invites = instance.json(&["console", "invites"]);
    let invite = invites[0]["inviteId"].as_str().unwrap();
    assert_eq!(invites[0]["role"], "administrator");
    instance.json(&["console", "revoke", invite]);
    assert_eq!(instance.json(&["console", "invites"]), json!([]));
    assert!(instance.failure(&["console", "revoke", invite]).contains("not found"));

    let log = instance.json(&["log"]);
    let expected = [
        "invite-revoked",
        "invite-created",
        "grant-removed",
        "token-created",
        "key-created",
        "grant-added",
        "grant-added",
        "grant-added",
        "project-created",
    ];
    assert_eq!(words(&log, "act"), expected);
    assert!(words(&log, "actor").iter().all(|actor| *actor == "command-line"));
    let own = instance.json(&["log", "--project", &id]);
    assert_eq!(words(&own, "act"), expected[2..]);
    let text = log.to_string();
    assert!(!text.contains(&project.key) && !text.contains(&project.token), "{text}");
}
