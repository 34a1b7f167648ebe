//! Files to import.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use serde_json::Value;

use crate::error::{Context, Error};

/// What was written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WrittenFile {
    /// Lines of the file.
    pub(crate) lines: u64,
    /// Size of the file.
    pub(crate) bytes: u64,
}

/// Writes one record on each line.
pub(crate) fn write(path: &Path, records: impl Iterator<Item = Value>) -> Result<WrittenFile, Error> {
    write_lines(path, records).context(|| format!("writing {}", path.display()))
}

fn write_lines(path: &Path, records: impl Iterator<Item = Value>) -> io::Result<WrittenFile> {
    let mut file = BufWriter::new(File::create(path)?);
    let mut lines = 0;
    for record in records {
        writeln!(file, "{record}")?;
        lines += 1;
    }
    let bytes = file.into_inner()?.metadata()?.len();
    Ok(WrittenFile { lines, bytes })
}
