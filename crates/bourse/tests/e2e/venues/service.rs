//! Stands in for the own services of marketplaces, and signs what theirs would sign.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use alloy_primitives::{B256, hex, keccak256};
use bourse_wire::Address;
use k256::ecdsa::SigningKey;
use serde_json::{Value, json};

/// What it answers at a path to bodies that have a text in them.
struct Known {
    path: String,
    about: String,
    answer: Value,
}

/// A service, whose thread ends with the test's process.
pub(super) struct Service {
    port: u16,
    known: Arc<Mutex<Vec<Known>>>,
}

impl Service {
    /// One that knows nothing yet.
    pub(super) fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let known: Arc<Mutex<Vec<Known>>> = Arc::default();
        let desk = Arc::clone(&known);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                serve(stream.unwrap(), &desk);
            }
        });
        Self { port, known }
    }

    /// The settings that have it asked for a marketplace.
    pub(super) fn setting(&self, marketplace: &str) -> String {
        format!("[sources]\n{marketplace}_url = \"http://127.0.0.1:{}\"\n", self.port)
    }

    /// Teaches it what to answer at a path when the question has a text in it, instead of what it knew of that.
    pub(super) fn knows(&self, path: &str, about: &str, answer: &Value) {
        let mut known = self.known.lock().unwrap();
        known.retain(|known| (known.path.as_str(), known.about.as_str()) != (path, about));
        known.push(Known { path: path.to_owned(), about: about.to_owned(), answer: answer.clone() });
    }
}

/// Answers one question, as the head of each asks for no more of the connection than that.
fn serve(mut stream: TcpStream, desk: &Mutex<Vec<Known>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut length = 0;
    loop {
        line.clear();
        if reader.read_line(&mut line).unwrap() == 0 || line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let body = String::from_utf8(body).unwrap();
    let desk = desk.lock().unwrap();
    let found = desk.iter().find(|known| known.path == path && body.contains(&known.about));
    let (status, answer) = match found {
        Some(known) => ("200 OK", known.answer.clone()),
        None => ("404 Not Found", json!({ "message": "nothing is known of it" })),
    };
    let answer = answer.to_string();
    let head = format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", answer.len());
    stream.write_all(format!("{head}{answer}").as_bytes()).unwrap();
}

/// A key of a marketplace, for what no node signs: digests as they are.
pub(super) struct Signer(SigningKey);

impl Signer {
    pub(super) fn new() -> Self {
        Self(SigningKey::from_slice(&[0x42; 32]).unwrap())
    }

    pub(super) fn address(&self) -> Address {
        let point = self.0.verifying_key().to_encoded_point(false);
        let hash = keccak256(&point.as_bytes()[1..]);
        format!("0x{}", hex::encode(&hash[12..])).parse().unwrap()
    }

    /// `r`, `s` and `v`.
    pub(super) fn sign(&self, digest: B256) -> (B256, B256, u8) {
        let (signature, recovery) = self.0.sign_prehash_recoverable(digest.as_slice()).unwrap();
        let (r, s) = signature.split_bytes();
        (B256::from_slice(&r), B256::from_slice(&s), 27 + recovery.to_byte())
    }
}
