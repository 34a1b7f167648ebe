//! Which server delivers to which listener. No clock is asked: a server delivers for as long as its counter is seen to move, and
//! whoever takes a listener over names the one that had it.

use bourse_wire::{ProjectId, RecordId};

use super::delivery::{WebhookLine, lines_of};
use crate::StoreError;
use crate::args::args;
use crate::backend::{Pending, Store};
use crate::columns::{Insert, or_replace, record, selection};
use crate::session::Session;

/// A server that delivers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveringServer {
    /// What it drew when it started.
    pub name: String,
    /// A counter that it raises for as long as it delivers.
    pub beat: u64,
}

record! { DeliveringServer: "webhook_servers" ("name") { name, beat } }

selection! {
    struct Held {
        project_id: ProjectId,
        listener_id: RecordId,
        holder: String,
    }
}

impl Store {
    /// Tells that a server delivers, forgets those that do not, if their counters still are what they were, and learns of all.
    pub fn beat_webhooks(
        &self,
        server: DeliveringServer,
        gone: Vec<DeliveringServer>,
    ) -> Pending<'_, Vec<DeliveringServer>> {
        self.write(move |mut session| {
            Box::pin(async move {
                for DeliveringServer { name, beat } in gone {
                    let sql = "DELETE FROM webhook_servers WHERE name = $1 AND beat = $2";
                    session.execute(sql, args![name, beat]).await?;
                }
                session.insert(Insert::of([server])?, &or_replace::<DeliveringServer>(&[])).await?;
                session.select("FROM webhook_servers ORDER BY name", args![]).await
            })
        })
    }

    /// Has a server deliver to all active listeners that none of those that deliver has, and tells along which lines it does by now.
    pub async fn hold_webhooks(&self, server: String) -> Result<Vec<WebhookLine>, StoreError> {
        let name = server.clone();
        let read = self.read(move |mut session| {
            Box::pin(async move {
                let nobodys = without_server(&mut session, &name).await?;
                Ok((nobodys.is_empty(), lines_of(&mut session, &name).await?))
            })
        });
        // Mostly there is nothing to write, and servers need not wait for each other.
        let (is_settled, lines) = read.await?;
        if is_settled { Ok(lines) } else { self.take_webhooks(server).await }
    }

    fn take_webhooks(&self, server: String) -> Pending<'_, Vec<WebhookLine>> {
        self.write(move |mut session| {
            Box::pin(async move {
                for Held { project_id, listener_id, holder } in without_server(&mut session, &server).await? {
                    // Of two who find it without a server, one finds it as it was.
                    let sql = "UPDATE webhook_listeners SET holder = $3
                        WHERE project_id = $1 AND listener_id = $2 AND holder = $4";
                    session.execute(sql, args![project_id, listener_id, server.as_str(), holder]).await?;
                }
                lines_of(&mut session, &server).await
            })
        })
    }

    /// Has a server deliver to nobody any more, so that others need not wait until they miss it.
    pub fn leave_webhooks(&self, server: String) -> Pending<'_, ()> {
        self.write(move |mut session| {
            Box::pin(async move {
                let sql = "UPDATE webhook_listeners SET holder = '' WHERE holder = $1";
                session.execute(sql, args![server.as_str()]).await?;
                session.execute("DELETE FROM webhook_servers WHERE name = $1", args![server]).await.map(drop)
            })
        })
    }
}

/// The active listeners that neither a server has nor any of those that deliver.
async fn without_server(session: &mut Session<'_>, server: &str) -> Result<Vec<Held>, StoreError> {
    let alive: Vec<DeliveringServer> = session.select("FROM webhook_servers", args![]).await?;
    let has_server =
        |held: &Held| held.holder == server || alive.iter().any(|server| server.name == held.holder);
    let sql = "FROM webhook_listeners WHERE active ORDER BY project_id, listener_id";
    let mut listeners: Vec<Held> = session.select(sql, args![]).await?;
    listeners.retain(|held| !has_server(held));
    Ok(listeners)
}
