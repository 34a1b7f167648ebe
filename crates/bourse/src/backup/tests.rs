//! Archives that nobody wrote with `bourse backup`.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use bourse_disk::{Disk, Weather};
use bourse_server::{Files, entropy};
use bourse_store::{DatabaseUrl, OpenOptions, Store};
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};

use super::write::sum_line;
use super::{BackupError, FORMAT_VERSION, MANIFEST, Manifest, SUMS, Source, finish, is_unfinished, restore};

/// An archive with these entries, and correct sums behind them.
struct ForgedBackup {
    tar: tar::Builder<GzEncoder<Vec<u8>>>,
    sums: String,
}

impl ForgedBackup {
    fn new(manifest: &str) -> Self {
        let tar = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        Self { tar, sums: String::new() }.with(MANIFEST, tar::EntryType::Regular, manifest)
    }

    fn with(mut self, name: &str, kind: tar::EntryType, content: &str) -> Self {
        let mut header = tar::Header::new_gnu();
        // Set by hand: the library refuses to write names that lead elsewhere.
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_size(content.len() as u64);
        header.set_entry_type(kind);
        header.set_cksum();
        self.tar.append(&header, content.as_bytes()).unwrap();
        self.sums.push_str(&sum_line(Sha256::digest(content).as_slice(), name));
        self
    }

    fn write(self, directory: &Path) -> PathBuf {
        let sums = self.sums.clone();
        let forged = self.with(SUMS, tar::EntryType::Regular, &sums);
        write(directory, &forged.tar.into_inner().unwrap().finish().unwrap())
    }
}

fn write(directory: &Path, content: &[u8]) -> PathBuf {
    let path = directory.join("forged.tar.gz");
    fs::File::create(&path).unwrap().write_all(content).unwrap();
    path
}

fn manifest() -> String {
    serde_json::to_string(&Manifest::new(1, "2025-01-31T12:00:00Z".parse().unwrap())).unwrap()
}

/// What a restore says, which must leave the directory as it was.
fn refusal(directory: &Path, file: &Path) -> BackupError {
    let data = directory.join("data");
    fs::create_dir_all(&data).unwrap();
    let refused = restore(file, &data, false, "2025-01-31T12:00:00Z".parse().unwrap()).err().unwrap();
    assert_eq!(fs::read_dir(&data).unwrap().count(), 0, "{refused}");
    refused
}

#[test]
fn a_whole_archive_is_taken() {
    let directory = tempfile::tempdir().unwrap();
    let regular = tar::EntryType::Regular;
    let forged =
        ForgedBackup::new(&manifest()).with("bourse.db", regular, "db").with("assets/ab/cd", regular, "x");
    let file = forged.write(directory.path());
    let data = directory.path().join("data");
    fs::create_dir_all(&data).unwrap();
    let restored = restore(&file, &data, false, "2025-01-31T12:00:00Z".parse().unwrap()).unwrap();
    assert_eq!((restored.files, restored.aside), (1, None));
    assert_eq!(fs::read_to_string(data.join("assets/ab/cd")).unwrap(), "x");
    assert_eq!(fs::read_dir(&data).unwrap().count(), 2, "nothing else is left");
}

#[test]
fn names_that_no_backup_has_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let names = ["../escaped", "/escaped", "assets/../../escaped", "assets", "bourse.db-wal", "etc/passwd"];
    for name in names {
        let forged = ForgedBackup::new(&manifest()).with(name, tar::EntryType::Regular, "x");
        let refused = refusal(directory.path(), &forged.write(directory.path()));
        assert!(matches!(refused, BackupError::Foreign { .. }), "{name}: {refused}");
        assert!(!directory.path().join("escaped").exists() && !Path::new("/escaped").exists(), "{name}");
    }
    for kind in [tar::EntryType::Symlink, tar::EntryType::Link, tar::EntryType::Directory] {
        let forged = ForgedBackup::new(&manifest()).with("assets/x", kind, "");
        let refused = refusal(directory.path(), &forged.write(directory.path()));
        assert!(matches!(refused, BackupError::Foreign { .. }), "{kind:?}: {refused}");
    }
}

#[test]
fn what_is_missing_twice_or_different_is_damage() {
    let directory = tempfile::tempdir().unwrap();
    let regular = tar::EntryType::Regular;
    let without_database = ForgedBackup::new(&manifest());
    let twice =
        ForgedBackup::new(&manifest()).with("bourse.db", regular, "a").with("bourse.db", regular, "b");
    let mut another_sum = ForgedBackup::new(&manifest()).with("bourse.db", regular, "a");
    another_sum.sums = another_sum.sums.replace("  bourse.db", "0  bourse.db");
    let mut no_sum = ForgedBackup::new(&manifest()).with("bourse.db", regular, "a");
    no_sum.sums = no_sum.sums.lines().take(1).fold(String::new(), |all, line| all + line + "\n");
    let mut missing = ForgedBackup::new(&manifest()).with("bourse.db", regular, "a");
    missing.sums.push_str(&sum_line(&[0; 32], "assets/ab/cd"));
    for forged in [without_database, twice, another_sum, no_sum, missing] {
        let refused = refusal(directory.path(), &forged.write(directory.path()));
        assert!(matches!(refused, BackupError::Torn { .. }), "{refused}");
    }
    // Written to its end as a tar, but without the sums that tell so.
    let tar = ForgedBackup::new(&manifest()).with("bourse.db", regular, "a").tar;
    let file = write(directory.path(), &tar.into_inner().unwrap().finish().unwrap());
    assert!(matches!(refusal(directory.path(), &file), BackupError::Torn { .. }));
}

#[test]
fn other_files_and_newer_backups_are_told_apart() {
    let directory = tempfile::tempdir().unwrap();
    for content in ["", "text", "{\"format\":\"bourse-backup\"}"] {
        let refused = refusal(directory.path(), &write(directory.path(), content.as_bytes()));
        assert!(matches!(refused, BackupError::Foreign { .. }), "{content}: {refused}");
    }
    for text in ["{}", "nonsense", "{\"format\":\"another\",\"formatVersion\":1}"] {
        let refused = refusal(directory.path(), &ForgedBackup::new(text).write(directory.path()));
        assert!(matches!(refused, BackupError::Foreign { .. }), "{text}: {refused}");
    }
    let newer = format!("{{\"format\":\"bourse-backup\",\"formatVersion\":{}}}", FORMAT_VERSION + 1);
    let refused = refusal(directory.path(), &ForgedBackup::new(&newer).write(directory.path()));
    assert!(matches!(refused, BackupError::NewerFormat { .. }), "{refused}");
    let newer = manifest().replace("\"schema\":1", "\"schema\":9999");
    let refused = refusal(directory.path(), &ForgedBackup::new(&newer).write(directory.path()));
    assert!(matches!(refused, BackupError::NewerSchema { found: 9999, .. }), "{refused}");
}

/// Every moment at which a restore that was decided can be killed, as what the data directory then holds.
const INTERRUPTED: [&[(&str, &str)]; 5] = [
    &[("bourse.db", "old"), ("jwt.secret", "old"), (".restore-ready/bourse.db", "new")],
    &[("jwt.secret", "old"), ("before-restore-1/bourse.db", "old"), (".restore-ready/bourse.db", "new")],
    &[
        ("before-restore-1/bourse.db", "old"),
        ("before-restore-1/jwt.secret", "old"),
        (".restore-ready/bourse.db", "new"),
    ],
    &[
        ("before-restore-1/bourse.db", "old"),
        ("before-restore-1/jwt.secret", "old"),
        (".restore-placing/bourse.db", "new"),
    ],
    &[
        ("before-restore-1/bourse.db", "old"),
        ("before-restore-1/jwt.secret", "old"),
        ("bourse.db", "new"),
        (".restore-placing/bourse.db", "new"),
    ],
];

#[test]
fn a_restore_that_was_decided_can_be_finished_from_wherever_it_was() {
    for files in INTERRUPTED {
        let data = tempfile::tempdir().unwrap();
        for (name, content) in files {
            let path = data.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, content).unwrap();
            if name.starts_with(".restore") {
                fs::write(path.with_file_name(MANIFEST), manifest()).unwrap();
            }
        }
        assert!(is_unfinished(data.path()), "{files:?}");
        let finished = finish(data.path(), "2025-01-31T12:00:00Z".parse().unwrap()).unwrap().unwrap();
        assert_eq!(finished.manifest.schema, 1);
        assert!(!is_unfinished(data.path()), "{files:?}");
        assert_eq!(fs::read_to_string(data.path().join("bourse.db")).unwrap(), "new", "{files:?}");
        // Of the old nothing is lost, and nothing is where it was.
        let aside = |name: &str| {
            let directories = fs::read_dir(data.path()).unwrap().map(|entry| entry.unwrap().path());
            directories.filter(|path| path.is_dir()).find_map(|path| fs::read_to_string(path.join(name)).ok())
        };
        assert_eq!(aside("bourse.db").as_deref(), Some("old"), "{files:?}");
        assert_eq!(aside("jwt.secret").as_deref(), Some("old"), "{files:?}");
        assert!(!data.path().join("jwt.secret").exists(), "{files:?}");
        let left = fs::read_dir(data.path()).unwrap().map(|entry| entry.unwrap().file_name());
        assert!(left.into_iter().all(|name| !name.to_string_lossy().starts_with('.')), "{files:?}");
        assert!(finish(data.path(), "2025-01-31T12:00:00Z".parse().unwrap()).unwrap().is_none());
    }
}

#[tokio::test]
async fn a_full_disk_leaves_nothing_of_a_backup_and_is_named() {
    let (data, backups) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let now = "2025-01-31T12:00:00Z".parse().unwrap();
    let database = data.path().join("bourse.db");
    let store =
        Store::open(&DatabaseUrl::Sqlite(database.clone()), OpenOptions::default(), now).await.unwrap();
    let files = Files::in_directory(data.path().join("assets"), entropy::word).unwrap();
    let source = Source { data: data.path().to_owned(), database, files };
    let file = backups.path().join("backup.tar.gz");
    let disk = Disk::under(backups.path()).unwrap();
    disk.set_weather(Weather::Full);
    let refused = source.clone().write(&file, now).await.err().unwrap();
    assert!(matches!(refused, BackupError::Full { .. }), "{refused}");
    assert!(refused.to_string().contains("no room is left on that disk"), "{refused}");
    assert_eq!(fs::read_dir(backups.path()).unwrap().count(), 0, "nothing is left of it");
    disk.set_weather(Weather::Fair);
    source.write(&file, now).await.unwrap();
    assert!(file.is_file());
    store.close().await;
}
