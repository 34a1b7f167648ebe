//! What of the files is on the disk for certain, and what was written since.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use bourse_random::Random;

/// What of everything that was written but not synced survives a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// Nothing.
    Nothing,
    /// Everything.
    All,
    /// Some pieces and others not, as a seed has it: a disk may write them in any order.
    Some(u64),
}

/// The size of a piece of which a disk writes all or nothing.
const SECTOR: usize = 512;

/// Files by their path.
#[derive(Default)]
pub(crate) struct Images(BTreeMap<PathBuf, Image>);

#[derive(Default)]
struct Image {
    synced: Vec<u8>,
    since: Vec<Change>,
}

enum Change {
    Written { offset: usize, content: Vec<u8> },
    Cut { length: usize },
}

impl Images {
    /// A file was opened. What it had before anybody looked is taken as synced.
    pub(crate) fn opened(&mut self, path: &Path) {
        if !self.0.contains_key(path) {
            let synced = std::fs::read(path).unwrap_or_default();
            self.0.insert(path.to_owned(), Image { synced, since: Vec::new() });
        }
    }

    pub(crate) fn written(&mut self, path: &Path, offset: usize, content: &[u8]) {
        self.note(path, Change::Written { offset, content: content.to_owned() });
    }

    pub(crate) fn cut(&mut self, path: &Path, length: usize) {
        self.note(path, Change::Cut { length });
    }

    fn note(&mut self, path: &Path, change: Change) {
        if let Some(image) = self.0.get_mut(path) {
            image.since.push(change);
        }
    }

    pub(crate) fn synced(&mut self, path: &Path) {
        if let Some(Image { synced, since }) = self.0.get_mut(path) {
            since.drain(..).for_each(|change| apply(synced, &change));
        }
    }

    pub(crate) fn deleted(&mut self, path: &Path) {
        self.0.remove(path);
    }

    pub(crate) fn write_to(&self, directory: &Path, kept: Kept) -> io::Result<()> {
        let mut random = Random::new(match kept {
            Kept::Some(seed) => seed,
            Kept::Nothing | Kept::All => 0,
        });
        for (path, Image { synced, since }) in &self.0 {
            let Some(name) = path.file_name() else { continue };
            let mut content = synced.clone();
            for change in since {
                match kept {
                    Kept::Nothing => {}
                    Kept::All => apply(&mut content, change),
                    Kept::Some(_) => apply_some(&mut content, change, &mut random),
                }
            }
            std::fs::write(directory.join(name), content)?;
        }
        Ok(())
    }
}

fn apply(content: &mut Vec<u8>, change: &Change) {
    match change {
        Change::Written { offset, content: written } => {
            let end = offset + written.len();
            if content.len() < end {
                content.resize(end, 0);
            }
            content[*offset..end].copy_from_slice(written);
        }
        Change::Cut { length } => content.resize(*length, 0),
    }
}

/// All of a change, nothing of it, or its first sectors.
fn apply_some(content: &mut Vec<u8>, change: &Change, random: &mut Random) {
    match (random.below(3), change) {
        (0, _) => {}
        (1, Change::Written { offset, content: written }) => {
            let sectors = random.below((written.len() / SECTOR) as u64 + 1);
            let length = usize::try_from(sectors).unwrap_or(0) * SECTOR;
            apply(content, &Change::Written { offset: *offset, content: written[..length].to_owned() });
        }
        _ => apply(content, change),
    }
}
