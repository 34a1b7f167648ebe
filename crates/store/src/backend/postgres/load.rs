//! Reading a whole collection from PostgreSQL.

use futures_util::StreamExt as _;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};
use tokio::sync::mpsc::Sender;

use super::{BEGIN_SNAPSHOT, Postgres};
use crate::collections::{CollectionId, read_contract, read_version};
use crate::load::{BALANCES, Gatherer, Kind, ORDERS, Part, Stop, TOKENS};
use crate::row::Row;
use crate::session::Session;

impl Postgres {
    /// Reads and sends a collection.
    pub(crate) async fn load(&self, id: CollectionId, parts: Sender<Part>) -> Result<(), Stop> {
        let mut connection = self.pool.acquire().await?;
        let mut snapshot = connection.begin_with(BEGIN_SNAPSHOT).await?;
        let version = read_version(&mut Session::Postgres(&mut snapshot), id).await?;
        send(&parts, Part::Begin { version }).await?;
        if let Some(info) = read_contract(&mut Session::Postgres(&mut snapshot), id).await? {
            send(&parts, Part::Contract(info)).await?;
        }
        send_all(&mut snapshot, id, TOKENS, &parts).await?;
        send_all(&mut snapshot, id, BALANCES, &parts).await?;
        send_all(&mut snapshot, id, ORDERS, &parts).await
    }
}

async fn send(parts: &Sender<Part>, part: Part) -> Result<(), Stop> {
    parts.send(part).await.map_err(|_| Stop::ReceiverGone)
}

async fn send_all<T>(
    snapshot: &mut PgConnection,
    id: CollectionId,
    kind: Kind<T>,
    parts: &Sender<Part>,
) -> Result<(), Stop> {
    let sql = format!("{} WHERE collection_id = $1", kind.select);
    let mut rows = sqlx::query(AssertSqlSafe(sql)).bind(id.0.cast_signed()).fetch(snapshot);
    let mut gatherer = Gatherer::new(kind);
    while let Some(row) = rows.next().await {
        if let Some(part) = gatherer.add(&Row::Postgres(row?))? {
            send(parts, part).await?;
        }
    }
    match gatherer.finish() {
        Some(part) => send(parts, part).await,
        None => Ok(()),
    }
}
