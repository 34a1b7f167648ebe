//! Where a page is run: a directory of its own, ports of its own, and all commands in one shell.

use std::fmt::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::page::{How, Kind, Piece};
use super::shown_output;
use crate::instance::{Instance, free_port};
use crate::process::{POLL_INTERVAL, Process};

/// How long a page may take, on a machine with much else to do.
const PAGE_LIMIT: Duration = Duration::from_mins(10);
/// What comes before the commands of every page.
const PRELUDE: &str = include_str!("prelude.sh");
/// Directories that pages name and that a test has no business in; each stands for one below the test's own.
const DIRECTORIES: [&str; 4] = ["/var/lib/bourse", "/var/backups", "/etc/bourse", "/srv/bourse"];

/// Programs in the place of those that pages name.
const PROGRAMS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/docs/bin");

/// A page about to be run.
pub(crate) struct Stage {
    instance: Instance,
    /// What pages write, and what it stands for here.
    names: Vec<(String, String)>,
}

impl Stage {
    pub(crate) fn new() -> Self {
        let instance = Instance::new();
        let root = instance.directory().join("root");
        let mut names: Vec<(String, String)> = DIRECTORIES
            .iter()
            .map(|name| ((*name).to_owned(), format!("{}{name}", root.display())))
            .collect();
        for port in [4010, 4011] {
            names.push((format!("127.0.0.1:{port}"), format!("127.0.0.1:{}", free_port())));
        }
        names.push(("postgres://USER:PASSWORD@HOST/NAME".to_owned(), instance.database_url()));
        names.push(("cargo run --release -- ".to_owned(), "bourse ".to_owned()));
        // Those that a system has, or an administrator makes; the service makes its own.
        for directory in ["var/lib", "var/backups", "etc/bourse", "srv"] {
            std::fs::create_dir_all(root.join(directory)).unwrap();
        }
        std::fs::create_dir_all(instance.directory().join("work")).unwrap();
        Self { instance, names }
    }

    /// Lets something that the page writes stand for something that is there.
    pub(crate) fn name(&mut self, written: &str, is: impl Into<String>) {
        self.names.push((written.to_owned(), is.into()));
    }

    pub(crate) fn directory(&self) -> &Path {
        self.instance.directory()
    }

    pub(crate) fn is_postgres(&self) -> bool {
        self.instance.is_postgres()
    }

    /// Runs everything that a page asks for, in its order, and compares what is printed with what is shown.
    pub(crate) fn run(&self, page: &str, pieces: &[Piece]) {
        let pieces: Vec<&Piece> =
            pieces.iter().filter(|piece| !piece.postgres || self.is_postgres()).collect();
        let script = self.directory().join("page.sh");
        std::fs::write(&script, self.script(&pieces)).unwrap();
        let status = self.start(&script);
        let at = std::fs::read_to_string(self.output("at")).unwrap_or_default();
        let number: usize = at.trim().parse().unwrap_or(0);
        let told = |name: &str| std::fs::read_to_string(self.output(name)).unwrap_or_default();
        assert!(
            status.is_some_and(|status| status.success()),
            "{page}, line {}: {status:?}\n{}{}\n{}",
            pieces.get(number).map_or(0, |piece| piece.line),
            told(&format!("{number}.out")),
            told(&format!("{number}.err")),
            told("services.log"),
        );
        let mut printed = None;
        for (number, piece) in pieces.iter().enumerate() {
            match &piece.kind {
                Kind::Commands { .. } => printed = Some(self.as_written(told(&format!("{number}.out")))),
                Kind::Hidden(_) | Kind::Excused(_) => printed = None,
                Kind::File { .. } => {}
                Kind::Output(shown) => {
                    let printed = printed.take().unwrap_or_else(|| {
                        panic!(
                            "{page}, line {}: shown output belongs to no commands that were run",
                            piece.line
                        )
                    });
                    if let Err(why) = shown_output::compare(shown, &printed) {
                        panic!(
                            "{page}, line {}: {why}\n--- shown\n{shown}\n--- printed\n{printed}",
                            piece.line
                        );
                    }
                }
            }
        }
    }

    fn script(&self, pieces: &[&Piece]) -> String {
        let out = self.directory().join("out").display().to_string();
        let mut script = self.as_here(PRELUDE).replace("BOURSE_OUT", &out);
        std::fs::create_dir_all(self.directory().join("out")).unwrap();
        for (number, piece) in pieces.iter().enumerate() {
            let output = format!("\"$out/{number}.out\" 2>\"$out/{number}.err\"");
            let added = match &piece.kind {
                Kind::Commands { text, how: How::Background } => {
                    format!("(\nexec env {text}\n) >{output} &\nanswers {}\n", address_in(text))
                }
                Kind::Commands { text, how: How::Refused } => {
                    let both = format!("\"$out/{number}.out\" 2>&1");
                    format!("refusals=expected\n{{\n{text}\n}} >{both} || true\nrefusals=\n")
                }
                Kind::Commands { text, how: How::Succeed } | Kind::Hidden(text) => {
                    format!("{{\n{text}\n}} >{output}\n")
                }
                Kind::File { name, text } => {
                    let content = self.directory().join(format!("out/{number}.file"));
                    std::fs::write(&content, self.as_here(text)).unwrap();
                    format!("cp '{}' {name}\n", content.display())
                }
                Kind::Output(_) | Kind::Excused(_) => continue,
            };
            // Writing to a string cannot fail.
            let _ = write!(script, "echo {number} >\"$out/at\"\n{}", self.as_here(&added));
        }
        script
    }

    /// Runs the script to its end, and ends whatever it left running.
    fn start(&self, script: &Path) -> Option<ExitStatus> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut paths = vec![PathBuf::from(PROGRAMS)];
        paths.extend(std::env::split_paths(&path));
        let mut command = Command::new("bash");
        command.arg(script).env_clear().current_dir(self.directory().join("work")).stdin(Stdio::null());
        command.env("PATH", std::env::join_paths(paths).unwrap()).env("HOME", self.directory());
        command.env("BOURSE_TEST_BINARY", env!("CARGO_BIN_EXE_bourse"));
        command.env("BOURSE_TEST_LISTEN", self.as_here("127.0.0.1:4010"));
        command.process_group(0);
        let mut process = Group(Process::start(command, &self.output("script")));
        let started = Instant::now();
        while started.elapsed() < PAGE_LIMIT {
            if let Some(status) = process.0.ended() {
                return Some(status);
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        None
    }

    fn output(&self, name: &str) -> PathBuf {
        self.directory().join("out").join(name)
    }

    fn as_here(&self, text: &str) -> String {
        put_in(&self.names, text)
    }

    fn as_written(&self, text: String) -> String {
        // The command that stands for building and running is not found in what is printed.
        let printed = self.names.iter().filter(|(written, _)| !written.starts_with("cargo"));
        printed.fold(text, |text, (written, is)| text.replace(is, written))
    }
}

/// Puts what is here in the place of what is written.
fn put_in(names: &[(String, String)], text: &str) -> String {
    names.iter().fold(text.to_owned(), |text, (written, is)| text.replace(written, is))
}

/// Where a service will answer that a command starts.
fn address_in(command: &str) -> &'static str {
    if command.contains("127.0.0.1:4011") { "127.0.0.1:4011" } else { "127.0.0.1:4010" }
}

/// A process and all that it started, ended with this value.
struct Group(Process);

impl Drop for Group {
    fn drop(&mut self) {
        let group = self.0.id().to_string();
        // None of them may be left, which is what the error would say.
        let _ = Command::new("sh").args(["-c", "kill -KILL -- -$0 2>/dev/null", &group]).status();
    }
}
