//! Relays between the coordinator of a cluster and its workers.

use std::sync::Arc;

use sqlx::{Connection as _, PgConnection, Row as _};
use tokio::sync::watch;

use super::nodes::with_host;
use super::relay::{Fate, Marked, Marks, Relay};
use super::{TestDatabase, on_citus, unusable};
use crate::{DatabaseUrl, StoreError};

/// A relay before every worker, for one database alone.
pub struct WorkerRelays {
    relays: Vec<Relay>,
    marks: Marks,
}

impl WorkerRelays {
    /// `None` where there is no cluster, or where nobody can listen to what its nodes say to each other.
    pub async fn of(database: &TestDatabase) -> Result<Option<Self>, StoreError> {
        let DatabaseUrl::Postgres(url) = &database.url else { return Ok(None) };
        if !on_citus() {
            return Ok(None);
        }
        let mut coordinator = PgConnection::connect(url).await?;
        let said: String = sqlx::query_scalar("SHOW citus.node_conninfo").fetch_one(&mut coordinator).await?;
        if !said.contains("sslmode=disable") {
            println!(
                "not tested: the nodes of the cluster do not speak openly with each other, but with {said}"
            );
            return Ok(None);
        }
        let (mut relays, marks) = (Vec::new(), Arc::new(watch::Sender::new(None)));
        let sql = "SELECT nodeid, nodename, nodeport FROM pg_dist_node WHERE groupid <> 0 ORDER BY nodeid";
        for worker in sqlx::query(sql).fetch_all(&mut coordinator).await? {
            let (id, host, port): (i32, String, i32) =
                (worker.try_get(0)?, worker.try_get(1)?, worker.try_get(2)?);
            let direct = DatabaseUrl::Postgres(with_host(url, &host, port)?);
            let relay = Relay::with_marks(&direct, Arc::clone(&marks)).await?;
            let relay = relay.ok_or_else(|| unusable("a worker that is no PostgreSQL"))?;
            let sql = "UPDATE pg_dist_node SET nodename = '127.0.0.1', nodeport = $2 WHERE nodeid = $1";
            sqlx::query(sql).bind(id).bind(i32::from(relay.port()?)).execute(&mut coordinator).await?;
            relays.push(relay);
        }
        coordinator.close().await?;
        Ok(Some(Self { relays, marks }))
    }

    /// From now on messages to workers with this text in them have this fate: the next one, or all that are held.
    pub fn mark(&self, text: &'static str, fate: Fate) {
        self.marks.send_replace(Some(Marked { text, fate }));
    }

    /// Lets all messages go as they come, and those that are held.
    pub fn unmark(&self) {
        self.marks.send_replace(None);
    }

    /// Whether what was marked for one message is yet to come.
    pub fn is_marked(&self) -> bool {
        self.marks.borrow().is_some()
    }

    /// How many messages were held.
    pub fn held(&self) -> u64 {
        self.relays.iter().map(Relay::held).sum()
    }

    /// Brings all workers back.
    pub fn come_up(&self) {
        self.relays.iter().for_each(Relay::come_up);
    }
}
