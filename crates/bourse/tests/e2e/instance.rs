//! One installation: a database, a data directory, and the processes that use them.

use std::fmt::Debug;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU16, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use bourse_store::testing::{Tables, TestDatabase, tables_of};
use bourse_store::{DatabaseUrl, Store, StoreError};
use bourse_wire::ProjectId;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::http::{self, Answer, Credential};
use crate::process::{Done, POLL_INTERVAL, Process, WAIT_MAX, clean_command};

/// An installation of its own, deleted with this value.
pub(crate) struct Instance {
    database: TestDatabase,
    runtime: Runtime,
    outputs: AtomicU32,
}

/// The members that `project create --json` prints.
pub(crate) struct Project {
    pub(crate) id: u64,
    pub(crate) key: String,
    pub(crate) token: String,
}

impl Instance {
    pub(crate) fn new() -> Self {
        Self::with(TestDatabase::empty())
    }

    /// One whose database is there already.
    pub(crate) fn with(database: impl Future<Output = Result<TestDatabase, StoreError>>) -> Self {
        let runtime = Runtime::new().unwrap();
        let database = runtime.block_on(database).unwrap();
        Self { database, runtime, outputs: AtomicU32::new(0) }
    }

    pub(crate) fn is_postgres(&self) -> bool {
        matches!(self.database.url, DatabaseUrl::Postgres(_))
    }

    /// The working directory of its processes.
    pub(crate) fn directory(&self) -> &Path {
        self.database.directory.path()
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.directory().join("data")
    }

    /// The database as `--database` names it.
    pub(crate) fn database_url(&self) -> String {
        match &self.database.url {
            DatabaseUrl::Sqlite(path) => format!("sqlite:{}", path.display()),
            DatabaseUrl::Postgres(url) => url.clone(),
        }
    }

    /// The binary with arguments and nothing else.
    pub(crate) fn bare_command(&self, arguments: &[&str]) -> Command {
        let mut command = clean_command(env!("CARGO_BIN_EXE_bourse"), self.directory());
        command.args(arguments);
        command
    }

    /// The binary on this installation's database and data directory.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.bare_command(arguments);
        command.arg("--data").arg(self.data()).args(["--database", &self.database_url()]);
        command
    }

    pub(crate) fn start(&self, command: Command) -> Process {
        let number = self.outputs.fetch_add(1, Ordering::Relaxed);
        Process::start(command, &self.directory().join(format!("output-{number}")))
    }

    /// Runs a command to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Done {
        self.start(self.command(arguments)).wait(WAIT_MAX)
    }

    /// Runs a command to its end, with something to read.
    pub(crate) fn run_with_input(&self, arguments: &[&str], input: &[u8]) -> Done {
        let path = self.directory().join("input");
        std::fs::write(&path, input).unwrap();
        let mut command = self.command(arguments);
        command.stdin(Stdio::from(std::fs::File::open(path).unwrap()));
        self.start(command).wait(WAIT_MAX)
    }

    /// What a command that must succeed prints as JSON.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let done = self.run(&[arguments, &["--json"]].concat());
        assert!(done.status.success(), "{arguments:?}: {done:?}");
        serde_json::from_str(&done.stdout).unwrap()
    }

    /// What a command that must fail says about it.
    pub(crate) fn failure(&self, arguments: &[&str]) -> String {
        let done = self.run(arguments);
        assert!(!done.status.success(), "{arguments:?}: {done:?}");
        done.stderr
    }

    pub(crate) fn create_project(&self, name: &str) -> Project {
        Project::read(&self.json(&["project", "create", name]))
    }

    /// Everything that is in its database.
    pub(crate) fn tables(&self) -> Tables {
        self.runtime.block_on(tables_of(&self.database, None)).unwrap()
    }

    /// Works on the database directly, beside whatever process uses it.
    pub(crate) fn with_store<T>(&self, work: impl AsyncFnOnce(&Store) -> T) -> T {
        self.runtime.block_on(async {
            let store = self.database.open().await.unwrap();
            let result = work(&store).await;
            store.close().await;
            result
        })
    }

    /// Starts the service and waits until it answers.
    pub(crate) fn serve(&self) -> Server {
        let mut server = self.serve_unready("serve", &[]);
        server.wait_ready(WAIT_MAX);
        server
    }

    /// Starts `serve` or `demo` with variables, without waiting.
    pub(crate) fn serve_unready(&self, subcommand: &str, variables: &[(&str, &str)]) -> Server {
        self.start_server(subcommand, free_port(), variables)
    }

    /// Starts `serve` at a port that others are told of, without waiting.
    pub(crate) fn serve_at(&self, port: u16, variables: &[(&str, &str)]) -> Server {
        self.start_server("serve", port, variables)
    }

    fn start_server(&self, subcommand: &str, port: u16, variables: &[(&str, &str)]) -> Server {
        let mut command = self.command(&[subcommand, "--listen", &format!("127.0.0.1:{port}")]);
        // However busy the machine is, nobody takes the database for gone.
        command.env("BOURSE_STORAGE__DATABASE_TIMEOUT_MS", "60000").envs(variables.iter().copied());
        Server { process: self.start(command), port }
    }
}

impl Project {
    /// Reads what `project create --json` prints.
    pub(crate) fn read(made: &Value) -> Self {
        let text = |member: &str| made[member].as_str().unwrap().to_owned();
        Self { id: made["projectId"].as_u64().unwrap(), key: text("accessKey"), token: text("secretToken") }
    }

    pub(crate) fn wire_id(&self) -> ProjectId {
        self.id.try_into().unwrap()
    }
}

/// A running service.
pub(crate) struct Server {
    pub(crate) process: Process,
    pub(crate) port: u16,
}

impl Server {
    /// Waits until it answers; tells how long that took.
    pub(crate) fn wait_ready(&mut self, limit: Duration) -> Duration {
        let started = Instant::now();
        loop {
            if http::get(self.port, "/health").is_ok_and(|answer| answer.status == 200) {
                return started.elapsed();
            }
            let ended = self.process.ended();
            assert!(ended.is_none(), "it ended: {ended:?} {}", self.process.stderr());
            assert!(started.elapsed() < limit, "no answer in {limit:?}: {}", self.process.stderr());
            std::thread::sleep(POLL_INTERVAL);
        }
    }

    pub(crate) fn call(&self, operation: &str, credential: Credential<'_>, body: &Value) -> Answer {
        http::call(self.port, operation, credential, body).unwrap()
    }

    /// Calls an operation that any credential of the service Builder may call.
    pub(crate) fn list_audiences(&self, credential: Credential<'_>) -> Answer {
        self.call("Builder/ListAudiences", credential, &json!({}))
    }
}

/// Waits until something is so, and fails when it takes longer than `limit`.
pub(crate) fn within(limit: Duration, what: &str, holds: impl FnMut() -> bool) -> Duration {
    let started = Instant::now();
    seen_within(limit, what, holds, |holds| *holds);
    started.elapsed()
}

/// Waits until what is seen is as it should be, and fails with what it is when it takes longer than `limit`.
pub(crate) fn seen_within<T: Debug>(
    limit: Duration,
    what: &str,
    mut look: impl FnMut() -> T,
    is_so: impl Fn(&T) -> bool,
) -> T {
    let started = Instant::now();
    loop {
        let seen = look();
        if is_so(&seen) {
            return seen;
        }
        assert!(started.elapsed() < limit, "not within {limit:?}: {what}; it is {seen:?}");
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// A port that nobody uses, below the range from which the system gives ports to outgoing connections: another test's
/// connection could take one of those before the server does.
pub(crate) fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    // Test processes that were started one after the other begin far apart: each may need a thousand ports.
    let start = u16::try_from(std::process::id() % 9_000 * 4_517 % 9_000).unwrap();
    loop {
        let offset = NEXT.fetch_add(1, Ordering::Relaxed);
        let port = 20_000 + (start + offset % 9_000) % 9_000;
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return port;
        }
    }
}
