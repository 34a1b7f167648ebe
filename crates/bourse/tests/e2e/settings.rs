//! Settings from files, variables and flags, and the help of every command.

use serde_json::Value;

use crate::instance::Instance;
use crate::process::Done;

/// Runs the binary with variables and without any flag of our own.
fn run(instance: &Instance, arguments: &[&str], variables: &[(&str, &str)]) -> Done {
    let mut command = instance.bare_command(arguments);
    command.envs(variables.iter().copied());
    instance.start(command).wait(crate::process::WAIT_MAX)
}

fn write(instance: &Instance, name: &str, text: &str) {
    std::fs::write(instance.directory().join(name), text).unwrap();
}

/// Value and source of a setting in what `bourse config --json` prints.
fn setting<'v>(effective: &'v Value, key: &str) -> (&'v str, &'v str) {
    let all = effective.as_array().unwrap();
    let found = all.iter().find(|setting| setting["key"] == key).unwrap();
    (found["value"].as_str().unwrap(), found["source"].as_str().unwrap())
}

fn effective(instance: &Instance, arguments: &[&str], variables: &[(&str, &str)]) -> Value {
    let done = run(instance, &[&["config", "--json"], arguments].concat(), variables);
    assert!(done.status.success(), "{done:?}");
    serde_json::from_str(&done.stdout).unwrap()
}

#[test]
fn a_variable_wins_over_the_file_and_a_flag_over_both() {
    let instance = Instance::new();
    write(
        &instance,
        "bourse.toml",
        "[storage]\ndata = 'from-file'\n[limits]\ncontacts_max = 7\n[service]\nname = 'sequence'\n",
    );
    let variables = [("BOURSE_STORAGE__DATA", "from-variable"), ("BOURSE_LIMITS__PAGE_SIZE_MAX", "50")];
    let found = effective(&instance, &[], &[]);
    assert_eq!(setting(&found, "storage.data"), ("\"from-file\"", "file bourse.toml"));
    assert_eq!(setting(&found, "service.name"), ("\"sequence\"", "file bourse.toml"));
    assert_eq!(setting(&found, "log.format"), ("\"text\"", "default"));
    let found = effective(&instance, &[], &variables);
    assert_eq!(setting(&found, "storage.data"), ("\"from-variable\"", "variable BOURSE_STORAGE__DATA"));
    assert_eq!(setting(&found, "limits.contacts_max"), ("7", "file bourse.toml"));
    assert_eq!(setting(&found, "limits.page_size_max"), ("50", "variable BOURSE_LIMITS__PAGE_SIZE_MAX"));
    let found = effective(&instance, &["--data", "from-flag"], &variables);
    assert_eq!(setting(&found, "storage.data"), ("\"from-flag\"", "flag --data"));
    write(&instance, "other.toml", "[storage]\ndata = 'other'\n");
    for found in [
        effective(&instance, &["--config", "other.toml"], &[]),
        effective(&instance, &[], &[("BOURSE_CONFIG", "other.toml")]),
    ] {
        assert_eq!(setting(&found, "storage.data"), ("\"other\"", "file other.toml"));
        assert_eq!(setting(&found, "service.name").1, "default", "only one file is read");
    }
    let done = run(&instance, &["config", "--config", "missing.toml"], &[]);
    assert!(!done.status.success() && done.stderr.contains("missing.toml"), "{done:?}");
}

#[test]
fn secrets_are_never_shown() {
    let instance = Instance::new();
    let variables = [
        ("BOURSE_AUTH__JWT_SECRET", "hunter2-hunter2-hunter2-hunter2-hunter2"),
        ("BOURSE_STORAGE__DATABASE", "postgres://user:hunter2@host.example/name"),
        ("BOURSE_NETWORKS__POLYGON__ID", "137"),
        ("BOURSE_NETWORKS__POLYGON__RPC_URL", "https://node.example/v2/hunter2"),
    ];
    for arguments in [&["config"][..], &["config", "--json"]] {
        let done = run(&instance, arguments, &variables);
        assert!(done.status.success(), "{done:?}");
        let told = format!("{}{}", done.stdout, done.stderr);
        assert!(
            !told.contains("hunter2") && told.contains("host.example") && told.contains("node.example"),
            "{told}"
        );
        assert!(told.contains("variable BOURSE_AUTH__JWT_SECRET"), "{told}");
    }
    let short = run(&instance, &["config"], &[("BOURSE_AUTH__JWT_SECRET", "hunter2")]);
    assert!(!short.status.success() && short.stderr.contains("auth.jwt_secret"), "{short:?}");
    assert!(!short.stderr.contains("hunter2"), "{short:?}");
}

#[test]
fn an_unknown_setting_is_an_error_that_names_it() {
    let instance = Instance::new();
    let cases = [
        ("BOURSE_SERVER__LISTN", "1", "BOURSE_SERVER__LISTN"),
        ("BOURSE_NONSENSE", "1", "BOURSE_NONSENSE"),
        ("BOURSE_LIMITS__CONTACTS_MAX", "many", "limits.contacts_max"),
    ];
    // Whatever the command, it does not start with settings it does not understand.
    for command in [&["config"][..], &["serve"], &["demo"], &["project", "list"], &["doctor"]] {
        for (name, value, told) in cases {
            let done = run(&instance, command, &[(name, value)]);
            let said = format!("{}{}", done.stdout, done.stderr);
            assert!(!done.status.success() && said.contains(told), "{command:?}: {done:?}");
        }
    }
    write(&instance, "bourse.toml", "[server]\nlistn = '127.0.0.1:1'\n[nonsense]\na = 1\n");
    let done = run(&instance, &["config"], &[]);
    assert!(!done.status.success(), "{done:?}");
    for told in ["server.listn", "nonsense", "bourse.toml", "listen"] {
        assert!(done.stderr.contains(told), "{told}: {}", done.stderr);
    }
    write(&instance, "bourse.toml", "[server\n");
    let done = run(&instance, &["config"], &[]);
    assert!(!done.status.success() && done.stderr.contains("bourse.toml, line 1"), "{done:?}");
}

#[test]
fn the_default_file_is_printed_whole_and_means_the_defaults() {
    let instance = Instance::new();
    let printed = run(&instance, &["config", "--defaults"], &[]);
    assert!(printed.status.success(), "{printed:?}");
    assert_eq!(printed.stdout.trim_end(), include_str!("../../../../bourse.default.toml").trim_end());
    let plain = effective(&instance, &[], &[]);
    assert!(plain.as_array().unwrap().iter().all(|setting| setting["source"] == "default"));
    write(&instance, "defaults.toml", &printed.stdout);
    let from_file = effective(&instance, &["--config", "defaults.toml"], &[]);
    for setting_of in plain.as_array().unwrap() {
        let key = setting_of["key"].as_str().unwrap();
        assert_eq!(setting(&from_file, key).0, setting(&plain, key).0, "{key}");
    }
}

/// Every command; none for the program itself.
const COMMANDS: [&str; 45] = [
    "",
    "serve",
    "demo",
    "import",
    "project",
    "project create",
    "project list",
    "project show",
    "grant",
    "grant add",
    "grant list",
    "grant remove",
    "key",
    "key create",
    "key list",
    "key rotate",
    "key disable",
    "token",
    "token create",
    "token list",
    "token revoke",
    "analytics",
    "analytics forget",
    "collection",
    "collection add",
    "collection list",
    "collection remove",
    "chain",
    "chain resync",
    "log",
    "console",
    "console link",
    "console invites",
    "console revoke",
    "console second-factor-off",
    "status",
    "backup",
    "restore",
    "copy-files",
    "move",
    "upgrade",
    "health",
    "doctor",
    "openapi",
    "config",
];

#[test]
fn every_command_has_help_that_tells_of_the_data_directory() {
    let instance = Instance::new();
    for command in COMMANDS {
        let arguments: Vec<&str> = command.split_whitespace().chain(["--help"]).collect();
        let done = run(&instance, &arguments, &[]);
        assert_eq!(done.status.code(), Some(0), "{command}: {done:?}");
        assert!(
            done.stdout.contains("--data <DIR>") && done.stdout.contains("Usage: bourse"),
            "{}",
            done.stdout
        );
    }
    let top = run(&instance, &["--help"], &[]).stdout;
    let told =
        |line: &str| line.strip_prefix("  ").and_then(|line| line.split(' ').next().map(str::to_owned));
    let listed: Vec<String> = top
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter_map(told)
        .filter(|name| !name.is_empty() && name != "help")
        .collect();
    assert!(listed.len() >= 9 && listed.iter().all(|name| COMMANDS.contains(&name.as_str())), "{listed:?}");
    let version = run(&instance, &["--version"], &[]);
    assert!(version.status.success() && version.stdout.starts_with("bourse "), "{version:?}");
    assert_eq!(run(&instance, &["nonsense"], &[]).status.code(), Some(2));
    let document = run(&instance, &["openapi"], &[]).stdout;
    assert!(serde_json::from_str::<Value>(&document).unwrap()["openapi"].is_string());
}
