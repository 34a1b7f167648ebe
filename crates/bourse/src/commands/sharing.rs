//! The part of `bourse doctor` that asks the running service which servers share collections with it.

use std::net::TcpStream;

use bourse_server::settings::Settings;
use serde_json::Value;

use super::deep::call;
use super::health::{TIMEOUT, reachable};

/// What was found, or what to do; nothing of a server that shares nothing. Only a service that runs knows who is alive.
pub(super) fn check(settings: &Settings) -> Option<Result<String, String>> {
    if settings.server.peer_address.is_empty() {
        return None;
    }
    let address = reachable(settings.server.listen);
    if TcpStream::connect_timeout(&address, TIMEOUT).is_err() {
        return Some(Ok(format!("no service answers at {address}: nothing is shared from here")));
    }
    Some(match call(settings, "GET", "/self-check/peers") {
        Ok(told) => summary(&told),
        Err(error) => {
            Err(format!("{error}: is the service of another version, or of another signing secret?"))
        }
    })
}

fn summary(told: &Value) -> Result<String, String> {
    let address = told["address"].as_str().ok_or("the service was started without server.peer_address")?;
    let peers = told["peers"].as_array().map(Vec::as_slice).unwrap_or_default();
    let held = &told["collections"];
    let mut others: Vec<String> = peers.iter().map(sentence).collect();
    if others.is_empty() {
        others.push("there is nobody to share them with".to_owned());
    }
    let found = format!("{address} has {held} collections in memory; {}", others.join("; "));
    if peers.iter().any(|peer| peer["lasts"] == true) { Err(found) } else { Ok(found) }
}

fn sentence(peer: &Value) -> String {
    let address = peer["address"].as_str().unwrap_or_default();
    let seen = &peer["seenSecondsAgo"];
    match peer["trouble"].as_str() {
        None => format!("{address} shares them, seen {seen} s ago"),
        Some(trouble) => {
            let version = peer["version"].as_str().unwrap_or_default();
            format!("{address} (version {version}, seen {seen} s ago) {trouble}")
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(peers: &Value) -> Result<String, String> {
        summary(&json!({ "address": "a:1", "collections": 3, "peers": peers }))
    }

    #[test]
    fn what_lasts_fails_and_what_passes_is_told() {
        let peer = |trouble: Option<&str>, lasts: bool| json!({ "address": "b:1", "version": "1.0.0", "seenSecondsAgo": 2, "trouble": trouble, "lasts": lasts });
        let alone = "a:1 has 3 collections in memory; there is nobody to share them with";
        assert_eq!(told(&json!([])), Ok(alone.to_owned()));
        let shared = "a:1 has 3 collections in memory; b:1 shares them, seen 2 s ago";
        assert_eq!(told(&json!([peer(None, false)])), Ok(shared.to_owned()));
        let of = |what| format!("{shared}; b:1 (version 1.0.0, seen 2 s ago) {what}");
        assert_eq!(told(&json!([peer(None, false), peer(Some("is away"), false)])), Ok(of("is away")));
        assert_eq!(told(&json!([peer(None, false), peer(Some("is wrong"), true)])), Err(of("is wrong")));
        assert!(summary(&json!({ "address": null })).is_err());
    }
}
