//! Tokens by words of their names and descriptions. Descriptions have no index: metadata is gone through in the order of the ids,
//! so much of it at most, and a page that ends before it is full says where the next one goes on.

use std::borrow::Cow;

use bourse_wire::TokenId;
use serde::Deserialize;

use super::Start;
use super::position::Position;
use super::rows::{Row, Rows, TokensQuery};
use crate::collection::Collection;
use crate::filter::TokenFilter;
use crate::names::fold;

/// Tokens that are looked at together.
const LOOKED_AT_ONCE: usize = 256;

/// What is read of a token's metadata.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Described<'m> {
    #[serde(borrow)]
    description: Option<Cow<'m, str>>,
}

impl Collection {
    /// Finds a page of tokens, by id, every word of whose text is in their name or their description; or whose number the text is.
    /// So many tokens are looked at, of those that have the properties: with the page comes where it ended, when there may be more,
    /// and how many are still to be skipped, which is none but where the page has no row.
    pub fn search_descriptions(&self, query: &TokensQuery<'_>, looked_at_max: usize) -> (Rows, u64) {
        let folded: Vec<String> =
            query.tokens.words().into_iter().map(|word| fold(word).into_owned()).collect();
        let others = TokenFilter { text: String::new(), ..query.tokens.clone() };
        let (mut start, mut skip) = match &query.start {
            Start::Skip(skip) => (Start::Skip(0), *skip),
            after @ Start::After(_) => (after.clone(), 0),
        };
        let (mut rows, mut looked_at): (Vec<Row>, _) = (Vec::new(), 0);
        loop {
            let limit = LOOKED_AT_ONCE.min(looked_at_max - looked_at);
            let page = self.search(&TokensQuery { tokens: &others, start, limit });
            looked_at += page.rows.len();
            for row in &page.rows {
                if !self.is_described(row.token, &folded) {
                    continue;
                }
                if skip > 0 {
                    skip -= 1;
                    continue;
                }
                if rows.len() == query.limit {
                    let last = rows.last().map(|row| Position::of_token(self.tokens.id(row.token)));
                    return (Rows { rows, next: last }, 0);
                }
                rows.push(*row);
            }
            match page.next {
                Some(next) if looked_at < looked_at_max => start = Start::After(next),
                next => return (Rows { rows, next }, skip),
            }
        }
    }

    fn is_described(&self, token: u32, words: &[String]) -> bool {
        if words.iter().all(|word| self.names.get(token).contains(word.as_str())) {
            return true;
        }
        if let [only] = words
            && only.parse::<TokenId>().is_ok_and(|id| self.tokens.id(token) == id)
        {
            return true;
        }
        let metadata = self.tokens.metadata(token).and_then(|metadata| std::str::from_utf8(metadata).ok());
        let said: Described<'_> =
            metadata.and_then(|metadata| serde_json::from_str(metadata).ok()).unwrap_or_default();
        let Some(description) = said.description else { return false };
        let description = fold(&description);
        let has = |word: &String| {
            self.names.get(token).contains(word.as_str()) || description.contains(word.as_str())
        };
        words.iter().all(has)
    }
}
