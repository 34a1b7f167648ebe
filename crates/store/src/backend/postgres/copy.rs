//! Rows as PostgreSQL copies them into a table: one after the other in its binary form, without a statement that would have to
//! take arrays apart, make rows of them, and look for each whether it is there.

use crate::StoreError;
use crate::args::Arg;

use super::checkout::Borrowed;

/// So many rows are worth a copy, which takes a second way to the server and back, and is planned anew each time.
pub(crate) const ROWS_MIN: usize = 100;

/// What begins and ends a copy: no flags and no extension, and no further row.
const BEGIN: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";
const END: [u8; 2] = (-1_i16).to_be_bytes();
/// The length of a value that there is none of.
const NONE: [u8; 4] = (-1_i32).to_be_bytes();

/// Copies rows into `table (one, other)`. None of them may be there: whoever copies knows it.
pub(crate) async fn insert(
    connection: &mut Borrowed<'_>,
    into: &str,
    rows: &[Vec<Arg>],
) -> Result<(), StoreError> {
    let sql = format!("COPY {into} FROM STDIN (FORMAT binary)");
    let bytes = encode(rows)?;
    connection.note(&sql);
    // The driver cannot go on with a connection on which a copy was given up, or failed.
    let was_unsettled = connection.unsettle();
    let mut copy = connection.copy_in_raw(&sql).await?;
    copy.send(bytes).await?;
    let copied = copy.finish().await?;
    connection.settle(was_unsettled);
    if copied == rows.len() as u64 {
        Ok(())
    } else {
        Err(StoreError::corrupt("copy", format_args!("{copied} of {} rows", rows.len())))
    }
}

fn encode(rows: &[Vec<Arg>]) -> Result<Vec<u8>, StoreError> {
    let mut bytes = BEGIN.to_vec();
    for row in rows {
        let columns = i16::try_from(row.len()).map_err(|error| StoreError::corrupt("row", error))?;
        bytes.extend(columns.to_be_bytes());
        for value in row {
            match value {
                Arg::Int(None) | Arg::Text(None) => bytes.extend(NONE),
                Arg::Int(Some(number)) => push(&mut bytes, &number.to_be_bytes())?,
                Arg::Text(Some(text)) => push(&mut bytes, text.as_bytes())?,
                Arg::Bool(is_true) => push(&mut bytes, &[u8::from(*is_true)])?,
                Arg::Bytes(value) => push(&mut bytes, value)?,
            }
        }
    }
    bytes.extend(END);
    Ok(bytes)
}

fn push(bytes: &mut Vec<u8>, value: &[u8]) -> Result<(), StoreError> {
    let length = i32::try_from(value.len()).map_err(|error| StoreError::corrupt("value", error))?;
    bytes.extend(length.to_be_bytes());
    bytes.extend_from_slice(value);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::args;

    #[test]
    fn rows_are_values_behind_their_lengths() {
        let mut rows = vec![args![7_u64, "ab", true]];
        rows[0].extend([Arg::Text(None), Arg::Bytes(vec![9])]);
        let encoded = encode(&rows).unwrap();
        let row = encoded.strip_prefix(BEGIN).unwrap().strip_suffix(&END).unwrap();
        let number = [0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 7];
        let rest = [0, 0, 0, 2, b'a', b'b', 0, 0, 0, 1, 1, 255, 255, 255, 255, 0, 0, 0, 1, 9];
        assert_eq!(row, [&[0, 5], number.as_slice(), rest.as_slice()].concat());
    }
}
