//! A directory of files that something in memory is kept in.

use std::fs;
use std::io::{self, BufWriter, Read as _, Write};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::frames::{FrameReader, FrameWriter, damaged};
use crate::whole::{PART, ignore_missing, write_whole};

/// How every file begins. Another number means another form of what follows.
const BEGINNING: &[u8; 16] = b"bourse kept  1\r\n";
/// How the names of files end.
const ENDING: &str = "kept";
/// Bytes that go to the disk at once, beside frames.
const BUFFER_BYTES: usize = 1 << 16;

/// The directory. It is made when the first file is.
#[derive(Clone, Debug)]
pub struct Keep {
    directory: PathBuf,
    bytes_max: u64,
}

/// What a file is of. One that is not of exactly this is of no use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label {
    /// The form that things have in memory, which is another for each build that changes it.
    pub layout: u64,
    /// What tells apart whose it is.
    pub owner: [u8; 32],
    /// The number that the database has for it.
    pub number: u64,
}

/// A file in the directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptEntry {
    /// Its name.
    pub name: String,
    /// How large it is.
    pub bytes: u64,
    /// When it was last of use.
    pub used: SystemTime,
}

/// A file that is being read.
pub struct Opened {
    /// What it has, of which the label was read.
    pub frames: FrameReader,
    /// How large it is.
    pub bytes: u64,
}

impl Keep {
    /// Files in a directory, of so many bytes together.
    pub fn new(directory: PathBuf, bytes_max: u64) -> Self {
        Self { directory, bytes_max }
    }

    /// The files, those last of use first. What was not written whole is removed.
    pub fn list(&self) -> io::Result<Vec<KeptEntry>> {
        let mut listed = Vec::new();
        let entries = match fs::read_dir(&self.directory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(listed),
            entries => entries?,
        };
        for entry in entries {
            let path = entry?.path();
            match (path.extension().and_then(|ending| ending.to_str()), path.file_stem()) {
                (Some(PART), _) => ignore_missing(fs::remove_file(&path))?,
                (Some(ENDING), Some(name)) => {
                    let metadata = fs::metadata(&path)?;
                    let (name, bytes) = (name.to_string_lossy().into_owned(), metadata.len());
                    listed.push(KeptEntry { name, bytes, used: metadata.modified()? });
                }
                _ => {}
            }
        }
        listed.sort_by(|one, other| other.used.cmp(&one.used).then_with(|| one.name.cmp(&other.name)));
        Ok(listed)
    }

    /// Writes a file whole, or leaves the one of that name as it is. Nobody else may have drawn `word`.
    pub fn write(
        &self,
        name: &str,
        word: &str,
        label: &Label,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        // For its owner only, as everything that is kept of people's accounts.
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.directory)?;
        write_whole(&self.path(name), word, |file| {
            let mut out = BufWriter::with_capacity(BUFFER_BYTES, file);
            out.write_all(BEGINNING)?;
            let mut frames = FrameWriter::new(out);
            label.write(&mut frames)?;
            write(&mut frames)?;
            frames.finish().map(drop)
        })?;
        self.make_room(name)
    }

    /// Opens a file that is of something; `None` when there is none, an error when it is of anything else.
    pub fn read(&self, name: &str, wanted: &Label) -> io::Result<Option<Opened>> {
        let mut file = match fs::File::open(self.path(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        let mut beginning = [0; BEGINNING.len()];
        file.read_exact(&mut beginning)?;
        if &beginning != BEGINNING {
            return Err(damaged("it has another form"));
        }
        let bytes = file.metadata()?.len();
        let mut frames = FrameReader::new(file)?;
        if Label::read(&mut frames)? != *wanted {
            return Err(damaged("it is of another build or of something else"));
        }
        Ok(Some(Opened { frames, bytes }))
    }

    /// Notes when a file was last of use.
    pub fn touch(&self, name: &str, at: SystemTime) -> io::Result<()> {
        ignore_missing(fs::File::open(self.path(name)).and_then(|file| file.set_modified(at)))
    }

    /// Removes a file, if there is one.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        ignore_missing(fs::remove_file(self.path(name)))
    }

    /// Removes what was of use longest ago until the rest fits, the one that was just written last.
    fn make_room(&self, written: &str) -> io::Result<()> {
        let mut entries = self.list()?;
        entries.sort_by_key(|entry| entry.name != written);
        let mut sum = 0_u64;
        for entry in entries {
            sum = sum.saturating_add(entry.bytes);
            if sum > self.bytes_max {
                self.remove(&entry.name)?;
            }
        }
        Ok(())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.join(Path::new(name).with_extension(ENDING))
    }
}

impl Label {
    fn write(&self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(&self.layout.to_le_bytes())?;
        out.write_all(&self.owner)?;
        out.write_all(&self.number.to_le_bytes())
    }

    fn read(from: &mut impl io::Read) -> io::Result<Self> {
        let (mut layout, mut owner, mut number) = ([0; 8], [0; 32], [0; 8]);
        from.read_exact(&mut layout)?;
        from.read_exact(&mut owner)?;
        from.read_exact(&mut number)?;
        let [layout, number] = [layout, number].map(u64::from_le_bytes);
        Ok(Self { layout, owner, number })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const LABEL: Label = Label { layout: 7, owner: [1; 32], number: 3 };

    fn keep(bytes_max: u64) -> (tempfile::TempDir, Keep) {
        let data = tempfile::tempdir().unwrap();
        let keep = Keep::new(data.path().join("kept"), bytes_max);
        (data, keep)
    }

    fn put(keep: &Keep, name: &str, content: &[u8]) {
        keep.write(name, "word", &LABEL, |out| out.write_all(content)).unwrap();
    }

    fn read(keep: &Keep, name: &str, label: &Label) -> io::Result<Option<Vec<u8>>> {
        let Some(mut opened) = keep.read(name, label)? else { return Ok(None) };
        let mut content = Vec::new();
        opened.frames.read_to_end(&mut content)?;
        opened.frames.finish()?;
        Ok(Some(content))
    }

    fn names(keep: &Keep) -> Vec<String> {
        keep.list().unwrap().into_iter().map(|entry| entry.name).collect()
    }

    #[test]
    fn a_file_is_read_by_whom_it_is_of_and_nobody_else() {
        let (_data, keep) = keep(1 << 20);
        assert_eq!((read(&keep, "1-a", &LABEL).unwrap(), names(&keep)), (None, vec![]));
        put(&keep, "1-a", b"first");
        put(&keep, "1-a", b"second");
        assert_eq!(read(&keep, "1-a", &LABEL).unwrap().unwrap(), b"second");
        let others =
            [Label { layout: 8, ..LABEL }, Label { owner: [2; 32], ..LABEL }, Label { number: 4, ..LABEL }];
        for other in others {
            assert_eq!(read(&keep, "1-a", &other).unwrap_err().kind(), io::ErrorKind::InvalidData);
        }
        let path = keep.path("1-a");
        let mut bytes = fs::read(&path).unwrap();
        bytes[13] += 1;
        fs::write(&path, bytes).unwrap();
        assert!(read(&keep, "1-a", &LABEL).is_err(), "another form");
    }

    #[test]
    fn what_fails_leaves_what_there_was() {
        let (_data, keep) = keep(1 << 20);
        put(&keep, "a", b"whole");
        let full = || io::Error::from(rustix::io::Errno::NOSPC);
        let failed = keep.write("a", "word", &LABEL, |out| out.write_all(&vec![1; 3 << 20]).and(Err(full())));
        assert_eq!(failed.unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(read(&keep, "a", &LABEL).unwrap().unwrap(), b"whole");
        // A process that was killed in the middle.
        fs::write(keep.path("a").with_extension("other.part"), b"half").unwrap();
        assert_eq!(names(&keep), ["a"]);
        assert_eq!(fs::read_dir(&keep.directory).unwrap().count(), 1, "nothing is left of it");
    }

    #[test]
    fn what_was_of_use_longest_ago_goes_first() {
        let (_data, keep) = keep(3_500);
        let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        for (name, seconds) in [("a", 30), ("b", 20), ("c", 10)] {
            put(&keep, name, &[7; 1_000]);
            keep.touch(name, at(seconds)).unwrap();
        }
        assert_eq!(names(&keep), ["a", "b", "c"]);
        put(&keep, "d", &[7; 1_000]);
        assert_eq!(names(&keep), ["d", "a", "b"]);
        keep.remove("a").unwrap();
        keep.remove("a").unwrap();
        assert_eq!(names(&keep), ["d", "b"]);
    }
}
