//! Backups and restores that are killed in the middle.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::backup::{House, names};
use crate::seed::Random;

/// Kills of each command.
const KILLS: usize = 6;
/// Uploaded files, so that there is a middle to be killed in.
const FILES: u64 = 80;
const FILE_BYTES: u64 = 20_000;

/// Puts files where uploads are, with content that does not compress.
fn put_files(data: &Path, random: &mut Random) {
    for number in 0..FILES {
        let directory = data.join("assets").join(format!("{:02x}", number % 16));
        std::fs::create_dir_all(&directory).unwrap();
        let content: Vec<u8> =
            (0..FILE_BYTES / 8).flat_map(|_| random.range(0..u64::MAX).to_le_bytes()).collect();
        std::fs::write(directory.join(format!("{number:062x}")), content).unwrap();
    }
}

#[test]
fn a_killed_backup_leaves_no_file_of_that_name() {
    let Some(house) = House::new() else { return };
    let mut random = Random::new();
    house.create_project(&house.data, "kept");
    put_files(&house.data, &mut random);
    let started = Instant::now();
    house.json(&house.data, &["backup", house.path("first").to_str().unwrap()]);
    let took = u64::try_from(started.elapsed().as_millis()).unwrap();
    let (mut in_the_middle, mut whole) = (0, 0);
    for kill in 0..KILLS {
        let file = house.path(&format!("backup-{kill}"));
        let mut command = house.instance.bare_command(&["backup", file.to_str().unwrap()]);
        command.arg("--data").arg(&house.data);
        let mut process = house.instance.start(command);
        std::thread::sleep(Duration::from_millis(random.range(0..took + took / 4)));
        process.kill();
        if file.exists() {
            whole += 1;
        } else {
            in_the_middle += usize::from(house.path(&format!("backup-{kill}.part")).exists());
            // The same name again: what was left is in nobody's way.
            house.json(&house.data, &["backup", file.to_str().unwrap()]);
        }
        let restored = house.path(&format!("restored-{kill}"));
        house.json(&restored, &["restore", file.to_str().unwrap()]);
        assert_eq!(house.projects(&restored), ["kept"]);
        std::fs::remove_dir_all(restored).unwrap();
    }
    println!("of {KILLS} kills {in_the_middle} were in the middle and {whole} after the end");
    assert!(in_the_middle > 0, "a test that kills too late proves nothing");
    let left = names(house.instance.directory());
    assert!(!left.iter().any(|name| name.contains(".part")), "{left:?}");
}

#[test]
fn a_killed_restore_leaves_the_old_state_or_one_that_can_be_finished() {
    let Some(house) = House::new() else { return };
    let mut random = Random::new();
    let source = house.path("source");
    house.create_project(&source, "new");
    put_files(&source, &mut random);
    let file = house.path("backup.tar.gz");
    let file = file.to_str().unwrap();
    house.json(&source, &["backup", file]);
    let started = Instant::now();
    house.json(&house.path("first"), &["restore", file]);
    let took = u64::try_from(started.elapsed().as_millis()).unwrap();
    let mut ends = [0; 3];
    for kill in 0..KILLS {
        let data = house.path(&format!("data-{kill}"));
        house.create_project(&data, "old");
        put_files(&data, &mut random);
        let mut command = house.instance.bare_command(&["restore", file, "--force"]);
        command.arg("--data").arg(&data);
        let mut process = house.instance.start(command);
        // The end matters most: there the old gives way to the new.
        let earliest = if kill % 3 == 0 { 0 } else { took * 3 / 4 };
        std::thread::sleep(Duration::from_millis(random.range(earliest..took * 5 / 4 + 2)));
        process.kill();
        ends[check_after_kill(&house, &data, file)] += 1;
        let aside = names(&data).into_iter().find(|name| name.starts_with("before-restore-"));
        let aside = data.join(aside.expect("what was there before is there still"));
        assert_eq!(house.projects(&aside), ["old"]);
        assert_eq!(count_files(&aside.join("assets")), FILES);
        assert_eq!(count_files(&data.join("assets")), FILES);
        std::fs::remove_dir_all(data).unwrap();
    }
    let [old, unfinished, new] = ends;
    println!("of {KILLS} kills {old} left the old state, {unfinished} one to finish, {new} the new one");
    assert!(old > 0, "a test that kills too late proves nothing");
}

#[test]
fn a_restore_to_be_finished_keeps_everybody_away_until_it_is() {
    let Some(house) = House::new() else { return };
    let source = house.path("source");
    house.create_project(&source, "new");
    let file = house.path("backup.tar.gz");
    let file = file.to_str().unwrap();
    house.json(&source, &["backup", file]);
    house.create_project(&house.data, "old");
    // What a process leaves that is killed when it has just decided.
    let ready = house.data.join(".restore-ready");
    std::fs::create_dir(&ready).unwrap();
    let unpacked =
        Command::new("tar").args(["--exclude=SHA256SUMS", "-xzf", file, "-C"]).arg(&ready).status();
    assert!(unpacked.unwrap().success());
    let told = "was interrupted: run `bourse restore` with the same file again";
    for command in [&["project", "list"][..], &["serve"], &["demo"], &["doctor"], &["backup", "other"]] {
        let done = house.run(&house.data, command);
        let said = format!("{}{}", done.stdout, done.stderr);
        assert!(!done.status.success() && said.contains(told), "{command:?}: {said}");
    }
    assert_eq!(check_after_kill(&house, &house.data, file), 1);
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
