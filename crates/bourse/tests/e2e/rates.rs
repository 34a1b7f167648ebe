//! What currencies are worth: told by settings, by a link or by somebody, and since when.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bourse_wire::{Address, Timestamp};
use serde_json::{Value, json};

use crate::http::{Credential, get};
use crate::instance::{Instance, Project, Server, within};
use crate::process::WAIT_MAX;

const COIN: &str = "0x3333333333333333333333333333333333333333";

/// Who tells how many US dollars the native currency is worth. The thread ends with the test's process.
fn price_source(dollars: &Arc<AtomicU64>) -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let dollars = Arc::clone(dollars);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            // One piece is the whole request: it has no body.
            let _ = stream.read(&mut [0; 4096]).unwrap();
            let body = json!({ "data": [{ "usd": dollars.load(Ordering::Relaxed) }] }).to_string();
            let head =
                format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", body.len());
            stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
        }
    });
    format!("http://{address}/prices?key=hidden")
}

/// A currency as clients see it: what it is worth, and when that was told.
fn rate(server: &Server, project: &Project, address: &str) -> (String, Timestamp) {
    let body = json!({ "chainId": "polygon" });
    let key = Credential::Key(&project.key);
    let answer = server.call("Marketplace/ListCurrencies", key, &body).ok();
    let currencies = answer["currencies"].as_array().unwrap().iter();
    let found = currencies.clone().find(|currency| currency["contractAddress"] == json!(address)).unwrap();
    let told_at = found["exchangeRateUpdatedAt"].as_str().unwrap().parse().unwrap();
    (found["exchangeRate"].to_string(), told_at)
}

/// Whoever names a network in common use need not tell what it is paid for with.
#[test]
fn the_own_currency_of_a_network_in_common_use_is_known() {
    let instance = Instance::new();
    std::fs::write(instance.directory().join("bourse.toml"), "[networks.polygon]\nid = 137\n").unwrap();
    let project = instance.create_project("rates");
    let listed = || {
        let server = instance.serve();
        let key = Credential::Key(&project.key);
        let answer = server.call("Marketplace/ListCurrencies", key, &json!({ "chainId": "polygon" })).ok();
        let put = json!({ "chainId": "polygon", "currencies": [{ "contractAddress": Address::ZERO,
            "name": "Matic", "symbol": "MATIC", "decimals": 18, "exchangeRate": "0.5" }] });
        server.call("Ingest/PutCurrencies", Credential::Token(&project.token), &put).ok();
        answer["currencies"].clone()
    };
    let first = listed();
    let shown = |currency: &Value, member: &str| currency[0][member].clone();
    assert_eq!(first.as_array().unwrap().len(), 1, "{first}");
    assert_eq!(shown(&first, "symbol"), json!("POL"));
    assert_eq!((shown(&first, "decimals"), shown(&first, "nativeCurrency")), (json!(18), json!(true)));
    let second = listed();
    assert_eq!(shown(&second, "symbol"), json!("MATIC"), "what somebody tells stays: {second}");
}

#[test]
fn rates_come_from_settings_and_links_with_the_time_that_they_were_told() {
    let dollars = Arc::new(AtomicU64::new(2_000));
    let native = Address::ZERO.to_string();
    let instance = Instance::new();
    let settings = format!(
        "[networks.polygon]\nid = 137\nrates = [\"{native} {} data.0.usd\", \"{COIN} 1.25\"]\nrates_interval_ms = 1000\n",
        price_source(&dollars)
    );
    std::fs::write(instance.directory().join("bourse.toml"), settings).unwrap();
    let project = instance.create_project("rates");
    let server = instance.serve();
    let put = |address: &str, rate: Value, at: Value| {
        let currency = json!({ "contractAddress": address, "name": "Money", "symbol": "M", "decimals": 18,
            "exchangeRate": rate, "exchangeRateUpdatedAt": at });
        let body = json!({ "chainId": "polygon", "currencies": [currency] });
        server.call("Ingest/PutCurrencies", Credential::Token(&project.token), &body).ok()
    };
    let other = Address::from_bytes([9; 20]).to_string();
    put(&other, json!("7"), json!("2024-05-06T07:08:09Z"));
    assert_eq!(rate(&server, &project, &other), ("7".to_owned(), "2024-05-06T07:08:09Z".parse().unwrap()));
    put(&other, json!("8"), Value::Null);
    assert!(rate(&server, &project, &other).1 > "2024-05-06T07:08:09Z".parse().unwrap());
    put(&native, Value::Null, Value::Null);
    // With a time of its own: the settings may have decided before anybody could ask for the time of this.
    let put_at: Timestamp = "2024-05-06T07:08:09Z".parse().unwrap();
    put(COIN, json!("3"), json!(put_at));

    within(WAIT_MAX, "the settings decide", || rate(&server, &project, COIN).0 == "1.25");
    within(WAIT_MAX, "the link decides", || rate(&server, &project, &native).0 == "2000");
    let (fixed_at, first_at) = (rate(&server, &project, COIN).1, rate(&server, &project, &native).1);
    assert!(fixed_at > put_at);
    // The same again is told anew by a link; settings do not become newer by being read.
    within(WAIT_MAX, "the link is asked again", || rate(&server, &project, &native).1 > first_at);
    dollars.store(2_500, Ordering::Relaxed);
    within(WAIT_MAX, "the rate moves", || rate(&server, &project, &native).0 == "2500");
    assert_eq!(rate(&server, &project, COIN), ("1.25".to_owned(), fixed_at));

    let status = instance.json(&["status"]);
    let shown = status["currencies"].as_array().unwrap().iter();
    let shown = shown.clone().find(|currency| currency["contractAddress"] == json!(COIN)).unwrap();
    assert_eq!(shown["exchangeRate"], json!("1.25"), "{status}");
    assert_eq!(shown["exchangeRateUpdatedAt"], json!(fixed_at), "{status}");
    let printed = instance.run(&["status"]).stdout;
    assert!(printed.contains(&fixed_at.to_string()), "{printed}");
    let series = format!(
        "bourse_currency_rate_told_timestamp_seconds{{network=\"polygon\",currency=\"{COIN}\"}} {}",
        fixed_at.unix_seconds()
    );
    let metrics = get(server.port, "/metrics").unwrap().body;
    assert!(metrics.contains(&series), "{metrics}");
    assert!(!server.process.stderr().contains("hidden"));
}
