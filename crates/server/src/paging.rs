//! Pages of what is found: by number, or from where an earlier page ended.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bourse_catalog::{Column, Position, Sort, Start};
use bourse_wire::Error;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::settings::Limits;

/// A page as asked for. Pages count from 1; 0 or absent is the first.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
#[schemars(extend("additionalProperties" = true))]
pub(crate) struct PageInput {
    /// Page number, from 1.
    page: Option<u64>,
    /// Items per page.
    page_size: Option<u64>,
    /// Of an earlier answer, echoed; it means nothing in a request.
    #[serde(rename = "more")]
    _more: Option<bool>,
    /// How to sort: one column.
    sort: Option<Vec<SortInput>>,
    /// The `after` of an earlier answer: goes on exactly there, even if data changed; it wins over `page`.
    after: Option<String>,
}

/// How to sort.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("additionalProperties" = true))]
pub(crate) struct SortInput {
    /// `price`, `priceUSD`, `createdAt`, `tokenId` or `name`.
    column: String,
    /// `ASC` or `DESC`; ascending when empty.
    #[serde(default)]
    order: String,
}

/// A page as answered.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ResultPage")]
#[serde(rename_all = "camelCase")]
pub(crate) struct PageAnswer<'a> {
    /// Page number, from 1.
    page: u64,
    /// Items per page that was applied.
    page_size: u64,
    /// Whether further pages exist.
    more: bool,
    /// The sorting asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    sort: Option<&'a [SortInput]>,
    /// Names the place where the next page begins; present when there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<String>,
}

/// The page after the one that was answered, to be sent back as it is.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NextPage {
    /// Page number, from 1.
    page: u64,
    /// Items per page.
    page_size: u64,
    /// Names the place where it begins.
    after: String,
}

/// A page to find, in a list in which `P` is a place.
#[derive(Debug)]
pub(crate) struct PagePlan<P = Position> {
    number: u64,
    size: u64,
    echoed: Option<Vec<SortInput>>,
    pub(crate) sort: Option<Sort>,
    pub(crate) begin: Begin<P>,
}

/// So much may be passed over by number of what is read from the store: each row that is passed over is read.
const SKIPPED_MAX: u64 = 10_000;

/// Where a page begins.
#[derive(Clone, Debug)]
pub(crate) enum Begin<P> {
    /// After so many items.
    Skip(u64),
    /// After this place.
    After(P),
}

impl<P> Begin<P> {
    /// Refuses a page that is too far away to be found by its number; `after` goes on without bound.
    pub(crate) fn check_distance(&self) -> Result<(), Error> {
        if matches!(self, Self::Skip(skip) if *skip > SKIPPED_MAX) {
            let reason = format!("more than {SKIPPED_MAX} rows away: go on with the `after` of each answer");
            return Err(Error::invalid("page.page", reason));
        }
        Ok(())
    }
}

impl<P: Serialize + DeserializeOwned> PagePlan<P> {
    /// The page to find: its bounds checked, its place found.
    pub(crate) fn new(input: Option<PageInput>, limits: &Limits) -> Result<Self, Error> {
        Self::with_default(input, limits.page_size_default.into(), limits)
    }

    /// The same where another number of items is usual.
    pub(crate) fn with_default(
        input: Option<PageInput>,
        size_default: u64,
        limits: &Limits,
    ) -> Result<Self, Error> {
        let input = input.unwrap_or_default();
        let size_max = u64::from(limits.page_size_max);
        let size = input.page_size.filter(|size| *size > 0).unwrap_or(size_default).min(size_max);
        let (number, begin) = if let Some(after) = &input.after {
            let cursor: Cursor<P> = read_cursor(after)?;
            (cursor.page, Begin::After(cursor.place))
        } else {
            let number = input.page.unwrap_or(1).max(1);
            let beyond = || Error::invalid("page.page", "beyond the last possible page");
            (number, Begin::Skip((number - 1).checked_mul(size).ok_or_else(beyond)?))
        };
        let echoed = input.sort.filter(|sort| !sort.is_empty());
        let sort = echoed.as_deref().map(read_sort).transpose()?;
        Ok(Self { number, size, echoed, sort, begin })
    }

    /// The same of a list that is in some orders only: what cannot be done is refused, and never echoed.
    pub(crate) fn in_order(self, orders: &[Sort]) -> Result<Self, Error> {
        let Some(sort) = self.sort.filter(|sort| !orders.contains(sort)) else { return Ok(self) };
        let words: Vec<String> = orders.iter().copied().map(sort_words).collect();
        let known = if words.is_empty() { "none".to_owned() } else { words.join(", ") };
        Err(Error::invalid("page.sort", format!("{} where this list has {known}", sort_words(sort))))
    }

    /// Whether nothing comes before it.
    pub(crate) fn is_first(&self) -> bool {
        matches!(self.begin, Begin::Skip(0))
    }

    /// Whether it asks for an order.
    pub(crate) fn is_sorted(&self) -> bool {
        self.echoed.is_some()
    }

    pub(crate) fn limit(&self) -> usize {
        usize::try_from(self.size).unwrap_or(usize::MAX)
    }

    pub(crate) fn column(&self) -> Option<Column> {
        self.sort.map(|sort| sort.column)
    }

    /// Appends `,"page":{…}`, the page's own record; its last item was at `next` when more follow.
    pub(crate) fn write(&self, out: &mut Vec<u8>, next: Option<P>) -> Result<(), serde_json::Error> {
        let next = self.next(next);
        let answer = PageAnswer {
            page: self.number,
            page_size: self.size,
            more: next.is_some(),
            sort: self.echoed.as_deref(),
            after: next.map(|next| next.after),
        };
        out.extend_from_slice(b",\"page\":");
        serde_json::to_writer(out, &answer)
    }

    /// Appends `,"nextPage":{…}`, the page that begins at `next`, or null.
    pub(crate) fn write_next(&self, out: &mut Vec<u8>, next: Option<P>) -> Result<(), serde_json::Error> {
        out.extend_from_slice(b",\"nextPage\":");
        serde_json::to_writer(out, &self.next(next))
    }

    fn next(&self, next: Option<P>) -> Option<NextPage> {
        let page = self.number.saturating_add(1);
        let after = write_cursor(&Cursor { page, place: next? });
        Some(NextPage { page, page_size: self.size, after })
    }
}

impl PagePlan<Position> {
    /// Where the page begins, in rows that are sorted by a column.
    pub(crate) fn start(&self, column: Column) -> Result<Start, Error> {
        self.start_where(|place| place.is_of_row(column))
    }

    /// Where the page begins, in the orders of one token that are sorted by a column.
    pub(crate) fn start_of_orders(&self, column: Column) -> Result<Start, Error> {
        self.start_where(|place| place.is_of_order(column))
    }

    fn start_where(&self, fits: impl Fn(&Position) -> bool) -> Result<Start, Error> {
        match &self.begin {
            Begin::Skip(count) => Ok(Start::Skip(*count)),
            Begin::After(place) if fits(place) => Ok(Start::After(place.clone())),
            Begin::After(_) => {
                Err(Error::invalid("page.after", "is of an answer that was another list or sorted otherwise"))
            }
        }
    }
}

/// The order that rows of a list by number come in.
pub(crate) const BY_TOKEN_ID: [Sort; 1] = [Sort { column: Column::TokenId, descending: false }];
/// The order of what happened: the newest first.
pub(crate) const NEWEST_FIRST: [Sort; 1] = [Sort { column: Column::CreatedAt, descending: true }];

/// The sorting that is asked for, which must be one that can be done.
fn read_sort(asked: &[SortInput]) -> Result<Sort, Error> {
    if let [only] = asked {
        only.read()
    } else {
        let reason = format!("{} columns where rows are sorted by one", asked.len());
        Err(Error::invalid("page.sort", reason))
    }
}

fn sort_words(sort: Sort) -> String {
    let column = match sort.column {
        Column::Price => "price",
        Column::CreatedAt => "createdAt",
        Column::TokenId => "tokenId",
        Column::Name => "name",
    };
    format!("{column} {}", if sort.descending { "DESC" } else { "ASC" })
}

impl SortInput {
    fn read(&self) -> Result<Sort, Error> {
        let is = |word: &str| self.order.eq_ignore_ascii_case(word);
        if !(self.order.is_empty() || is("ASC") || is("DESC")) {
            let reason = format!("`{:.64}` is none of ASC, DESC", self.order);
            return Err(Error::invalid("page.sort[0].order", reason));
        }
        self.known().ok_or_else(|| {
            let reason =
                format!("`{:.64}` is none of price, priceUSD, createdAt, tokenId, name", self.column);
            Error::invalid("page.sort[0].column", reason)
        })
    }

    fn known(&self) -> Option<Sort> {
        let plain: String = self
            .column
            .chars()
            .filter(|letter| *letter != '_')
            .map(|letter| letter.to_ascii_lowercase())
            .collect();
        let column = match plain.as_str() {
            "price" | "priceusd" => Column::Price,
            "createdat" => Column::CreatedAt,
            "tokenid" => Column::TokenId,
            "name" => Column::Name,
            _ => return None,
        };
        Some(Sort { column, descending: self.order.eq_ignore_ascii_case("DESC") })
    }
}

/// The place where a page begins, as it travels: opaque to clients.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Cursor<P> {
    #[serde(rename = "p")]
    page: u64,
    #[serde(rename = "a")]
    place: P,
}

fn write_cursor<P: Serialize>(cursor: &Cursor<P>) -> String {
    // Texts and numbers always have a JSON form.
    URL_SAFE_NO_PAD.encode(serde_json::to_vec(cursor).unwrap_or_default())
}

fn read_cursor<P: DeserializeOwned>(text: &str) -> Result<Cursor<P>, Error> {
    let refuse = || Error::invalid("page.after", "not the `after` of an earlier answer");
    let json = URL_SAFE_NO_PAD.decode(text).map_err(|_| refuse())?;
    serde_json::from_slice(&json).map_err(|_| refuse())
}

#[cfg(test)]
mod tests {
    use bourse_catalog::Key;
    use bourse_wire::{Address, Amount, Timestamp, TokenId};

    use super::*;

    #[test]
    fn a_position_travels_there_and_back() {
        let order = Some((2, "\"a\\u0000\"".to_owned()));
        let (currency, amount) = (Address::from_bytes([7; 20]), Amount::MAX);
        for key in [
            Key::Token,
            Key::Price { currency, amount, order: order.clone() },
            Key::CreatedAt { at: Timestamp::ZERO, order },
            Key::Name("ß \" 刀".to_owned()),
        ] {
            let position = Position { group: 1, token: TokenId::MAX, key };
            let cursor = Cursor { page: 9, place: position };
            assert_eq!(read_cursor::<Position>(&write_cursor(&cursor)), Ok(cursor));
        }
        let of_another_list = write_cursor(&Cursor { page: 9, place: 7_u64 });
        for text in ["", "1", "????", "e30", "eyJwIjoxfQ", &of_another_list] {
            assert!(read_cursor::<Position>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn columns_are_read_in_any_spelling() {
        let known = |column: &str| SortInput { column: column.into(), order: "desc".into() }.known();
        let price = Some(Sort { column: Column::Price, descending: true });
        assert_eq!((known("price_usd"), known("priceUSD"), known("rarity")), (price, price, None));
    }
}
