//! What people have signed so that they can fill orders. Kept in memory, as it is good for a short time only: whoever is
//! forgotten signs again.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use bourse_protocols::Consent;
use bourse_wire::{Address, Marketplace, Timestamp};

/// Consents that are kept at once.
const CONSENTS_MAX: usize = 10_000;

/// Where, who, and what for.
type Key = (Marketplace, Address, String);

/// What people have signed so that they can fill orders.
#[derive(Default)]
pub(crate) struct Consents(Mutex<BTreeMap<Key, Consent>>);

impl Consents {
    /// What somebody has signed on a marketplace that is still good.
    pub(crate) fn of(&self, marketplace: Marketplace, who: Address, now: Timestamp) -> Vec<Consent> {
        let consents = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let own = consents.range((marketplace, who, String::new())..);
        let own = own.take_while(|((where_to, whose, _), _)| (*where_to, *whose) == (marketplace, who));
        own.map(|(_, consent)| consent).filter(|consent| is_good(consent, now)).cloned().collect()
    }

    /// Forgets what somebody has signed, as the marketplace has.
    pub(crate) fn forget(&self, marketplace: Marketplace, who: Address) {
        let mut consents = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        consents.retain(|(where_to, whose, _), _| (*where_to, *whose) != (marketplace, who));
    }

    /// Remembers what somebody has signed.
    pub(crate) fn put(&self, marketplace: Marketplace, who: Address, consent: Consent, now: Timestamp) {
        let mut consents = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if consents.len() >= CONSENTS_MAX {
            consents.retain(|_, consent| is_good(consent, now));
        }
        if consents.len() >= CONSENTS_MAX {
            let soonest = consents.iter().min_by_key(|(_, consent)| consent.until);
            if let Some(key) = soonest.map(|(key, _)| key.clone()) {
                consents.remove(&key);
            }
        }
        consents.insert((marketplace, who, consent.subject.clone()), consent);
    }
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
            consents.put(PLACE, person(1), consent(subject, until), at(1));
        }
        assert_eq!(consents.of(PLACE, person(1), at(10)), [consent("a", 10), consent("b", 30)]);
        assert_eq!(consents.of(PLACE, person(1), at(11)), [consent("b", 30)]);
        assert_eq!(consents.of(PLACE, person(2), at(10)), []);
        assert_eq!(consents.of(Marketplace::Blur, person(1), at(10)), []);
        consents.forget(Marketplace::Blur, person(1));
        assert_eq!(consents.of(PLACE, person(1), at(10)).len(), 2);
        consents.forget(PLACE, person(1));
        assert_eq!(consents.of(PLACE, person(1), at(10)), []);
    }

    #[test]
    fn what_ends_first_makes_room() {
        let consents = Consents::default();
        let most = CONSENTS_MAX as u64;
        for number in 0..=most {
            consents.put(PLACE, person(number), consent("a", 100 + number), at(1));
        }
        assert_eq!(consents.of(PLACE, person(0), at(1)), []);
        assert_eq!(consents.of(PLACE, person(1), at(1)).len(), 1);
        consents.put(PLACE, person(most + 1), consent("a", 1_000_000), at(5000));
        assert_eq!(consents.of(PLACE, person(most), at(5000)).len(), 1);
        assert_eq!(consents.0.lock().unwrap().len() as u64, most - 4900 + 2);
    }
}
