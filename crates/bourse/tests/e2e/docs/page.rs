//! What a page of the documentation asks to be done, read from its blocks and from comments that readers do not see.

use std::mem::take;

/// A part of a page that the test does something with, with the line that it begins in.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) line: usize,
    /// Whether it is for pages on PostgreSQL only.
    pub(crate) postgres: bool,
    pub(crate) kind: Kind,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Commands that readers see.
    Commands { text: String, how: How },
    /// Commands of which readers know that they were done.
    Hidden(String),
    /// A file that readers are told to write.
    File { name: String, text: String },
    /// What the commands before it print.
    Output(String),
    /// Commands that no test can run, and why.
    Excused(String),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum How {
    /// Every command must succeed, and every request.
    #[default]
    Succeed,
    /// The commands show how something is refused.
    Refused,
    /// A service, which runs on until the page ends.
    Background,
}

/// What a comment said of the block that follows.
#[derive(Default)]
struct Next {
    how: How,
    postgres: bool,
    excuse: Option<String>,
    file: Option<String>,
    no_output: bool,
}

/// Reads a page. A comment that is not understood is an error: it would be a test that does not run.
pub(crate) fn read(text: &str) -> Result<Vec<Piece>, String> {
    let mut lines = text.lines().enumerate().map(|(index, line)| (index + 1, line));
    let (mut pieces, mut next) = (Vec::new(), Next::default());
    while let Some((line, start)) = lines.next() {
        if let Some(rest) = start.strip_prefix("<!--") {
            let mut comment = rest.to_owned();
            while !comment.contains("-->") {
                let (_, more) = lines.next().ok_or(format!("line {line}: a comment has no end"))?;
                comment = format!("{comment}\n{more}");
            }
            let comment = comment.trim_end().trim_end_matches("-->").trim();
            if let Some(hidden) = comment.strip_prefix("run\n") {
                let kind = Kind::Hidden(hidden.to_owned());
                pieces.push(Piece { line, postgres: take(&mut next).postgres, kind });
            } else {
                direct(comment, &mut next).map_err(|error| format!("line {line}: {error}"))?;
            }
        } else if let Some(language) = start.strip_prefix("```") {
            let block: Vec<&str> =
                lines.by_ref().map(|(_, text)| text).take_while(|text| *text != "```").collect();
            let found = piece(language, block.join("\n"), take(&mut next));
            let (postgres, kind) = found.map_err(|error| format!("line {line}: {error}"))?;
            pieces.extend(kind.map(|kind| Piece { line, postgres, kind }));
        }
    }
    Ok(pieces)
}

fn direct(comment: &str, next: &mut Next) -> Result<(), String> {
    match comment.split_once(": ") {
        None if comment == "in the background" => next.how = How::Background,
        None if comment == "refused" => next.how = How::Refused,
        None if comment == "with PostgreSQL" => next.postgres = true,
        None if comment == "not output" => next.no_output = true,
        Some(("not run", reason)) => next.excuse = Some(reason.to_owned()),
        Some(("file", name)) => next.file = Some(name.to_owned()),
        _ => return Err(format!("no test knows what `{comment}` means")),
    }
    Ok(())
}

fn piece(language: &str, text: String, next: Next) -> Result<(bool, Option<Kind>), String> {
    let kind = match (next.file, language) {
        (Some(name), _) => Some(Kind::File { name, text: text + "\n" }),
        (None, "sh") => Some(match next.excuse {
            Some(reason) => Kind::Excused(reason),
            None => Kind::Commands { text, how: next.how },
        }),
        (None, "text") => (!next.no_output).then_some(Kind::Output(text)),
        (None, "json" | "toml" | "nginx" | "caddyfile" | "ts") => None,
        (None, other) => {
            return Err(format!("a block of `{other}`: commands are `sh`, what they print is `text`"));
        }
    };
    Ok((next.postgres, kind))
}

#[test]
fn blocks_and_comments_are_told_apart() {
    let page = "# Title\n\n<!-- run\nhidden\nmore\n-->\n<!-- in the background -->\n```sh\nbourse serve\n```\n\
        <!-- with PostgreSQL -->\n<!-- refused -->\n```sh\na \\\n  b\n```\n\n```text\nout\n```\n\
        <!-- not run: no such program -->\n```sh\nsystemctl\n```\n<!-- not output -->\n```text\nx\n```\n\
        <!-- file: a/b.toml -->\n```toml\nx = 1\n```\n```json\n{}\n```\n";
    let commands = |text: &str, how| Kind::Commands { text: text.to_owned(), how };
    let piece = |line, postgres, kind| Piece { line, postgres, kind };
    let expected = [
        piece(3, false, Kind::Hidden("hidden\nmore".to_owned())),
        piece(8, false, commands("bourse serve", How::Background)),
        piece(13, true, commands("a \\\n  b", How::Refused)),
        piece(18, false, Kind::Output("out".to_owned())),
        piece(22, false, Kind::Excused("no such program".to_owned())),
        piece(30, false, Kind::File { name: "a/b.toml".to_owned(), text: "x = 1\n".to_owned() }),
    ];
    assert_eq!(read(page).unwrap(), expected);
    for wrong in ["<!-- nonsense -->", "```bash\nx\n```", "<!-- run\n", "<!-- not run -->"] {
        assert!(read(wrong).is_err(), "{wrong}");
    }
}
