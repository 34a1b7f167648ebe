//! What is packaged runs: the container's commands, the unit's command, and the health check of both.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::http::get;
use crate::instance::{Instance, Server, free_port};
use crate::process::{Done, WAIT_MAX};

/// How exposed the unit may be, in tenths, as `systemd-analyze security` counts.
const EXPOSURE_MAX: &str = "20";

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(name: &str) -> String {
    std::fs::read_to_string(repository().join(name)).unwrap()
}

/// A Dockerfile's instructions, with continued lines put together and comments left out.
fn instructions() -> Vec<(String, String)> {
    let lines: Vec<String> =
        read("Dockerfile").lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect();
    let joined = lines.join("\n").replace("\\\n", " ");
    let split =
        |line: &str| line.split_once(' ').map(|(name, rest)| (name.to_owned(), rest.trim().to_owned()));
    joined.lines().filter_map(split).collect()
}

fn instruction(name: &str) -> String {
    instructions().into_iter().find(|(found, _)| found == name).unwrap_or_else(|| panic!("no {name}")).1
}

/// The words of an instruction that is written as a JSON list.
fn words(text: &str) -> Vec<String> {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// The paths that are copied from the repository.
fn copied() -> Vec<String> {
    let from_context = |(name, rest): &(String, String)| name == "COPY" && !rest.starts_with("--from");
    let paths = |rest: String| {
        let mut paths: Vec<String> = rest.split_whitespace().map(str::to_owned).collect();
        paths.pop();
        paths
    };
    instructions().into_iter().filter(from_context).flat_map(|(_, rest)| paths(rest)).collect()
}

#[test]
fn the_container_is_built_from_files_that_are_there_and_from_nothing_else() {
    let copied = copied();
    assert!(copied.len() > 4, "{copied:?}");
    for path in &copied {
        assert!(repository().join(path).exists(), "COPY {path}: there is no such file");
    }
    let ignored = read(".dockerignore");
    let mut let_through: Vec<&str> = ignored.lines().filter_map(|line| line.strip_prefix('!')).collect();
    let_through.sort_unstable();
    let mut wanted: Vec<&str> = copied.iter().map(String::as_str).collect();
    wanted.sort_unstable();
    assert_eq!(let_through, wanted, ".dockerignore lets through what the Dockerfile copies");
    // The manifests are complete without the rest of the repository.
    let context = tempfile::tempdir().unwrap();
    for path in &copied {
        let to = context.path().join(path);
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        let done = Command::new("cp").arg("-r").arg(repository().join(path)).arg(to).status().unwrap();
        assert!(done.success(), "{path}");
    }
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--locked", "--offline", "--no-deps", "--format-version", "1"]);
    let done = cargo.current_dir(context.path()).stdout(Stdio::null()).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let rust = instruction("ARG").replace("RUST=", "");
    let manifest = read("Cargo.toml");
    assert!(
        manifest.contains(&format!("rust-version = \"{rust}\"")),
        "the container builds with Rust {rust}"
    );
}

#[test]
fn the_container_serves_and_its_health_check_tells_whether_it_does() {
    let instance = Instance::new();
    let port = free_port();
    let data = instance.directory().join("container");
    let mut variables: BTreeMap<String, String> = instruction("ENV")
        .split_whitespace()
        .map(|pair| pair.split_once('=').unwrap())
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let listen = variables.get_mut("BOURSE_SERVER__LISTEN").unwrap();
    assert_eq!(listen, "0.0.0.0:4010");
    *listen = listen.replace("4010", &port.to_string());
    let data_in_container = variables.insert("BOURSE_STORAGE__DATA".to_owned(), data.display().to_string());
    assert_eq!(data_in_container.as_deref(), Some("/var/lib/bourse"));
    assert_eq!(instruction("VOLUME"), "/var/lib/bourse");
    assert_eq!(instruction("EXPOSE"), "4010");
    assert!(!["0", "root"].contains(&instruction("USER").split(':').next().unwrap()));
    let command = |words: &[String]| {
        assert_eq!(words[0], "bourse");
        let mut command = instance.bare_command(&words[1..].iter().map(String::as_str).collect::<Vec<_>>());
        command.envs(&variables);
        command
    };
    let health = instruction("HEALTHCHECK");
    let health = words(health.split_once(" CMD ").unwrap().1);
    let check = || -> Done { instance.start(command(&health)).wait(WAIT_MAX) };
    assert_eq!(check().status.code(), Some(1), "nothing is there yet");
    let serve = [words(&instruction("ENTRYPOINT")), words(&instruction("CMD"))].concat();
    let mut server = Server { process: instance.start(command(&serve)), port };
    server.wait_ready(WAIT_MAX);
    let done = check();
    assert!(done.status.success(), "{done:?}");
    assert_eq!(done.stdout, format!("http://127.0.0.1:{port}/health answers\n"));
    let ready = instance.start(command(&[&health[..], &["--ready".to_owned()]].concat())).wait(WAIT_MAX);
    assert!(ready.status.success(), "{ready:?}");
    server.process.kill();
    assert_eq!(check().status.code(), Some(1), "it is gone");
}

/// The variables of the pods, in the order of the manifest; none as the value of a secret.
fn pod_variables(manifest: &str) -> Vec<(&str, Option<String>)> {
    let lines: Vec<&str> = manifest.lines().map(str::trim).collect();
    let variable = |pair: &[&'_ str]| {
        let name = pair[0].strip_prefix("- name: ").filter(|name| name.starts_with("BOURSE_"));
        let value = pair[1].strip_prefix("value: ").map(|value| value.trim_matches('"').to_owned());
        name.map(|name| (name.to_owned(), value))
    };
    let found: BTreeMap<String, Option<String>> = lines.windows(2).filter_map(variable).collect();
    let names = lines.iter().filter_map(|line| line.strip_prefix("- name: "));
    names.filter_map(|name| Some((name, found.get(name)?.clone()))).collect()
}

/// Its form is checked against the schema of Kubernetes by hand; here, that the service runs with what it says.
#[test]
fn the_pods_serve_with_their_settings_and_drain_in_time() {
    let instance = Instance::new();
    let manifest = read("packaging/kubernetes.yaml");
    let variables = pod_variables(&manifest);
    let secrets: Vec<&str> =
        variables.iter().filter(|(_, value)| value.is_none()).map(|(name, _)| *name).collect();
    assert_eq!(secrets, ["BOURSE_STORAGE__DATABASE", "BOURSE_AUTH__JWT_SECRET"]);
    let number = |before: &str| -> u64 {
        let line = manifest.lines().map(str::trim).find_map(|line| line.strip_prefix(before));
        line.unwrap_or_else(|| panic!("no {before}")).parse().unwrap()
    };
    let plain = variables.iter().filter_map(|(name, value)| Some((*name, value.as_deref()?)));
    let plain: BTreeMap<&str, &str> = plain.collect();
    let drain: u64 = plain["BOURSE_SERVER__DRAIN_MS"].parse().unwrap();
    // Ready is asked for that often, and refused so often before it counts; then requests under way have 8 seconds.
    assert!(drain > number("periodSeconds: ") * (number("failureThreshold: ") + 1) * 1_000);
    let (under_way, database) = (8, 25);
    assert!(drain / 1_000 + under_way + database < number("terminationGracePeriodSeconds: "));
    let startup = manifest.split_once("startupProbe:").expect("a start that migrates is not killed").1;
    assert!(startup.trim_start().starts_with("httpGet: {path: /health, port: http}"));
    assert!(startup.contains("periodSeconds: 5\n") && startup.contains("failureThreshold: 720\n"), "an hour");
    let port = free_port();
    let mut command = instance.command(&["serve", "--listen", &format!("127.0.0.1:{port}")]);
    command.envs(plain).env("BOURSE_AUTH__JWT_SECRET", "ab".repeat(32));
    command.env("BOURSE_STORAGE__KEPT_DIRECTORY", instance.directory().join("kept"));
    let mut server = Server { process: instance.start(command), port };
    server.wait_ready(WAIT_MAX);
    for path in ["/ready", "/health", "/metrics"] {
        assert!(manifest.contains(&format!("path: {path}")), "{path}");
        crate::instance::within(WAIT_MAX, path, || get(port, path).is_ok_and(|answer| answer.status == 200));
    }
}

#[test]
fn a_service_that_is_not_well_fails_its_health_check() {
    use std::io::{Read as _, Write as _};
    let instance = Instance::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = listener.local_addr().unwrap().to_string();
    let answers = [
        (
            "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n\r\n{\"status\":\"not ready\"}",
            "answered 503",
        ),
        ("SSH-2.0-OpenSSH\r\n", "not HTTP"),
    ];
    for (answer, told) in answers {
        let process = instance.start(instance.bare_command(&["health", "--ready", "--listen", &listen]));
        let (mut stream, _) = listener.accept().unwrap();
        let mut asked = [0; 16];
        stream.read_exact(&mut asked).unwrap();
        assert_eq!(&asked, b"GET /ready HTTP/");
        stream.write_all(answer.as_bytes()).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let done = process.wait(WAIT_MAX);
        assert!(!done.status.success() && done.stderr.contains(told), "{done:?}");
    }
}

/// The unit with the binary of this test in the place of the installed one.
fn unit(directory: &Path) -> PathBuf {
    let unit = read("packaging/bourse.service");
    assert_eq!(unit.matches("/usr/local/bin/bourse").count(), 1);
    let path = directory.join("bourse.service");
    std::fs::write(&path, unit.replace("/usr/local/bin/bourse", env!("CARGO_BIN_EXE_bourse"))).unwrap();
    path
}

#[test]
fn the_unit_is_well_formed_and_hardened() {
    let directory = tempfile::tempdir().unwrap();
    let unit = unit(directory.path());
    let analyze = |arguments: &[&str]| {
        let mut command = Command::new("systemd-analyze");
        command.args(arguments).arg(&unit).stdin(Stdio::null()).env("SYSTEMD_PAGER", "");
        command.output()
    };
    let Ok(done) = analyze(&["verify", "--man=no", "--recursive-errors=no"]) else {
        println!("systemd-analyze is not installed: the unit is not verified");
        return;
    };
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success() && !said.contains("bourse.service"), "{said}");
    let done = analyze(&["security", "--offline=true", "--threshold", EXPOSURE_MAX]).unwrap();
    let told = String::from_utf8_lossy(&done.stdout).into_owned();
    println!("{}", told.lines().last().unwrap_or_default());
    assert!(done.status.success(), "{told}");
}

#[test]
fn the_command_of_the_unit_serves() {
    let instance = Instance::new();
    let unit = read("packaging/bourse.service");
    let command = unit.lines().find_map(|line| line.strip_prefix("ExecStart=")).unwrap();
    let port = free_port();
    let config = instance.directory().join("bourse.toml");
    let data = instance.directory().join("state");
    let text = format!(
        "[server]\nlisten = \"127.0.0.1:{port}\"\n[storage]\ndata = {:?}\n",
        data.display().to_string()
    );
    std::fs::write(&config, text).unwrap();
    let words: Vec<String> = command
        .split(' ')
        .map(|word| word.replace("/etc/bourse/bourse.toml", config.to_str().unwrap()))
        .collect();
    let arguments: Vec<&str> = words[1..].iter().map(String::as_str).collect();
    let mut server = Server { process: instance.start(instance.bare_command(&arguments)), port };
    server.wait_ready(WAIT_MAX);
    server.process.terminate();
    crate::instance::within(WAIT_MAX, "it stops", || server.process.ended().is_some());
    assert!(server.process.ended().unwrap().success());
}
