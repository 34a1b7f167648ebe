//! A filter on orders as it is asked of many of them.

use bourse_sets::Bits;
use bourse_wire::{Address, OrderSide};

use super::order_list::{ListedOrder, OrderList, OrderRun, Place};
use super::{Book, Order};
use crate::currencies::Price;
use crate::filter::OrderFilter;
use crate::holders::Holders;

/// How many numbers a byte has.
const NUMBERS_OF_BYTE: usize = 256;

/// A filter with the numbers of currencies, marketplaces and makers in place of what they are called: lists of addresses may
/// be long, and are gone through once instead of for every order.
pub(crate) struct OrderTest<'a> {
    filter: &'a OrderFilter,
    /// By the number of each currency, marketplace and account, whether its orders may pass. No branch is needed to look them
    /// up, of which the processor could not guess one after another.
    currencies: Bits,
    marketplaces: Bits,
    /// Nothing where it does not matter whose they are. There may be millions of accounts, so that no set has all of them.
    makers: Option<Bits>,
    not_makers: Bits,
}

/// A part of a list, and how to go through it.
#[derive(Clone, Copy)]
pub(crate) struct Span<'b> {
    pub(crate) from: Place,
    pub(crate) to: Place,
    /// Only orders of these tokens.
    pub(crate) awaited: Option<&'b Bits>,
    /// Whether from its end.
    pub(crate) reverse: bool,
    /// So many orders at a time.
    pub(crate) step: usize,
}

/// Orders of a list one after another: where they end, and which of them a filter lets through.
pub(crate) struct ListedChunk<'l> {
    /// The last of them, let through or not.
    pub(crate) last: u32,
    pub(crate) orders: Vec<&'l ListedOrder>,
}

/// The orders of a list whose price a filter lets through, in one currency: they lie between two places.
struct PriceWindow {
    currency: u32,
    from: Place,
    to: Place,
}

/// Which orders of a list have a price that a filter lets through.
struct PriceCheck {
    /// Nothing where all prices are.
    windows: Vec<PriceWindow>,
    /// Orders that are let through lie between these places.
    ends: (Place, Place),
}

impl PriceCheck {
    fn allows(&self, place: Place, order: &ListedOrder) -> bool {
        let is_within = |window: &PriceWindow| {
            window.currency == order.currency && (window.from..window.to).contains(&place)
        };
        self.windows.is_empty() || self.windows.iter().any(is_within)
    }
}

impl<'a> OrderTest<'a> {
    pub(crate) fn new(filter: &'a OrderFilter, book: &Book, holders: &Holders) -> Self {
        let currencies = (0..).zip(book.currencies().addresses());
        let currencies = currencies.filter(|(_, address)| filter.allows_currency(address));
        let mut marketplaces = Bits::full(if filter.marketplaces.is_empty() { NUMBERS_OF_BYTE } else { 0 });
        for marketplace in &filter.marketplaces {
            marketplaces.insert(u32::from(marketplace.number()));
        }
        let numbers = |makers: &[Address]| makers.iter().filter_map(|maker| holders.find(maker)).collect();
        Self {
            filter,
            currencies: currencies.map(|(number, _)| number).collect(),
            marketplaces,
            makers: (!filter.makers.is_empty()).then(|| numbers(&filter.makers)),
            not_makers: numbers(&filter.not_makers),
        }
    }

    /// Whether the filter lets an order through.
    pub(crate) fn allows(&self, book: &Book, order: &Order) -> bool {
        self.bit(&ListedOrder::new(0, order)) == 1 && self.allows_price(book, order)
    }

    fn allows_price(&self, book: &Book, order: &Order) -> bool {
        let price = &order.price;
        self.filter.prices.is_empty()
            || self.filter.allows_price(book.currencies().address(price.currency), price.amount)
    }

    /// 1 where all but its price is let through, else 0.
    #[inline]
    fn bit(&self, order: &ListedOrder) -> usize {
        self.currencies.bit(order.currency)
            & self.marketplaces.bit(u32::from(order.marketplace.number()))
            & self.makers.as_ref().map_or(1, |makers| makers.bit(order.maker))
            & (1 - self.not_makers.bit(order.maker))
    }

    /// The orders of a run that are let through but for their price, of tokens that are awaited, one bit each. One thing
    /// after another is asked, and nothing that the filter leaves open.
    fn marks(&self, run: OrderRun<'_>, awaited: Option<&Bits>) -> u64 {
        let mut marks = run.all();
        if let Some(makers) = &self.makers {
            marks = run.marks_of(marks, |order| makers.bit(order.maker));
        }
        if self.filter.restricts_currencies() {
            marks = run.marks_of(marks, |order| self.currencies.bit(order.currency));
        }
        if !self.filter.marketplaces.is_empty() {
            marks = run.marks_of(marks, |order| self.marketplaces.bit(u32::from(order.marketplace.number())));
        }
        if let Some(awaited) = awaited {
            marks = run.marks_of(marks, |order| awaited.bit(order.token));
        }
        if !self.filter.not_makers.is_empty() {
            marks = run.marks_of(marks, |order| 1 - self.not_makers.bit(order.maker));
        }
        marks
    }

    /// The orders of a list of a side that the filter lets through, the best first, with their places.
    pub(crate) fn of_list<'l>(
        &'l self,
        book: &Book,
        side: OrderSide,
        list: &'l OrderList,
    ) -> impl Iterator<Item = (Place, &'l ListedOrder)> {
        self.of_list_from(OrderList::START, (book, side), list)
    }

    /// How many orders of a list of a side the filter lets through, of tokens that are awaited.
    pub(crate) fn count_of_list(
        &self,
        (book, side): (&Book, OrderSide),
        list: &OrderList,
        awaited: Option<&Bits>,
    ) -> usize {
        let check = self.price_check(book, side, list);
        let count = |run: OrderRun<'_>| {
            let marks = self.marks(run, awaited);
            if check.windows.is_empty() {
                return marks.count_ones() as usize;
            }
            run.marked(marks).filter(|(place, order)| check.allows(*place, order)).count()
        };
        list.runs(check.ends.0, check.ends.1).map(count).sum()
    }

    /// The same from a place on.
    pub(crate) fn of_list_from<'l>(
        &'l self,
        from: Place,
        (book, side): (&Book, OrderSide),
        list: &'l OrderList,
    ) -> impl Iterator<Item = (Place, &'l ListedOrder)> {
        let check = self.price_check(book, side, list);
        let runs = list.runs(check.ends.0.max(from), check.ends.1);
        runs.flat_map(move |run| {
            let marked = run.marked(self.marks(run, None));
            marked.filter(|(place, order)| check.allows(*place, order)).collect::<Vec<_>>()
        })
    }

    /// The orders of a list of a side between two places, so many at a time or some more; from its end where that is asked for.
    pub(crate) fn chunks_by_price<'l>(
        &'l self,
        (book, side): (&Book, OrderSide),
        list: &'l OrderList,
        span: Span<'l>,
    ) -> impl Iterator<Item = ListedChunk<'l>> {
        let check = self.price_check(book, side, list);
        let (from, to) = (check.ends.0.max(span.from), check.ends.1.min(span.to));
        let runs = list.runs(from, to.max(from));
        chunks(runs, span, move |run| {
            let marked = run.marked(self.marks(run, span.awaited));
            marked.filter(|(place, order)| check.allows(*place, order)).map(|(_, order)| order).collect()
        })
    }

    /// The same of a list that is in no order of prices.
    pub(crate) fn chunks_by_creation<'l>(
        &'l self,
        book: &'l Book,
        list: &'l OrderList,
        span: Span<'l>,
    ) -> impl Iterator<Item = ListedChunk<'l>> {
        let has_price = |order: &ListedOrder| {
            let allows = |order: &Order| self.allows_price(book, order);
            self.filter.prices.is_empty() || book.order(order.slot).is_some_and(allows)
        };
        chunks(list.runs(span.from, span.to), span, move |run| {
            let marked = run.marked(self.marks(run, span.awaited)).map(|(_, order)| order);
            marked.filter(|order| has_price(order)).collect()
        })
    }

    /// The best orders of tokens in a list of a side that the filter lets through, the best first, with their places: one for
    /// each of the tokens awaited.
    pub(crate) fn best_of_list<'l>(
        &'l self,
        book: &Book,
        side: OrderSide,
        list: &'l OrderList,
        mut awaited: Bits,
    ) -> impl Iterator<Item = (Place, &'l ListedOrder)> {
        let check = self.price_check(book, side, list);
        let mut rest = awaited.count();
        let runs = list.runs(check.ends.0, check.ends.1);
        let found = runs.map_while(move |run| {
            if rest == 0 {
                return None;
            }
            let mut found = Vec::new();
            for (place, order) in run.marked(self.marks(run, Some(&awaited))) {
                if check.allows(place, order) && awaited.remove(order.token) {
                    rest -= 1;
                    found.push((place, order));
                }
            }
            Some(found)
        });
        found.flatten()
    }

    fn price_check(&self, book: &Book, side: OrderSide, list: &OrderList) -> PriceCheck {
        let windows = self.price_windows(book, side, list);
        let ends = if self.filter.prices.is_empty() {
            (OrderList::START, list.end())
        } else {
            let from = windows.iter().map(|window| window.from).min().unwrap_or(list.end());
            (from, windows.iter().map(|window| window.to).max().unwrap_or(from))
        };
        PriceCheck { windows, ends }
    }

    fn price_windows(&self, book: &Book, side: OrderSide, list: &OrderList) -> Vec<PriceWindow> {
        let compare = |slot: u32, bound: &Price| {
            book.order(slot).map(|order| book.compare_prices(side, &order.price, bound))
        };
        let window = |range: &crate::filter::PriceRange| {
            let currency = book.currencies().find(&range.currency)?;
            let (first, last) =
                if side == OrderSide::Offer { (range.max, range.min) } else { (range.min, range.max) };
            let price = |amount| book.currencies().price(currency, amount);
            let from = first.map(price).map_or(OrderList::START, |first| {
                list.place(|slot| compare(slot, &first).is_some_and(std::cmp::Ordering::is_lt))
            });
            let to = last.map(price).map_or(list.end(), |last| {
                list.place(|slot| compare(slot, &last).is_some_and(std::cmp::Ordering::is_le))
            });
            Some(PriceWindow { currency, from, to })
        };
        self.filter.prices.iter().filter_map(window).collect()
    }
}

/// What is let through of runs, several of them at a time, and so many that there is something.
fn chunks<'l>(
    runs: impl DoubleEndedIterator<Item = OrderRun<'l>>,
    Span { reverse, step, .. }: Span<'_>,
    allowed: impl Fn(OrderRun<'l>) -> Vec<&'l ListedOrder>,
) -> impl Iterator<Item = ListedChunk<'l>> {
    let mut runs = runs;
    std::iter::from_fn(move || {
        let (mut last, mut orders, mut seen) = (None, Vec::new(), 0);
        while (seen < step || orders.is_empty())
            && let Some(run) = if reverse { runs.next_back() } else { runs.next() }
        {
            let mut found = allowed(run);
            if reverse {
                found.reverse();
            }
            orders.extend(found);
            last = run.last(reverse);
            seen += run.len();
        }
        last.map(|last| ListedChunk { last, orders })
    })
}
