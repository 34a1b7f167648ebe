//! Asks the service that these settings describe whether it answers: for containers and whatever else restarts it.

use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::{Value, json};

use crate::cli::{Common, Health};
use crate::context::{CommandError, load_settings};
use crate::output::print;

/// How long each of connecting, asking and answering may take.
pub(super) const TIMEOUT: Duration = Duration::from_secs(5);
/// How long an answer may take that is made by comparing a whole collection.
const CHECK_TIMEOUT: Duration = Duration::from_mins(10);
/// More than the service answers: a hundred bytes for each of very many collections.
const ANSWER_BYTES_MAX: u64 = 64 * 1024 * 1024;

pub(super) fn run(common: &Common, health: &Health) -> Result<(), CommandError> {
    let settings = load_settings(common, &health.listen)?.settings;
    let address = reachable(settings.server.listen);
    let path = if health.ready { "/ready" } else { "/health" };
    let url = format!("http://{address}{path}");
    let request = Request { method: "GET", path, token: None };
    let answer = ask(address, &request).map_err(CommandError::io(format!("asking {url}")))?;
    if answer.status != 200 {
        return Err(CommandError::Other(format!("{url} answered {}: {}", answer.status, answer.body.trim())));
    }
    let body: Value = serde_json::from_str(&answer.body).unwrap_or_default();
    print(common.json, &json!({ "url": url, "answer": body }), || format!("{url} answers"))
}

/// Where a service is asked that listens on all addresses: on this machine.
pub(super) fn reachable(listen: SocketAddr) -> SocketAddr {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, listen.port())
}

/// What to ask.
pub(super) struct Request<'r> {
    pub(super) method: &'static str,
    pub(super) path: &'r str,
    /// The right to ask, where one is needed.
    pub(super) token: Option<&'r str>,
}

pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) body: String,
}

/// One request over a connection of its own. A whole HTTP client would bring much that this does not need.
pub(super) fn ask(address: SocketAddr, request: &Request<'_>) -> io::Result<Answer> {
    let mut stream = TcpStream::connect_timeout(&address, TIMEOUT)?;
    let Request { method, path, token } = request;
    let right = token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
    stream.set_read_timeout(Some(if token.is_some() { CHECK_TIMEOUT } else { TIMEOUT }))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\n{right}Content-Length: 0\r\nConnection: close\r\n\r\n"
    )?;
    let mut text = String::new();
    stream.take(ANSWER_BYTES_MAX).read_to_string(&mut text)?;
    let unreadable = || io::Error::new(io::ErrorKind::InvalidData, "the answer is not HTTP");
    let (head, body) = text.split_once("\r\n\r\n").ok_or_else(unreadable)?;
    let status = head.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok());
    Ok(Answer { status: status.ok_or_else(unreadable)?, body: body.to_owned() })
}
