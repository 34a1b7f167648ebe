//! Who of one part of the wallets was there on one day, and did what.
#![expect(clippy::cast_possible_truncation, reason = "a part has 65,536 wallets")]

use crate::bytes::{Corrupt, Reader, write_number};
use crate::ordered::{self, Form};
use crate::part::{Bits, PART_WALLETS, Part};

/// A set of wallets kept for every day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Set {
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
pub(crate) static NOBODY: Presence =
    Presence { active: Part::Few(Vec::new()), sent: Part::Few(Vec::new()), market: Part::Few(Vec::new()) };

impl Presence {
    pub(crate) fn set(&self, set: Set) -> &Part {
        match set {
            Set::Active => &self.active,
            Set::Sent => &self.sent,
            Set::Market => &self.market,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.active.is_empty()
    }

    /// Which sets are not the same as in the other one.
    pub(crate) fn changed(&self, other: &Self) -> impl Iterator<Item = Set> {
        let sets = [Set::Active, Set::Sent, Set::Market].into_iter();
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
        let active = list(&self.active);
        write_members(&mut out, &active);
        for part in [&self.sent, &self.market] {
            write_places(&mut out, part, &active);
        }
        out
    }

    /// Reads what [`Presence::encode`] wrote.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, Corrupt> {
        if bytes.is_empty() {
            return Ok(Self::default());
        }
        let mut members = Vec::new();
        if let Some(bytes) = bytes.strip_prefix(&[BY_PLACE]) {
            let mut reader = Reader::new(bytes);
            let active = read_part(&mut reader, &mut members)?;
            let active_list = list(&active);
            let mut part = || read_places(&mut reader, &active_list, &mut members);
            let presence = Self { sent: part()?, market: part()?, active };
            reader.end()?;
            return Ok(presence);
        }
        let mut reader = Reader::new(bytes);
        let mut part = || read_part(&mut reader, &mut members);
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

/// Who is in a set, ascending.
fn list(part: &Part) -> Vec<u16> {
    let mut list = Vec::with_capacity(part.len() as usize);
    part.for_each(|wallet| list.push(wallet));
    list
}

/// Writes how many of the active are in a set, and their places among them.
fn write_places(out: &mut Vec<u8>, part: &Part, active: &[u16]) {
    write_number(out, part.len().into());
    let mut places = Vec::with_capacity(part.len() as usize);
    let mut rest = (0..=u16::MAX).zip(active);
    part.for_each(|wallet| {
        places.extend(rest.find(|(_, active)| **active == wallet).map(|(place, _)| place));
    });
    ordered::write(out, &places, active.len());
}

fn read_places(reader: &mut Reader<'_>, active: &[u16], members: &mut Vec<u16>) -> Result<Part, Corrupt> {
    let count = reader.number_to(active.len())?;
    ordered::read(reader, count, active.len(), members)?;
    for member in members.iter_mut() {
        *member = active[usize::from(*member)];
    }
    Ok(Part::from_sorted(members))
}

/// Writes how many wallets there are, the last of them, and all of them as numbers up to that one.
fn write_members(out: &mut Vec<u8>, members: &[u16]) {
    write_number(out, members.len() as u64);
    let Some(last) = members.last() else { return };
    write_number(out, u64::from(*last));
    ordered::write(out, members, usize::from(*last) + 1);
}

fn read_part(reader: &mut Reader<'_>, members: &mut Vec<u16>) -> Result<Part, Corrupt> {
    let count = reader.number_to(PART_WALLETS)?;
    if count == 0 {
        return Ok(Part::default());
    }
    let limit = reader.number_to(PART_WALLETS - 1)? + 1;
    if count > limit {
        return Err(Corrupt("a set has more wallets than can be"));
    }
    if let Form::Bits { bytes } = Form::of(count, limit) {
        let part = Part::from_bits(Bits::from_bytes(reader.take(bytes)?));
        let fits = part.len() as usize == count && part.contains((limit - 1) as u16);
        return if fits { Ok(part) } else { Err(Corrupt("a set is not what its length says")) };
    }
    ordered::read(reader, count, limit, members)?;
    Ok(Part::from_sorted(members))
}

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
                assert_eq!(list(&back.active), active);
                assert_eq!(list(&back.sent), sent);
                assert_eq!(list(&back.market), market);
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
            write_members(&mut bytes, set);
        }
        let back = Presence::decode(&bytes).unwrap();
        assert_eq!([&back.active, &back.sent, &back.market].map(list), sets);
        assert!(Presence::decode(&bytes[..bytes.len() - 1]).is_err());
        let fewer = back.encode();
        assert!(fewer.len() * 10 < bytes.len() * 9, "{} of {}", fewer.len(), bytes.len());
        let again = Presence::decode(&fewer).unwrap();
        assert_eq!([&again.active, &again.sent, &again.market].map(list), sets);
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
                    assert_eq!(list(&read.active).len(), read.active.len() as usize);
                    Presence::decode(&read.encode()).unwrap();
                }
            }
        }
    }
}
