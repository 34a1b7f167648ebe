//! Going through lists that are sorted already, keeping what a filter lets through.

use std::cmp::Ordering;

use bourse_sets::{Bits, Term, numbers, ones, words_of_all};
use bourse_wire::OrderSide;

use super::Start;
use super::candidates::{ASKED_MAX, Candidates};
use super::position::{Key, Position};
use crate::book::PriceList;
use crate::collection::Collection;
use crate::filter::PropertyFilter;
use crate::sorted_list::{Cursor, Places, Run, SortedList};

/// So few places of a block are looked up rather than all of them gone through.
const SOUGHT_MAX: usize = 24;

/// A list to go through.
pub(crate) struct Segment<'a> {
    pub(crate) list: &'a SortedList,
    /// The properties that its tokens must have, where the list has an index of them.
    pub(crate) indexed: Option<(&'a PriceList, &'a [PropertyFilter])>,
    pub(crate) order: Order,
    pub(crate) reverse: bool,
    /// The group of its rows, and within it: 1 for orders without a rate, which come after the others.
    pub(crate) group: (u8, u8),
    pub(crate) selection: Selection<'a>,
}

/// What a list is sorted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Token id.
    Id,
    /// Name.
    Name,
    /// Best price of a side.
    Price(OrderSide),
    /// When the best order of a side was first seen.
    Creation(OrderSide),
}

/// Which tokens of a list are kept.
#[derive(Clone, Copy)]
pub(crate) struct Selection<'a> {
    pub(crate) candidates: &'a Candidates<'a>,
    /// Only those in here.
    pub(crate) only: Option<&'a Bits>,
    /// None of those in here.
    pub(crate) except: Option<&'a Bits>,
}

impl<'a> Selection<'a> {
    /// What is in a set.
    pub(super) fn only(only: &'a Bits) -> Self {
        Self { candidates: &Candidates::All, only: Some(only), except: None }
    }

    fn has(&self, collection: &Collection, token: u32) -> bool {
        self.is_allowed(token) && self.candidates.has(collection, token)
    }

    /// Whether the sets beside the candidates let a token through.
    fn is_allowed(&self, token: u32) -> bool {
        self.except.is_none_or(|except| !except.contains(token))
            && self.only.is_none_or(|only| only.contains(token))
    }

    fn is_all(&self) -> bool {
        matches!(self.candidates, Candidates::All) && self.only.is_none() && self.except.is_none()
    }

    /// Those of 64 tokens that may be kept, one bit each.
    fn word(&self, index: usize) -> u64 {
        let candidates = match self.candidates {
            Candidates::Many(many) => many.word(index),
            // The others are in lists, or all.
            _ => u64::MAX,
        };
        candidates
            & self.only.map_or(u64::MAX, |only| only.word(index))
            & !self.except.map_or(0, |except| except.word(index))
    }

    /// The tokens that are kept, where sets tell which, and there are several of these.
    fn folded(&self, collection: &Collection) -> Option<Bits> {
        let several = usize::from(!matches!(self.candidates, Candidates::All))
            + usize::from(self.only.is_some())
            + usize::from(self.except.is_some());
        if several < 2 || !self.candidates.are_sure() {
            return None;
        }
        let mut bits = self.candidates.to_bits(collection).unwrap_or_else(|| Bits::full(collection.len()));
        self.only.into_iter().for_each(|only| bits.intersect(only));
        self.except.into_iter().for_each(|except| bits.subtract(except));
        Some(bits)
    }

    /// How many of these tokens are kept. The usual cases go without a branch for each.
    fn count(&self, collection: &Collection, tokens: &[u32]) -> usize {
        let sum = |bits: &Bits| tokens.iter().map(|token| bits.bit(*token)).sum::<usize>();
        match (self.candidates, self.only, self.except) {
            (Candidates::All, None, None) => tokens.len(),
            (Candidates::All, Some(only), None) => sum(only),
            (Candidates::All, None, Some(except)) => tokens.len() - sum(except),
            (Candidates::Many(many), None, None) if many.single().is_some() => many.single().map_or(0, sum),
            _ => tokens.iter().filter(|token| self.has(collection, **token)).count(),
        }
    }
}

/// The bits of a word whose ordinals are from one up to another.
fn within(index: usize, from: usize, to: usize) -> u64 {
    let clamp = |ordinal: usize| ordinal.saturating_sub(index * 64).min(64);
    let below = |count: usize| if count == 64 { u64::MAX } else { (1 << count) - 1 };
    below(clamp(to)) & !below(clamp(from))
}

/// The tokens of a block that a filter lets through.
pub(super) struct BlockMatches<'a, 's> {
    pub(super) segment: &'s Segment<'a>,
    pub(super) run: Run<'a>,
    /// The places that the index lets through; all when there is none.
    places: Option<Places>,
}

impl<'a, 's> BlockMatches<'a, 's> {
    pub(super) fn new(segment: &'s Segment<'a>, terms: &[Term<'_>], run: Run<'a>) -> Self {
        let places = (!terms.is_empty()).then(|| words_of_all(terms, run.base));
        Self { segment, run, places }
    }

    /// Whether there are none.
    pub(super) fn are_none(&self) -> bool {
        self.places.is_some_and(|places| places.iter().all(|word| *word == 0))
    }

    pub(super) fn count(&self, collection: &Collection) -> usize {
        match &self.places {
            None => self.segment.selection.count(collection, self.run.ordinals),
            Some(places) if self.segment.selection.is_all() => ones(places),
            Some(_) => (0..self.run.ordinals.len()).filter(|index| self.has(collection, *index)).count(),
        }
    }

    pub(super) fn has(&self, collection: &Collection, index: usize) -> bool {
        let is_indexed = |places: &Places| {
            let place = self.run.places[index];
            places[usize::from(place) / 64] >> (place % 64) & 1 == 1
        };
        self.places.as_ref().is_none_or(is_indexed)
            && self.segment.selection.has(collection, self.run.ordinals[index])
    }

    /// Hands them over in order until there are enough. Whether there is room for more.
    fn take(&self, collection: &Collection, page: &mut Page) -> bool {
        if let Some(places) = &self.places
            && ones(places) <= SOUGHT_MAX
        {
            return self.take_sought(places, collection, page);
        }
        let mut take = |index: usize| {
            !self.has(collection, index) || page.take(self.run.ordinals[index], self.segment.group.0)
        };
        let mut indexes = 0..self.run.ordinals.len();
        if self.segment.reverse { indexes.rev().all(&mut take) } else { indexes.all(&mut take) }
    }
}

impl BlockMatches<'_, '_> {
    /// The same where the index lets few places through: their ranks are looked up instead of asking every rank.
    fn take_sought(&self, places: &Places, collection: &Collection, page: &mut Page) -> bool {
        let mut indexes: Vec<usize> =
            numbers(0, places).filter_map(|place| index_of(self.run.places, place)).collect();
        indexes.sort_unstable();
        if self.segment.reverse {
            indexes.reverse();
        }
        indexes.into_iter().all(|index| {
            let token = self.run.ordinals[index];
            !self.segment.selection.has(collection, token) || page.take(token, self.segment.group.0)
        })
    }
}

/// Where a place is among those of a block.
fn index_of(places: &[u16], place: u32) -> Option<usize> {
    /// Compared together, which takes hardly longer than one.
    const TOGETHER: usize = 64;
    let place = u16::try_from(place).ok()?;
    let (start, chunk) =
        (0..).step_by(TOGETHER).zip(places.chunks(TOGETHER)).find(|(_, chunk)| chunk.contains(&place))?;
    Some(start + chunk.iter().position(|other| *other == place)?)
}

/// Takes rows in order until there are enough.
pub(super) struct Page {
    pub(super) skip: usize,
    limit: usize,
    pub(super) found: Vec<(u32, u8)>,
}

impl Page {
    pub(super) fn new(start: &Start, limit: usize) -> Self {
        Self { skip: start.skipped(), limit, found: Vec::with_capacity(limit.min(256)) }
    }

    /// Whether there is room for more.
    pub(super) fn take(&mut self, token: u32, group: u8) -> bool {
        if self.skip > 0 {
            self.skip -= 1;
            return true;
        }
        self.found.push((token, group));
        self.found.len() < self.limit
    }
}

impl Collection {
    /// The tokens of lists one after another, from a start, so many at most; and how many are still to be skipped when
    /// the lists have no more.
    pub(crate) fn walk(
        &self,
        segments: &[Segment<'_>],
        start: &Start,
        limit: usize,
    ) -> (Vec<(u32, u8)>, usize) {
        let mut page = Page::new(start, limit);
        for segment in segments {
            if segment.order == Order::Id && self.tokens.are_ascending() {
                if !self.walk_ascending(segment, start, &mut page) {
                    break;
                }
                continue;
            }
            let terms = segment
                .indexed
                .map(|(price_list, properties)| price_list.terms(properties))
                .unwrap_or_default();
            let (mut folded, mut looked_at) = (None, page.skip);
            for run in self.blocks(segment, start) {
                if looked_at > ASKED_MAX && folded.is_none() {
                    folded = segment.selection.folded(self);
                }
                looked_at += run.ordinals.len();
                let selection = folded.as_ref().map_or(segment.selection, Selection::only);
                let segment = Segment { selection, ..*segment };
                let matches = BlockMatches::new(&segment, &terms, run);
                if matches.are_none() {
                    continue;
                }
                if page.skip > 0 {
                    let count = matches.count(self);
                    if count <= page.skip {
                        page.skip -= count;
                        continue;
                    }
                }
                if !matches.take(self, &mut page) {
                    return (page.found, page.skip);
                }
            }
        }
        (page.found, page.skip)
    }

    /// The tokens by id where that is the order of their ordinals: sets are then gone through as they are. Whether there
    /// is room for more.
    fn walk_ascending(&self, segment: &Segment<'_>, start: &Start, page: &mut Page) -> bool {
        let (from, to) = self.ascending_range(segment, start);
        if let Candidates::Many(many) = segment.selection.candidates
            && let Some((list, has)) = many.listed(self)
        {
            let below = |bound: usize| list.partition_point(|ordinal| (*ordinal as usize) < bound);
            let mut take = |ordinal: &u32| {
                let kept = segment.selection.is_allowed(*ordinal) && has(*ordinal);
                !kept || page.take(*ordinal, segment.group.0)
            };
            let mut list = list[below(from)..below(to).max(below(from))].iter();
            return if segment.reverse { list.rev().all(&mut take) } else { list.all(&mut take) };
        }
        let is_sure = segment.selection.candidates.are_sure();
        let mut take = |index: usize| {
            let mut word = segment.selection.word(index) & within(index, from, to);
            let kept = word.count_ones() as usize;
            if page.skip >= kept && is_sure {
                page.skip -= kept;
                return true;
            }
            while word != 0 {
                let bit = if segment.reverse { word.ilog2() } else { word.trailing_zeros() };
                word &= !(1 << bit);
                // There are no more ordinals than 32 bits number.
                let token = u32::try_from(index * 64).unwrap_or(u32::MAX) + bit;
                if (is_sure || segment.selection.has(self, token)) && !page.take(token, segment.group.0) {
                    return false;
                }
            }
            true
        };
        let mut words = from / 64..to.div_ceil(64);
        if segment.reverse { words.rev().all(&mut take) } else { words.all(&mut take) }
    }

    /// The ordinals among which a page of tokens by id begins or ends.
    fn ascending_range(&self, segment: &Segment<'_>, start: &Start) -> (usize, usize) {
        let all = (0, self.tokens.len());
        let Start::After(position) = start else { return all };
        let above = self.tokens.first_above(position.token);
        match segment.group.cmp(&self.group_of(position)) {
            Ordering::Less => (0, 0),
            Ordering::Greater => all,
            Ordering::Equal if segment.reverse => {
                let is_there = above > 0 && self.tokens.find(position.token).is_some();
                (0, above - usize::from(is_there))
            }
            Ordering::Equal => (above, all.1),
        }
    }

    /// The blocks of a list from where a page begins.
    pub(super) fn blocks<'a>(
        &self,
        segment: &Segment<'a>,
        start: &Start,
    ) -> Box<dyn Iterator<Item = Run<'a>> + 'a> {
        let from = match start {
            Start::Skip(_) => Ordering::Greater,
            Start::After(position) => segment.group.cmp(&self.group_of(position)),
        };
        let list = segment.list;
        match (from, start, segment.reverse) {
            (Ordering::Less, ..) => Box::new(std::iter::empty()),
            (Ordering::Equal, Start::After(position), false) => {
                Box::new(list.blocks_from(
                    list.cursor(|token| self.compare_to(segment.order, token, position).is_le()),
                ))
            }
            (Ordering::Equal, Start::After(position), true) => {
                Box::new(list.blocks_before(
                    list.cursor(|token| self.compare_to(segment.order, token, position).is_lt()),
                ))
            }
            (_, _, false) => Box::new(list.blocks_from(Cursor::START)),
            (_, _, true) => Box::new(list.blocks_before(list.end())),
        }
    }

    /// Whether a token of a list comes before a position in the order of the list, or after it.
    fn compare_to(&self, order: Order, token: u32, position: &Position) -> Ordering {
        let keys = match (order, &position.key) {
            (Order::Name, Key::Name(name)) => self.names.get(token).cmp(name),
            (Order::Price(side), Key::Price { currency, amount, .. }) => {
                let best = self.book.side(side).best(token).and_then(|slot| self.book.order(slot));
                match (best, self.book.currencies().find(currency)) {
                    (Some(best), Some(currency)) => {
                        let price = self.book.currencies().price(currency, *amount);
                        self.book.compare_prices(side, &best.price, &price)
                    }
                    _ => Ordering::Equal,
                }
            }
            (Order::Creation(side), Key::CreatedAt { at, .. }) => {
                let best = self.book.side(side).best(token).and_then(|slot| self.book.order(slot));
                best.map_or(Ordering::Equal, |best| best.created_at.cmp(at))
            }
            _ => Ordering::Equal,
        };
        keys.then_with(|| self.tokens.id(token).cmp(&position.token))
    }
}
