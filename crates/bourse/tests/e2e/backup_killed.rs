//! Backups and restores that are killed in the middle.
//!
//! The system kills them when a file that they write becomes larger than the test lets it, so that where they are at that
//! moment follows from bytes, not from how fast the machine is.

use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::backup::{House, names};
use crate::process::{WAIT_MAX, clean_command};
use crate::random::Random;

/// The signal that ends a process that writes more than it may; it can prepare for it as little as for `kill -9`.
const SIGXFSZ: i32 = 25;
/// What `ulimit -f` counts in.
const BLOCK_BYTES: u64 = 512;
/// Uploaded files, each larger than the one before.
const FILES: u64 = 8;
/// How much larger.
const FILE_STEP_BYTES: u64 = 32 * 1024;

/// Puts files where uploads are, with content that does not compress. All are larger than `least_bytes`.
fn put_files(data: &Path, random: &mut Random, least_bytes: u64) {
    for number in 0..FILES {
        let directory = data.join("assets").join(format!("{:02x}", number % 16));
        std::fs::create_dir_all(&directory).unwrap();
        let words = (least_bytes + (number + 1) * FILE_STEP_BYTES) / 8;
        let content: Vec<u8> = (0..words).flat_map(|_| random.range(0..u64::MAX).to_le_bytes()).collect();
        std::fs::write(directory.join(format!("{number:062x}")), content).unwrap();
    }
}

fn size(path: &Path) -> u64 {
    std::fs::metadata(path).unwrap().len()
}

/// Runs a command that the system kills once a file of it has more than so many bytes.
fn kill_at(house: &House, data: &Path, arguments: &[&str], bytes: u64) {
    let mut command = clean_command("sh", house.instance.directory());
    command.args([
        "-c",
        "ulimit -c 0 && ulimit -f \"$0\" && exec \"$@\"",
        &(bytes / BLOCK_BYTES).to_string(),
    ]);
    command.arg(env!("CARGO_BIN_EXE_bourse")).args(arguments).arg("--data").arg(data);
    let done = house.instance.start(command).wait(WAIT_MAX);
    assert_eq!(done.status.signal(), Some(SIGXFSZ), "a test that kills too late proves nothing: {done:?}");
}

#[test]
fn a_killed_backup_leaves_no_file_of_that_name() {
    let Some(house) = House::new() else { return };
    let mut random = Random::new();
    house.create_project(&house.data, "kept");
    let database = size(&house.data.join("bourse.db"));
    put_files(&house.data, &mut random, 0);
    let first = house.path("first");
    house.json(&house.data, &["backup", first.to_str().unwrap()]);
    // The database is copied first, and that copy is a file of its own; then comes the archive.
    let archive = size(&first);
    assert!(archive > database + 4 * FILE_STEP_BYTES, "{archive} {database}");
    let steps = (1..=4).map(|step| database + (archive - database) * step / 5);
    let bytes = [0, random.range(database / 4..database / 2)].into_iter().chain(steps);
    for (kill, bytes) in bytes.enumerate() {
        let file = house.path(&format!("backup-{kill}"));
        kill_at(&house, &house.data, &["backup", file.to_str().unwrap()], bytes);
        assert!(!file.exists(), "killed at {bytes} of {archive} bytes");
        assert!(house.path(&format!("backup-{kill}.part")).exists(), "killed before it began");
        // The same name again: what was left is in nobody's way.
        house.json(&house.data, &["backup", file.to_str().unwrap()]);
        let restored = house.path(&format!("restored-{kill}"));
        house.json(&restored, &["restore", file.to_str().unwrap()]);
        assert_eq!(house.projects(&restored), ["kept"]);
        std::fs::remove_dir_all(restored).unwrap();
    }
    let left = names(house.instance.directory());
    assert!(!left.iter().any(|name| name.contains(".part")), "{left:?}");
}

#[test]
fn a_restore_killed_before_it_decides_leaves_the_old_state() {
    let Some(house) = House::new() else { return };
    let mut random = Random::new();
    let source = house.path("source");
    house.create_project(&source, "new");
    let database = size(&source.join("bourse.db"));
    // All are larger than the database, so that a limit tells at which of them it ends.
    put_files(&source, &mut random, database);
    let file = house.path("backup.tar.gz");
    let file = file.to_str().unwrap();
    house.json(&source, &["backup", file]);
    let early = [0, random.range(database / 4..database / 2)];
    let late = [1, 3, FILES - 2, FILES - 1].map(|files| database + files * FILE_STEP_BYTES + BLOCK_BYTES);
    for (kill, bytes) in early.into_iter().chain(late).enumerate() {
        let data = house.path(&format!("data-{kill}"));
        house.create_project(&data, "old");
        put_files(&data, &mut random, 0);
        kill_at(&house, &data, &["restore", file, "--force"], bytes);
        assert!(names(&data).contains(&".restore-unpacking".to_owned()), "{:?}", names(&data));
        assert_eq!(check_after_kill(&house, &data, file), 0, "killed at {bytes} bytes");
        check_aside(&house, &data);
        std::fs::remove_dir_all(data).unwrap();
    }
}

/// What was there before a restore is aside, in as many directories as it took, and what was restored is there.
fn check_aside(house: &House, data: &Path) {
    let aside = names(data).into_iter().filter(|name| name.starts_with("before-restore-"));
    let aside: Vec<PathBuf> = aside.map(|name| data.join(name)).collect();
    let database = aside.iter().find(|aside| aside.join("bourse.db").exists());
    assert_eq!(house.projects(database.unwrap()), ["old"]);
    assert_eq!(aside.iter().map(|aside| count_files(&aside.join("assets"))).sum::<u64>(), FILES);
    assert_eq!(count_files(&data.join("assets")), FILES);
}

/// What a process leaves that is killed after it decided, as what it had moved by then: things that were there go aside,
/// and once they have, those that come out of the backup take their place.
const MOVED: [(&str, &[&str]); 4] = [
    (".restore-ready", &[]),
    (".restore-ready", &["assets"]),
    (".restore-placing", &[]),
    (".restore-placing", &["assets", "bourse.db"]),
];

#[test]
fn a_restore_to_be_finished_keeps_everybody_away_until_it_is() {
    let Some(house) = House::new() else { return };
    let mut random = Random::new();
    let source = house.path("source");
    house.create_project(&source, "new");
    put_files(&source, &mut random, 0);
    let file = house.path("backup.tar.gz");
    let file = file.to_str().unwrap();
    house.json(&source, &["backup", file]);
    let told = "was interrupted: run `bourse restore` with the same file again";
    for (number, (stage, moved)) in MOVED.into_iter().enumerate() {
        let data = house.path(&format!("data-{number}"));
        house.create_project(&data, "old");
        put_files(&data, &mut random, 0);
        leave_unfinished(&data, file, stage, moved);
        for command in [&["project", "list"][..], &["serve"], &["demo"], &["doctor"], &["backup", "other"]] {
            let done = house.run(&data, command);
            let said = format!("{}{}", done.stdout, done.stderr);
            assert!(!done.status.success() && said.contains(told), "{stage} {moved:?}, {command:?}: {said}");
        }
        assert_eq!(check_after_kill(&house, &data, file), 1);
        check_aside(&house, &data);
    }
}

/// Makes a data directory that of a restore that was killed at a stage, when it had moved some entries.
fn leave_unfinished(data: &Path, file: &str, stage: &str, moved: &[&str]) {
    let (staged, aside) = (data.join(stage), data.join("before-restore-2025-01-31T12-00-00Z"));
    let old: Vec<String> = names(data);
    std::fs::create_dir(&staged).unwrap();
    let unpacked =
        Command::new("tar").args(["--exclude=SHA256SUMS", "-xzf", file, "-C"]).arg(&staged).status();
    assert!(unpacked.unwrap().success());
    let is_placing = stage == ".restore-placing";
    let rename =
        |from: &Path, to: &Path, name: &str| std::fs::rename(from.join(name), to.join(name)).unwrap();
    for name in old.iter().filter(|name| is_placing || moved.contains(&name.as_str())) {
        std::fs::create_dir_all(&aside).unwrap();
        rename(data, &aside, name);
    }
    for name in moved.iter().filter(|_| is_placing) {
        rename(&staged, data, name);
    }
}

/// Looks at what a killed restore left, and restores for good: 0 when the old state was there, 1 when there was something
/// to finish, 2 when the new state was there.
fn check_after_kill(house: &House, data: &Path, file: &str) -> usize {
    let listed = house.run(data, &["project", "list"]);
    if !listed.status.success() {
        assert!(listed.stderr.contains("was interrupted: run `bourse restore`"), "{listed:?}");
        let done = house.run(data, &["restore", file]);
        assert!(done.status.success() && done.stderr.contains("finished a restore"), "{done:?}");
        assert_eq!(house.projects(data), ["new"]);
        return 1;
    }
    if listed.stdout.contains("new") {
        return 2;
    }
    assert_eq!(house.projects(data), ["old"]);
    house.json(data, &["restore", file, "--force"]);
    assert_eq!(house.projects(data), ["new"]);
    0
}

fn count_files(directory: &Path) -> u64 {
    names(directory).iter().map(|name| names(&directory.join(name)).len() as u64).sum()
}
