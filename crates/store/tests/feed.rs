//! What happened in a collection, as those hear it who are told of it.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support {
    pub(crate) mod database;
    pub(crate) mod orders;
}

use bourse_store::testing::{batch, happened, take_back};
use bourse_store::{
    Change, ChangedBalances, CollectionId, CollectionKey, Happened, News, Place, Since, Store, Touched,
};
use bourse_wire::{ActivityAction, ActivityFacts, Address, ChainId, OrderFacts};
use support::database::open;
use support::orders::{change, offer};

const COLLECTION: CollectionKey = CollectionKey { chain: ChainId(137), address: Address::ZERO };

async fn put(store: &Store, ids: &[&str]) -> CollectionId {
    let changes = ids.iter().map(|id| change(offer(id))).collect();
    store.commit(batch(COLLECTION, changes)).await.unwrap();
    store.collection(COLLECTION).await.unwrap().unwrap()
}

/// Some that a chain states.
async fn happen(store: &Store, txs: &[&str]) -> CollectionId {
    let activity = |tx: &&str| {
        let facts = happened(ActivityAction::Transfer, 1, tx);
        let facts = ActivityFacts { to: Some(Address::ZERO), log_index: 3, ..facts };
        Change::Activity(Box::new(facts))
    };
    store.commit(batch(COLLECTION, txs.iter().map(activity).collect())).await.unwrap();
    store.collection(COLLECTION).await.unwrap().unwrap()
}

fn place(retractions: u64, activity: u64) -> Place {
    Place { retractions, activity }
}

async fn news(store: &Store, id: CollectionId, place: Place) -> News {
    store.news(id, Since { place, ..Since::default() }, 100).await.unwrap().unwrap()
}

fn told(news: &News) -> Vec<String> {
    let name = |what: &Happened| match what {
        Happened::Added(activity) => format!("+{}", activity.facts.unique_hash),
        Happened::Removed(activity) => format!("-{}", activity.facts.unique_hash),
        Happened::Anew => "anew".to_owned(),
    };
    let line = |happening: &bourse_store::Happening| {
        let Place { retractions, activity } = happening.resume;
        format!("{} {retractions}.{activity}", name(&happening.what))
    };
    news.happened.iter().map(line).collect()
}

#[tokio::test]
async fn what_is_new_is_told_once_and_in_its_order() {
    let (_database, store) = open().await;
    let id = happen(&store, &["a", "b", "c"]).await;
    let all = news(&store, id, Place::default()).await;
    assert_eq!(told(&all), ["+a 0.1", "+b 0.2", "+c 0.3"]);
    assert_eq!((all.place, all.more), (place(0, 3), false));
    assert_eq!(store.news_end(id).await.unwrap(), (all.mark, all.place));
    assert_eq!(told(&news(&store, id, place(0, 2)).await), ["+c 0.3"]);
    assert_eq!(told(&news(&store, id, place(0, 3)).await), [] as [&str; 0]);
    let page = store.news(id, Since::default(), 2).await.unwrap().unwrap();
    assert_eq!((told(&page).len(), page.more, page.place), (2, true, place(0, 2)));
    // A database that was set back has less than somebody was told of.
    assert_eq!(news(&store, id, place(0, 9)).await.place, place(0, 3));
}

#[tokio::test]
async fn who_was_told_of_something_is_told_that_it_is_taken_back_and_nobody_else() {
    let (_database, store) = open().await;
    let id = happen(&store, &["a", "x1", "b", "x2"]).await;
    take_back(&store, id, "x", false).await.unwrap();
    happen(&store, &["c", "y"]).await;
    take_back(&store, id, "y", false).await.unwrap();
    happen(&store, &["d"]).await;
    // Both were taken back together: who hears of the first only has to hear of it again.
    let told_of_all = news(&store, id, place(0, 4)).await;
    assert_eq!(told(&told_of_all), ["-x1 0.4", "-x2 1.3", "+c 2.4", "+d 2.5"]);
    assert_eq!(told(&news(&store, id, place(0, 2)).await), ["-x1 1.2", "+b 2.3", "+c 2.4", "+d 2.5"]);
    assert_eq!(told(&news(&store, id, place(0, 0)).await), ["+a 2.1", "+b 2.3", "+c 2.4", "+d 2.5"]);
    assert_eq!(told(&news(&store, id, place(1, 5)).await), ["-y 2.4", "+d 2.5"]);
    // Whoever was sent something without saying that it came is told of all that may be.
    let unconfirmed = async |place| {
        let since = Since { place, unconfirmed: true, ..Since::default() };
        told(&store.news(id, since, 100).await.unwrap().unwrap())
    };
    assert_eq!(
        unconfirmed(place(0, 2)).await,
        ["-x1 0.2", "-x2 1.2", "-y 2.2", "+b 2.3", "+c 2.4", "+d 2.5"]
    );
    assert_eq!(unconfirmed(place(2, 4)).await, ["+d 2.5"]);
    let Happened::Removed(gone) = &told_of_all.happened[0].what else { panic!("{told_of_all:?}") };
    assert_eq!((gone.id, gone.facts.log_index), (2, 3));
}

#[tokio::test]
async fn too_much_to_be_listed_is_told_as_such_and_what_nobody_knows_any_more_is_not() {
    let (_database, store) = open().await;
    let many: Vec<String> = (0..1_001).map(|number| format!("x{number}")).collect();
    let id = happen(&store, &many.iter().map(String::as_str).collect::<Vec<_>>()).await;
    take_back(&store, id, "x", false).await.unwrap();
    assert_eq!(told(&news(&store, id, place(0, 1_001)).await), ["anew 1.0"]);
    happen(&store, &["a"]).await;
    take_back(&store, id, "a", true).await.unwrap();
    assert_eq!(told(&news(&store, id, place(1, 1)).await), ["anew 2.0"]);
    assert!(store.news(id, Since { place: place(3, 0), ..Since::default() }, 9).await.unwrap().is_none());
    for _ in 0..1_010 {
        happen(&store, &["y"]).await;
        take_back(&store, id, "y", false).await.unwrap();
    }
    assert!(store.news(id, Since { place: place(1, 1), ..Since::default() }, 9).await.unwrap().is_none());
    let read = news(&store, id, place(900, 1)).await;
    assert_eq!((read.more, read.place), (true, place(916, 0)));
}

#[tokio::test]
async fn the_tokens_of_what_changed_are_told_as_long_as_they_are_few() {
    let (_database, store) = open().await;
    let id = put(&store, &["1"]).await;
    let touched = async |mark| {
        let since = Since { mark: Some(mark), ..Since::default() };
        store.news(id, since, 9).await.unwrap().unwrap().touched
    };
    let (first, _) = store.news_end(id).await.unwrap();
    assert_eq!(touched(first).await, Touched::default());
    let of_token = OrderFacts { token_id: Some(7.into()), ..offer("2") };
    store.commit(batch(COLLECTION, vec![change(of_token)])).await.unwrap();
    assert_eq!(touched(first).await, Touched::Tokens([7.into()].into()));
    let (second, _) = store.news_end(id).await.unwrap();
    put(&store, &["any"]).await;
    assert_eq!(touched(second).await, Touched::Any);
    assert_eq!(touched(bourse_store::Mark::default()).await, Touched::Any);
}

#[tokio::test]
async fn balances_that_changed_are_told_as_they_are_now() {
    let (_database, store) = open().await;
    let id = put(&store, &["1"]).await;
    let (mark, _) = store.news_end(id).await.unwrap();
    let held = |token: u64, balance: u64| Change::Balance {
        token_id: token.into(),
        account: Address::ZERO,
        balance: balance.into(),
    };
    let read = async || {
        let since = Since { mark: Some(mark), balances_of: Some(COLLECTION.chain), ..Since::default() };
        let news = store.news(id, since, 9).await.unwrap().unwrap();
        // The collection is not followed.
        assert_eq!(news.block, None);
        match news.balances {
            ChangedBalances::Of(mut balances) => {
                balances.sort_by_key(|balance| balance.token_id);
                Some(balances.iter().map(|balance| (balance.token_id, balance.balance)).collect::<Vec<_>>())
            }
            ChangedBalances::Any => None,
        }
    };
    assert_eq!(read().await, Some(Vec::new()));
    store.commit(batch(COLLECTION, vec![held(1, 5), held(2, 7)])).await.unwrap();
    store.commit(batch(COLLECTION, vec![held(1, 0), held(3, 1)])).await.unwrap();
    let expected = [(1, 0), (2, 7), (3, 1)].map(|(token, held): (u64, u64)| (token.into(), held.into()));
    assert_eq!(read().await.as_deref(), Some(expected.as_slice()));
    store.commit(batch(COLLECTION, (10..1_020).map(|token| held(token, 1)).collect())).await.unwrap();
    assert_eq!(read().await, None);
}
