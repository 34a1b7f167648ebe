//! Every credential, in memory.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use arc_swap::ArcSwap;
use bourse_store::{AccessKeyRecord, CollectionKey, Grant, SecretTokenRecord, Store, StoreError, Subject};
use bourse_wire::{ProjectId, Timestamp};

use super::{AccessKey, KeyHash};

/// The credentials of all projects, as of one revision of the store. Readers never wait.
pub(crate) struct Credentials(ArcSwap<CredentialTable>);

#[derive(Default)]
pub(crate) struct CredentialTable {
    revision: u64,
    keys: HashMap<ProjectId, Vec<Arc<KeyEntry>>>,
    tokens: HashMap<String, Arc<TokenEntry>>,
    grants: HashMap<ProjectId, Vec<Grant>>,
}

pub(crate) struct KeyEntry {
    pub(crate) record: AccessKeyRecord,
    hash: KeyHash,
    last_used: LastUse,
}

pub(crate) struct TokenEntry {
    pub(crate) record: SecretTokenRecord,
    last_used: LastUse,
}

/// When a credential was last used, in seconds; 0 for not since the last flush.
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
        Ok(Self(ArcSwap::from_pointee(CredentialTable::read(store).await?)))
    }

    /// Takes over what changed in the store, if anything did.
    pub(crate) async fn refresh(&self, store: &Store) -> Result<(), StoreError> {
        if store.credentials_revision().await? == self.0.load().revision {
            return Ok(());
        }
        let table = CredentialTable::read(store).await?;
        self.flush_last_use(store).await?;
        tracing::info!(revision = table.revision, "credentials changed");
        self.0.store(Arc::new(table));
        Ok(())
    }

    /// The stored key that is this one, active or not.
    pub(crate) fn key(&self, key: &AccessKey, now: Timestamp) -> Option<Arc<KeyEntry>> {
        let table = self.0.load();
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
        let table = self.0.load();
        table.tokens.get(id).inspect(|token| token.last_used.note(now)).cloned()
    }

    /// Whether a project may state something of a contract.
    pub(crate) fn may_state(&self, project: ProjectId, subject: Subject, contract: CollectionKey) -> bool {
        let table = self.0.load();
        table
            .grants
            .get(&project)
            .is_some_and(|grants| grants.iter().any(|grant| grant.covers(subject, contract)))
    }

    /// Stores when credentials were last used.
    pub(crate) async fn flush_last_use(&self, store: &Store) -> Result<(), StoreError> {
        let table = self.0.load_full();
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
    /// The revision is read first: a change in between is seen again at the next look.
    async fn read(store: &Store) -> Result<Self, StoreError> {
        let mut table = Self { revision: store.credentials_revision().await?, ..Self::default() };
        for record in store.all_access_keys().await? {
            let Some(hash) = KeyHash::from_hex(&record.hash) else {
                tracing::error!(project = %record.project, key = %record.id, "stored key hash cannot be read");
                continue;
            };
            let key = Arc::new(KeyEntry { hash, last_used: LastUse::default(), record });
            table.keys.entry(key.record.project).or_default().push(key);
        }
        for record in store.all_secret_tokens().await? {
            let token = Arc::new(TokenEntry { last_used: LastUse::default(), record });
            table.tokens.insert(token.record.id.clone(), token);
        }
        for (project, grant) in store.all_grants().await? {
            table.grants.entry(project).or_default().push(grant);
        }
        Ok(table)
    }
}
