//! Uploads against removals, step by step, in every order that the steps allow.
//!
//! Nobody runs at once with anybody else: each party is a future that stops before whatever others can see, and a schedule
//! says whose turn it is. All schedules are tried one after the other.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use async_trait::async_trait;
use bourse_store::StoreError;
use futures_util::stream::BoxStream;
use futures_util::{FutureExt as _, StreamExt as _};
use object_store::memory::InMemory;
use object_store::path::Path as Key;
use object_store::{
    CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectStore, PutMultipartOptions,
    PutOptions, PutPayload, PutResult, Result as Outcome,
};

use super::*;

const CONTENT: &[u8] = b"content";
const NOW: Timestamp = Timestamp::ZERO;

fn hash() -> String {
    "ab".repeat(32)
}

fn word() -> String {
    use std::sync::atomic::{AtomicU64, Ordering};
    static COUNT: AtomicU64 = AtomicU64::new(0);
    format!("{:016x}", COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Lets others have their turn.
async fn step() {
    let mut waited = false;
    std::future::poll_fn(
        move |_| {
            if std::mem::replace(&mut waited, true) { Poll::Ready(()) } else { Poll::Pending }
        },
    )
    .await;
}

/// Which contents assets have.
#[derive(Clone, Default)]
struct Database(Arc<Mutex<BTreeSet<String>>>);

impl Database {
    fn has(&self, hash: &str) -> bool {
        self.0.lock().unwrap().contains(hash)
    }

    async fn commit(&self, hash: &str) {
        step().await;
        self.0.lock().unwrap().insert(hash.to_owned());
    }

    async fn delete(&self, hash: &str) {
        step().await;
        self.0.lock().unwrap().remove(hash);
    }
}

impl Registry for Database {
    async fn in_use(&self, hashes: Vec<String>) -> Result<BTreeSet<String>, StoreError> {
        step().await;
        Ok(hashes.into_iter().filter(|hash| self.has(hash)).collect())
    }
}

/// A store in memory that stops before everything it does.
#[derive(Debug, Clone)]
struct Stepped(Arc<InMemory>);

impl fmt::Display for Stepped {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("stepped")
    }
}

#[async_trait]
impl ObjectStore for Stepped {
    async fn put_opts(&self, key: &Key, payload: PutPayload, options: PutOptions) -> Outcome<PutResult> {
        step().await;
        self.0.put_opts(key, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        key: &Key,
        options: PutMultipartOptions,
    ) -> Outcome<Box<dyn MultipartUpload>> {
        self.0.put_multipart_opts(key, options).await
    }

    async fn get_opts(&self, key: &Key, options: GetOptions) -> Outcome<GetResult> {
        step().await;
        self.0.get_opts(key, options).await
    }

    fn delete_stream(&self, keys: BoxStream<'static, Outcome<Key>>) -> BoxStream<'static, Outcome<Key>> {
        let objects = Arc::clone(&self.0);
        keys.then(move |key| {
            let objects = Arc::clone(&objects);
            async move {
                step().await;
                let key = key?;
                object_store::ObjectStoreExt::delete(objects.as_ref(), &key).await.map(|()| key)
            }
        })
        .boxed()
    }

    fn list(&self, prefix: Option<&Key>) -> BoxStream<'static, Outcome<object_store::ObjectMeta>> {
        let (objects, prefix) = (Arc::clone(&self.0), prefix.cloned());
        step().into_stream().flat_map(move |()| objects.list(prefix.as_ref())).boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Key>) -> Outcome<ListResult> {
        self.0.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Key, to: &Key, options: CopyOptions) -> Outcome<()> {
        self.0.copy_opts(from, to, options).await
    }
}

type Party = Pin<Box<dyn Future<Output = ()>>>;
/// What must hold after every step of a schedule.
type Check = Box<dyn Fn(&[usize])>;

/// Runs parties by a schedule, and whoever is first once that has ended. Tells how many there were to choose from, and who was
/// chosen, at each step.
fn run(parties: Vec<Party>, schedule: &[usize], check: &dyn Fn(&[usize])) -> Vec<(usize, usize)> {
    let mut parties: Vec<Option<Party>> = parties.into_iter().map(Some).collect();
    let mut context = Context::from_waker(Waker::noop());
    let mut taken = Vec::new();
    loop {
        let left: Vec<usize> = (0..parties.len()).filter(|party| parties[*party].is_some()).collect();
        if left.is_empty() {
            return taken;
        }
        let choice = schedule.get(taken.len()).copied().unwrap_or(0);
        let party = &mut parties[left[choice]];
        if party.as_mut().is_some_and(|party| party.as_mut().poll(&mut context).is_ready()) {
            *party = None;
        }
        taken.push((left.len(), choice));
        check(&taken.iter().map(|(_, choice)| *choice).collect::<Vec<_>>());
    }
}

/// Runs parties in every order; `prepare` makes them anew, with what must hold after every step. Tells how many orders.
fn in_every_order(prepare: impl Fn() -> (Vec<Party>, Check)) -> usize {
    let (mut schedule, mut count) = (Vec::new(), 0);
    loop {
        let (parties, check) = prepare();
        let mut taken = run(parties, &schedule, check.as_ref());
        count += 1;
        // The next one in order: the last choice that can be another one.
        while taken.last().is_some_and(|(of, choice)| choice + 1 == *of) {
            taken.pop();
        }
        let Some((_, choice)) = taken.last_mut() else { return count };
        *choice += 1;
        schedule = taken.into_iter().map(|(_, choice)| choice).collect();
    }
}

fn now<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
    }
}

/// Whoever reads waits for a bounded time, which takes somebody who knows the time.
fn with_timers() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap()
}

struct Scene {
    files: Files,
    database: Database,
}

impl Scene {
    /// With content that was uploaded before.
    fn in_bucket() -> Self {
        let objects = Stepped(Arc::new(InMemory::new()));
        let named = Named { prefix: String::new(), shown: "memory".to_owned() };
        let bucket = Bucket::new(Arc::new(objects), named, word, Duration::from_mins(1));
        let files = Files { home: Home::Bucket(bucket) };
        now(async { files.put_content(&hash(), CONTENT.into(), NOW).await.unwrap().end().await });
        Self { files, database: Database::default() }
    }

    /// Uploads the content, and gives it to an asset.
    fn upload(&self) -> Party {
        let (files, database) = (self.files.clone(), self.database.clone());
        Box::pin(async move {
            let claim = files.put_content(&hash(), CONTENT.into(), NOW).await.unwrap();
            database.commit(&hash()).await;
            claim.end().await;
        })
    }

    /// Uploads the content, of which the database will never know.
    fn refused_upload(&self) -> Party {
        let files = self.files.clone();
        Box::pin(async move {
            files.put_content(&hash(), CONTENT.into(), NOW).await.unwrap().end().await;
        })
    }

    fn removal(&self) -> Party {
        let (files, database) = (self.files.clone(), self.database.clone());
        Box::pin(async move {
            files.remove_unused(&database, &[hash()], NOW).await.unwrap();
        })
    }

    /// Deletes the asset, and then the file.
    fn deletion(&self) -> Party {
        let (removal, database) = (self.removal(), self.database.clone());
        Box::pin(async move {
            database.delete(&hash()).await;
            removal.await;
        })
    }

    /// That an asset has its file, whenever it is looked for.
    fn check(&self) -> Check {
        let (files, database) = (self.files.clone(), self.database.clone());
        Box::new(move |schedule| {
            if database.has(&hash()) {
                let read = now(files.read(&hash()));
                assert!(read.is_ok(), "an asset without its file: {schedule:?}");
            }
        })
    }
}

#[test]
fn an_upload_and_a_removal_in_every_order_leave_an_asset_its_file() {
    let runtime = with_timers();
    let _entered = runtime.enter();
    let orders = in_every_order(|| {
        let scene = Scene::in_bucket();
        (vec![scene.upload(), scene.removal()], scene.check())
    });
    assert!(orders > 100, "{orders}");
    let orders = in_every_order(|| {
        let scene = Scene::in_bucket();
        now(scene.database.commit(&hash()));
        (vec![scene.upload(), scene.deletion()], scene.check())
    });
    assert!(orders > 100, "{orders}");
}

#[test]
fn an_upload_that_is_refused_leaves_what_another_asset_has() {
    let runtime = with_timers();
    let _entered = runtime.enter();
    let orders = in_every_order(|| {
        let scene = Scene::in_bucket();
        let removal = scene.removal();
        let refused = scene.refused_upload();
        let then: Party = Box::pin(async move {
            refused.await;
            removal.await;
        });
        (vec![scene.upload(), then], scene.check())
    });
    assert!(orders > 100, "{orders}");
}

/// Drawn orders of more parties than can be tried in all.
#[test]
fn several_uploads_and_removals_leave_an_asset_its_file() {
    let runtime = with_timers();
    let _entered = runtime.enter();
    let state = RefCell::new(1_u64);
    for _ in 0..5_000 {
        let schedule: Vec<u64> = (0..80)
            .map(|_| {
                let mut state = state.borrow_mut();
                *state ^= *state << 13;
                *state ^= *state >> 7;
                *state ^= *state << 17;
                *state
            })
            .collect();
        let scene = Scene::in_bucket();
        let parties = [scene.upload(), scene.removal(), scene.deletion(), scene.upload()];
        let mut parties = parties.map(Some);
        let (check, mut context) = (scene.check(), Context::from_waker(Waker::noop()));
        for drawn in schedule.iter().cycle() {
            let left: Vec<usize> = (0..parties.len()).filter(|party| parties[*party].is_some()).collect();
            if left.is_empty() {
                break;
            }
            let party = &mut parties[left[usize::try_from(drawn % left.len() as u64).unwrap()]];
            if party.as_mut().is_some_and(|party| party.as_mut().poll(&mut context).is_ready()) {
                *party = None;
            }
            check(&[]);
        }
    }
}

/// What a removal gave up upon, and the store carries out much later, meets nothing that somebody relies on.
#[test]
fn a_removal_that_arrives_late_meets_nothing_that_is_needed() {
    let runtime = with_timers();
    let _entered = runtime.enter();
    let scene = Scene::in_bucket();
    let Home::Bucket(bucket) = &scene.files.home else { unreachable!() };
    let late = now(bucket.mark(&hash())).unwrap().unwrap();
    now(scene.upload());
    now(bucket.remove_marked(&late)).unwrap();
    scene.check()(&[]);
}

#[test]
fn nothing_is_removed_while_it_is_held_and_the_mark_goes() {
    let runtime = with_timers();
    let _entered = runtime.enter();
    let scene = Scene::in_bucket();
    let hold = now(scene.files.hold()).unwrap();
    now(scene.removal());
    assert!(now(scene.files.read(&hash())).is_ok());
    now(hold.release());
    now(scene.removal());
    assert_eq!(now(scene.files.read(&hash())).err().unwrap().kind(), io::ErrorKind::NotFound);
    assert_eq!(now(scene.files.hashes(0xab)).unwrap(), Vec::<String>::new());
}

/// The same for a directory, whose steps are those of its functions.
#[test]
fn a_directory_in_every_order_leaves_an_asset_its_file() {
    let orders = in_every_order(|| {
        let place = Arc::new(tempfile::tempdir().unwrap());
        let directory = Directory::open(place.path().to_owned(), word).unwrap();
        let database = Database::default();
        let claim = directory.claim(&hash(), NOW).unwrap();
        directory.store(&hash(), CONTENT).unwrap();
        directory::remove(&claim).unwrap();
        let (here, known) = (directory.clone(), database.clone());
        let upload: Party = Box::pin(async move {
            step().await;
            let claim = here.claim(&hash(), NOW).unwrap();
            step().await;
            here.store(&hash(), CONTENT).unwrap();
            known.commit(&hash()).await;
            step().await;
            directory::remove(&claim).unwrap();
        });
        let (here, known) = (directory.clone(), database.clone());
        let removal: Party = Box::pin(async move {
            step().await;
            let Some(aside) = here.set_aside(&hash()).unwrap() else { return };
            step().await;
            let mut is_needed = here.is_claimed(&hash(), NOW).unwrap();
            is_needed = is_needed || !known.in_use(vec![hash()]).await.unwrap().is_empty();
            step().await;
            if is_needed {
                here.put_back(&hash(), &aside).unwrap();
            } else {
                directory::remove(&aside).unwrap();
            }
        });
        let left = Rc::new(RefCell::new(0));
        let count = |party: Party| -> Party {
            let left = Rc::clone(&left);
            *left.borrow_mut() += 1;
            Box::pin(async move {
                party.await;
                *left.borrow_mut() -= 1;
            })
        };
        let parties = vec![count(upload), count(removal)];
        let check = Box::new(move |schedule: &[usize]| {
            // Whoever removes may have it aside for a moment.
            if *left.borrow() == 0 && database.has(&hash()) {
                let content = std::fs::read(place.path().join("ab").join(&hash()[2..]));
                assert_eq!(content.ok().as_deref(), Some(CONTENT), "{schedule:?}");
            }
        });
        (parties, check as Check)
    });
    assert!(orders > 50, "{orders}");
}
