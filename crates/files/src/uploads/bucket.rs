//! Uploaded files in a bucket of an S3-compatible store.
//!
//! A store of objects has no rename, and a request that was given up may still be carried out long after. So no key is ever
//! written with something else, or again once it was deleted: each bears a word that nobody else has drawn.
//!
//! ```text
//! ab/cdef…/WORD.content   the content with the hash abcdef…; seldom several of them
//! ab/cdef…/WORD.claim     somebody is uploading that content
//! ab/cdef…/WORD.removal   somebody is about to remove it
//! holds/WORD.hold         nothing is removed while this is there
//! ```
//!
//! Whoever uploads writes a claim, then looks. Content that is there is relied upon only where nobody is removing it;
//! otherwise it is written once more, under a key of one's own. Whoever removes writes a mark, then looks, and goes on only
//! where there is no claim; then the database is asked, then holds are looked for, and then exactly those contents are
//! deleted that were seen. The mark goes when the store has acknowledged all of that, and stays where it did not.
//!
//! - *Content that an upload found there is not deleted.* It saw no mark, so whoever removes wrote theirs after it looked, and
//!   sees its claim; or the claim is gone, and the database, which is asked later, has the asset. A removal whose mark was
//!   gone by then has deleted what it wanted to, or decided not to.
//! - *Content that an upload wrote is not deleted.* Whoever saw it looked after the claim was written, as before; whoever
//!   did not see it does not delete it, however late a request arrives.
//! - *What a backup needs is not deleted.* It holds before it copies the database. Whoever saw no hold asked the database
//!   before that copy was made, and nobody had the content; who had it since wrote it, or found it, by the rules above.
//!
//! This needs a listing that shows what was acknowledged before, which these stores have, and which is tried at the start.
//! How old something is, is told by the clock of the store alone: a mark is in the same listing, and its time is the present.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _};
use object_store::path::Path;
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt as _, PutPayload};

use super::{ABANDONED_AFTER, CLAIM, Content, DrawWord, HOLD, HOLD_MAX, PROBE, is_hash};

/// How the key of content ends.
const CONTENT: &str = "content";
/// How the key of a mark ends.
const REMOVAL: &str = "removal";
/// Where holds are.
const HOLDS: &str = "holds";
/// Where is written what only tries the bucket out.
const PROBES: &str = "probes";
/// Contents whose keys are remembered, of some 150 bytes each.
const KNOWN_MAX: usize = 10_000;
/// How much of what a store says of an error is told, in characters.
const ERROR_CHARS_MAX: usize = 500;

#[derive(Clone)]
pub(super) struct Bucket {
    objects: Arc<dyn ObjectStore>,
    /// What all keys begin with.
    base: Path,
    shown: String,
    draw: DrawWord,
    /// How long one request may take. A reader waits little longer in all for the beginning of what they want.
    patience: Duration,
    /// Keys under which contents were found: reading one that is remembered takes one request instead of two.
    known: Arc<Mutex<HashMap<String, Path>>>,
}

/// Which bucket it is.
pub(super) struct Named {
    /// What all keys begin with, possibly empty.
    pub(super) prefix: String,
    /// How people call it.
    pub(super) shown: String,
}

/// What was seen of a content by whoever wants to remove it.
pub(super) struct Marked {
    mark: Path,
    contents: Vec<Path>,
    pub(super) is_claimed: bool,
    /// The time of the store when it was marked, in seconds.
    at: i64,
}

/// What is kept in a part of the bucket.
#[derive(Default)]
pub(super) struct Listing {
    pub(super) contents: Vec<String>,
    pub(super) abandoned: Vec<Path>,
}

impl Bucket {
    pub(super) fn new(
        objects: Arc<dyn ObjectStore>,
        place: Named,
        draw: DrawWord,
        patience: Duration,
    ) -> Self {
        let Named { prefix, shown } = place;
        Self { objects, base: Path::from(prefix), shown, draw, patience, known: Arc::default() }
    }

    pub(super) fn shown(&self) -> String {
        self.shown.clone()
    }

    /// Says that somebody is uploading this content, and stores it unless it is there to stay.
    pub(super) async fn put(&self, hash: &str, content: Bytes) -> io::Result<Path> {
        let claim = self.key(hash, CLAIM);
        self.write(&claim, Bytes::new()).await?;
        let stored = self.store(hash, content).await;
        if stored.is_err()
            && let Err(error) = self.remove(&claim).await
        {
            tracing::warn!(%error, "removing the claim of an upload that failed");
        }
        stored.map(|()| claim)
    }

    async fn store(&self, hash: &str, content: Bytes) -> io::Result<()> {
        let seen = self.look(hash).await?;
        let is_there = seen.iter().any(|object| is(object, CONTENT) && object.size == content.len() as u64);
        if is_there && !seen.iter().any(|object| is(object, REMOVAL)) {
            return Ok(());
        }
        self.write(&self.key(hash, CONTENT), content).await
    }

    pub(super) async fn read(&self, hash: &str) -> io::Result<Content> {
        // Somewhat longer than for one request: that is what notices silence.
        let found = tokio::time::timeout(self.patience + self.patience / 4, self.find(hash)).await;
        let late = || {
            io::Error::new(io::ErrorKind::HostUnreachable, format!("{} does not answer in time", self.shown))
        };
        found.unwrap_or_else(|_| Err(late()))
    }

    async fn find(&self, hash: &str) -> io::Result<Content> {
        if let Some(path) = self.known(hash)
            && let Some(content) = self.open(hash, &path).await?
        {
            return Ok(content);
        }
        let mut found = self.look(hash).await?;
        // The longest first: some stores keep the beginning of what was cut off.
        found.sort_by_key(|object| Reverse(object.size));
        for object in found.iter().filter(|object| is(object, CONTENT)) {
            if let Some(content) = self.open(hash, &object.location).await? {
                return Ok(content);
            }
        }
        Err(io::Error::new(io::ErrorKind::NotFound, format!("{} has no file of hash {hash}", self.shown)))
    }

    async fn open(&self, hash: &str, path: &Path) -> io::Result<Option<Content>> {
        let found = match self.objects.get(path).await {
            Ok(found) => found,
            Err(object_store::Error::NotFound { .. }) => {
                self.known.lock().unwrap_or_else(PoisonError::into_inner).remove(hash);
                return Ok(None);
            }
            Err(error) => return Err(self.failed(&error)),
        };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= KNOWN_MAX {
            known.clear();
        }
        known.insert(hash.to_owned(), path.clone());
        drop(known);
        let (length, bucket) = (found.meta.size, self.clone());
        let pieces = found.into_stream().map_err(move |error| bucket.failed(&error)).boxed();
        Ok(Some(Content { length, pieces }))
    }

    fn known(&self, hash: &str) -> Option<Path> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).get(hash).cloned()
    }

    /// Marks content that is about to be removed, and looks; `None` where there is none.
    pub(super) async fn mark(&self, hash: &str) -> io::Result<Option<Marked>> {
        let mark = self.key(hash, REMOVAL);
        self.write(&mark, Bytes::new()).await?;
        let seen = self.look(hash).await?;
        let at = self.time_of(&mark, &seen)?;
        let contents = seen.iter().filter(|object| is(object, CONTENT));
        let contents: Vec<Path> = contents.map(|object| object.location.clone()).collect();
        let is_claimed =
            seen.iter().any(|object| is(object, CLAIM) && is_younger(object, ABANDONED_AFTER, at));
        if contents.is_empty() {
            self.remove(&mark).await?;
            return Ok(None);
        }
        Ok(Some(Marked { mark, contents, is_claimed, at }))
    }

    /// Deletes what was seen, and takes the mark away once all of it is certain to be gone.
    pub(super) async fn remove_marked(&self, marked: &Marked) -> io::Result<()> {
        for content in &marked.contents {
            self.remove(content).await?;
        }
        self.unmark(marked).await
    }

    pub(super) async fn unmark(&self, marked: &Marked) -> io::Result<()> {
        self.remove(&marked.mark).await
    }

    pub(super) async fn hold(&self) -> io::Result<Path> {
        let hold = self.own(HOLDS, HOLD);
        self.write(&hold, Bytes::new()).await?;
        Ok(hold)
    }

    pub(super) async fn is_held(&self, marked: &Marked) -> io::Result<bool> {
        let holds = self.list_below(self.base.clone().join(HOLDS)).await?;
        Ok(holds.iter().any(|object| is(object, HOLD) && is_younger(object, HOLD_MAX, marked.at)))
    }

    /// Everything whose hashes begin with this byte. What is abandoned is so by the time of the store.
    pub(super) async fn list(&self, part: u8, at: i64) -> io::Result<Listing> {
        let start = const_hex::encode([part]);
        let directory = self.base.clone().join(start.as_str());
        let mut found: BTreeMap<String, bool> = BTreeMap::new();
        let mut abandoned = Vec::new();
        for object in self.list_below(directory.clone()).await? {
            let Some(mut below) = object.location.prefix_match(&directory) else { continue };
            let Some(hash) = below.next().map(|rest| format!("{start}{}", rest.as_ref())) else { continue };
            // What else lies here is not ours.
            if !is_hash(&hash) {
                continue;
            }
            let is_content = is(&object, CONTENT);
            *found.entry(hash).or_default() |= is_content;
            if !is_content && !is_younger(&object, ABANDONED_AFTER, at) {
                abandoned.push(object.location.clone());
            }
        }
        let contents = found.into_iter().filter(|(_, has_content)| *has_content);
        Ok(Listing { contents: contents.map(|(hash, _)| hash).collect(), abandoned })
    }

    /// Writes something, reads it, lists it and removes it again, with what such an attempt left behind that was killed.
    /// Tells the time of the store, in seconds.
    pub(super) async fn try_out(&self) -> io::Result<i64> {
        let (probe, content) = (self.own(PROBES, PROBE), Bytes::from_static(b"probe"));
        self.write(&probe, content.clone()).await?;
        let read = self.objects.get(&probe).await.map_err(|error| self.failed(&error))?.bytes().await;
        if read.map_err(|error| self.failed(&error))? != content {
            return Err(self.unusable("does not give back what was written there"));
        }
        let probes = self.list_below(self.base.clone().join(PROBES)).await?;
        let at = self.time_of(&probe, &probes)?;
        let abandoned = probes.iter().filter(|object| !is_younger(object, ABANDONED_AFTER, at));
        for path in abandoned.map(|object| &object.location).chain([&probe]) {
            self.remove(path).await?;
        }
        Ok(at)
    }

    /// When something was written that is certain to be in a listing.
    fn time_of(&self, path: &Path, listed: &[ObjectMeta]) -> io::Result<i64> {
        let own = listed.iter().find(|object| object.location == *path);
        own.map(|object| object.last_modified.timestamp())
            .ok_or_else(|| self.unusable("does not list what was just written there"))
    }

    /// Deletes an object; another process may have done it already.
    pub(super) async fn remove(&self, path: &Path) -> io::Result<()> {
        match self.objects.delete(path).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.failed(&error)),
        }
    }

    async fn write(&self, path: &Path, content: Bytes) -> io::Result<()> {
        let payload = PutPayload::from_bytes(content);
        self.objects.put(path, payload).await.map(drop).map_err(|error| self.failed(&error))
    }

    async fn look(&self, hash: &str) -> io::Result<Vec<ObjectMeta>> {
        self.list_below(self.directory(hash)).await
    }

    async fn list_below(&self, path: Path) -> io::Result<Vec<ObjectMeta>> {
        self.objects.list(Some(&path)).try_collect().await.map_err(|error| self.failed(&error))
    }

    fn directory(&self, hash: &str) -> Path {
        let (start, rest) = hash.split_at_checked(2).unwrap_or(("", hash));
        self.base.clone().join(start).join(rest)
    }

    fn key(&self, hash: &str, ending: &str) -> Path {
        self.directory(hash).join(format!("{}.{ending}", (self.draw)()))
    }

    fn own(&self, directory: &str, ending: &str) -> Path {
        self.base.clone().join(directory).join(format!("{}.{ending}", (self.draw)()))
    }

    /// What failed, as the disk would say it: there is no room, somebody is not let in, or the store is away. The text is for
    /// the log and the operator: it names the place, and has what the store says on one line.
    fn failed(&self, error: &object_store::Error) -> io::Error {
        use object_store::Error as Failed;
        let mut text = without_markup(&error.to_string());
        let is_full = ["507 ", "StorageFull", "InsufficientStorage", "QuotaExceeded"];
        let kind = match error {
            _ if is_full.iter().any(|sign| text.contains(sign)) => io::ErrorKind::StorageFull,
            Failed::NotFound { .. } | Failed::PermissionDenied { .. } | Failed::Unauthenticated { .. } => {
                io::ErrorKind::PermissionDenied
            }
            _ => io::ErrorKind::HostUnreachable,
        };
        if let Some((end, _)) = text.char_indices().nth(ERROR_CHARS_MAX) {
            text.truncate(end);
        }
        io::Error::new(kind, format!("{}: {text}", self.shown))
    }

    fn unusable(&self, why: &str) -> io::Error {
        io::Error::new(io::ErrorKind::Unsupported, format!("{} {why}", self.shown))
    }
}

/// What a store says of an error, on one line. Of a document only its code is left: some repeat in it whose key the request
/// was signed with, and what was signed.
fn without_markup(text: &str) -> String {
    let (start, document) = text.split_at(text.find('<').unwrap_or(text.len()));
    let code = document.split_once("<Code>").and_then(|(_, rest)| rest.split_once('<')).map(|(code, _)| code);
    start.split_whitespace().chain(code).collect::<Vec<_>>().join(" ")
}

fn is(object: &ObjectMeta, ending: &str) -> bool {
    object.location.extension() == Some(ending)
}

/// Whether an object was written within this time, by the clock of its store.
fn is_younger(object: &ObjectMeta, than: Duration, at: i64) -> bool {
    let age = at.saturating_sub(object.last_modified.timestamp());
    u64::try_from(age).map_or(true, |age| age < than.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_what_a_store_says_the_code_is_told_and_not_whose_key_it_was() {
        let said = "status 403: <?xml version='1.0'?>\n<Error><Code>SignatureDoesNotMatch</Code>\n\
            <AWSAccessKeyId>hunter1</AWSAccessKeyId></Error>";
        assert_eq!(without_markup(said), "status 403: SignatureDoesNotMatch");
        assert_eq!(without_markup("HTTP error:\n  nobody  there"), "HTTP error: nobody there");
        assert_eq!(without_markup("<Code>Cut"), "");
    }
}
