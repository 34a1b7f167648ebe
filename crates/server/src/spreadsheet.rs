//! Tables for spreadsheets. Everything that answers with CSV writes it here.

use std::borrow::Cow;

use crate::failure::Failure;

/// What a spreadsheet takes for the start of a formula, the wide forms of some of them included.
const FORMULA: [char; 11] = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];

/// What a spreadsheet takes for the sign that text follows, whatever it looks like. It does not show it.
const TEXT_SIGN: char = '\'';

/// A cell of a table.
#[derive(Clone, Debug)]
pub enum Cell {
    /// Somebody's words, which a spreadsheet must not run.
    Text(String),
    /// A number of ours, to be computed with.
    Number(String),
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<u64> for Cell {
    fn from(number: u64) -> Self {
        Self::Number(number.to_string())
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        Self::Number(number.to_string())
    }
}

/// Rows as a file, the head first.
pub fn write(rows: impl IntoIterator<Item = Vec<Cell>>) -> Result<Vec<u8>, Failure> {
    let mut table = csv::Writer::from_writer(Vec::new());
    for row in rows {
        let cells = row.iter().map(|cell| match cell {
            Cell::Text(text) => guarded(text),
            Cell::Number(number) => Cow::Borrowed(number.as_str()),
        });
        let cells: Vec<Cow<'_, str>> = cells.collect();
        let cells = cells.iter().map(|cell| cell.as_bytes());
        table.write_record(cells).map_err(|error| Failure::Internal(Box::new(error)))?;
    }
    table.into_inner().map_err(|error| Failure::Internal(error.to_string().into()))
}

/// Text that a spreadsheet does not run as a formula.
fn guarded(text: &str) -> Cow<'_, str> {
    if is_formula(text) { format!("{TEXT_SIGN}{text}").into() } else { text.into() }
}

/// The same without that guard, so that a table that was downloaded reads as it was.
pub fn unguarded(cell: &str) -> &str {
    cell.strip_prefix(TEXT_SIGN).filter(|rest| is_formula(rest)).unwrap_or(cell)
}

/// Whether it is a formula, or one that has the sign already: with one sign more, reading takes away just that one.
fn is_formula(text: &str) -> bool {
    text.trim_start_matches(TEXT_SIGN).starts_with(FORMULA)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_stay_text_and_come_back_as_they_were() {
        for start in FORMULA {
            for text in [start.to_string(), format!("{start}1+1"), format!("'{start}x"), format!("''{start}")]
            {
                assert_eq!(guarded(&text), format!("'{text}"));
                assert_eq!(unguarded(&guarded(&text)), text);
            }
        }
        for text in ["", "Ada", "'quoted'", "1=1", "'", "''", "O'=1"] {
            assert_eq!(guarded(text), text);
            assert_eq!(unguarded(text), text);
        }
    }

    #[test]
    fn words_are_quoted_and_guarded_and_numbers_stay_numbers() {
        let rows = vec![
            vec![Cell::from("name"), Cell::from("value")],
            vec![Cell::from("=HYPERLINK(\"https://evil.example\",\"x\")"), Cell::from(7)],
            vec![Cell::from("@SUM(1+1)*cmd|' /C calc'!A0"), Cell::from(-0.5)],
            vec![Cell::from("\r\n=1+1"), Cell::from(String::from("-1"))],
        ];
        let text = String::from_utf8(write(rows).unwrap()).unwrap();
        let expected = "name,value\n\
            \"'=HYPERLINK(\"\"https://evil.example\"\",\"\"x\"\")\",7\n\
            '@SUM(1+1)*cmd|' /C calc'!A0,-0.5\n\
            \"'\r\n=1+1\",'-1\n";
        assert_eq!(text, expected);
    }
}
