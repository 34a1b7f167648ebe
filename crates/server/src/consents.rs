//! What takers have signed so that they can fill orders. It is stored, so that every server knows of it, and in memory, so that
//! whoever comes back to the server that took it waits for nobody.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bourse_protocols::Consent;
use bourse_store::{GivenConsent, Store, StoreError};
use bourse_wire::{Address, Marketplace, Timestamp};

/// Consents that are kept at once, in memory and in the store. Those that end first make room.
const CONSENTS_MAX: usize = 10_000;

/// Where, and who.
type Whose = (Marketplace, Address);
/// The same, and what for.
type Key = (Marketplace, Address, String);

/// What takers have signed so that they can fill orders, as far as it is in memory.
#[derive(Default)]
pub(crate) struct Consents(Mutex<BTreeMap<Key, Consent>>);

impl Consents {
    /// What somebody has signed on a marketplace that is still good, as far as it is in memory.
    pub(crate) fn of(&self, whose: Whose, now: Timestamp) -> Vec<Consent> {
        let consents = self.lock();
        let own = consents.range((whose.0, whose.1, String::new())..);
        let own = own.take_while(|((marketplace, taker, _), _)| (*marketplace, *taker) == whose);
        own.map(|(_, consent)| consent).filter(|consent| is_good(consent, now)).cloned().collect()
    }

    /// The same as it is stored: another server may have taken it.
    pub(crate) async fn stored(
        &self,
        store: &Store,
        whose: Whose,
        now: Timestamp,
    ) -> Result<Vec<Consent>, StoreError> {
        let found = store.consents(whose, now).await?.into_iter();
        let found: Vec<Consent> = found
            .map(|GivenConsent { subject, proof, until }| Consent {
                subject,
                proof,
                until: until.unsigned_abs(),
            })
            .collect();
        for consent in &found {
            self.remember(whose, consent.clone(), now);
        }
        Ok(found)
    }

    /// Forgets what somebody has signed, as the marketplace has.
    pub(crate) async fn forget(
        &self,
        store: &Store,
        whose: Whose,
        signed: Vec<Consent>,
    ) -> Result<(), StoreError> {
        self.lock().retain(|(marketplace, taker, _), consent| {
            (*marketplace, *taker) != whose || !signed.contains(consent)
        });
        store.forget_consents(whose, signed.into_iter().map(given).collect()).await
    }

    /// Keeps what somebody has signed: once this returns, every server knows of it.
    pub(crate) async fn put(
        &self,
        store: &Store,
        whose: Whose,
        consent: Consent,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        store.put_consent(whose, given(consent.clone()), CONSENTS_MAX as u64, now).await?;
        self.remember(whose, consent, now);
        Ok(())
    }

    fn remember(&self, whose: Whose, consent: Consent, now: Timestamp) {
        let mut consents = self.lock();
        if consents.len() >= CONSENTS_MAX {
            consents.retain(|_, consent| is_good(consent, now));
        }
        if consents.len() >= CONSENTS_MAX {
            let soonest = consents.iter().min_by_key(|(_, consent)| consent.until);
            if let Some(key) = soonest.map(|(key, _)| key.clone()) {
                consents.remove(&key);
            }
        }
        consents.insert((whose.0, whose.1, consent.subject.clone()), consent);
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Key, Consent>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn given(Consent { subject, proof, until }: Consent) -> GivenConsent {
    GivenConsent { subject, proof, until: i64::try_from(until).unwrap_or(i64::MAX) }
}

fn is_good(consent: &Consent, now: Timestamp) -> bool {
    i64::try_from(consent.until).is_ok_and(|until| now.unix_seconds() <= until)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: Marketplace = Marketplace::PaymentProcessor;

    fn consent(subject: &str, until: u64) -> Consent {
        Consent { subject: subject.to_owned(), proof: format!("{subject} until {until}"), until }
    }

    fn person(number: u64) -> Address {
        let mut bytes = [0; 20];
        bytes[12..].copy_from_slice(&number.to_be_bytes());
        Address::from_bytes(bytes)
    }

    fn at(seconds: u64) -> Timestamp {
        Timestamp::from_unix_seconds(seconds)
    }

    #[test]
    fn what_was_signed_is_good_for_a_while() {
        let consents = Consents::default();
        for (subject, until) in [("a", 10), ("b", 20), ("b", 30)] {
            consents.remember((PLACE, person(1)), consent(subject, until), at(1));
        }
        assert_eq!(consents.of((PLACE, person(1)), at(10)), [consent("a", 10), consent("b", 30)]);
        assert_eq!(consents.of((PLACE, person(1)), at(11)), [consent("b", 30)]);
        assert_eq!(consents.of((PLACE, person(2)), at(10)), []);
        assert_eq!(consents.of((Marketplace::Blur, person(1)), at(10)), []);
    }

    #[test]
    fn what_ends_first_makes_room() {
        let consents = Consents::default();
        let most = CONSENTS_MAX as u64;
        for number in 0..=most {
            consents.remember((PLACE, person(number)), consent("a", 100 + number), at(1));
        }
        assert_eq!(consents.of((PLACE, person(0)), at(1)), []);
        assert_eq!(consents.of((PLACE, person(1)), at(1)).len(), 1);
        consents.remember((PLACE, person(most + 1)), consent("a", 1_000_000), at(5000));
        assert_eq!(consents.of((PLACE, person(most)), at(5000)).len(), 1);
        assert_eq!(consents.0.lock().unwrap().len() as u64, most - 4900 + 2);
    }
}
