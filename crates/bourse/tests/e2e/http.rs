//! As much of an HTTP client as these tests need: one request, one connection, every wait bounded.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// How long to wait for an answer, longer than the service takes for any.
const ANSWER_TIMEOUT: Duration = Duration::from_mins(2);

/// A credential as it travels.
#[derive(Clone, Copy)]
pub(crate) enum Credential<'c> {
    Key(&'c str),
    Token(&'c str),
}

impl Credential<'_> {
    fn header(self) -> String {
        match self {
            Self::Key(key) => format!("X-Access-Key: {key}"),
            Self::Token(token) => format!("Authorization: Bearer {token}"),
        }
    }
}

/// A whole answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: String,
    head: String,
}

impl Answer {
    /// One that nobody gave, with nothing but its status.
    pub(crate) fn bare(status: u16) -> Self {
        Self { status, body: String::new(), head: String::new() }
    }

    /// A header, if it has it.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        header(&self.head, name)
    }

    /// The body of an answer that must be a success.
    pub(crate) fn ok(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.body);
        serde_json::from_str(&self.body).unwrap()
    }

    /// The name of the error that the answer must be.
    pub(crate) fn error(&self) -> String {
        assert_ne!(self.status, 200, "{}", self.body);
        let envelope: Value = serde_json::from_str(&self.body).unwrap();
        envelope["error"].as_str().unwrap().to_owned()
    }
}

/// A request that can be sent in pieces.
pub(crate) struct Exchange(TcpStream);

impl Exchange {
    pub(crate) fn open(port: u16) -> io::Result<Self> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let stream = TcpStream::connect_timeout(&address, ANSWER_TIMEOUT)?;
        stream.set_read_timeout(Some(ANSWER_TIMEOUT))?;
        stream.set_write_timeout(Some(ANSWER_TIMEOUT))?;
        stream.set_nodelay(true)?;
        Ok(Self(stream))
    }

    pub(crate) fn send(&mut self, piece: &str) -> io::Result<()> {
        self.0.write_all(piece.as_bytes())
    }

    /// Reads something that must come next.
    pub(crate) fn expect(&mut self, text: &str) -> io::Result<()> {
        let mut bytes = vec![0; text.len()];
        self.0.read_exact(&mut bytes)?;
        assert_eq!(String::from_utf8_lossy(&bytes), text);
        Ok(())
    }

    /// Reads until the service closes; an answer that is cut off is an error.
    pub(crate) fn answer(mut self) -> io::Result<Answer> {
        let mut bytes = Vec::new();
        self.0.read_to_end(&mut bytes)?;
        let text = String::from_utf8(bytes).map_err(io::Error::other)?;
        let cut_off = || io::Error::from(io::ErrorKind::UnexpectedEof);
        let (head, body) = text.split_once("\r\n\r\n").ok_or_else(cut_off)?;
        let length = header(head, "content-length").and_then(|length| length.parse::<usize>().ok());
        if length.is_none_or(|length| length != body.len()) {
            return Err(cut_off());
        }
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or_else(cut_off)?;
        Ok(Answer { status, body: body.to_owned(), head: head.to_owned() })
    }
}

/// A header of the head of an answer.
fn header<'h>(head: &'h str, asked: &str) -> Option<&'h str> {
    let mut lines = head.lines().filter_map(|line| line.split_once(':'));
    lines.find(|(name, _)| name.eq_ignore_ascii_case(asked)).map(|(_, value)| value.trim())
}

/// The head of a request that closes the connection after its answer.
pub(crate) fn head(method: &str, path: &str, headers: &[String], body_bytes: usize) -> String {
    let headers = headers.iter().fold(String::new(), |head, header| head + header + "\r\n");
    format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}Content-Length: {body_bytes}\r\n\r\n"
    )
}

/// Reads an address.
pub(crate) fn get(port: u16, path: &str) -> io::Result<Answer> {
    let mut exchange = Exchange::open(port)?;
    exchange.send(&head("GET", path, &[], 0))?;
    exchange.answer()
}

/// The head of a call of an operation.
pub(crate) fn call_head(operation: &str, credential: Credential<'_>, body_bytes: usize) -> String {
    let headers = ["Content-Type: application/json".to_owned(), credential.header()];
    head("POST", &format!("/rpc/{operation}"), &headers, body_bytes)
}

/// Calls an operation.
pub(crate) fn call(
    port: u16,
    operation: &str,
    credential: Credential<'_>,
    body: &Value,
) -> io::Result<Answer> {
    call_after(port, operation, credential, None, body)
}

/// Calls an operation that must know what was written at a `Data-Version`, if there is one.
pub(crate) fn call_after(
    port: u16,
    operation: &str,
    credential: Credential<'_>,
    version: Option<&str>,
    body: &Value,
) -> io::Result<Answer> {
    let body = body.to_string();
    let mut headers = vec!["Content-Type: application/json".to_owned(), credential.header()];
    headers.extend(version.map(|version| format!("Data-Version: {version}")));
    let mut exchange = Exchange::open(port)?;
    exchange.send(&head("POST", &format!("/rpc/{operation}"), &headers, body.len()))?;
    exchange.send(&body)?;
    exchange.answer()
}
