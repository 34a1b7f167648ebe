//! Text from the document: paragraphs, lists, headings and code of Markdown; the rest stays as written.

use maud::{Markup, html};
use serde_json::Value;

/// One piece of a longer text.
#[derive(Debug, PartialEq, Eq)]
enum Block<'a> {
    Heading(&'a str),
    Paragraph(Vec<&'a str>),
    /// The lines of each item.
    List(Vec<Vec<&'a str>>),
    Code(Vec<&'a str>),
}

/// A description, its headings set as bold lines: it stands below headings of any depth.
pub(crate) fn prose(text: &str) -> Markup {
    let bold = |heading: &str| html! { p { strong { (inline(heading)) } } };
    html! { @for block in blocks(text) { (markup(&block, bold)) } }
}

/// A text directly below a second-level heading.
pub(crate) fn chapters(text: &str) -> Markup {
    let third_level = |heading: &str| html! { h3 { (inline(heading)) } };
    html! { @for block in blocks(text) { (markup(&block, third_level)) } }
}

/// The member `description`.
pub(crate) fn description(value: &Value) -> Option<&str> {
    value["description"].as_str()
}

/// A value as text: a string without quotes, anything else as JSON, nothing for null.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

/// A long name that may break before a capital or after a slash, a dot or an underscore.
pub(crate) fn breakable(name: &str) -> Markup {
    let mut pieces = Vec::new();
    let (mut start, mut previous) = (0, ' ');
    for (at, c) in name.char_indices() {
        let hump = c.is_uppercase() && (previous.is_lowercase() || previous.is_ascii_digit());
        if at > start && (hump || "/._".contains(previous)) {
            pieces.push(&name[start..at]);
            start = at;
        }
        previous = c;
    }
    html! { @for piece in pieces { (piece) wbr; } (&name[start..]) }
}

/// The link from a heading to itself.
pub(crate) fn permalink(anchor: &str, name: &str) -> Markup {
    html! { " " a.permalink href={ "#" (anchor) } aria-label={ "Link to " (name) } { "#" } }
}

/// A line with `code` in backticks.
pub fn inline(text: &str) -> Markup {
    let pieces: Vec<&str> = text.split('`').collect();
    // An even number of pieces is an odd number of backticks: one of them is just a character.
    if pieces.len().is_multiple_of(2) {
        return html! { (text) };
    }
    html! {
        @for (index, piece) in pieces.iter().enumerate() {
            @if index % 2 == 1 { code { (piece) } } @else { (piece) }
        }
    }
}

fn markup(block: &Block, heading: fn(&str) -> Markup) -> Markup {
    match block {
        Block::Heading(text) => heading(text),
        Block::Paragraph(lines) => html! { p { (inline(&lines.join("\n"))) } },
        Block::List(items) => html! { ul { @for item in items { li { (inline(&item.join("\n"))) } } } },
        Block::Code(lines) => html! { pre { code { (lines.join("\n")) } } },
    }
}

fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut fresh = true;
    let mut fenced = false;
    for line in text.lines() {
        let trimmed = line.trim();
        if trimmed.starts_with("```") {
            fenced = !fenced;
            fresh = true;
            if fenced {
                blocks.push(Block::Code(Vec::new()));
            }
            continue;
        }
        match blocks.last_mut() {
            Some(Block::Code(lines)) if fenced => lines.push(line),
            _ if trimmed.is_empty() => fresh = true,
            last => {
                let last = if fresh { None } else { last };
                if let Some(block) = continued(last, trimmed) {
                    // A list whose items are apart is one list.
                    match (blocks.last_mut(), block) {
                        (Some(Block::List(items)), Block::List(more)) => items.extend(more),
                        (_, block) => blocks.push(block),
                    }
                }
                fresh = trimmed.starts_with('#');
            }
        }
    }
    blocks
}

/// Adds a line to the block it continues, or returns the block it starts.
fn continued<'a>(last: Option<&mut Block<'a>>, line: &'a str) -> Option<Block<'a>> {
    let item = line.strip_prefix("- ").or_else(|| line.strip_prefix("* "));
    match (last, item) {
        (_, None) if line.starts_with("# ") || line.starts_with("##") => {
            Some(Block::Heading(line.trim_start_matches('#').trim_start()))
        }
        (Some(Block::List(items)), Some(item)) => {
            items.push(vec![item]);
            None
        }
        (_, Some(item)) => Some(Block::List(vec![vec![item]])),
        (Some(Block::Paragraph(lines)), None) => {
            lines.push(line);
            None
        }
        (Some(Block::List(items)), None) => {
            items.last_mut()?.push(line);
            None
        }
        (_, None) => Some(Block::Paragraph(vec![line])),
    }
}
