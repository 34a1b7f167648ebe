//! `bourse backup` and `bourse restore`: what was acknowledged before is there after, and what is damaged is refused.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::durability::{check_groups, check_over_http, check_tokens, list_tokens, make_targets};
use crate::durability_writers::{Merged, write_until};
use crate::http::{Answer, Credential, Exchange, get, head};
use crate::instance::{Instance, Project, Server, free_port};
use crate::process::{Done, WAIT_MAX};
use crate::random::Random;

const IMAGE: &str = "<svg xmlns='http://www.w3.org/2000/svg' width='1' height='1'/>";

/// An installation whose database is in its data directory, as it is without settings.
pub(crate) struct House {
    pub(crate) instance: Instance,
    pub(crate) data: PathBuf,
}

impl House {
    /// Nothing where the tests are for PostgreSQL: there is nothing embedded to back up.
    pub(crate) fn new() -> Option<Self> {
        let instance = Instance::new();
        let data = instance.directory().join("house");
        (!instance.is_postgres()).then_some(Self { instance, data })
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.instance.directory().join(name)
    }

    /// Runs a command on a data directory.
    pub(crate) fn run(&self, data: &Path, arguments: &[&str]) -> Done {
        let mut command = self.instance.bare_command(arguments);
        command.arg("--data").arg(data);
        self.instance.start(command).wait(WAIT_MAX)
    }

    pub(crate) fn json(&self, data: &Path, arguments: &[&str]) -> Value {
        let done = self.run(data, &[arguments, &["--json"]].concat());
        assert!(done.status.success(), "{arguments:?}: {done:?}");
        serde_json::from_str(&done.stdout).unwrap()
    }

    pub(crate) fn failure(&self, data: &Path, arguments: &[&str]) -> String {
        let done = self.run(data, arguments);
        assert!(!done.status.success(), "{arguments:?}: {done:?}");
        assert!(!done.stderr.contains("panicked"), "{done:?}");
        done.stderr
    }

    pub(crate) fn serve(&self, data: &Path) -> Server {
        let port = free_port();
        let mut command = self.instance.bare_command(&["serve", "--listen", &format!("127.0.0.1:{port}")]);
        command.arg("--data").arg(data);
        let mut server = Server { process: self.instance.start(command), port };
        server.wait_ready(WAIT_MAX);
        server
    }

    pub(crate) fn create_project(&self, data: &Path, name: &str) -> Project {
        Project::read(&self.json(data, &["project", "create", name]))
    }

    /// The names of all projects, which tell one state from another.
    pub(crate) fn projects(&self, data: &Path) -> Vec<String> {
        let listed = self.json(data, &["project", "list"]);
        listed.as_array().unwrap().iter().map(|entry| entry["name"].as_str().unwrap().to_owned()).collect()
    }
}

pub(crate) fn names(directory: &Path) -> Vec<String> {
    let Ok(listed) = std::fs::read_dir(directory) else { return Vec::new() };
    let mut names: Vec<String> =
        listed.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Uploads an image for a token of a collection.
fn upload(server: &Server, project: &Project, (collection, number): (u64, u64)) -> Answer {
    let body = format!(
        "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.svg\"\r\n\r\n{IMAGE}\r\n--b--\r\n"
    );
    let path = format!("/projects/{}/collections/{collection}/tokens/{number}/upload/image", project.id);
    let headers = [
        "Content-Type: multipart/form-data; boundary=b".to_owned(),
        format!("Authorization: Bearer {}", project.token),
    ];
    let mut exchange = Exchange::open(server.port).unwrap();
    exchange.send(&format!("{}{body}", head("PUT", &path, &headers, body.len()))).unwrap();
    exchange.answer().unwrap()
}

#[test]
fn what_was_acknowledged_before_a_backup_is_in_it_while_others_write() {
    let Some(house) = House::new() else { return };
    let project = house.create_project(&house.data, "kept");
    let server = house.serve(&house.data);
    let before = make_targets(&server, &project, 0);
    let kept = write_until(server.port, &project.token, before, |writers| {
        writers.wait_for_each(5);
        writers.stop();
    });
    let number = *kept.tokens.acknowledged.first().expect("nobody wrote");
    upload(&server, &project, (before.collection, number)).ok();
    let publish = json!({ "collectionId": before.collection, "recursive": true });
    server.call("Collections/PublishCollection", Credential::Token(&project.token), &publish).ok();
    let file = house.path("backup.tar.gz");
    let shown = file.to_str().unwrap();
    let meanwhile = make_targets(&server, &project, 1);
    let mut made = Value::Null;
    let logs = write_until(server.port, &project.token, meanwhile, |writers| {
        writers.wait_for_each(5);
        made = house.json(&house.data, &["backup", shown]);
        writers.wait_for_each(5);
        writers.stop();
    });
    assert!(kept.acknowledged() > 0 && logs.acknowledged() > 0, "nobody wrote");
    assert_eq!((made["files"].as_u64(), made["file"].as_str()), (Some(2), Some(shown)), "{made}");
    assert_eq!(made["bytes"], json!(std::fs::metadata(&file).unwrap().len()));
    assert_eq!(permissions(&file), 0o600, "it holds the signing secret");
    assert_eq!(
        names(house.instance.directory()).iter().filter(|name| name.contains("backup")).count(),
        1,
        "nothing beside it"
    );
    // Elsewhere, and while the first is still there: both are whole services of their own.
    let elsewhere = house.path("elsewhere");
    let restored = house.json(&elsewhere, &["restore", shown]);
    assert_eq!((&restored["files"], &restored["aside"]), (&json!(2), &Value::Null), "{restored}");
    assert_eq!(names(&elsewhere), ["assets", "bourse.db", "jwt.secret"]);
    assert_eq!((permissions(&elsewhere), permissions(&elsewhere.join("jwt.secret"))), (0o700, 0o600));
    let second = house.serve(&elsewhere);
    // The old token works: the signing secret came along.
    check_over_http(&second, &project, before, &kept);
    let image =
        format!("/projects/{}/collections/{}/tokens/{number}/asset/image", project.id, before.collection);
    assert_eq!(get(second.port, &image).unwrap().body, IMAGE);
    // Of what was written meanwhile anything may be there, but nothing by half.
    let body = json!({ "audienceId": meanwhile.audience });
    let token = Credential::Token(&project.token);
    let view = second.call("Builder/GetAudience", token, &body).ok();
    let addresses = view["contacts"].as_array().unwrap().iter().map(|contact| contact["address"].as_str());
    let in_doubt = |log: &Merged| Merged {
        acknowledged: Vec::new(),
        in_doubt: log.acknowledged.iter().chain(&log.in_doubt).copied().collect(),
    };
    let groups = check_groups(addresses.map(Option::unwrap), &in_doubt(&logs.contacts));
    let tokens = list_tokens(&second, token, meanwhile.collection);
    check_tokens(&tokens, &in_doubt(&logs.tokens));
    println!(
        "meanwhile {} groups and {} tokens were acknowledged, of which {groups} and {} are in the backup",
        logs.contacts.acknowledged.len(),
        logs.tokens.acknowledged.len(),
        tokens.len()
    );
    // It goes on from there.
    second.call("Builder/CreateAudience", token, &json!({ "name": "after" })).ok();
}

fn permissions(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_backup_that_was_cut_is_refused_and_changes_nothing() {
    let Some(house) = House::new() else { return };
    let mut random = Random::new();
    let whole = back_up(&house);
    let old = names(&house.data);
    let length = whole.len() as u64;
    let cuts = [0, 1, 10, length / 2, length - 1].into_iter().chain((0..8).map(|_| random.range(10..length)));
    for cut in cuts {
        let what = format!("cut at {cut} of {length}");
        let (torn, fresh) = (house.path("torn.tar.gz"), house.path("fresh"));
        std::fs::write(&torn, &whole[..usize::try_from(cut).unwrap()]).unwrap();
        let torn = torn.to_str().unwrap();
        let said = house.failure(&fresh, &["restore", torn]);
        assert!(
            said.contains("torn.tar.gz is damaged") || said.contains("is not a backup"),
            "{what}: {said}"
        );
        assert!(!fresh.exists(), "{what}: {:?}", names(&fresh));
        house.failure(&house.data, &["restore", torn, "--force"]);
        assert_eq!(names(&house.data), old, "{what}");
    }
    assert_eq!(house.projects(&house.data), ["old"]);
}

#[test]
fn a_backup_that_was_changed_is_refused_or_changed_nothing() {
    let Some(house) = House::new() else { return };
    let mut random = Random::new();
    let whole = back_up(&house);
    let good = house.path("good");
    house.json(&good, &["restore", house.path("whole.tar.gz").to_str().unwrap()]);
    let changed = house.path("changed.tar.gz");
    let mut refused = 0;
    for _ in 0..16 {
        let (place, bit) = (random.range(0..whole.len() as u64), random.range(0..8));
        let mut content = whole.clone();
        content[usize::try_from(place).unwrap()] ^= 1 << bit;
        std::fs::write(&changed, content).unwrap();
        let fresh = house.path("fresh");
        let done = house.run(&fresh, &["restore", changed.to_str().unwrap()]);
        if done.status.success() {
            // A compressed stream has bits that make no difference.
            for name in ["bourse.db", "jwt.secret"] {
                let content = |data: &Path| std::fs::read(data.join(name)).unwrap();
                assert!(content(&fresh) == content(&good), "bit {bit} of byte {place} went unseen in {name}");
            }
            std::fs::remove_dir_all(&fresh).unwrap();
        } else {
            refused += 1;
            assert!(done.stderr.contains("changed.tar.gz is") && !fresh.exists(), "{done:?}");
        }
    }
    assert!(refused > 0, "nothing was refused");
}

/// Backs a small installation up.
fn back_up(house: &House) -> Vec<u8> {
    house.create_project(&house.data, "old");
    let file = house.path("whole.tar.gz");
    house.json(&house.data, &["backup", file.to_str().unwrap()]);
    std::fs::read(file).unwrap()
}

#[test]
fn a_directory_that_is_in_use_or_not_empty_is_left_alone() {
    let Some(house) = House::new() else { return };
    let file = house.path("backup.tar.gz");
    let file = file.to_str().unwrap();
    house.create_project(&house.data, "backed up");
    let log = house.json(&house.data, &["log"]);
    house.json(&house.data, &["backup", file]);
    let said = house.failure(&house.data, &["backup", file]);
    assert!(said.contains("overwrites nothing"), "{said}");
    house.create_project(&house.data, "later");
    let said = house.failure(&house.data, &["restore", file]);
    assert!(said.contains("not empty") && said.contains("--force"), "{said}");
    let mut server = house.serve(&house.data);
    for arguments in [&["restore", file][..], &["restore", file, "--force"]] {
        let said = house.failure(&house.data, arguments);
        assert!(said.contains("is in use: stop the service"), "{said}");
    }
    assert_eq!(house.projects(&house.data), ["backed up", "later"]);
    server.process.kill();
    let restored = house.json(&house.data, &["restore", file, "--force"]);
    let aside = PathBuf::from(restored["aside"].as_str().unwrap());
    assert_eq!(house.projects(&house.data), ["backed up"]);
    assert_eq!(house.json(&house.data, &["log"]), log, "who administered what is in a backup too");
    assert_eq!(house.projects(&aside), ["backed up", "later"], "nothing is lost");
    // A second time, and what is aside stays where it is.
    let again = house.json(&house.data, &["restore", file, "--force"]);
    assert_ne!(again["aside"], restored["aside"]);
    assert_eq!(house.projects(&aside), ["backed up", "later"]);
    // It holds nothing that a backup is made of.
    let said = house.failure(&house.path("nowhere"), &["backup", house.path("b").to_str().unwrap()]);
    assert!(said.contains("no database at"), "{said}");
    assert!(!house.path("b").exists() && !house.path("nowhere").exists());
    let said = house.failure(&house.path("fresh"), &["restore", "missing.tar.gz"]);
    assert!(said.contains("missing.tar.gz"), "{said}");
}

#[test]
fn a_database_elsewhere_is_backed_up_and_restored_into_the_data_directory() {
    let instance = Instance::new();
    let file = instance.directory().join("backup.tar.gz");
    let file = file.to_str().unwrap();
    instance.create_project("elsewhere");
    let done = instance.run(&["backup", file]);
    if instance.is_postgres() {
        for done in [done, instance.run(&["restore", file])] {
            assert!(!done.status.success(), "{done:?}");
            for told in ["pg_dump", "assets", "jwt.secret", "docs/production.md"] {
                assert!(done.stderr.contains(told), "{told}: {done:?}");
            }
        }
        return;
    }
    assert!(done.status.success(), "{done:?}");
    let said = instance.failure(&["restore", file, "--force"]);
    assert!(said.contains("storage.database names") && said.contains("--database ''"), "{said}");
    let restored = instance.directory().join("restored");
    let run = |arguments: &[&str]| {
        let mut command = instance.bare_command(arguments);
        command.args(["--database", "", "--data"]).arg(&restored);
        let done = instance.start(command).wait(WAIT_MAX);
        assert!(done.status.success(), "{done:?}");
        done.stdout
    };
    run(&["restore", file]);
    assert!(run(&["project", "list"]).contains("elsewhere"));
}
