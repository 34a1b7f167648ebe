//! A relay before PostgreSQL that cuts connections where a test wants it.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::unusable;
use crate::{DatabaseUrl, StoreError};

/// Where a connection is cut, counted in messages that clients send from then on: a message is what is sent in one piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The server never gets this one.
    Before(u32),
    /// The server does what this one asks for, and its answer is lost.
    After(u32),
}

/// A relay, which ends with this value.
pub struct Relay {
    /// The database, by way of the relay.
    pub url: DatabaseUrl,
    plan: Arc<Mutex<Option<Cut>>>,
    task: JoinHandle<()>,
}

impl Relay {
    /// A relay before a database of PostgreSQL; nothing is between us and one of another kind.
    pub async fn before(database: &DatabaseUrl) -> Result<Option<Self>, StoreError> {
        let DatabaseUrl::Postgres(url) = database else { return Ok(None) };
        let no_host = || unusable("a URL that names no host and port");
        let (scheme, rest) = url.split_once("://").ok_or_else(no_host)?;
        let (authority, name) = rest.split_once('/').ok_or_else(no_host)?;
        let (user, server) =
            authority.rsplit_once('@').map_or(("", authority), |(user, server)| (user, server));
        let listener = TcpListener::bind("127.0.0.1:0").await.map_err(unusable)?;
        let address = listener.local_addr().map_err(unusable)?;
        let url = DatabaseUrl::Postgres(format!("{scheme}://{user}@{address}/{name}"));
        let plan = Arc::new(Mutex::new(None));
        let task = tokio::spawn(take_in(listener, server.to_owned(), Arc::clone(&plan)));
        Ok(Some(Self { url, plan, task }))
    }

    /// Cuts the connection that sends the message of that number, and no other.
    pub fn cut(&self, cut: Cut) {
        *self.plan.lock().unwrap_or_else(PoisonError::into_inner) = Some(cut);
    }

    /// Cuts nothing any more. Tells whether it came to that before.
    pub fn spare(&self) -> bool {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner).take().is_none()
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn take_in(listener: TcpListener, server: String, plan: Arc<Mutex<Option<Cut>>>) {
    while let Ok((client, _)) = listener.accept().await {
        let (server, plan) = (server.clone(), Arc::clone(&plan));
        tokio::spawn(async move {
            if let Ok(server) = TcpStream::connect(server).await {
                // However a connection ends, both sides see it closed.
                let _ = relay(client, server, &plan).await;
            }
        });
    }
}

async fn relay(
    mut client: TcpStream,
    mut server: TcpStream,
    plan: &Mutex<Option<Cut>>,
) -> std::io::Result<()> {
    let (mut asked, mut answered) = (vec![0; 64 * 1024], vec![0; 64 * 1024]);
    loop {
        tokio::select! {
            read = client.read(&mut asked) => {
                let message = &asked[..read?];
                if message.is_empty() {
                    return Ok(());
                }
                match due(plan) {
                    None => server.write_all(message).await?,
                    Some(Cut::Before(_)) => return Ok(()),
                    Some(Cut::After(_)) => {
                        server.write_all(message).await?;
                        // Any of its answer tells that the server has done it.
                        return server.read(&mut answered).await.map(|_| ());
                    }
                }
            }
            read = server.read(&mut answered) => {
                let message = &answered[..read?];
                if message.is_empty() {
                    return Ok(());
                }
                client.write_all(message).await?;
            }
        }
    }
}

/// Counts a message; tells the cut that is due with it.
fn due(plan: &Mutex<Option<Cut>>) -> Option<Cut> {
    let mut plan = plan.lock().unwrap_or_else(PoisonError::into_inner);
    let (Cut::Before(left) | Cut::After(left)) = plan.as_mut()?;
    *left = left.saturating_sub(1);
    if *left == 0 { plan.take() } else { None }
}
