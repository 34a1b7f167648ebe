//! Requests as SQL, and rows as answers, so that both are checked alike.

use serde_json::{Value, json};

use crate::error::Error;
use crate::relics;
use crate::scenario::PAGE_SIZE;

/// How one operation is asked.
#[derive(Debug)]
pub(super) struct Query {
    /// The scenario that it stands for.
    pub(super) scenario: &'static str,
    /// How many times as fast we want to be.
    pub(super) goal: f64,
    /// The statement for the body of a request.
    pub(super) sql: fn(&Value) -> Result<String, Error>,
    /// The answer to a request, from the columns of the rows.
    pub(super) answer: fn(&[Vec<Value>]) -> Value,
}

/// All of them.
pub(super) const QUERIES: &[Query] = &[
    Query { scenario: "token-metadata-batch", goal: 6.0, sql: batch, answer: batch_answer },
    Query { scenario: "list-by-property", goal: 10.0, sql: by_property, answer: page_answer },
    Query { scenario: "list-by-owner", goal: 10.0, sql: by_owner, answer: page_answer },
    Query {
        scenario: "count",
        goal: 30.0,
        sql: count,
        answer: |rows| json!({ "count": rows.concat().first() }),
    },
    Query { scenario: "listing-floor", goal: 1.5, sql: floor, answer: floor_answer },
    Query { scenario: "search", goal: 10.0, sql: search, answer: search_answer },
    Query { scenario: "listings", goal: 1.5, sql: listings, answer: listings_answer },
];

fn batch(body: &Value) -> Result<String, Error> {
    let tokens = body["contractTokenMap"][relics::CONTRACT].as_array().into_iter().flatten();
    let text = |token: &Value| token.as_str().map(ToOwned::to_owned);
    let tokens: Option<Vec<String>> = tokens.map(text).collect();
    let tokens = tokens.ok_or_else(|| Error::new("a token whose id is no text"))?;
    Ok(format!("SELECT metadata FROM relics WHERE token = ANY ('{{{}}}'::bigint[])", tokens.join(",")))
}

fn by_property(body: &Value) -> Result<String, Error> {
    // The inner one reads the index alone; rows are read for what is shown.
    Ok(format!(
        "SELECT metadata, listing FROM (SELECT token, rank FROM listed WHERE {} ORDER BY rank LIMIT {}) page \
         JOIN listed USING (token) ORDER BY page.rank",
        properties(body)?,
        PAGE_SIZE + 1
    ))
}

fn by_owner(body: &Value) -> Result<String, Error> {
    let owner = text(&body["filter"]["inAccounts"][0])?;
    let currency = text(&body["filter"]["inCurrencyAddresses"][0])?;
    Ok(format!(
        "SELECT metadata, listing FROM sold_in WHERE owner = {owner} AND currency = {currency} ORDER BY rank LIMIT {}",
        PAGE_SIZE + 1
    ))
}

fn count(body: &Value) -> Result<String, Error> {
    Ok(format!("SELECT count(*) FROM listed WHERE {}", properties(body)?))
}

fn floor(body: &Value) -> Result<String, Error> {
    Ok(format!("SELECT metadata, listing FROM listed WHERE {} ORDER BY rank LIMIT 1", properties(body)?))
}

fn search(body: &Value) -> Result<String, Error> {
    let part = body["filter"]["text"].as_str().ok_or_else(|| Error::new("a search without a text"))?;
    let pattern = text(&json!(format!("%{part}%")))?;
    Ok(format!("SELECT metadata FROM tokens WHERE name ILIKE {pattern} LIMIT {}", PAGE_SIZE + 1))
}

fn listings(body: &Value) -> Result<String, Error> {
    let token = body["tokenId"].as_str().ok_or_else(|| Error::new("listings without a token"))?;
    Ok(format!("SELECT listing FROM listings WHERE token = {token} ORDER BY rank LIMIT {PAGE_SIZE}"))
}

/// One value of a property, and a range of another.
fn properties(body: &Value) -> Result<String, Error> {
    let condition = |property: &Value| {
        let name = property["name"].as_str().ok_or_else(|| Error::new("a property without a name"))?;
        match property["values"].get(0) {
            Some(value) => Ok(format!("\"{name}\" = {}", text(value)?)),
            None => Ok(format!("\"{name}\" BETWEEN {} AND {}", property["min"], property["max"])),
        }
    };
    let properties = body["filter"]["properties"].as_array().into_iter().flatten();
    let conditions: Vec<String> = properties.map(condition).collect::<Result<_, Error>>()?;
    Ok(conditions.join(" AND "))
}

/// A text in quotes.
fn text(value: &Value) -> Result<String, Error> {
    let text = value.as_str().ok_or_else(|| Error::new(format!("{value} is not a text")))?;
    Ok(format!("'{}'", text.replace('\'', "''")))
}

fn collectible(row: &[Value]) -> Value {
    let (metadata, listing) = (row.first(), row.get(1));
    json!({ "metadata": metadata, "order": listing, "listing": listing })
}

fn page_answer(rows: &[Vec<Value>]) -> Value {
    let collectibles: Vec<Value> = rows.iter().take(PAGE_SIZE).map(|row| collectible(row)).collect();
    json!({ "collectibles": collectibles, "page": { "more": rows.len() > PAGE_SIZE } })
}

fn floor_answer(rows: &[Vec<Value>]) -> Value {
    json!({ "collectible": rows.first().map(|row| collectible(row)) })
}

fn search_answer(rows: &[Vec<Value>]) -> Value {
    let page = rows.get(..PAGE_SIZE).unwrap_or(rows);
    json!({ "tokenMetadata": page.concat(), "page": { "more": rows.len() > PAGE_SIZE } })
}

fn listings_answer(rows: &[Vec<Value>]) -> Value {
    json!({ "listings": rows.concat() })
}

fn batch_answer(rows: &[Vec<Value>]) -> Value {
    json!({ "contractTokenMetadata": { relics::CONTRACT: rows.concat() } })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{QUERIES, page_answer, properties};
    use crate::scenario::{ON_RELICS, ON_TRADING};
    use crate::trading::TradedCollection;

    #[test]
    fn every_query_stands_for_a_scenario() {
        let of_trading = ON_TRADING.iter().map(|scenario| scenario.name);
        let scenarios: Vec<&str> = ON_RELICS.iter().map(|scenario| scenario.name).chain(of_trading).collect();
        assert!(QUERIES.iter().all(|query| scenarios.contains(&query.scenario)));
    }

    #[test]
    fn every_request_has_a_statement() {
        let collection = TradedCollection::new(2_000);
        for scenario in ON_TRADING {
            let Some(query) = QUERIES.iter().find(|query| query.scenario == scenario.name) else { continue };
            for request in (scenario.requests)(&collection) {
                let body: Value = serde_json::from_str(&request.body).unwrap();
                assert!((query.sql)(&body).unwrap().starts_with("SELECT "));
            }
        }
    }

    #[test]
    fn properties_are_conditions() {
        let value = json!({ "name": "Rarity", "type": "STRING", "values": ["It's"] });
        let range = json!({ "name": "Level", "type": "INT", "min": 3, "max": 9 });
        let body = json!({ "filter": { "properties": [value, range] } });
        assert_eq!(properties(&body).unwrap(), "\"Rarity\" = 'It''s' AND \"Level\" BETWEEN 3 AND 9");
    }

    #[test]
    fn one_row_more_than_a_page_says_that_there_are_more() {
        let rows = |count| vec![vec![json!({}), json!({})]; count];
        assert_eq!(page_answer(&rows(30))["page"]["more"], false);
        assert_eq!(page_answer(&rows(31))["page"]["more"], true);
        assert_eq!(page_answer(&rows(31))["collectibles"].as_array().unwrap().len(), 30);
    }
}
