//! Reading a whole collection from PostgreSQL.

use std::pin::pin;

use bourse_wire::OrderFacts;
use futures_util::StreamExt as _;
use sqlx::{AssertSqlSafe, PgConnection};
use tokio::sync::mpsc::Sender;

use super::checkout::Checkout;
use super::{BEGIN_SNAPSHOT, Postgres};
use crate::StoreError;
use crate::collections::{CollectionId, StoredToken, read_contract, require_version};
use crate::load::{Balance, Gatherer, LoadEnd, Loaded, Part, select_all};
use crate::row::Row;

impl Postgres {
    /// Reads and sends a collection.
    pub(crate) async fn load(&self, id: CollectionId, parts: Sender<Part>) -> Result<(), StoreError> {
        let loading = async { self.send_whole(id, parts).await.or_else(LoadEnd::into_result) };
        self.reach.attend(pin!(loading)).await
    }

    async fn send_whole(&self, id: CollectionId, parts: Sender<Part>) -> Result<(), LoadEnd> {
        let mut connection = Checkout::new(&self.reach).await?;
        connection.begin(BEGIN_SNAPSHOT).await?;
        send_parts(&mut connection, id, &parts).await?;
        // One by which not everything was read is closed.
        connection.give_back(&Ok(()));
        Ok(())
    }
}

async fn send_parts(snapshot: &mut Checkout, id: CollectionId, parts: &Sender<Part>) -> Result<(), LoadEnd> {
    let mark = require_version(&mut snapshot.session(), id).await?;
    send(parts, Part::Begin { mark }).await?;
    if let Some(info) = read_contract(&mut snapshot.session(), id).await? {
        send(parts, Part::Contract(info)).await?;
    }
    send_all::<StoredToken>(snapshot.connection(), id, parts).await?;
    send_all::<Balance>(snapshot.connection(), id, parts).await?;
    send_all::<OrderFacts>(snapshot.connection(), id, parts).await
}

async fn send(parts: &Sender<Part>, part: Part) -> Result<(), LoadEnd> {
    parts.send(part).await.map_err(|_| LoadEnd::ReceiverGone)
}

async fn send_all<T: Loaded>(
    snapshot: &mut PgConnection,
    id: CollectionId,
    parts: &Sender<Part>,
) -> Result<(), LoadEnd> {
    let mut rows = sqlx::query(AssertSqlSafe(select_all::<T>())).bind(id.0.cast_signed()).fetch(snapshot);
    let mut gatherer = Gatherer::<T>::new();
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
