//! The servers that share collections tell each other that they are alive.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support {
    pub(crate) mod database;
}

use bourse_store::{ServerRow, Store};
use support::database::open;

fn row(id: &str, beat: u64) -> ServerRow {
    let (address, version) = (format!("{id}.example:4010"), "1".to_owned());
    ServerRow { id: id.to_owned(), address, beat, version }
}

async fn beat(store: &Store, id: &str, beat: u64, gone: &[(&str, u64)]) -> Vec<ServerRow> {
    let gone = gone.iter().map(|(id, beat)| ((*id).to_owned(), *beat)).collect();
    let mut rows = store.beat(row(id, beat), gone).await.unwrap();
    rows.sort_by(|one, other| one.id.cmp(&other.id));
    rows
}

#[tokio::test]
async fn every_beat_tells_of_all_servers_and_their_counters() {
    let (_database, store) = open().await;
    assert_eq!(beat(&store, "a", 1, &[]).await, [row("a", 1)]);
    assert_eq!(beat(&store, "b", 1, &[]).await, [row("a", 1), row("b", 1)]);
    assert_eq!(beat(&store, "a", 2, &[]).await, [row("a", 2), row("b", 1)]);
    store.remove_server("a".to_owned()).await.unwrap();
    assert_eq!(store.servers().await.unwrap(), [row("b", 1)]);
    assert_eq!(beat(&store, "b", 2, &[]).await, [row("b", 2)]);
}

#[tokio::test]
async fn only_a_row_that_still_stands_where_it_stood_is_forgotten() {
    let (_database, store) = open().await;
    beat(&store, "a", 7, &[]).await;
    beat(&store, "b", 3, &[]).await;
    assert_eq!(beat(&store, "c", 1, &[("a", 6), ("b", 3)]).await, [row("a", 7), row("c", 1)]);
}
