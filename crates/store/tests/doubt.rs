//! On a cluster only: a worker that goes away between the two phases of a commit, or before it could say that it is ready for the
//! second. Whatever is acknowledged is there for everybody, what is not known is refused and never told wrongly, and nobody waits
//! for longer than the worker is away.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::time::{Duration, Instant};

use bourse_store::testing::{Fate, TestDatabase, WorkerRelays, batch, load_all, metered, operator};
use bourse_store::{
    Batch, Change, CollectionKey, DatabaseUrl, HostedTokenEdit, NewHostedToken, OpenOptions, ProjectScope,
    Store, StoreError,
};
use bourse_wire::{Address, ChainId, CollectionInput, ProjectId, Timestamp, TokenInput};
use sqlx::{Connection as _, PgConnection};

/// What a worker is told in the second phase, and in the first.
const SECOND: &str = "COMMIT PREPARED";
const FIRST: &str = "PREPARE TRANSACTION";
/// What a worker is told that alone has something to commit: this, and nothing after it.
const ALONE: &str = "COMMIT\0";
/// Ends a test that would wait forever, or until the coordinator looks by itself.
const BOUND: Duration = Duration::from_secs(50);

struct Stage {
    workers: WorkerRelays,
    store: Store,
    /// Another process.
    other: Store,
    database: TestDatabase,
}

/// `None` where there is no cluster to stand in.
async fn stage() -> Option<Stage> {
    let database = TestDatabase::fresh().await.unwrap();
    let workers = WorkerRelays::of(&database).await.unwrap()?;
    let (store, other) = (database.open().await.unwrap(), database.open().await.unwrap());
    Some(Stage { workers, store, other, database })
}

fn key(number: u8) -> CollectionKey {
    CollectionKey { chain: ChainId(1), address: Address::from_bytes([number; 20]) }
}

fn token(number: u8, metadata: &str) -> Batch {
    batch(key(number), vec![Change::Token { token_id: 1.into(), metadata: metadata.to_owned() }])
}

/// What a process sees of the one token of a collection.
async fn seen(store: &Store, number: u8) -> Result<Vec<String>, StoreError> {
    let Some(id) = store.collection(key(number)).await? else { return Ok(Vec::new()) };
    let all = load_all(store, id).await?;
    assert_eq!(all.tokens.len() as u64, u64::from(all.version > 0), "a version and what it changed");
    Ok(all.tokens.into_iter().map(|token| token.metadata).collect())
}

async fn within<T>(what: &str, work: impl Future<Output = T>) -> T {
    tokio::time::timeout(BOUND, work).await.unwrap_or_else(|_| panic!("not within {BOUND:?}: {what}"))
}

#[tokio::test]
async fn what_is_acknowledged_is_there_for_everybody() {
    let Some(stage) = stage().await else { return };
    for number in [1, 2] {
        stage.workers.mark(SECOND, Fate::Cut);
        within("it is acknowledged", stage.store.commit(token(number, "made"))).await.unwrap();
        for store in [&stage.store, &stage.other] {
            assert_eq!(seen(store, number).await.unwrap(), ["made"]);
        }
        assert!(!stage.workers.is_marked(), "a worker was told");
    }
}

/// What is changed on one worker alone has no second phase: it is there or it is not, and who was not told which is refused.
#[tokio::test]
async fn a_worker_that_goes_while_it_alone_commits_leaves_nothing_half_done() {
    let Some(stage) = stage().await else { return };
    stage.store.commit(token(1, "before")).await.unwrap();
    for (fate, metadata, there) in [(Fate::Cut, "never", "before"), (Fate::LoseAnswer, "untold", "untold")] {
        stage.workers.mark(ALONE, fate);
        let told = within("it is told", stage.store.commit(token(1, metadata))).await.unwrap_err();
        assert!(matches!(told, StoreError::Unavailable(_)), "{told}");
        assert!(!stage.workers.is_marked(), "a worker was told");
        for store in [&stage.store, &stage.other] {
            assert_eq!(seen(store, 1).await.unwrap(), [there]);
        }
    }
    stage.workers.mark(SECOND, Fate::Cut);
    within("it is written", stage.other.commit(token(1, "after"))).await.unwrap();
    assert!(stage.workers.is_marked(), "nobody was told of a second phase");
    assert_eq!(seen(&stage.store, 1).await.unwrap(), ["after"]);
}

#[tokio::test]
async fn what_a_worker_that_is_away_does_not_know_is_refused_and_stops_nobody_else() {
    let Some(stage) = stage().await else { return };
    let others = 2..20;
    for number in others.clone() {
        stage.store.commit(token(number, "before")).await.unwrap();
    }
    stage.workers.mark(SECOND, Fate::GoDown);
    let told = within("it is told", stage.store.commit(token(1, "made"))).await.unwrap_err();
    assert!(matches!(told, StoreError::Unavailable(_)), "{told}");
    assert!(!stage.workers.is_marked(), "a worker was told");
    // What is on the other worker is written meanwhile.
    let mut written = Vec::new();
    for number in others.clone() {
        match within("nobody waits", stage.other.commit(token(number, "meanwhile"))).await {
            Ok(_) => written.push(number),
            Err(error) => assert!(matches!(error, StoreError::Unavailable(_)), "{error}"),
        }
    }
    assert!(!written.is_empty() && written.len() < others.len(), "{written:?}");
    let refused = within("it is refused", seen(&stage.other, 1)).await.unwrap_err();
    assert!(matches!(refused, StoreError::Unavailable(_)), "{refused}");
    let back = Instant::now();
    stage.workers.come_up();
    let there = async {
        loop {
            match seen(&stage.other, 1).await {
                Ok(seen) => break seen,
                Err(error) => assert!(matches!(error, StoreError::Unavailable(_)), "{error}"),
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    assert_eq!(within("it is there", there).await, ["made"], "and never empty");
    println!("it was there {} ms after the worker was back", back.elapsed().as_millis());
    for number in others {
        let expected = if written.contains(&number) { "meanwhile" } else { "before" };
        assert_eq!(seen(&stage.store, number).await.unwrap(), [expected]);
    }
    within("it is written", stage.other.commit(token(1, "later"))).await.unwrap();
}

/// So many projects that some of them are on each worker.
async fn projects(store: &Store) -> Vec<ProjectScope> {
    let mut scopes = Vec::new();
    for number in 0..8 {
        let name = format!("project {number}").parse().unwrap();
        let project = store.create_project(name, operator()).await.unwrap().id;
        scopes.push(ProjectScope::of_operator(project));
    }
    scopes
}

/// What is metered is told again where nobody knows whether it was stored, and counts once.
#[tokio::test]
async fn what_is_metered_counts_once_however_often_it_is_told() {
    let Some(stage) = stage().await else { return };
    let scopes = projects(&stage.store).await;
    let (day, builder) = ("2025-03-14".parse().unwrap(), "builder".to_owned());
    let lines = |units| scopes.iter().map(|scope| metered(scope.project(), "builder", day, units)).collect();
    stage.workers.mark(FIRST, Fate::GoDown);
    let refused = within("it is refused", stage.store.put_metered(lines(7))).await.unwrap_err();
    assert!(refused.is_unavailable(), "{refused}");
    stage.workers.come_up();
    stage.workers.mark(SECOND, Fate::GoDown);
    let told = within("it is told", stage.store.put_metered(lines(7))).await.unwrap_err();
    assert!(told.is_unavailable(), "{told}");
    assert!(!stage.workers.is_marked(), "a worker was told");
    stage.workers.come_up();
    within("it is stored", async {
        while let Err(error) = stage.other.put_metered(lines(9)).await {
            assert!(error.is_unavailable(), "{error}");
        }
    })
    .await;
    stage.store.put_metered(lines(7)).await.unwrap();
    for scope in &scopes {
        assert_eq!(stage.other.metered_of(*scope, day).await.unwrap(), [(builder.clone(), 9)]);
    }
}

/// Usage of projects on a worker that says nothing waits for so long and no longer, and that of others not at all.
#[tokio::test]
async fn a_silent_worker_keeps_nobody_elses_usage_from_being_stored() {
    let Some(stage) = stage().await else { return };
    let all = projects(&stage.store).await;
    let options = OpenOptions { connections_max: 4, ..OpenOptions::default() };
    let store = Store::open(&stage.database.url, options, Timestamp::ZERO).await.unwrap();
    let day = "2025-03-14".parse().unwrap();
    let nodes =
        stage.store.projects_by_node(all.iter().map(|scope| scope.project()).collect()).await.unwrap();
    let [silent, others @ ..] = nodes.as_slice() else { panic!("no node has any") };
    assert!(!others.is_empty(), "all of them are on one node");
    let lines = |projects: &[ProjectId], service: &str, units| {
        projects.iter().map(|project| metered(*project, service, day, units)).collect()
    };
    stage.workers.mark("silenced", Fate::Hold);
    within("it is refused", async {
        while stage.workers.held() == 0 {
            let refused = store.put_metered(lines(silent, "silenced", 3)).await.unwrap_err();
            assert!(refused.is_unavailable(), "{refused}");
        }
    })
    .await;
    for projects in others {
        within("it is stored", async {
            while let Err(error) = store.put_metered(lines(projects, "builder", 5)).await {
                assert!(error.is_unavailable(), "{error}");
            }
        })
        .await;
    }
    stage.workers.unmark();
    within("it is stored", async {
        while let Err(error) = store.put_metered(lines(silent, "silenced", 4)).await {
            assert!(error.is_unavailable(), "{error}");
        }
    })
    .await;
    for scope in all {
        let expected = if silent.contains(&scope.project()) {
            ("silenced".to_owned(), 4)
        } else {
            ("builder".to_owned(), 5)
        };
        assert_eq!(stage.other.metered_of(scope, day).await.unwrap(), [expected]);
    }
}

/// Whoever follows links hears of an edit once the coordinator has committed it, which is before its worker shows it.
#[tokio::test]
async fn an_edit_that_its_worker_does_not_show_yet_is_followed_once_it_does() {
    let Some(stage) = stage().await else { return };
    let project = stage.store.create_project("one".parse().unwrap(), operator()).await.unwrap().id;
    let scope = ProjectScope::of_operator(project);
    let now = Timestamp::ZERO;
    let hosted = CollectionInput { private: Some(false), ..CollectionInput::default() };
    let hosted = stage.store.create_hosted_collection(scope, hosted, now).await.unwrap().id;
    let token = NewHostedToken { token_id: 1.into(), input: named("before"), private: false };
    stage.store.create_hosted_token(scope, hosted, token, now).await.unwrap();
    stage.store.create_contract_collection(scope, key(1), hosted, operator()).await.unwrap();
    while stage.other.follow_links(now).await.unwrap() {}
    stage.workers.mark(SECOND, Fate::Hold);
    let store = stage.store.clone();
    let edit = HostedTokenEdit { token_id: 1.into(), input: named("after"), private: None };
    let editing = tokio::spawn(async move { store.update_hosted_token(scope, hosted, edit, now).await });
    within("the coordinator has committed it", async {
        while stage.workers.held() == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    let other = stage.other.clone();
    let following = tokio::spawn(async move { other.follow_links(now).await });
    // It is through, as it should not be, or waits for the worker.
    let DatabaseUrl::Postgres(url) = &stage.database.url else { return };
    let mut coordinator = PgConnection::connect(url).await.unwrap();
    within("it comes to the edit", async {
        let waiting = "SELECT EXISTS (SELECT FROM citus_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock')";
        while !following.is_finished()
            && !sqlx::query_scalar::<_, bool>(waiting).fetch_one(&mut coordinator).await.unwrap()
        {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    stage.workers.unmark();
    within("it is edited", editing).await.unwrap().unwrap();
    within("it is followed", following).await.unwrap().unwrap();
    while stage.other.follow_links(now).await.unwrap() {}
    let [said] = seen(&stage.other, 1).await.unwrap().try_into().unwrap();
    assert!(said.contains("\"name\":\"after\""), "{said}");
}

fn named(name: &str) -> TokenInput {
    serde_json::from_value(serde_json::json!({ "name": name })).unwrap()
}

/// What is on the coordinator is changed only where something is linked.
#[tokio::test]
async fn what_nothing_is_linked_with_is_changed_on_one_worker_alone() {
    let Some(stage) = stage().await else { return };
    let project = stage.store.create_project("one".parse().unwrap(), operator()).await.unwrap().id;
    let scope = ProjectScope::of_operator(project);
    stage.workers.mark(SECOND, Fate::Cut);
    let hosted = CollectionInput::default();
    let hosted = stage.store.create_hosted_collection(scope, hosted, Timestamp::ZERO).await.unwrap().id;
    let token = NewHostedToken { token_id: 1.into(), input: TokenInput::default(), private: false };
    stage.store.create_hosted_token(scope, hosted, token, Timestamp::ZERO).await.unwrap();
    assert!(stage.workers.is_marked(), "a worker was told of a second phase");
    stage.store.create_contract_collection(scope, key(1), hosted, operator()).await.unwrap();
    assert!(!stage.workers.is_marked(), "a link is on both");
}

/// A worker that says nothing any more concerns those who wait for it, and keeps nobody else from committing.
#[tokio::test]
async fn a_worker_that_is_slow_to_commit_stops_nobody_else() {
    let Some(stage) = stage().await else { return };
    stage.workers.mark(SECOND, Fate::Hold);
    let slow: Vec<_> = (1..3)
        .map(|number| {
            let store = stage.store.clone();
            tokio::spawn(async move { store.commit(token(number, "slow")).await })
        })
        .collect();
    within("both are at it", async {
        while stage.workers.held() < 2 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    assert!(slow.iter().all(|slow| !slow.is_finished()));
    stage.workers.unmark();
    for slow in slow {
        within("it is through", slow).await.unwrap().unwrap();
    }
    for number in 1..3 {
        assert_eq!(seen(&stage.other, number).await.unwrap(), ["slow"]);
    }
}

/// Nobody else is kept from writing by a transaction that came to nothing.
#[tokio::test]
async fn what_came_to_nothing_holds_nothing() {
    let Some(stage) = stage().await else { return };
    stage.workers.mark(FIRST, Fate::LoseAnswer);
    let told = within("it is told", stage.store.commit(token(1, "lost"))).await.unwrap_err();
    assert!(matches!(told, StoreError::Unavailable(_)), "{told}");
    assert!(!stage.workers.is_marked(), "a worker was told");
    assert!(seen(&stage.other, 1).await.unwrap().is_empty());
    within("it is written", stage.other.commit(token(1, "after"))).await.unwrap();
    assert_eq!(seen(&stage.store, 1).await.unwrap(), ["after"]);
}

/// A process that is gone left a worker that does not know; the next one to start tells it.
#[tokio::test]
async fn whoever_starts_settles_what_was_left() {
    let Some(stage) = stage().await else { return };
    stage.workers.mark(SECOND, Fate::GoDown);
    assert!(within("it is told", stage.store.commit(token(1, "made"))).await.is_err());
    assert!(!stage.workers.is_marked(), "a worker was told");
    let Stage { workers, store, other, database } = stage;
    store.close().await;
    drop(store);
    workers.come_up();
    let started = database.open().await.unwrap();
    within("it is written", async {
        while let Err(error) = started.commit(token(1, "later")).await {
            assert!(matches!(error, StoreError::Unavailable(_)), "{error}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    assert_eq!(seen(&other, 1).await.unwrap(), ["later"]);
}

/// The coordinator does not see that nobody waits any more for whom it has standing in a queue.
#[tokio::test]
async fn whoever_gives_up_telling_workers_stands_in_nobodys_way() {
    let Some(stage) = stage().await else { return };
    let DatabaseUrl::Postgres(url) = &stage.database.url else { return };
    let mut coordinator = PgConnection::connect(url).await.unwrap();
    let begin = "BEGIN; SELECT recover_prepared_transactions()";
    sqlx::raw_sql(begin).execute(&mut coordinator).await.unwrap();
    for number in 1..5 {
        stage.workers.mark(SECOND, Fate::Cut);
        let told = within("it is told", stage.store.commit(token(number, "made"))).await.unwrap_err();
        assert!(matches!(told, StoreError::Unavailable(_)), "{told}");
    }
    let tellers = "SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND state = 'active' AND query LIKE 'SELECT recover!_%' ESCAPE '!'";
    // Each of both processes may be telling the workers beside everything else: what was left before them, or this.
    within("only who has the workers told when nobody waits for it is left", async {
        while sqlx::query_scalar::<_, i64>(tellers).fetch_one(&mut coordinator).await.unwrap() > 2 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    sqlx::raw_sql("ROLLBACK").execute(&mut coordinator).await.unwrap();
    within("all of it is there", async {
        for number in 1..5 {
            while seen(&stage.other, number).await.ok().is_none_or(|seen| seen != ["made"]) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
    })
    .await;
}
