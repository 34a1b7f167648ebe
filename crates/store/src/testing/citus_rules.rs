//! What Citus does not take, or takes and runs on all nodes, found in the text of a statement: every statement that tests run
//! is looked at, on whichever engine. How a cluster really runs it, `fan_out` asks where there is one.

use std::collections::HashSet;
use std::sync::{LazyLock, Mutex, PoisonError};

use crate::migrate::Layout;
use crate::{StoreError, testing::fan_out};

/// Statements that were looked at and are as they should be.
static SEEN: LazyLock<Mutex<HashSet<String>>> = LazyLock::new(Mutex::default);

/// Refuses a statement that breaks a rule.
pub(crate) fn check(sql: &str) -> Result<(), StoreError> {
    if SEEN.lock().unwrap_or_else(PoisonError::into_inner).contains(sql) {
        return Ok(());
    }
    if let Some(broken) = broken_rule(sql) {
        return Err(StoreError::corrupt("statement", format!("{broken}: {sql}")));
    }
    SEEN.lock().unwrap_or_else(PoisonError::into_inner).insert(sql.to_owned());
    Ok(())
}

/// The rule that a statement breaks, if there is one.
fn broken_rule(sql: &str) -> Option<String> {
    let words = words(sql);
    let end = words.iter().position(|word| word == ";");
    if end.is_some_and(|end| end + 1 < words.len()) {
        return Some("Citus takes one statement at a time".to_owned());
    }
    let blocks = blocks(&words);
    if let Some(conflict) = blocks.iter().find_map(|block| behind(block, "CONFLICT")) {
        let plain = |pair: &[String]| pair[0] == "CASE" && pair[1] != "WHEN";
        if conflict.windows(2).any(plain) {
            return Some(
                "Citus writes `CASE value WHEN` behind ON CONFLICT in a way that means something else"
                    .to_owned(),
            );
        }
    }
    blocks.iter().find_map(|block| spread(block)).filter(|_| !fan_out::is_allowed(sql))
}

/// What is wrong with where the rows of a block are, if anything.
fn spread(block: &[String]) -> Option<String> {
    let (mut columns, mut lists_tables) = (HashSet::new(), false);
    for pair in block.windows(2) {
        lists_tables = match pair[0].as_str() {
            "FROM" | "JOIN" | "INTO" | "UPDATE" => true,
            "WHERE" | "ON" | "SET" | "GROUP" | "ORDER" | "(" => false,
            _ => lists_tables,
        };
        if lists_tables {
            match Layout::of(&pair[1]) {
                Some(Layout::ByCollection) => columns.insert("collection_id"),
                Some(Layout::ByProject) => columns.insert("project_id"),
                Some(Layout::Local) | None => false,
            };
        }
    }
    if columns.len() > 1 {
        return Some("tables of collections and tables of projects are on different nodes".to_owned());
    }
    let column = columns.into_iter().next()?;
    let is_column =
        |word: &str| word == column || word.strip_suffix(column).is_some_and(|of| of.ends_with('.'));
    let named = |three: &[String]| {
        is_column(&three[0]) && three[1] == "=" && (three[2].starts_with('$') || three[2] == "?")
    };
    let inserts = block.first().is_some_and(|word| word == "INSERT");
    let alone = inserts || block.windows(3).any(named);
    (!alone).then(|| format!("without `{column} = $n` it asks all shards"))
}

/// What comes behind a word of a block.
fn behind<'a>(block: &'a [String], word: &str) -> Option<&'a [String]> {
    block.iter().position(|found| found == word).map(|place| &block[place + 1..])
}

/// A statement as words: names with the tables that they are of, arguments, and every other letter by itself. Keywords are
/// written large and names small, as everywhere in this crate; texts have no words.
fn words(sql: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut open = false;
    let mut quoted = false;
    for letter in sql.chars() {
        if letter == '\'' {
            quoted = !quoted;
        }
        let goes_on = !quoted && (letter.is_ascii_alphanumeric() || matches!(letter, '_' | '.' | '$'));
        match words.last_mut() {
            Some(word) if goes_on && open => word.push(letter),
            _ if quoted || letter.is_whitespace() => {}
            _ => words.push(letter.to_string()),
        }
        open = goes_on;
    }
    words
}

/// The queries of a statement, each without those within it.
fn blocks(words: &[String]) -> Vec<Vec<String>> {
    let (mut whole, mut open) = (Vec::new(), vec![(Vec::new(), 0_u32)]);
    for (place, word) in words.iter().enumerate() {
        let begins = word == "(" && words.get(place + 1).is_some_and(|next| next == "SELECT");
        if begins {
            open.push((Vec::new(), 0));
            continue;
        }
        let Some((block, depth)) = open.last_mut() else { break };
        match word.as_str() {
            "(" => *depth += 1,
            ")" if *depth > 0 => *depth -= 1,
            ")" => {
                whole.extend(open.pop().map(|(block, _)| block));
                continue;
            }
            _ => {}
        }
        block.push(word.clone());
    }
    whole.extend(open.into_iter().map(|(block, _)| block));
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(sql: &str) -> String {
        broken_rule(sql).unwrap_or_default()
    }

    #[test]
    fn several_statements_are_none() {
        assert!(broken("DROP INDEX a; DROP INDEX b").contains("one statement"));
        assert_eq!(broken("DROP INDEX a;"), "");
        assert_eq!(broken("SELECT ';' ; "), "");
    }

    #[test]
    fn a_case_of_a_value_is_none_behind_a_conflict() {
        let insert = "INSERT INTO tokens (collection_id) VALUES ($1) ON CONFLICT (collection_id) DO UPDATE SET metadata =";
        assert!(broken(&format!("{insert} CASE tokens.metadata WHEN '' THEN 'a' END")).contains("CASE"));
        assert_eq!(broken(&format!("{insert} CASE WHEN tokens.metadata = '' THEN 'a' END")), "");
    }

    #[test]
    fn a_count_beside_each_row_asks_everybody() {
        let count = |project: &str| {
            format!(
                "SELECT name, (SELECT COUNT(*) FROM audience_contacts WHERE audience_contacts.project_id = {project}
                AND audience_contacts.audience_id = audiences.audience_id) FROM audiences WHERE project_id = $1"
            )
        };
        assert!(broken(&count("audiences.project_id")).contains("all shards"));
        assert_eq!(broken(&count("$1")), "");
    }

    #[test]
    fn rows_are_asked_for_where_they_are() {
        assert_eq!(
            broken("SELECT token_id FROM tokens WHERE collection_id = $1 AND token_id IN ($2, $3)"),
            ""
        );
        assert_eq!(broken("DELETE FROM tokens WHERE tokens.collection_id = ?"), "");
        assert_eq!(broken("SELECT name FROM pg_extension"), "");
        for everybody in [
            "SELECT token_id FROM tokens",
            "UPDATE tokens SET metadata = $1",
            "SELECT token_id FROM tokens WHERE collection_id IN ($1, $2)",
            "SELECT 1 FROM tokens JOIN orders ON tokens.collection_id = orders.collection_id",
        ] {
            assert!(broken(everybody).contains("all shards"), "{everybody}");
        }
        let apart =
            "SELECT 1 FROM tokens JOIN audiences ON TRUE WHERE collection_id = $1 AND project_id = $2";
        assert!(broken(apart).contains("different nodes"));
    }
}
