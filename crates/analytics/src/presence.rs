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

/// The sets of one part and day. Whoever sent or traded was active: those two are subsets, and are stored as such, which
/// takes a fraction of the bytes and cannot come back as anything else.
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
        let mut members = Vec::with_capacity(self.active.len() as usize);
        self.active.for_each(|wallet| members.push(wallet));
        let Some(last) = members.last().copied() else { return Vec::new() };
        let subsets = [&self.sent, &self.market].map(|part| ranks(&members, part));
        let mut out = Vec::with_capacity(members.len() + 16);
        write_number(&mut out, members.len() as u64);
        write_number(&mut out, u64::from(last));
        for ranks in &subsets {
            write_number(&mut out, ranks.len() as u64);
        }
        let limit = usize::from(last) + 1;
        match (&self.active, Form::of(members.len(), limit)) {
            (Part::Many { bits, .. }, Form::Bits { bytes }) => bits.write(&mut out, bytes),
            _ => ordered::write(&mut out, &members, limit),
        }
        for ranks in &subsets {
            ordered::write(&mut out, ranks, members.len());
        }
        out
    }

    /// Reads what [`Presence::encode`] wrote.
    pub(crate) fn decode(bytes: &[u8], scratch: &mut Scratch) -> Result<Self, Corrupt> {
        if bytes.is_empty() {
            return Ok(Self::default());
        }
        let mut reader = Reader::new(bytes);
        let count = reader.number_to(PART_WALLETS)?;
        let limit = reader.number_to(PART_WALLETS - 1)? + 1;
        if count == 0 || count > limit {
            return Err(Corrupt("a set has more wallets than can be"));
        }
        let subsets = [reader.number_to(count)?, reader.number_to(count)?];
        let active = read_active(&mut reader, count, limit, &mut scratch.members)?;
        let [sent, market] = subsets.map(|subset| {
            if subset == count {
                return Ok(active.clone());
            }
            ordered::read(&mut reader, subset, count, &mut scratch.ranks)?;
            if scratch.members.is_empty() && subset > 0 {
                active.for_each(|wallet| scratch.members.push(wallet));
            }
            // Ranks are below the number of members, as their limit was.
            scratch.ranks.iter_mut().for_each(|rank| *rank = scratch.members[usize::from(*rank)]);
            Ok(Part::from_sorted(&scratch.ranks))
        });
        let decoded = Self { sent: sent?, market: market?, active };
        reader.end().map(|()| decoded)
    }
}

/// Lists that decoding one part leaves for the next to use.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    members: Vec<u16>,
    ranks: Vec<u16>,
}

/// The active wallets. Their list is left empty when the set could be had without it.
fn read_active(
    reader: &mut Reader<'_>,
    count: usize,
    limit: usize,
    members: &mut Vec<u16>,
) -> Result<Part, Corrupt> {
    members.clear();
    if let Form::Bits { bytes } = Form::of(count, limit) {
        let part = Part::from_bits(Bits::from_bytes(reader.take(bytes)?));
        let fits = part.len() as usize == count && part.contains((limit - 1) as u16);
        return if fits { Ok(part) } else { Err(Corrupt("a set is not what its length says")) };
    }
    ordered::read(reader, count, limit, members)?;
    Ok(Part::from_sorted(members))
}

/// Which of the members a part has, by their index.
fn ranks(members: &[u16], part: &Part) -> Vec<u16> {
    let mut ranks = Vec::with_capacity(part.len() as usize);
    let mut index = 0;
    part.for_each(|wallet| {
        while members.get(index).is_some_and(|member| *member < wallet) {
            index += 1;
        }
        ranks.push(index as u16);
    });
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(part: &Part) -> Vec<u16> {
        let mut list = Vec::new();
        part.for_each(|wallet| list.push(wallet));
        list
    }

    fn every(step: usize, from: u16) -> Vec<u16> {
        (from..=u16::MAX).step_by(step).collect()
    }

    #[test]
    fn sets_come_back_and_damage_is_an_error() {
        let mut scratch = Scratch::default();
        for step in [1, 2, 9, 40, 3_000] {
            let (active, sent, market) = (every(step, 5), every(step * 3, 5), every(step * 20, 5));
            for market in [&market[..], &[], &active[..]] {
                let presence = NOBODY.with([&active, &sent, market]);
                let bytes = presence.encode();
                let back = Presence::decode(&bytes, &mut scratch).unwrap();
                assert_eq!(list(&back.active), active);
                assert_eq!(list(&back.sent), sent);
                assert_eq!(list(&back.market), market);
                assert!(Presence::decode(&bytes[..bytes.len() - 1], &mut scratch).is_err());
                assert!(Presence::decode(&[&bytes[..], &[0]].concat(), &mut scratch).is_err());
            }
        }
        assert!(Presence::decode(&[], &mut scratch).unwrap().is_empty());
    }

    /// Whatever byte is damaged, decoding comes to an end, and subsets remain subsets.
    #[test]
    fn no_damage_makes_it_panic() {
        let mut scratch = Scratch::default();
        let good = NOBODY.with([&every(37, 2), &every(111, 2), &every(370, 2)]).encode();
        for index in 0..good.len() {
            for flip in [1, 0x80, 0xff] {
                let mut bad = good.clone();
                bad[index] ^= flip;
                if let Ok(read) = Presence::decode(&bad, &mut scratch) {
                    assert_eq!(read.sent.common_len(&read.active), read.sent.len());
                    assert_eq!(read.market.common_len(&read.active), read.market.len());
                }
            }
        }
    }
}
