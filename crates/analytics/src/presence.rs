//! Who of one part of the wallets was there on one day, and did what.

use bourse_sets::{Part, Reader, coding};

use crate::corrupt::Corrupt;

/// A set of wallets kept for every day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DaySet {
    /// Had any event.
    Active,
    /// Had a transaction event.
    Sent,
    /// Had a market event.
    Market,
}

/// The sets of one part and day. Whoever sent or traded was active too.
#[derive(Clone, Debug, Default)]
pub(crate) struct Presence {
    active: Part,
    sent: Part,
    market: Part,
}

/// What an absent part is.
pub(crate) static NOBODY: Presence = Presence { active: Part::EMPTY, sent: Part::EMPTY, market: Part::EMPTY };

impl Presence {
    pub(crate) fn set(&self, set: DaySet) -> &Part {
        match set {
            DaySet::Active => &self.active,
            DaySet::Sent => &self.sent,
            DaySet::Market => &self.market,
        }
    }

    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> usize {
        let parts = [&self.active, &self.sent, &self.market];
        size_of::<Self>() + parts.into_iter().map(Part::part_bytes).sum::<usize>()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.active.is_empty()
    }

    /// Which sets are not the same as in the other one.
    pub(crate) fn changed(&self, other: &Self) -> impl Iterator<Item = DaySet> {
        let sets = [DaySet::Active, DaySet::Sent, DaySet::Market].into_iter();
        sets.filter(|set| self.set(*set) != other.set(*set))
    }

    /// With more wallets in each set; lists ascend and may repeat. Those in the last two must be in the first.
    pub(crate) fn with(&self, [active, sent, market]: [&[u16]; 3]) -> Self {
        let with = |part: &Part, wallets: &[u16]| {
            if wallets.is_empty() { part.clone() } else { part.with(wallets) }
        };
        Self {
            active: with(&self.active, active),
            sent: with(&self.sent, sent),
            market: with(&self.market, market),
        }
    }

    pub(crate) fn without(&self, wallet: u16) -> Self {
        Self {
            active: self.active.without(wallet),
            sent: self.sent.without(wallet),
            market: self.market.without(wallet),
        }
    }

    /// The bytes it is stored as; none when nobody was there.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        if self.is_empty() {
            return out;
        }
        out.push(BY_PLACE);
        let active = self.active.to_list();
        coding::write(&mut out, &active);
        for part in [&self.sent, &self.market] {
            coding::write_within(&mut out, part, &active);
        }
        out
    }

    /// Reads what [`Presence::encode`] wrote.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, Corrupt> {
        if bytes.is_empty() {
            return Ok(Self::default());
        }
        let mut scratch = Vec::new();
        if let Some(bytes) = bytes.strip_prefix(&[BY_PLACE]) {
            let mut reader = Reader::new(bytes);
            let active = coding::read(&mut reader, &mut scratch)?;
            let active_list = active.to_list();
            let mut part = || coding::read_within(&mut reader, &active_list, &mut scratch);
            let presence = Self { sent: part()?, market: part()?, active };
            reader.end()?;
            return Ok(presence);
        }
        let mut reader = Reader::new(bytes);
        let mut part = || coding::read(&mut reader, &mut scratch);
        let presence = Self { active: part()?, sent: part()?, market: part()? };
        reader.end()?;
        if presence.sent.len().max(presence.market.len()) > presence.active.len() {
            return Err(Corrupt("more wallets did something than were active"));
        }
        Ok(presence)
    }
}

/// What the bytes begin with when who sent or traded is written as places in the list of who was active, which takes far
/// fewer bits than numbers of wallets. Before, all sets were written alike, and the number of the active, which is
/// never zero, came first.
const BY_PLACE: u8 = 0;

#[cfg(test)]
mod tests {
    use super::*;

    fn every(step: usize, from: u16) -> Vec<u16> {
        (from..=u16::MAX).step_by(step).collect()
    }

    #[test]
    fn sets_come_back_and_damage_is_an_error() {
        for step in [1, 2, 9, 40, 3_000] {
            let (active, sent, market) = (every(step, 5), every(step * 3, 5), every(step * 20, 5));
            for market in [&market[..], &[], &active[..]] {
                let presence = NOBODY.with([&active, &sent, market]);
                let bytes = presence.encode();
                let back = Presence::decode(&bytes).unwrap();
                assert_eq!(back.active.to_list(), active);
                assert_eq!(back.sent.to_list(), sent);
                assert_eq!(back.market.to_list(), market);
                assert!(Presence::decode(&bytes[..bytes.len() - 1]).is_err());
                assert!(Presence::decode(&[&bytes[..], &[0]].concat()).is_err());
            }
        }
        assert!(Presence::decode(&[]).unwrap().is_empty());
    }

    /// What was stored before places were is read, and stored in fewer bytes.
    #[test]
    fn sets_that_were_stored_by_number_come_back() {
        let sets = [every(11, 5), every(33, 5), every(110, 5)];
        let mut bytes = Vec::new();
        for set in &sets {
            coding::write(&mut bytes, set);
        }
        let back = Presence::decode(&bytes).unwrap();
        assert_eq!([&back.active, &back.sent, &back.market].map(Part::to_list), sets);
        assert!(Presence::decode(&bytes[..bytes.len() - 1]).is_err());
        let fewer = back.encode();
        assert!(fewer.len() * 10 < bytes.len() * 9, "{} of {}", fewer.len(), bytes.len());
        let again = Presence::decode(&fewer).unwrap();
        assert_eq!([&again.active, &again.sent, &again.market].map(Part::to_list), sets);
    }

    /// Whatever byte is damaged, decoding comes to an end, with a set or an error.
    #[test]
    fn no_damage_makes_it_panic() {
        let good = NOBODY.with([&every(37, 2), &every(111, 2), &every(370, 2)]).encode();
        for index in 0..good.len() {
            for flip in [1, 0x80, 0xff] {
                let mut bad = good.clone();
                bad[index] ^= flip;
                if let Ok(read) = Presence::decode(&bad) {
                    assert_eq!(read.active.to_list().len(), read.active.len());
                    Presence::decode(&read.encode()).unwrap();
                }
            }
        }
    }
}
