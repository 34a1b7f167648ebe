//! A data directory with its own Bourse, from the import to the running server.

use std::ffi::OsString;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::answers;
use crate::error::{Context, Error};
use crate::jsonl::{self, WrittenFile};
use crate::process::{Running, isolated};
use crate::report::Import;

const IMPORT_LIMIT: Duration = Duration::from_mins(20);
const COMMAND_LIMIT: Duration = Duration::from_mins(1);
const READY_LIMIT: Duration = Duration::from_mins(1);
const STOP_LIMIT: Duration = Duration::from_mins(1);

/// Where one collection is served from.
#[derive(Debug)]
pub(crate) struct Stage<'a> {
    bourse: &'a Path,
    directory: PathBuf,
    /// Where the records are kept, when that is not the SQLite file.
    database: Option<String>,
    /// How many cores its servers have, when that is not all.
    cores: Option<u16>,
}

/// A server that has said that it is healthy.
#[derive(Debug)]
pub(crate) struct Server {
    /// The process.
    pub(crate) process: Running,
    /// Where it listens.
    pub(crate) address: SocketAddr,
}

impl Server {
    /// Stops it, and waits until everything is written.
    pub(crate) async fn stop(self) -> Result<(), Error> {
        self.process.interrupt()?;
        self.process.finish(STOP_LIMIT).await.map(drop)
    }
}

/// What opens a project.
#[derive(Debug)]
pub(crate) struct Project {
    /// What lines to import name it by.
    pub(crate) id: u64,
    /// For reads.
    pub(crate) access_key: String,
    /// For writes.
    pub(crate) secret_token: String,
}

impl<'a> Stage<'a> {
    /// A stage of this name in the directory of the benchmark, for this binary.
    pub(crate) fn new(bourse: &'a Path, parent: &Path, name: &str) -> Result<Self, Error> {
        let directory = parent.join(name);
        std::fs::create_dir(&directory).context(|| format!("making {}", directory.display()))?;
        Ok(Self { bourse, directory, database: None, cores: None })
    }

    /// The same, with the records in another database.
    pub(crate) fn with_database(self, url: String) -> Self {
        Self { database: Some(url), ..self }
    }

    /// Lets servers that are started from now on run on so many cores, or on all.
    pub(crate) fn pin(&mut self, cores: Option<u16>) {
        self.cores = cores;
    }

    /// How many cores its servers have.
    pub(crate) fn cores(&self) -> usize {
        self.cores.map_or_else(all_cores, usize::from)
    }

    /// The file with the records, when nothing else was said.
    pub(crate) fn database_file(&self) -> PathBuf {
        self.directory.join("data").join("bourse.db")
    }

    /// Where the records are kept, when that is not the SQLite file.
    pub(crate) fn database(&self) -> Option<&str> {
        self.database.as_deref()
    }

    /// Where everything of it is.
    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Writes the settings for all commands that follow.
    pub(crate) fn write_settings(&self, settings: &str) -> Result<(), Error> {
        let path = self.directory.join("bourse.toml");
        std::fs::write(&path, settings).context(|| format!("writing {}", path.display()))
    }

    /// Runs a command to its end, and returns what it printed.
    pub(crate) async fn run(&self, arguments: &[&str]) -> Result<String, Error> {
        let mut command = self.command(arguments);
        let running = Running::spawn(&mut command, "bourse-command", Some(&self.directory))?;
        running.finish(COMMAND_LIMIT).await.map(|(printed, _)| printed)
    }

    /// Imports the records, and takes the time.
    pub(crate) async fn import(&self, records: impl Iterator<Item = Value>) -> Result<Import, Error> {
        let path = self.directory.join("records.jsonl");
        let file = jsonl::write(&path, records)?;
        let import = self.import_file(&path, file).await?;
        // It is as large as the data, and no longer needed.
        std::fs::remove_file(&path).context(|| format!("removing {}", path.display()))?;
        Ok(import)
    }

    /// Imports a file that was written before, and takes the time.
    pub(crate) async fn import_file(&self, path: &Path, file: WrittenFile) -> Result<Import, Error> {
        let mut command = self.command(&["import"]);
        command.arg(path);
        let running = Running::spawn(&mut command, "bourse-import", Some(&self.directory))?;
        let (_, took) = running.finish(IMPORT_LIMIT).await?;
        Ok(Import { file, took })
    }

    /// Makes a project.
    pub(crate) async fn create_project(&self) -> Result<Project, Error> {
        let printed = self.run(&["project", "create", "bench", "--json"]).await?;
        let printed: Value = serde_json::from_str(&printed)
            .context(|| "reading what `bourse project create` printed".to_owned())?;
        let text = |member: &str| {
            let text = printed[member].as_str().map(ToOwned::to_owned);
            text.ok_or_else(|| Error::new(format!("`bourse project create` printed no {member}")))
        };
        let id = printed["projectId"].as_u64();
        let id = id.ok_or_else(|| Error::new("`bourse project create` printed no projectId"))?;
        Ok(Project { id, access_key: text("accessKey")?, secret_token: text("secretToken")? })
    }

    /// Starts the server.
    pub(crate) async fn serve(&self) -> Result<Server, Error> {
        let address = free_address()?;
        let mut command = self.command_on(self.cores, &["serve", "--listen", &address.to_string()]);
        let mut process = Running::spawn(&mut command, "bourse-serve", Some(&self.directory))?;
        process.ready(address, READY_LIMIT).await?;
        Ok(Server { process, address })
    }

    /// Starts this very binary as the bare server, which answers these bodies in turn.
    pub(crate) async fn serve_bare(&self, path: &str, bodies: &[Vec<u8>]) -> Result<Server, Error> {
        let file = self.directory.join("bare-answers");
        answers::write(&file, bodies)?;
        let mut arguments = vec!["bare".into(), "--path".into(), path.into()];
        arguments.extend(["--answers".into(), file.into_os_string()]);
        serve_pinned(&arguments, "bare-server", &self.directory, self.cores).await
    }

    fn command(&self, arguments: &[&str]) -> Command {
        self.command_on(None, arguments)
    }

    fn command_on(&self, cores: Option<u16>, arguments: &[&str]) -> Command {
        let mut command = isolated_on(cores, self.bourse, &self.directory);
        command.args(arguments).arg("--data").arg(self.directory.join("data"));
        if let Some(database) = &self.database {
            command.args(["--database", database]);
        }
        command
    }
}

/// Starts this very binary as another server, with these arguments and an address to listen on.
pub(crate) async fn serve_self(
    arguments: &[OsString],
    name: &'static str,
    directory: &Path,
) -> Result<Server, Error> {
    serve_pinned(arguments, name, directory, None).await
}

async fn serve_pinned(
    arguments: &[OsString],
    name: &'static str,
    directory: &Path,
    cores: Option<u16>,
) -> Result<Server, Error> {
    let program = std::env::current_exe().context(|| "finding this program".to_owned())?;
    let address = free_address()?;
    let mut command = isolated_on(cores, &program, directory);
    command.args(arguments).args(["--listen", &address.to_string()]);
    // Our end of this pipe closes with us, which tells the server to end.
    command.stdin(Stdio::piped());
    let mut process = Running::spawn(&mut command, name, Some(directory))?;
    process.ready(address, READY_LIMIT).await?;
    Ok(Server { process, address })
}

/// A command on the first so many cores, or on all. Servers start as many threads as they have cores.
fn isolated_on(cores: Option<u16>, program: &Path, directory: &Path) -> Command {
    let Some(cores) = cores else { return isolated(program, directory) };
    let mut command = isolated(Path::new("taskset"), directory);
    command.arg("--cpu-list").arg(format!("0-{}", cores - 1)).arg(program);
    command
}

/// How many cores there are; unknown on an exotic system only, where 0 says so.
pub(crate) fn all_cores() -> usize {
    std::thread::available_parallelism().map_or(0, usize::from)
}

/// An address that nobody listens on. Another process could take it before we do; the server then says so.
pub(crate) fn free_address() -> Result<SocketAddr, Error> {
    let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
    bound.context(|| "finding a free port".to_owned())
}
