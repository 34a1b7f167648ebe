//! What checks read from answers.

use serde_json::{Value, json};

use crate::error::Error;
use crate::trading::{CHAIN_ID, CONTRACT, Filter, Order, token_id};

/// The body of a request about the traded collection.
pub(super) fn body(members: &Value) -> String {
    let mut body = json!({ "chainId": CHAIN_ID.to_string(), "contractAddress": CONTRACT });
    if let (Some(body), Some(members)) = (body.as_object_mut(), members.as_object()) {
        body.extend(members.clone());
    }
    body.to_string()
}

/// The body of a request for one page of `ListCollectibles`.
pub(super) fn list_body(filter: &Filter, page: usize) -> String {
    body(&json!({
        "side": "listing",
        "filter": filter.to_json(),
        "page": { "page": page, "pageSize": PAGE_SIZE },
    }))
}

/// Rows of a page.
pub(crate) const PAGE_SIZE: usize = 30;

/// A token in an answer and its listing, by their ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    token_id: String,
    order_id: String,
}

impl From<&Order> for Row {
    fn from(order: &Order) -> Self {
        Self { token_id: token_id(order.token), order_id: order.order_id() }
    }
}

impl Row {
    /// Reads a collectible that is for sale. It must be whole: with its name, and the listing as the order.
    pub(super) fn read(collectible: &Value) -> Result<Self, Error> {
        let listing = &collectible["listing"];
        if collectible["order"] != *listing {
            return Err(Error::new("the order of a collectible is not its listing"));
        }
        text(&collectible["metadata"]["name"], "metadata.name")?;
        Ok(Self {
            token_id: text(&collectible["metadata"]["tokenId"], "metadata.tokenId")?.to_owned(),
            order_id: text(&listing["orderId"], "listing.orderId")?.to_owned(),
        })
    }
}

/// One page of rows, and whether there are more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Page {
    pub(super) rows: Vec<Row>,
    pub(super) more: bool,
}

impl Page {
    /// Reads an answer of `ListCollectibles`.
    pub(super) fn read(answer: &Value) -> Result<Self, Error> {
        let rows = list(answer, "collectibles")?.iter().map(Row::read).collect::<Result<_, _>>()?;
        Ok(Self { rows, more: more(answer)? })
    }

    /// The page with this number, from 1, of all rows in their order.
    pub(super) fn of(all: &[&Order], number: usize) -> Self {
        let start = (number - 1) * PAGE_SIZE;
        let rows = all.iter().skip(start).take(PAGE_SIZE).map(|order| Row::from(*order)).collect();
        Self { rows, more: all.len() > start + PAGE_SIZE }
    }
}

/// A list in an answer.
pub(super) fn list<'a>(answer: &'a Value, member: &str) -> Result<&'a [Value], Error> {
    let list = answer[member].as_array().map(Vec::as_slice);
    list.ok_or_else(|| Error::new(format!("the answer has no list {member}")))
}

/// Whether an answer says that there are further pages.
pub(super) fn more(answer: &Value) -> Result<bool, Error> {
    answer["page"]["more"]
        .as_bool()
        .ok_or_else(|| Error::new("the answer does not say whether there is more"))
}

/// A text that is not empty.
pub(super) fn text<'a>(value: &'a Value, what: &str) -> Result<&'a str, Error> {
    let text = value.as_str().filter(|text| !text.is_empty());
    text.ok_or_else(|| Error::new(format!("the answer has no {what}")))
}

/// Refuses what is not as expected, and shows both.
pub(super) fn same<T: PartialEq + std::fmt::Debug>(answered: &T, expected: &T) -> Result<(), Error> {
    if answered == expected {
        return Ok(());
    }
    Err(Error::new(format!("answered {answered:?}, expected {expected:?}")))
}

#[cfg(test)]
pub(super) mod tests {
    use serde_json::{Value, json};

    use super::{Page, same};
    use crate::trading::{Filter, Order, TradedCollection, token_id};

    /// A collectible as a server would answer it.
    pub(in crate::scenario) fn collectible(order: &Order) -> Value {
        let listing = json!({ "orderId": order.order_id() });
        json!({
            "metadata": { "tokenId": token_id(order.token), "name": "n" },
            "order": listing, "listing": listing, "offer": null,
        })
    }

    /// An answer of `ListCollectibles`.
    pub(in crate::scenario) fn page(rows: &[&Order], more: bool) -> Value {
        let collectibles: Vec<Value> = rows.iter().map(|order| collectible(order)).collect();
        json!({ "collectibles": collectibles, "page": { "page": 1, "pageSize": 30, "more": more } })
    }

    #[test]
    fn pages_are_cut_from_all_rows() {
        let collection = TradedCollection::new(2_000);
        let all = &collection.listed(&Filter::default())[..61];
        assert_eq!(Page::read(&page(&all[30..60], true)).unwrap(), Page::of(all, 2));
        assert_eq!(Page::read(&page(&all[60..], false)).unwrap(), Page::of(all, 3));
        same(&Page::read(&page(&all[1..31], true)).unwrap(), &Page::of(all, 1)).unwrap_err();
    }

    #[test]
    fn a_row_needs_its_listing() {
        let collection = TradedCollection::new(2_000);
        let mut answer = page(&collection.listed(&Filter::default())[..2], false);
        answer["collectibles"][1]["listing"] = Value::Null;
        Page::read(&answer).unwrap_err();
        answer["collectibles"][1]["order"] = Value::Null;
        Page::read(&answer).unwrap_err();
    }
}
