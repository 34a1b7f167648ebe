//! What a server asks its node, overheard.

use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::spawn;

use serde_json::Value;

/// What was sent over each connection.
type Overheard = Arc<Mutex<Vec<Vec<u8>>>>;

/// Passes everything on to a node, and keeps what the node was asked. Its threads end with the connections, and the
/// one that waits for more with the test's process.
pub(crate) struct Wiretap {
    port: u16,
    overheard: Overheard,
}

impl Wiretap {
    /// Listens in front of the node at this port.
    pub(crate) fn before(node: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let overheard = Overheard::default();
        let tap = Self { port, overheard: Arc::clone(&overheard) };
        spawn(move || {
            for client in listener.incoming() {
                // A connection that fails is the client's to try again.
                let _ = client.and_then(|client| join(client, node, &overheard));
            }
        });
        tap
    }

    /// Where it listens.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The parameters of every call of a method so far.
    pub(crate) fn calls_of(&self, method: &str) -> Vec<Value> {
        let overheard = self.overheard.lock().unwrap();
        let requests = overheard.iter().flat_map(|sent| bodies(sent)).flat_map(|body| match body {
            Value::Array(batch) => batch,
            one => vec![one],
        });
        requests.filter(|request| request["method"] == method).map(|mut call| call["params"].take()).collect()
    }
}

/// Connects two ends, each way in a thread of its own.
fn join(client: TcpStream, node: u16, overheard: &Overheard) -> io::Result<()> {
    let node = TcpStream::connect(SocketAddr::from((Ipv4Addr::LOCALHOST, node)))?;
    let answers = (node.try_clone()?, client.try_clone()?);
    let place = {
        let mut all = overheard.lock().unwrap();
        all.push(Vec::new());
        all.len() - 1
    };
    let overheard = Arc::clone(overheard);
    spawn(move || pass(client, node, |piece| overheard.lock().unwrap()[place].extend_from_slice(piece)));
    spawn(move || pass(answers.0, answers.1, |_| {}));
    Ok(())
}

fn pass(mut from: TcpStream, mut to: TcpStream, overhear: impl Fn(&[u8])) {
    let mut piece = [0; 16_384];
    while let Ok(length @ 1..) = from.read(&mut piece) {
        overhear(&piece[..length]);
        if to.write_all(&piece[..length]).is_err() {
            break;
        }
    }
    // Either end may have closed both ways already.
    let _ = to.shutdown(Shutdown::Both);
}

/// The bodies of the requests that are complete.
fn bodies(sent: &[u8]) -> Vec<Value> {
    let mut rest = std::str::from_utf8(sent).unwrap();
    let mut bodies = Vec::new();
    while let Some((head, tail)) = rest.split_once("\r\n\r\n") {
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().unwrap())
        });
        let Some(body) = tail.get(..length.unwrap_or(0)) else { break };
        bodies.push(serde_json::from_str(body).unwrap());
        rest = &tail[body.len()..];
    }
    bodies
}
