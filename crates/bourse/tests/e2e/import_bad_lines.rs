//! `bourse import` and lines that make no sense.

use serde_json::{Value, json};

use crate::import::{CONTRACT, counts, file, lines, token, token_names};
use crate::instance::Instance;

/// Lines that cannot be imported, and what must be said of each.
fn bad_lines() -> Vec<(String, &'static [&'static str])> {
    let changed = |member: &str, value: Value| {
        let mut record = token(9, "bad");
        record[member] = value;
        record.to_string()
    };
    let event = |project: u64, kind: &str| {
        let record = json!({ "type": "event", "projectId": project, "wallet": CONTRACT, "kind": kind,
            "at": "2026-01-01T00:00:00Z", "id": "1" });
        record.to_string()
    };
    let usage = json!({ "type": "usage", "projectId": 1, "service": "metadata", "day": "2026-01-01", "units": 1,
        "id": "metered:metadata:2026-01-01" });
    let free = json!({ "type": "order", "orderId": "1", "marketplace": "opensea", "side": "offer", "chainId": 137,
        "collectionContractAddress": CONTRACT, "createdBy": CONTRACT, "priceAmount": "0",
        "priceCurrencyAddress": CONTRACT, "validUntil": "2030-01-01T00:00:00Z" });
    vec![
        (r#"{"type":"token","#.to_owned(), &["not JSON", "EOF"]),
        ("nonsense".to_owned(), &["not JSON"]),
        ("[1]".to_owned(), &["not a JSON object"]),
        (changed("properties", nested(40)), &["nested deeper than 32 levels"]),
        (
            changed("properties", json!({ "$serde_json::private::RawValue": "[]" })),
            &["is not a name that a member may have"],
        ),
        (r#"{"chainId":137}"#.to_owned(), &["type", "is required"]),
        (changed("type", json!("tokens")), &["type", "`tokens` is none of", "currency", "audience"]),
        (changed("contractAddress", json!("0x12")), &["contractAddress"]),
        (changed("contractAddress", json!(null)), &["contractAddress"]),
        (changed("chainId", json!("nowhere")), &["chainId", "`nowhere`"]),
        (changed("tokenId", json!("-1")), &["tokenId"]),
        (changed("name", json!(["a"])), &["name"]),
        (event(999, "session"), &["projectId", "there is no project 999"]),
        (event(1, "party"), &["kind", "`party`"]),
        (usage.to_string(), &["id", "metered:"]),
        (free.to_string(), &["priceAmount: must not be zero"]),
    ]
}

fn nested(depth: usize) -> Value {
    (0..depth).fold(json!({}), |inner, _| json!([inner]))
}

#[test]
fn a_bad_line_ends_the_import_with_its_place_and_reason() {
    let instance = Instance::new();
    instance.create_project("first");
    for (index, (line, words)) in bad_lines().into_iter().enumerate() {
        let number = 10 + index as u64;
        let text = format!("{}\n{line}\n{}", lines(&[token(number, "before")]), lines(&[token(1, "after")]));
        file(&instance, "bad.jsonl", text);
        let done = instance.run(&["import", "bad.jsonl", "--json"]);
        assert_eq!(done.status.code(), Some(1), "{line}: {done:?}");
        assert!(done.stderr.starts_with("bourse: bad.jsonl line 3: "), "{line}: {done:?}");
        assert!(words.iter().all(|word| done.stderr.contains(word)), "{line}: {done:?}");
        let summary: Value = serde_json::from_str(&done.stdout).unwrap();
        assert_eq!(counts(&summary), [1, 1, 0], "{line}");
        assert!(summary["stopped"].as_str().unwrap().starts_with("bad.jsonl line 3: "));
    }
    let names = token_names(&instance);
    assert_eq!(names.len(), bad_lines().len());
    assert!(names.iter().all(|(_, name)| name == "before"));
}

#[test]
fn bad_lines_can_be_passed_over() {
    let instance = Instance::new();
    instance.create_project("first");
    let bad = bad_lines();
    let mut text = lines(&[token(1, "first")]);
    for (line, _) in &bad {
        text.push_str(line);
        text.push('\n');
    }
    text.push_str(&lines(&[token(2, "last")]));
    file(&instance, "bad.jsonl", text);
    let done = instance.run(&["import", "bad.jsonl", "--skip-bad", "--json"]);
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    assert_eq!(counts(&serde_json::from_str(&done.stdout).unwrap()), [2, 2, bad.len() as u64]);
    for (index, (line, words)) in bad.iter().enumerate() {
        let start = format!("bourse: skipped bad.jsonl line {}: ", index + 2);
        let told = done.stderr.lines().find(|told| told.starts_with(&start)).unwrap_or_default();
        assert!(words.iter().all(|word| told.contains(word)), "{line}: {told}");
    }
    assert_eq!(token_names(&instance).len(), 2);
}

#[test]
fn orders_that_a_followed_chain_states_are_bad_lines() {
    let instance = Instance::new();
    let order = |marketplace: &str| {
        json!({ "type": "order", "orderId": "1", "marketplace": marketplace, "side": "offer", "chainId": 137,
            "collectionContractAddress": CONTRACT, "createdBy": CONTRACT, "priceAmount": "5",
            "priceCurrencyAddress": CONTRACT, "validUntil": "2030-01-01T00:00:00Z" })
    };
    let (own, other) = (order("bourse_marketplace_v1"), order("opensea"));
    file(&instance, "own.jsonl", lines(std::slice::from_ref(&own)));
    file(&instance, "both.jsonl", lines(&[order("bourse_marketplace_v2"), other]));
    assert_eq!(counts(&instance.json(&["import", "own.jsonl"])), [1, 1, 0]);
    instance.json(&["collection", "add", "polygon", CONTRACT, "--from", "5"]);
    let said = instance.failure(&["import", "own.jsonl"]);
    let reason = format!("own.jsonl line 1: marketplace: chain 137 is followed for {CONTRACT}");
    assert!(said.contains(&reason), "{said}");
    assert_eq!(counts(&instance.json(&["import", "both.jsonl", "--skip-bad"])), [1, 1, 1]);
}

/// The longest line that is read, its end included.
const LINE_BYTES_MAX: usize = 4 * 1024 * 1024;

#[test]
fn a_line_that_is_too_long_is_a_bad_line_and_the_next_one_is_not_lost() {
    let instance = Instance::new();
    for (round, excess) in [0, 1, 2, 300_000].into_iter().enumerate() {
        let numbers = [1, 2].map(|number| number + 2 * round as u64);
        let mut long = token(9, "");
        let padding = LINE_BYTES_MAX + excess - long.to_string().len() - 1;
        long["name"] = json!("x".repeat(padding));
        let [before, after] = numbers.map(|number| lines(&[token(number, "kept")]));
        file(&instance, "long.jsonl", format!("{before}{long}\n{after}"));
        let done = instance.run(&["import", "--skip-bad", "--json", "long.jsonl"]);
        assert!(done.status.success(), "{excess}: {done:?}");
        assert_eq!(
            counts(&serde_json::from_str(&done.stdout).unwrap()),
            [2, 2, 1],
            "{excess}: {}",
            done.stderr
        );
        // At the limit the line is read, and refused for its name.
        let reason = if excess == 0 { "name" } else { "the line is longer than 4194304 bytes" };
        assert!(done.stderr.contains(reason), "{excess}: {}", done.stderr);
        let said = instance.failure(&["import", "long.jsonl"]);
        assert!(said.contains("long.jsonl line 2: ") && said.contains(reason), "{excess}: {said}");
    }
    assert_eq!(token_names(&instance).len(), 8);
}

#[test]
fn a_file_that_cannot_be_read_is_named_and_those_before_it_are_in() {
    let instance = Instance::new();
    file(&instance, "good.jsonl", lines(&[token(1, "good")]));
    file(&instance, "later.jsonl", lines(&[token(2, "later")]));
    for missing in ["missing.jsonl", "."] {
        let said = instance.failure(&["import", "good.jsonl", missing, "later.jsonl"]);
        assert!(said.contains(&format!("{missing}: ")) && said.contains("os error"), "{said}");
        // Passing over bad lines does not mean passing over files.
        let said = instance.failure(&["import", "--skip-bad", "good.jsonl", missing, "later.jsonl"]);
        assert!(said.contains(&format!("{missing}: ")), "{said}");
    }
    assert_eq!(token_names(&instance), [("1".to_owned(), "good".to_owned())]);
    assert!(instance.failure(&["import"]).contains("<FILE>"));
    let said = String::from_utf8(vec![0xff, b'\n']).unwrap_err().into_bytes();
    let done = instance.run_with_input(&["import", "-"], &said);
    assert!(!done.status.success() && done.stderr.contains("- line 1: not JSON"), "{done:?}");
}

/// What an order is that its maker signed, no line says.
#[test]
fn orders_that_were_signed_are_not_said_to_be_something_else() {
    let instance = Instance::new();
    let vectors: Value =
        serde_json::from_str(include_str!("../../../protocols/vectors/vectors.json")).unwrap();
    let cases = vectors["seaport"]["cases"].as_array().unwrap();
    let case = cases.iter().find(|case| case["chainId"] == 1 && case["marketplace"] == "opensea").unwrap();
    let order = &case["orders"][0];
    let signed = json!({ "type": "order", "marketplace": "opensea", "chainId": 1, "native": order["native"],
        "signature": order["signature"] });
    let collection = "0x00000000000000000000000000000000000000c0";
    let plain = json!({ "type": "order", "orderId": order["id"], "marketplace": "opensea", "side": "listing",
        "tokenId": "666", "chainId": 1, "collectionContractAddress": collection, "createdBy": CONTRACT,
        "priceAmount": "1", "priceCurrencyAddress": CONTRACT, "validUntil": "2030-01-01T00:00:00Z" });
    file(&instance, "signed.jsonl", lines(&[signed]));
    let mut over = plain.clone();
    over["status"] = json!("cancelled");
    file(&instance, "plain.jsonl", lines(&[plain]));
    file(&instance, "over.jsonl", lines(&[over]));
    assert_eq!(counts(&instance.json(&["import", "signed.jsonl"])), [1, 1, 0]);
    // Whether it is said to be open, or over at a price that nobody signed.
    for stated in ["plain.jsonl", "over.jsonl"] {
        let said = instance.failure(&["import", stated]);
        assert!(said.contains("was signed by its maker"), "{said}");
        let skipped = instance.run(&["import", stated, "--skip-bad", "--json"]);
        assert_eq!(counts(&serde_json::from_str(&skipped.stdout).unwrap()), [0, 0, 1], "{skipped:?}");
        assert!(skipped.stderr.contains("was signed by its maker"), "{skipped:?}");
    }
}
