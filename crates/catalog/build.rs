//! Finds a number for the form that a collection has in memory: it is another for each build in which that may be another.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// What decides how a collection looks in memory, beside the compiler: the crates that it is made of, and theirs.
const SOURCES: [&str; 5] = ["src", "../sets/src", "../market/src", "../wire/src", "../../Cargo.lock"];

fn main() -> io::Result<()> {
    let mut files = BTreeSet::new();
    for source in SOURCES {
        println!("cargo::rerun-if-changed={source}");
        gather(Path::new(source), &mut files)?;
    }
    let mut hasher = DefaultHasher::new();
    for file in files {
        fs::read(&file)?.hash(&mut hasher);
    }
    println!("cargo::rustc-env=BOURSE_CATALOG_LAYOUT={}", hasher.finish());
    Ok(())
}

fn gather(path: &Path, files: &mut BTreeSet<PathBuf>) -> io::Result<()> {
    if path.is_dir() {
        return fs::read_dir(path)?.try_for_each(|entry| gather(&entry?.path(), files));
    }
    if path.is_file() {
        files.insert(path.to_owned());
    }
    Ok(())
}
