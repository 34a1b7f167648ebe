//! The tokens that a filter lets through, remembered for the next request with the same filter.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use bourse_wire::TokenId;
use hashbrown::HashMap;

use crate::collection::Collection;
use crate::filter::{PropertyFilter, TokenFilter};
use crate::names::Needle;
use crate::set::Bits;

/// So few are gone through one by one rather than looked for in a list.
const FEW_MAX: usize = 512;
/// So few held by the accounts asked for are gone through one by one.
const FEW_HELD_MAX: usize = 4_096;
/// One in how many tokens may be let through to be remembered one by one: bits would take more memory.
const SEVERAL_SHARE: usize = 32;
/// Filters that are remembered at most.
const REMEMBERED_MAX: usize = 4_096;
/// Memory that remembered filters may take, for each token of the collection.
const REMEMBERED_BYTES_PER_TOKEN: usize = 64;

/// The tokens that a filter lets through.
#[derive(Clone)]
pub(crate) enum Candidates {
    /// All of them.
    All,
    /// These, ascending by ordinal: so few that each may be looked at.
    Few(Arc<[u32]>),
    /// These, ascending by ordinal.
    Several(Arc<[u32]>),
    /// Those in the set, of whose names some may still have to be compared.
    Many(Arc<Many>),
}

/// Many tokens.
pub(crate) struct Many {
    pub(crate) bits: Bits,
    pub(crate) unsure: Option<Needle>,
}

/// The filters on names and properties that were asked for last.
#[derive(Default)]
pub(crate) struct Cache(Mutex<Remembered>);

type FilterKey = (String, Vec<PropertyFilter>);

#[derive(Default)]
struct Remembered {
    found: HashMap<Arc<FilterKey>, (Candidates, Used)>,
    /// In the order they came, or were last found to be in use.
    queue: VecDeque<Arc<FilterKey>>,
    bytes: usize,
}

/// Whether a filter was asked for again.
type Used = bool;

impl std::fmt::Debug for Cache {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Cache")
    }
}

impl Cache {
    pub(crate) fn clear(&mut self) {
        let remembered = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        *remembered = Remembered::default();
    }

    pub(crate) fn bytes(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).bytes
    }

    fn get(&self, key: &FilterKey) -> Option<Candidates> {
        let mut remembered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (candidates, used) = remembered.found.get_mut(key)?;
        *used = true;
        Some(candidates.clone())
    }

    /// Remembers a filter, forgetting those that were not asked for again for longest.
    fn put(&self, key: FilterKey, candidates: &Candidates, bytes_max: usize) {
        let mut remembered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = Arc::new(key);
        if remembered.found.insert(Arc::clone(&key), (candidates.clone(), false)).is_none() {
            remembered.bytes += candidates.bytes();
            remembered.queue.push_back(key);
        }
        while remembered.found.len() > REMEMBERED_MAX || remembered.bytes > bytes_max {
            let Some(oldest) = remembered.queue.pop_front() else { return };
            let is_used = remembered.found.get_mut(&oldest).is_some_and(|(_, used)| std::mem::take(used));
            if is_used {
                remembered.queue.push_back(oldest);
            } else {
                let forgotten = remembered.found.remove(&oldest);
                remembered.bytes -= forgotten.map_or(0, |(candidates, _)| candidates.bytes());
            }
        }
    }
}

impl Candidates {
    fn bytes(&self) -> usize {
        match self {
            Self::All => 0,
            Self::Few(ordinals) | Self::Several(ordinals) => size_of_val(&**ordinals),
            Self::Many(many) => many.bits.bytes(),
        }
    }

    pub(crate) fn has(&self, collection: &Collection, ordinal: u32) -> bool {
        match self {
            Self::All => true,
            Self::Few(ordinals) | Self::Several(ordinals) => ordinals.binary_search(&ordinal).is_ok(),
            Self::Many(many) => many.has(collection, ordinal),
        }
    }

    /// The same, to be looked for in a list: there every token is asked whether it is one of them.
    pub(crate) fn for_lists(self, universe: usize) -> Self {
        match self {
            Self::Several(ordinals) => {
                let mut bits = Bits::empty(universe);
                for ordinal in &*ordinals {
                    bits.insert(*ordinal);
                }
                Self::Many(Arc::new(Many { bits, unsure: None }))
            }
            other => other,
        }
    }

    /// All of them as a set; `None` for every token there is.
    pub(crate) fn to_bits(&self, collection: &Collection) -> Option<Bits> {
        match self {
            Self::All => None,
            Self::Few(ordinals) | Self::Several(ordinals) => Some(ordinals.iter().copied().collect()),
            Self::Many(many) => Some(many.sure(collection).unwrap_or_else(|| many.bits.clone())),
        }
    }

    /// How many there are.
    pub(crate) fn len(&self, collection: &Collection) -> usize {
        match self {
            Self::All => collection.len(),
            Self::Few(ordinals) | Self::Several(ordinals) => ordinals.len(),
            Self::Many(many) => many.sure(collection).map_or_else(|| many.bits.len(), |sure| sure.len()),
        }
    }

    /// How many of them are in a set.
    pub(crate) fn common(&self, collection: &Collection, set: &Bits) -> usize {
        match self {
            Self::All => set.len(),
            Self::Few(ordinals) | Self::Several(ordinals) => {
                ordinals.iter().map(|ordinal| set.bit(*ordinal)).sum()
            }
            Self::Many(many) => match many.sure(collection) {
                Some(sure) => sure.common(set),
                None => many.bits.common(set),
            },
        }
    }
}

impl Many {
    fn has(&self, collection: &Collection, ordinal: u32) -> bool {
        self.bits.contains(ordinal)
            && self.unsure.as_ref().is_none_or(|needle| collection.names.has(ordinal, needle))
    }

    /// Those whose names were compared, when that is still to be done.
    pub(crate) fn sure(&self, collection: &Collection) -> Option<Bits> {
        let needle = self.unsure.as_ref()?;
        let mut bits = self.bits.clone();
        for ordinal in self.bits.iter().filter(|ordinal| !collection.names.has(*ordinal, needle)) {
            bits.remove(ordinal);
        }
        Some(bits)
    }
}

impl Collection {
    /// The tokens that a filter lets through.
    pub(crate) fn candidates(&self, filter: &TokenFilter) -> Candidates {
        let found = self.by_text_and_properties(filter);
        if filter.in_accounts.is_empty() && filter.not_in_accounts.is_empty() {
            return found;
        }
        let excluded: Bits = self.holders.tokens(&filter.not_in_accounts).into_iter().collect();
        if filter.in_accounts.is_empty() {
            let mut bits = found.to_bits(self).unwrap_or_else(|| Bits::full(self.len()));
            bits.subtract(&excluded);
            return compact(bits, self.len());
        }
        let held = self.holders.tokens(&filter.in_accounts).into_iter();
        let held: Vec<u32> =
            held.filter(|token| !excluded.contains(*token) && found.has(self, *token)).collect();
        if held.len() <= FEW_HELD_MAX {
            Candidates::Few(held.into())
        } else {
            Candidates::Many(Arc::new(Many { bits: held.into_iter().collect(), unsure: None }))
        }
    }

    fn by_text_and_properties(&self, filter: &TokenFilter) -> Candidates {
        if filter.text.is_empty() && filter.properties.is_empty() {
            return Candidates::All;
        }
        let key = (filter.text.clone(), filter.properties.clone());
        if let Some(found) = self.cache.get(&key) {
            return found;
        }
        let found = self.find_by_text_and_properties(filter);
        self.cache.put(key, &found, self.len() * REMEMBERED_BYTES_PER_TOKEN);
        found
    }

    fn find_by_text_and_properties(&self, filter: &TokenFilter) -> Candidates {
        let universe = self.len();
        let mut all: Option<Bits> = None;
        for property in &filter.properties {
            let found = self.properties.find(property, universe);
            match &mut all {
                Some(all) => all.intersect(&found),
                None => all = Some(found.into_owned()),
            }
        }
        let mut unsure = None;
        if !filter.text.is_empty() {
            let mut found = self.names.find(&filter.text, universe);
            if let Some(token) = self.numbered(&filter.text) {
                // Its name need not have the text.
                let by_name = Many { bits: found.bits, unsure: found.unsure };
                found.bits = by_name.sure(self).unwrap_or(by_name.bits);
                found.unsure = None;
                found.bits.insert(token);
            }
            unsure = found.unsure;
            match &mut all {
                Some(all) => all.intersect(&found.bits),
                None => all = Some(found.bits),
            }
        }
        let many = Many { bits: all.unwrap_or_else(|| Bits::full(universe)), unsure };
        if many.unsure.is_none() || many.bits.len() <= FEW_MAX {
            return compact(many.sure(self).unwrap_or(many.bits), universe);
        }
        Candidates::Many(Arc::new(many))
    }

    /// The token whose id a text is.
    fn numbered(&self, text: &str) -> Option<u32> {
        self.tokens.find(text.parse::<TokenId>().ok()?)
    }
}

/// The form that a set of tokens, of so many, is best kept in.
fn compact(bits: Bits, universe: usize) -> Candidates {
    let several_max = (universe / SEVERAL_SHARE).max(FEW_MAX);
    let ordinals: Vec<u32> = bits.iter().take(several_max + 1).collect();
    match ordinals.len() {
        count if count <= FEW_MAX => Candidates::Few(ordinals.into()),
        count if count <= several_max => Candidates::Several(ordinals.into()),
        _ => Candidates::Many(Arc::new(Many { bits, unsure: None })),
    }
}
