//! Rows by price or by creation under a filter on orders: a list that is sorted already has most of them in their order,
//! and those whose best order the filter does not let through are sorted beside it and come between.

use bourse_sets::Bits;
use bourse_wire::OrderSide;

use super::candidates::Candidates;
use super::gather::RowRank;
use super::matches::{OtherRow, SideMatches};
use super::position::Position;
use super::rows::{Query, is_sparse};
use super::walk::{BlockMatches, Order, Page, Segment, Selection};
use super::{Column, Start};
use crate::collection::Collection;
use crate::sorted_list::SortedList;

/// So few rows are always sorted rather than looked for in a list.
const GATHERED_MAX: usize = 64;
/// A page that ends before so many rows is looked for from the front.
const FRONT_MAX: usize = 1_024;

impl Collection {
    /// The rows that have an order, by price or by creation; and how many are still to be skipped when there are no more.
    pub(super) fn find_matching(
        &self,
        query: &Query<'_>,
        candidates: &Candidates<'_>,
        limit: usize,
    ) -> (Vec<(u32, u8)>, usize) {
        let filter = query.order_filter();
        let matches = |side: &OrderSide| self.side_matches(*side, filter).among(candidates.superset());
        let matches: Vec<SideMatches<'_>> = query.sides().iter().map(matches).collect();
        // What sets tell is in the matches by now.
        let is_told = candidates.are_sure() && candidates.superset().is_some();
        let candidates = if is_told { &Candidates::All } else { candidates };
        let is_kept_sorted = query.column() == Column::Price || self.book.is_sorted_by_creation();
        let about = |side: &SideMatches<'_>| candidates.common(self, &side.best) + side.others.count();
        let about = matches.iter().map(about).sum::<usize>();
        if !is_kept_sorted || self.is_worth_gathering(query, about, limit) {
            return self.gather(query, candidates, &matches, limit);
        }
        if query.start.skipped() >= about {
            // Past all of them, so that it only matters how many there are.
            let rows = candidates.common(self, &self.all_of_sides(query, &matches));
            return (Vec::new(), query.start.skipped().saturating_sub(rows));
        }
        if let (Some(skip), [first, rest @ ..]) = (front_skip(query, limit), matches.as_slice()) {
            let (found, passed) = self.walk_filtered(query, candidates, first, limit);
            if found.len() == limit || rest.is_empty() {
                return (found, skip.saturating_sub(passed));
            }
        }
        self.walk_merged(query, candidates, matches, limit)
    }

    fn walk_merged(
        &self,
        query: &Query<'_>,
        candidates: &Candidates<'_>,
        matches: Vec<SideMatches<'_>>,
        limit: usize,
    ) -> (Vec<(u32, u8)>, usize) {
        let mut page = Page::new(&query.start, limit);
        // A token that has a listing is in its place already.
        let mut listed: Option<Bits> = None;
        for (group, side) in (0_u8..).zip(matches) {
            let all_others = self.sorted_others(query, candidates, &side, listed.as_ref());
            let others = self.past_start(query, group, &all_others);
            let mut best = side.best;
            if let Some(listed) = &listed {
                best.to_mut().subtract(listed);
            }
            let selection = Selection { candidates, only: Some(&best), except: None };
            for (class, list, order) in self.lists(query, side.side) {
                let reverse = query.is_against(side.side);
                let group = (group, class);
                let segment = Segment { list, indexed: None, order, reverse, group, selection };
                let in_class = others.partition_point(|row| self.class(query, row.slot) < class);
                let end = others.partition_point(|row| self.class(query, row.slot) <= class);
                if !self.walk_segment(query, &segment, &others[in_class..end], &mut page) {
                    return (page.found, page.skip);
                }
            }
            if query.sides().len() > 1 {
                let mut both = best.into_owned();
                for row in &all_others {
                    both.insert(row.token);
                }
                listed = Some(both);
            }
        }
        (page.found, page.skip)
    }

    /// The lists that have a side's tokens in the order asked for, each with the class of its rows.
    fn lists<'a>(
        &'a self,
        query: &Query<'_>,
        side: OrderSide,
    ) -> impl Iterator<Item = (u8, &'a SortedList, Order)> + use<'a> {
        let book = self.book.side(side);
        let by_price = query.column() == Column::Price;
        let prices = book.price_lists().map(move |list| (list.list(), Order::Price(side)));
        let creation = book.by_creation().map(|list| (list, Order::Creation(side)));
        let lists: Vec<(&SortedList, Order)> =
            if by_price { prices.collect() } else { creation.into_iter().collect() };
        (0..).zip(lists).map(|(class, (list, order))| (class, list, order))
    }

    /// Which of a side's lists a row with this order belongs to.
    fn class(&self, query: &Query<'_>, slot: u32) -> u8 {
        let is_unpriced = || self.book.order(slot).is_some_and(|order| self.is_unpriced(&order.price));
        u8::from(query.column() == Column::Price && is_unpriced())
    }

    /// Whether about so many rows are so few that finding and sorting all is less work than looking for those of the page in
    /// a list.
    fn is_worth_gathering(&self, query: &Query<'_>, about: usize, limit: usize) -> bool {
        let listed = self.book.side(query.sides()[0]).len();
        about <= GATHERED_MAX || is_sparse(about, query.start.skipped().saturating_add(limit), listed)
    }

    /// The rows of a side whose best order the filter does not let through, in order.
    fn sorted_others(
        &self,
        query: &Query<'_>,
        candidates: &Candidates<'_>,
        matches: &SideMatches<'_>,
        except: Option<&Bits>,
    ) -> Vec<OtherRow> {
        let is_wanted =
            |token: u32| except.is_none_or(|except| !except.contains(token)) && candidates.has(self, token);
        let test = self.order_test(query);
        let mut rows: Vec<OtherRow> = self.others(matches, test.as_ref(), is_wanted).collect();
        if query.column() == Column::CreatedAt {
            let id = |row: &OtherRow| self.tokens.id(row.token);
            rows.sort_unstable_by(|a, b| a.created_at.cmp(&b.created_at).then_with(|| id(a).cmp(&id(b))));
        }
        if query.is_against(matches.side) {
            // What nobody knows the worth of comes last, whichever way prices go.
            let priced = rows.partition_point(|row| self.class(query, row.slot) == 0);
            rows[..priced].reverse();
            rows[priced..].reverse();
        }
        rows
    }

    /// Those of a group's rows, which are in order, that come after where the page begins.
    fn past_start<'r>(&self, query: &Query<'_>, group: u8, rows: &'r [OtherRow]) -> &'r [OtherRow] {
        let Start::After(position) = &query.start else { return rows };
        let at = self.rank_at(position);
        let begin = rows.partition_point(|row| {
            let rank = self.rank_of_other(query, group, row);
            rank.is_none_or(|rank| self.compare_ranks_of_rows(query, &rank, &at).is_le())
        });
        &rows[begin..]
    }

    fn rank_of_other(&self, query: &Query<'_>, group: u8, row: &OtherRow) -> Option<RowRank<'_>> {
        self.rank_of_order(query, group, row.token, row.slot)
    }

    /// Whether a row comes before another.
    fn is_before(&self, query: &Query<'_>, row: &OtherRow, other: &RowRank<'_>) -> bool {
        let rank = self.rank_of_other(query, other.group, row);
        rank.is_none_or(|rank| self.compare_ranks_of_rows(query, &rank, other).is_lt())
    }

    /// Goes through a list, with other rows between. Whether there is room for more.
    fn walk_segment(
        &self,
        query: &Query<'_>,
        segment: &Segment<'_>,
        mut others: &[OtherRow],
        page: &mut Page,
    ) -> bool {
        for run in self.blocks(segment, &query.start) {
            let last = if segment.reverse { run.ordinals.first() } else { run.ordinals.last() };
            let Some(end) = last.and_then(|token| self.rank_in_list(query, segment, *token)) else {
                continue;
            };
            let before = others.partition_point(|row| self.is_before(query, row, &end));
            let (within, later) = others.split_at(before);
            others = later;
            let matches = BlockMatches::new(segment, &[], run);
            if page.skip > 0 {
                let count = matches.count(self) + within.len();
                if count <= page.skip {
                    page.skip -= count;
                    continue;
                }
            }
            if !self.take_between(query, &matches, within, page) {
                return false;
            }
        }
        others.iter().all(|row| page.take(row.token, segment.group.0))
    }

    /// Hands over what a block has and the rows between.
    fn take_between(
        &self,
        query: &Query<'_>,
        matches: &BlockMatches<'_, '_>,
        within: &[OtherRow],
        page: &mut Page,
    ) -> bool {
        let (mut within, group) = (within.iter().peekable(), matches.segment.group.0);
        let mut indexes: Vec<usize> = (0..matches.run.ordinals.len()).collect();
        if matches.segment.reverse {
            indexes.reverse();
        }
        for index in indexes.into_iter().filter(|index| matches.has(self, *index)) {
            let token = matches.run.ordinals[index];
            if within.peek().is_some()
                && let Some(rank) = self.rank_in_list(query, matches.segment, token)
            {
                while let Some(row) = within.next_if(|row| self.is_before(query, row, &rank)) {
                    if !page.take(row.token, group) {
                        return false;
                    }
                }
            }
            if !page.take(token, group) {
                return false;
            }
        }
        within.all(|row| page.take(row.token, group))
    }

    /// What a token of a list is sorted by there.
    fn rank_in_list(&self, query: &Query<'_>, segment: &Segment<'_>, token: u32) -> Option<RowRank<'_>> {
        let (Order::Price(side) | Order::Creation(side)) = segment.order else { return None };
        self.rank_of_order(query, segment.group.0, token, self.book.side(side).best(token)?)
    }

    /// The group of a position as lists have it, and whether its row's order has no rate.
    pub(super) fn group_of(&self, position: &Position) -> (u8, u8) {
        let unpriced = match &position.key {
            super::position::Key::Price { currency, .. } => {
                let number = self.book.currencies().find(currency);
                number.and_then(|number| self.book.currencies().rate(number)).is_none()
            }
            _ => false,
        };
        (position.group, u8::from(unpriced))
    }
}

/// How many rows a page skips that is near the front of a list in its own order.
fn front_skip(query: &Query<'_>, limit: usize) -> Option<usize> {
    let Start::Skip(_) = query.start else { return None };
    let skip = query.start.skipped();
    let is_natural = query.sides().first().is_some_and(|side| !query.is_against(*side));
    let is_near = skip.saturating_add(limit) <= FRONT_MAX;
    (query.column() == Column::Price && is_natural && is_near).then_some(skip)
}
