//! Records of which nobody said when they changed.

use std::collections::{BTreeMap, BTreeSet};

use bourse_wire::{ContractInfo, Timestamp, TokenId, TokenMetadata};
use serde::de::DeserializeOwned;

use crate::StoreError;
use crate::collections::{CollectionId, read_contract, read_tokens};
use crate::session::Session;

/// Which records of a batch came without a time.
#[derive(Default)]
pub(crate) struct Undated {
    pub(crate) contract: bool,
    pub(crate) tokens: BTreeSet<TokenId>,
}

impl Undated {
    /// Takes those out of a batch that are stored with nothing different but their time: they keep the time they have, so
    /// that sending them again changes nothing. Whoever calls this holds the collection: what is compared with is what
    /// would be replaced.
    pub(crate) async fn drop_unchanged(
        self,
        session: &mut Session<'_>,
        id: CollectionId,
        contract: &mut Option<String>,
        tokens: &mut BTreeMap<TokenId, String>,
    ) -> Result<(), StoreError> {
        if self.contract
            && let (Some(new), Some(stored)) = (contract.as_deref(), read_contract(session, id).await?)
            && is_same::<ContractInfo>(new, &stored, |contract| &mut contract.updated_at)
        {
            *contract = None;
        }
        if self.tokens.is_empty() {
            return Ok(());
        }
        for stored in read_tokens(session, id, self.tokens).await? {
            let new = tokens.get(&stored.token_id);
            if new.is_some_and(|new| {
                is_same::<TokenMetadata>(new, &stored.metadata, |token| &mut token.updated_at)
            }) {
                tokens.remove(&stored.token_id);
            }
        }
        Ok(())
    }
}

/// Whether two texts are the same record but for its time. What cannot be read is the same as nothing.
fn is_same<T: DeserializeOwned + PartialEq>(
    one: &str,
    other: &str,
    updated_at: fn(&mut T) -> &mut Timestamp,
) -> bool {
    let read = |text: &str| {
        let mut record: T = serde_json::from_str(text).ok()?;
        *updated_at(&mut record) = Timestamp::ZERO;
        Some(record)
    };
    read(one).is_some_and(|one| read(other) == Some(one))
}
