//! Whether a program prints what a page shows. Pages show real answers, but shortened: `…` stands for anything, lines are
//! broken where a reader likes it, and times are those of the day on which somebody wrote the page.

use bourse_wire::Timestamp;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    /// `…` by itself.
    Cut,
    Quoted(String),
    Word(String),
    Mark(char),
}

/// Compares what a page shows with what was printed; tells where they part.
pub(crate) fn compare(shown: &str, printed: &str) -> Result<(), String> {
    // In JSON a number is an answer; in what is for people it is often a size or a duration.
    let numbers_count = shown.trim_start().starts_with(['{', '[']);
    let (pattern, tokens) = (tokens(shown), tokens(printed));
    let same = |shown: &Token, printed: &Token| same(shown, printed, numbers_count);
    // Where the last cut was, and up to where it reaches by now.
    let (mut at, mut seen, mut cut, mut furthest) = (0, 0, None, 0);
    while seen < tokens.len() {
        furthest = furthest.max(at);
        if pattern.get(at) == Some(&Token::Cut) {
            cut = Some((at, seen));
            at += 1;
        } else if pattern.get(at).is_some_and(|shown| same(shown, &tokens[seen])) {
            at += 1;
            seen += 1;
        } else if let Some((before, reach)) = cut {
            cut = Some((before, reach + 1));
            (at, seen) = (before + 1, reach + 1);
        } else {
            break;
        }
    }
    while pattern.get(at) == Some(&Token::Cut) {
        at += 1;
    }
    if at == pattern.len() && seen == tokens.len() {
        return Ok(());
    }
    let place = furthest.max(at).min(pattern.len().saturating_sub(1));
    Err(format!("they part at {:?}, the shown token {place} of {}", pattern.get(place), pattern.len()))
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => quoted_length(rest),
            '{' | '}' | '[' | ']' | ',' => first.len_utf8(),
            // After a member's name, whether or not a space follows.
            ':' if matches!(tokens.last(), Some(Token::Quoted(_))) => 1,
            _ => {
                rest.find(|next: char| next.is_whitespace() || "{}[],\"".contains(next)).unwrap_or(rest.len())
            }
        };
        let (token, after) = rest.split_at(length);
        tokens.push(match first {
            '"' => Token::Quoted(token.trim_matches('"').to_owned()),
            '…' if token == "…" => Token::Cut,
            _ if length == 1 && !first.is_alphanumeric() => Token::Mark(first),
            _ => Token::Word(token.to_owned()),
        });
        rest = after.trim_start();
    }
    tokens
}

/// How long a text in quotes is, with the quotes.
fn quoted_length(text: &str) -> usize {
    let mut escaped = false;
    for (index, next) in text.char_indices().skip(1) {
        match next {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return index + 1,
            _ => {}
        }
    }
    text.len()
}

fn same(shown: &Token, printed: &Token, numbers_count: bool) -> bool {
    match (shown, printed) {
        (Token::Quoted(shown), Token::Quoted(printed)) => glob(shown, printed) || both_times(shown, printed),
        (Token::Word(shown), Token::Word(printed)) => {
            let same_but_for_digits = || !numbers_count && without_digits(shown) == without_digits(printed);
            glob(shown, printed) || both_times(shown, printed) || same_but_for_digits()
        }
        _ => shown == printed,
    }
}

fn both_times(one: &str, other: &str) -> bool {
    [one, other].iter().all(|text| text.trim_end_matches(['.', ')']).parse::<Timestamp>().is_ok())
}

/// A text with one sign in the place of each number.
fn without_digits(text: &str) -> String {
    let mut shape = String::new();
    for next in text.chars() {
        let next = if next.is_ascii_digit() { '0' } else { next };
        if !(next == '0' && shape.ends_with('0')) {
            shape.push(next);
        }
    }
    shape
}

/// Whether a text is as shown, where `…` stands for any part of it.
fn glob(shown: &str, text: &str) -> bool {
    let mut parts = shown.split('…');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(place) => rest = &rest[place + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[test]
fn what_is_shown_must_be_printed() {
    let same = [
        ("{\"a\":1,\"b\":[…]}", "{\"a\": 1, \"b\": [1, {\"c\": 2}]}"),
        ("{…,\"b\":2}", "{\"a\":1,\"c\":[3,4],\"b\":2}\n"),
        ("{\"at\":\"2025-01-01T00:00:00Z\"}", "{\"at\":\"2026-11-15T03:19:33.697034745Z\"}"),
        ("{\"key\":\"eyJw…\"}", "{\"key\":\"eyJwIjox\"}"),
        ("{\"a\":…,\n \"b\":2}", "{\"a\":{\"b\":3},\"b\":2}"),
        ("3 records read, in 0.0 s (493 lines/s)", "3 records read, in 0.1 s (12 lines/s)"),
        ("ID  NAME\n1   x\n…", "ID  NAME\n1   x\n2   y\n3   z"),
        ("", ""),
    ];
    for (shown, printed) in same {
        assert_eq!(compare(shown, printed), Ok(()), "{shown} | {printed}");
    }
    let different = [
        ("{\"a\":1}", "{\"a\":2}"),
        ("{\"a\":1}", "{\"b\":1}"),
        ("{\"a\":1}", "{\"a\":1,\"b\":2}"),
        ("{\"a\":1,…,\"c\":3}", "{\"a\":1,\"b\":2}"),
        ("{\"a\":\"x…\"}", "{\"a\":\"y\"}"),
        ("{\"a\":[]}", "{\"a\":[1]}"),
        ("{\"at\":\"2025-01-01T00:00:00Z\"}", "{\"at\":\"never\"}"),
        ("3 records read", "3 records changed"),
        ("", "something"),
        ("something", ""),
    ];
    for (shown, printed) in different {
        assert!(compare(shown, printed).is_err(), "{shown} | {printed}");
    }
}
