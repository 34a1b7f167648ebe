//! Writing a file whole or not at all.

use std::fs;
use std::io;
use std::path::Path;

/// How the name of a file ends that is being written.
pub(crate) const PART: &str = "part";

/// Writes aside, syncs and renames, so that a name stands for whole content or for none. Nobody else may have drawn `word`.
pub fn write_whole(
    path: &Path,
    word: &str,
    write: impl FnOnce(&mut fs::File) -> io::Result<()>,
) -> io::Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
    let aside = path.with_extension(format!("{word}.{PART}"));
    let written = fs::File::create_new(&aside).and_then(|mut file| {
        write(&mut file)?;
        file.sync_all()
    });
    let placed = written.and_then(|()| fs::rename(&aside, path));
    if placed.is_err() {
        // What failed is told of; whoever looks through the directory removes what is left.
        let _ = fs::remove_file(&aside);
    }
    placed?;
    sync_names(path)
}

/// Makes the name of a file last, and that of the part of the directory that it is in, which may be new.
pub fn sync_names(path: &Path) -> io::Result<()> {
    path.ancestors().skip(1).take(2).try_for_each(|directory| fs::File::open(directory)?.sync_all())
}

/// What is not there was removed already.
pub fn ignore_missing(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn a_full_disk_leaves_no_half_of_a_file() {
        let data = tempfile::tempdir().unwrap();
        let path = data.path().join("ab").join("cd");
        let full = || io::Error::from(rustix::io::Errno::NOSPC);
        let refused = write_whole(&path, "1", |file| file.write_all(b"half").and(Err(full()))).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::StorageFull);
        assert_eq!(fs::read_dir(data.path().join("ab")).unwrap().count(), 0, "nothing is left of it");
        write_whole(&path, "2", |file| file.write_all(b"whole")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"whole");
    }
}
