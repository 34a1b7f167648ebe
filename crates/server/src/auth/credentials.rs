//! Every credential, in memory.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use bourse_store::{
    AccessKeyRecord, CollectionKey, Grant, Mark, SecretTokenRecord, Store, StoreError, Subject,
};
use bourse_wire::{ProjectId, Timestamp};
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::{AccessKey, KeyHash};

/// How long after one look into the store for credentials that are not known the next begins. Strangers can have the store
/// asked so often and no more, whatever they send.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);

/// The credentials of all projects, as of one revision of the store. Readers never wait, and nothing that is read into it
/// waits for anybody who writes: a credential that was revoked must stop working whatever else goes on.
pub(crate) struct Credentials {
    table: ArcSwap<CredentialTable>,
    /// Held while the table is replaced, so that no older one takes the place of a newer.
    replacing: Mutex<()>,
    /// When the last look for credentials that are not known began.
    last_look: Mutex<Option<Instant>>,
}

#[derive(Default)]
pub(crate) struct CredentialTable {
    revision: Mark,
    keys: HashMap<ProjectId, Vec<Arc<KeyEntry>>>,
    tokens: HashMap<String, Arc<TokenEntry>>,
    grants: HashMap<ProjectId, Vec<Grant>>,
}

pub(crate) struct KeyEntry {
    pub(crate) record: AccessKeyRecord,
    hash: KeyHash,
    last_used: Arc<LastUse>,
}

pub(crate) struct TokenEntry {
    pub(crate) record: SecretTokenRecord,
    last_used: Arc<LastUse>,
}

/// When a credential was last used, in seconds; 0 for not since the last flush. It outlives the table that it is in.
#[derive(Default)]
struct LastUse(AtomicI64);

impl LastUse {
    fn note(&self, now: Timestamp) {
        self.0.store(now.unix_seconds(), Ordering::Relaxed);
    }

    fn take(&self) -> Option<Timestamp> {
        let seconds = self.0.swap(0, Ordering::Relaxed);
        (seconds != 0).then(|| Timestamp::from_unix_nanos(i128::from(seconds) * 1_000_000_000))
    }
}

impl Credentials {
    pub(crate) async fn load(store: &Store) -> Result<Self, StoreError> {
        let table = CredentialTable::read(store, &CredentialTable::default()).await?;
        let (replacing, last_look) = (Mutex::new(()), Mutex::new(None));
        Ok(Self { table: ArcSwap::from_pointee(table), replacing, last_look })
    }

    /// Takes over what changed in the store, if anything did.
    pub(crate) async fn refresh(&self, store: &Store) -> Result<(), StoreError> {
        let _alone = self.replacing.lock().await;
        let known = self.table.load_full();
        if store.credentials_revision().await? == known.revision {
            return Ok(());
        }
        let table = CredentialTable::read(store, &known).await?;
        tracing::info!(revision = table.revision.version, "credentials changed");
        self.table.store(Arc::new(table));
        Ok(())
    }

    /// Looks into the store once for somebody whose credential is not known: another process may just have made it. All
    /// who wait share one look; whether this one asked the store.
    pub(crate) async fn look(&self, store: &Store) -> bool {
        let came = Instant::now();
        let mut last_look = self.last_look.lock().await;
        if let Some(last) = *last_look {
            if last >= came {
                return false;
            }
            tokio::time::sleep_until(last + LOOK_INTERVAL).await;
        }
        *last_look = Some(Instant::now());
        if let Err(error) = self.refresh(store).await {
            error.log("looking for a credential");
        }
        true
    }

    /// The stored key that is this one, active or not.
    pub(crate) fn key(&self, key: &AccessKey, now: Timestamp) -> Option<Arc<KeyEntry>> {
        let table = self.table.load();
        let hash = key.hash();
        // All of a project's keys are compared, so that time tells nothing about which one matched.
        let mut found = None;
        for candidate in table.keys.get(&key.project())? {
            if candidate.hash.matches(&hash) {
                found = Some(candidate);
            }
        }
        found.inspect(|key| key.last_used.note(now)).cloned()
    }

    /// The stored token of this id, revoked or not.
    pub(crate) fn token(&self, id: &str, now: Timestamp) -> Option<Arc<TokenEntry>> {
        let table = self.table.load();
        table.tokens.get(id).inspect(|token| token.last_used.note(now)).cloned()
    }

    /// Whether a project may state something of a contract.
    pub(crate) fn may_state(&self, project: ProjectId, subject: Subject, contract: CollectionKey) -> bool {
        let table = self.table.load();
        table
            .grants
            .get(&project)
            .is_some_and(|grants| grants.iter().any(|grant| grant.covers(subject, contract)))
    }

    /// Stores when credentials were last used.
    pub(crate) async fn flush_last_use(&self, store: &Store) -> Result<(), StoreError> {
        let table = self.table.load_full();
        let keys: Vec<_> = table
            .keys
            .values()
            .flatten()
            .filter_map(|key| Some((key.record.project, key.record.id, key.last_used.take()?)))
            .collect();
        let tokens: Vec<_> = table
            .tokens
            .values()
            .filter_map(|token| {
                Some((token.record.project, token.record.id.clone(), token.last_used.take()?))
            })
            .collect();
        if keys.is_empty() && tokens.is_empty() { Ok(()) } else { store.note_last_use(keys, tokens).await }
    }
}

impl CredentialTable {
    /// The revision is read first: a change in between is seen again at the next look. What is also in `known` goes on
    /// counting its uses there.
    async fn read(store: &Store, known: &Self) -> Result<Self, StoreError> {
        let mut table = Self { revision: store.credentials_revision().await?, ..Self::default() };
        for record in store.all_access_keys().await? {
            let Some(hash) = KeyHash::from_hex(&record.hash) else {
                tracing::error!(project = %record.project, key = %record.id, "stored key hash cannot be read");
                continue;
            };
            let last_used = known.use_of_key(&record);
            let key = Arc::new(KeyEntry { record, hash, last_used });
            table.keys.entry(key.record.project).or_default().push(key);
        }
        for record in store.all_secret_tokens().await? {
            let last_used = known.tokens.get(&record.id).map(|token| Arc::clone(&token.last_used));
            let token = Arc::new(TokenEntry { last_used: last_used.unwrap_or_default(), record });
            table.tokens.insert(token.record.id.clone(), token);
        }
        for (project, grant) in store.all_grants().await? {
            table.grants.entry(project).or_default().push(grant);
        }
        Ok(table)
    }

    fn use_of_key(&self, record: &AccessKeyRecord) -> Arc<LastUse> {
        let keys = self.keys.get(&record.project).map_or(&[][..], Vec::as_slice);
        let known = keys.iter().find(|key| key.record.id == record.id);
        known.map(|key| Arc::clone(&key.last_used)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use bourse_store::testing::TestDatabase;
    use futures_util::future::join_all;

    use super::*;

    /// However many strangers come at once, they have the store asked as often as the interval lets them, and each gets an
    /// answer that is newer than their request.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn strangers_share_looks() {
        let database = TestDatabase::fresh().await.unwrap();
        let store = database.open().await.unwrap();
        let credentials = Credentials::load(&store).await.unwrap();
        let began = Instant::now();
        let mut asked = 0;
        for _ in 0..3 {
            let looks = join_all((0..500).map(|_| credentials.look(&store))).await;
            asked += looks.into_iter().filter(|asked| *asked).count();
        }
        let most = began.elapsed().as_millis() / LOOK_INTERVAL.as_millis() + 1;
        assert!((3..=most).contains(&(asked as u128)), "{asked} of at most {most}");
    }
}
