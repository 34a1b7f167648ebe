//! The answers of the real server, handed to the bare one in a file: each as its length, 8 bytes with the lowest
//! first, and its bytes.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::body::Bytes;

use crate::error::{Context, Error};

const LENGTH_BYTES: usize = 8;

/// Answers to give in turn.
#[derive(Debug)]
pub(crate) struct Answers {
    bodies: Vec<Bytes>,
    given: AtomicUsize,
}

impl Answers {
    /// Reads the file at `path`.
    pub(crate) fn read(path: &Path) -> Result<Self, Error> {
        let read = std::fs::read(path).context(|| format!("reading {}", path.display()))?;
        let bodies = split(Bytes::from(read)).filter(|bodies| !bodies.is_empty());
        let bodies = bodies.ok_or_else(|| Error::new(format!("{} holds no answers", path.display())))?;
        Ok(Self { bodies, given: AtomicUsize::new(0) })
    }

    /// The next answer, the first again after the last.
    pub(crate) fn next(&self) -> Bytes {
        let given = self.given.fetch_add(1, Ordering::Relaxed);
        self.bodies[given % self.bodies.len()].clone()
    }
}

/// Writes the file at `path`.
pub(crate) fn write(path: &Path, bodies: &[Vec<u8>]) -> Result<(), Error> {
    write_bodies(path, bodies).context(|| format!("writing {}", path.display()))
}

fn write_bodies(path: &Path, bodies: &[Vec<u8>]) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    for body in bodies {
        let length = u64::try_from(body.len()).unwrap_or(u64::MAX);
        file.write_all(&length.to_le_bytes())?;
        file.write_all(body)?;
    }
    file.flush()
}

/// The bodies in a file; none if it is cut off.
fn split(mut rest: Bytes) -> Option<Vec<Bytes>> {
    let mut bodies = Vec::new();
    while !rest.is_empty() {
        let length = u64::from_le_bytes(*rest.first_chunk::<LENGTH_BYTES>()?);
        let end = LENGTH_BYTES.checked_add(usize::try_from(length).ok()?)?;
        if rest.len() < end {
            return None;
        }
        bodies.push(rest.split_to(end).slice(LENGTH_BYTES..));
    }
    Some(bodies)
}

#[cfg(test)]
mod tests {
    use super::{Answers, write};

    #[test]
    fn answers_are_given_in_turn() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("answers");
        write(&path, &[b"one".to_vec(), b"three".to_vec()]).unwrap();
        let answers = Answers::read(&path).unwrap();
        let given: Vec<_> = (0..3).map(|_| answers.next()).collect();
        assert_eq!(given, [b"one".as_slice(), b"three", b"one"]);
    }

    #[test]
    fn a_file_that_is_empty_or_cut_off_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("answers");
        write(&path, &[]).unwrap();
        Answers::read(&path).unwrap_err();
        write(&path, &[b"one".to_vec()]).unwrap();
        let written = std::fs::read(&path).unwrap();
        for length in 1..written.len() {
            std::fs::write(&path, &written[..length]).unwrap();
            Answers::read(&path).unwrap_err();
        }
    }
}
