//! JSON with a line for each member, as far as a page shows it.

/// An answer as it is shown.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Excerpt {
    pub(super) text: String,
    /// Whether there is more of it.
    pub(super) is_cut: bool,
}

/// Lays JSON out, and stops when it is as long as is shown: an answer may be many times that. Numbers and texts stay as
/// they are written.
pub(super) fn lay_out(json: &str, bytes_max: usize) -> Excerpt {
    let mut text = String::new();
    let (mut depth, mut in_string, mut is_escaped) = (0_usize, false, false);
    let mut rest = json.chars().peekable();
    while let Some(c) = rest.next() {
        if text.len() + c.len_utf8() > bytes_max {
            text.truncate(text.floor_char_boundary(bytes_max));
            return Excerpt { text, is_cut: true };
        }
        if in_string {
            text.push(c);
            in_string = is_escaped || c != '"';
            is_escaped = c == '\\' && !is_escaped;
            continue;
        }
        match c {
            '{' | '[' => {
                text.push(c);
                while rest.next_if(|next| next.is_whitespace()).is_some() {}
                if let Some(end) = rest.next_if(|next| matches!(next, '}' | ']')) {
                    text.push(end);
                } else {
                    depth += 1;
                    break_line(&mut text, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                break_line(&mut text, depth);
                text.push(c);
            }
            ',' => {
                text.push(c);
                break_line(&mut text, depth);
            }
            ':' => text.push_str(": "),
            c if c.is_whitespace() => {}
            c => {
                text.push(c);
                in_string = c == '"';
            }
        }
    }
    Excerpt { text, is_cut: false }
}

fn break_line(text: &mut String, depth: usize) {
    text.push('\n');
    text.extend(std::iter::repeat_n("  ", depth));
}

/// Text that is no JSON, as much of it as is shown.
pub(super) fn cut(text: &str, bytes_max: usize) -> Excerpt {
    let end = text.floor_char_boundary(bytes_max);
    Excerpt { text: text[..end].to_owned(), is_cut: end < text.len() }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn it_is_what_everybody_calls_pretty() {
        let value = json!({
            "a": [], "b": {}, "c": [1, [2.5, null]], "d": { "e": "x, y: {z} \"q\" \\", "f": true }, "é": "\u{202e}\n",
        });
        let expected = serde_json::to_string_pretty(&value).unwrap();
        for written in [value.to_string(), expected.clone()] {
            assert_eq!(lay_out(&written, 1 << 20), Excerpt { text: expected.clone(), is_cut: false });
        }
        assert_eq!(lay_out("1.50", 100).text, "1.50");
    }

    #[test]
    fn it_stops_in_time() {
        let long = Value::Array(vec![json!("ééé"); 1000]).to_string();
        for bytes_max in 90..100 {
            let shown = lay_out(&long, bytes_max);
            assert!(shown.is_cut && shown.text.len() <= bytes_max, "{}", shown.text.len());
        }
        assert_eq!(cut("aé", 2), Excerpt { text: "a".to_owned(), is_cut: true });
        assert_eq!(cut("aé", 3), Excerpt { text: "aé".to_owned(), is_cut: false });
    }
}
