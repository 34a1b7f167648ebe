//! Who said what: written with the change, read by collection and by order, and forgotten in time.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support {
    pub(crate) mod database;
    pub(crate) mod orders;
}

use bourse_store::testing::write_number;
use bourse_store::{
    Attribution, AttributionPage, Author, Batch, Change, CollectionKey, CredentialId, Sender, Store,
};
use bourse_wire::{Address, ChainId, OrderFacts, OrderKey, Timestamp};
use support::database::open;
use support::orders::{change, offer};

const COLLECTION: CollectionKey = CollectionKey { chain: ChainId(1), address: Address::ZERO };

fn at(second: u64) -> Timestamp {
    Timestamp::from_unix_seconds(1_800_000_000 + second)
}

fn order(id: &str, price: u64) -> Change {
    change(OrderFacts { price_amount: price.into(), ..offer(id) })
}

fn token(id: u64) -> Change {
    Change::Token { token_id: id.into(), metadata: format!("{{\"id\":{id}}}") }
}

fn sender(credential: CredentialId) -> Sender {
    Sender { project: 7.try_into().unwrap(), credential }
}

async fn commit(store: &Store, author: Author, second: u64, changes: Vec<Change>) -> u64 {
    let batch = Batch { collection: COLLECTION, changes, key: None, author, at: at(second) };
    store.commit(batch).await.unwrap().version
}

async fn read(store: &Store, before: Option<u64>, limit: u64) -> Vec<Attribution> {
    store.attributions(COLLECTION, AttributionPage { before, limit }).await.unwrap()
}

#[tokio::test]
async fn every_author_is_read_as_it_was_written() {
    let (_database, store) = open().await;
    let wallet = Address::from_bytes([9; 20]);
    let authors = [
        Author::Chain { block: Some(12) },
        Author::Chain { block: None },
        Author::Fetcher,
        Author::Operator,
        Author::Steward(sender(CredentialId::AccessKey(3.try_into().unwrap()))),
        Author::Steward(sender(CredentialId::SecretToken("a-token id".into()))),
        Author::Steward(sender(CredentialId::Account(4.try_into().unwrap()))),
        Author::Wallet {
            wallet: Some(wallet),
            sender: sender(CredentialId::AccessKey(3.try_into().unwrap())),
        },
        Author::Wallet { wallet: None, sender: sender(CredentialId::AccessKey(3.try_into().unwrap())) },
    ];
    for (second, author) in (1..).zip(&authors) {
        commit(&store, author.clone(), second, vec![order("o", second)]).await;
    }
    let found = read(&store, None, 50).await;
    let expected: Vec<_> = (1..).zip(authors).map(|(second, author)| (second, at(second), author)).collect();
    let newest_first: Vec<_> = expected.into_iter().rev().collect();
    let read_back: Vec<_> = found.iter().map(|one| (one.version, one.at, one.author.clone())).collect();
    assert_eq!(read_back, newest_first);
    for attribution in &found {
        let public = attribution.author.public_name();
        assert!(!public.contains("project") && !public.contains('7'), "{public}");
        assert_eq!(
            attribution.author.full_name().contains("project 7"),
            attribution.author.sender().is_some()
        );
    }
    let pages = [read(&store, None, 4).await, read(&store, Some(6), 4).await, read(&store, Some(2), 4).await];
    assert_eq!(pages.concat(), found);
}

#[tokio::test]
async fn an_attribution_counts_what_is_different_and_names_orders() {
    let (_database, store) = open().await;
    let balance = Change::Balance { token_id: 1.into(), account: Address::ZERO, balance: 1.into() };
    let all =
        vec![Change::Contract("{}".to_owned()), token(1), token(2), balance, order("a", 1), order("b", 1)];
    commit(&store, Author::Operator, 1, all.clone()).await;
    let steward = Author::Steward(sender(CredentialId::AccessKey(1.try_into().unwrap())));
    commit(&store, steward.clone(), 2, all).await;
    let first = read(&store, None, 50).await;
    assert_eq!(first.len(), 1, "who says again what is known says nothing");
    let counts =
        (first[0].contract, first[0].tokens, first[0].balances, first[0].orders, first[0].activities);
    assert_eq!(counts, (true, 2, 1, 2, 0));
    commit(&store, steward.clone(), 3, vec![order("a", 1), order("b", 2), token(3)]).await;
    let of = async |id: &str| {
        let key = OrderKey { order_id: id.to_owned(), ..offer(id).key() };
        store.order_attributions(COLLECTION, key, AttributionPage::newest(50)).await.unwrap().found
    };
    let authors = |found: Vec<Attribution>| found.into_iter().map(|one| one.author).collect::<Vec<_>>();
    assert_eq!(authors(of("a").await), [Author::Operator]);
    assert_eq!(authors(of("b").await), [steward, Author::Operator]);
    assert_eq!(authors(of("c").await), []);
    let many: Vec<Change> = (0..30).map(|number| order(&format!("many {number:02}"), 1)).collect();
    commit(&store, Author::Operator, 4, many).await;
    let newest = &read(&store, None, 1).await[0];
    assert_eq!((newest.orders, newest.order_keys.len()), (30, 10), "some are named, all are counted");
    assert_eq!(of("many 29").await.len(), 1);
    let elsewhere = CollectionKey { chain: ChainId(2), ..COLLECTION };
    assert_eq!(store.attributions(elsewhere, AttributionPage::newest(50)).await.unwrap(), []);
}

#[tokio::test]
async fn what_was_said_long_ago_is_forgotten() {
    let (_database, store) = open().await;
    for second in 1..=1_200 {
        commit(&store, Author::Operator, second, vec![order("o", second)]).await;
    }
    let pruned = async |second| {
        let mut counts = Vec::new();
        for collection in store.attributed_before(at(second)).await.unwrap() {
            loop {
                match store.prune_attributions(collection, at(second)).await.unwrap() {
                    0 => break,
                    count => counts.push(count),
                }
            }
        }
        counts
    };
    assert!(pruned(1).await.is_empty());
    let some = pruned(1_101).await;
    assert_eq!(some.iter().sum::<u64>(), 1_100);
    assert!(some.len() > 1, "in several transactions: {some:?}");
    let kept = read(&store, None, 5_000).await;
    assert_eq!((kept.len(), kept[99].at), (100, at(1_101)));
    let of_order = AttributionPage::newest(5_000);
    let of_order = store.order_attributions(COLLECTION, offer("o").key(), of_order).await.unwrap();
    assert_eq!((of_order.found.len(), of_order.more_before), (100, None));
    commit(&store, Author::Operator, 2_000, vec![order("o", 1)]).await;
    assert_eq!(read(&store, None, 1).await[0].at, at(2_000), "it goes on after that");
}

#[tokio::test]
async fn the_history_of_an_order_goes_on_where_it_was_left() {
    let (_database, store) = open().await;
    // An id like those of others, and one that has signs of JSON.
    let ids = ["1", "11", "1\"],[2,\"1"];
    for second in 1..=350 {
        let id = ids[usize::try_from(second % 3).unwrap()];
        commit(&store, Author::Operator, second, vec![order(id, second), order("other", second)]).await;
    }
    for (id, first) in ids.iter().zip([3, 1, 2]) {
        let (mut versions, mut before) = (Vec::new(), None);
        loop {
            let page = AttributionPage { before, limit: 7 };
            let read = store.order_attributions(COLLECTION, offer(id).key(), page).await.unwrap();
            assert!(read.found.len() <= 7);
            versions.extend(read.found.iter().map(|one| one.version));
            before = read.more_before;
            if before.is_none() {
                break;
            }
        }
        let expected: Vec<u64> = (first..=350).step_by(3).collect();
        assert_eq!(versions, expected.into_iter().rev().collect::<Vec<_>>(), "{id}");
    }
}

/// Of several servers some are of a newer version for a while, and know others who state something, and other marketplaces.
#[tokio::test]
async fn an_author_whom_only_a_newer_version_knows_fails_no_page() {
    let (_database, store) = open().await;
    commit(&store, Author::Operator, 1, vec![order("a", 1)]).await;
    write_number(&store, "attributions", "author", 9).await.unwrap();
    commit(&store, Author::Fetcher, 2, vec![token(1)]).await;
    let found = read(&store, None, 10).await;
    let authors: Vec<&Author> = found.iter().map(|found| &found.author).collect();
    assert_eq!(authors, [&Author::Fetcher, &Author::Unknown(9)]);
    assert_eq!((authors[1].word(), found[1].orders, found[1].order_keys.len()), ("unknown", 1, 1));
}
