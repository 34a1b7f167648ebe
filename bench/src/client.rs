//! A minimal HTTP/1.1 client. It does as little as possible for each request, because it shares the processor
//! with the server that it measures.

use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::error::{Context, Error};

/// Room for a typical answer, so that the buffer grows rarely.
const BUFFER_BYTES: usize = 128 * 1024;

/// An answer larger than this is a fault of the server, or of this parser.
const RESPONSE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// The bytes of a GET request.
pub(crate) fn get(address: SocketAddr, path: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n").into_bytes()
}

/// The bytes of a POST request with a JSON body. Each of `headers` is a name and a value.
pub(crate) fn post(address: SocketAddr, path: &str, headers: &[(&str, &str)], body: &str) -> Vec<u8> {
    let headers: String = headers.iter().flat_map(|(name, value)| [name, ": ", value, "\r\n"]).collect();
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n{headers}\
         Content-Length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// Fetches an answer of any status and length over a connection of its own.
pub(crate) async fn fetch(address: SocketAddr, path: &str) -> Result<(u16, String), Error> {
    let mut stream = TcpStream::connect(address).await.context(|| format!("connecting to {address}"))?;
    // With this version a body ends with the connection, and is never sent in chunks.
    let request = format!("GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.context(|| "sending a request".to_owned())?;
    let mut received = String::new();
    stream.read_to_string(&mut received).await.context(|| "receiving an answer".to_owned())?;
    let status = received.strip_prefix("HTTP/1.").and_then(|rest| rest.get(2..5)?.parse().ok());
    match (status, received.split_once("\r\n\r\n")) {
        (Some(status), Some((_, body))) => Ok((status, body.to_owned())),
        _ => Err(Error::new(format!("no HTTP answer: {}", excerpt(received.as_bytes())))),
    }
}

/// A connection that is kept alive, with one request on it at a time.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    received: Vec<u8>,
}

impl Connection {
    /// Connects to a server.
    pub(crate) async fn open(address: SocketAddr) -> Result<Self, Error> {
        let stream = TcpStream::connect(address).await.context(|| format!("connecting to {address}"))?;
        stream.set_nodelay(true).context(|| "setting TCP_NODELAY".to_owned())?;
        Ok(Self { stream, received: Vec::with_capacity(BUFFER_BYTES) })
    }

    /// Sends a request and reads the whole answer. Anything but 200 with a body is an error.
    pub(crate) async fn exchange(&mut self, request: &[u8]) -> Result<&[u8], Error> {
        self.stream.write_all(request).await.context(|| "sending a request".to_owned())?;
        self.received.clear();
        let head = loop {
            self.receive().await?;
            if let Some(head) = Head::parse(&self.received)? {
                break head;
            }
        };
        let end = head.length.saturating_add(head.body_length);
        while self.received.len() < end {
            self.receive().await?;
        }
        // One request was sent, so bytes behind its answer mean that the lengths were misread.
        if self.received.len() > end {
            return Err(Error::new("the server sent more than its content-length"));
        }
        let body = self.received.get(head.length..end).unwrap_or_default();
        match head.status {
            200 if body.is_empty() => Err(Error::new("the server answered 200 with an empty body")),
            200 => Ok(body),
            status => Err(Error::new(format!("the server answered {status}: {}", excerpt(body)))),
        }
    }

    async fn receive(&mut self) -> Result<(), Error> {
        if self.received.len() > RESPONSE_BYTES_MAX {
            return Err(Error::new(format!("the answer is longer than {RESPONSE_BYTES_MAX} bytes")));
        }
        let read = match self.stream.read_buf(&mut self.received).await {
            Ok(0) => Err(io::Error::from(io::ErrorKind::UnexpectedEof)),
            other => other,
        };
        read.context(|| "receiving an answer".to_owned()).map(|_| ())
    }
}

/// What the head of an answer says, as far as it matters here.
#[derive(Debug, PartialEq, Eq)]
struct Head {
    status: u16,
    /// Bytes of the head itself, with the empty line.
    length: usize,
    body_length: usize,
}

impl Head {
    /// Reads the head at the start of `received`; nothing as long as it is incomplete.
    fn parse(received: &[u8]) -> Result<Option<Self>, Error> {
        const END: &[u8] = b"\r\n\r\n";
        let Some(end) = received.windows(END.len()).position(|window| window == END) else { return Ok(None) };
        let head = received.get(..end).unwrap_or_default();
        let head = std::str::from_utf8(head).context(|| "reading the head of an answer".to_owned())?;
        let mut lines = head.split("\r\n");
        let status = lines.next().and_then(|line| line.strip_prefix("HTTP/1.1 ")?.get(..3)?.parse().ok());
        let body_length = lines.find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
        });
        match (status, body_length) {
            (Some(status), Some(body_length)) => {
                Ok(Some(Self { status, length: end + END.len(), body_length }))
            }
            _ => Err(Error::new(format!("no HTTP/1.1 status with a content-length in: {head}"))),
        }
    }
}

fn excerpt(body: &[u8]) -> String {
    String::from_utf8_lossy(body).chars().take(300).collect()
}

#[cfg(test)]
mod tests {
    use super::Head;

    #[test]
    fn reads_a_head_once_it_is_complete() {
        let received = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\ndate: now\r\n\r\nhello";
        assert_eq!(Head::parse(&received[..30]).unwrap(), None);
        let head = Head { status: 200, length: received.len() - 5, body_length: 5 };
        assert_eq!(Head::parse(received).unwrap(), Some(head));
    }

    #[test]
    fn refuses_an_answer_of_unknown_length() {
        Head::parse(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").unwrap_err();
        Head::parse(b"SSH-2.0\r\n\r\n").unwrap_err();
    }
}
