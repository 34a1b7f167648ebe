//! A PostgreSQL of its own, from the binaries that a package has installed.

use std::fs::Permissions;
use std::net::SocketAddr;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tokio::time::sleep;

use crate::error::{Context, Error};
use crate::process::{Running, isolated};
use crate::stage::free_address;

const INIT_LIMIT: Duration = Duration::from_mins(2);
const READY_LIMIT: Duration = Duration::from_mins(1);
const STOP_LIMIT: Duration = Duration::from_secs(20);
const POLL: Duration = Duration::from_millis(50);

/// Where Debian's packages have a directory for each version.
const DEBIAN: &str = "/usr/lib/postgresql";

/// A running server with an empty database. Dropping it stops it.
#[derive(Debug)]
pub(crate) struct Postgres {
    process: Running,
    address: SocketAddr,
    programs: PathBuf,
}

/// Who the server runs as: it refuses to be root.
#[derive(Debug, Clone, Copy)]
struct User {
    id: u32,
    group: u32,
}

impl Postgres {
    /// Starts one with its data in a new directory of this name in the directory of the benchmark; nothing when it is
    /// not installed. The settings, such as `jit=off`, are beside those that PostgreSQL has by itself.
    pub(crate) async fn start(parent: &Path, name: &str, settings: &[&str]) -> Result<Option<Self>, Error> {
        let Some(programs) = find() else { return Ok(None) };
        let directory = parent.join(name);
        std::fs::create_dir(&directory).context(|| format!("making {}", directory.display()))?;
        let user = prepare(parent, &directory)?;
        let data = directory.join("data");
        let mut command = as_user(user, &programs.join("initdb"), &directory);
        command.arg("-D").arg(&data);
        command.args(["-U", "postgres", "--auth=trust", "--encoding=UTF8", "--locale=C"]);
        Running::spawn(&mut command, "initdb", Some(parent))?.finish(INIT_LIMIT).await?;

        let address = free_address()?;
        let mut command = as_user(user, &programs.join("postgres"), &directory);
        command.arg("-D").arg(&data).args(["-p", &address.port().to_string()]);
        command.args(["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="]);
        command.args(settings.iter().flat_map(|setting| ["-c", setting]));
        let process = Running::spawn(&mut command, "postgres", Some(parent))?;
        let postgres = Self { process, address, programs };
        postgres.ready().await?;
        Ok(Some(postgres))
    }

    /// How to reach its database.
    pub(crate) fn url(&self) -> String {
        format!("postgres://postgres@{}/postgres", self.address)
    }

    /// One of the programs that come with it.
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        self.programs.join(name)
    }

    async fn ready(&self) -> Result<(), Error> {
        let started = Instant::now();
        let port = self.address.port().to_string();
        loop {
            let mut command = Command::new(self.program("pg_isready"));
            command.args(["-q", "-h", "127.0.0.1", "-p", &port]).stdin(Stdio::null());
            let status = command.status().context(|| "asking whether PostgreSQL is ready".to_owned())?;
            if status.success() {
                return Ok(());
            }
            if started.elapsed() > READY_LIMIT {
                return Err(self.process.failure("was not ready in time"));
            }
            sleep(POLL).await;
        }
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // An orderly end, because a killed server leaves its children and its shared memory behind for a while. If
        // it fails, the guard of the process kills it.
        drop(self.process.interrupt());
        self.process.wait_at_most(STOP_LIMIT);
    }
}

/// The directory with the newest server.
fn find() -> Option<PathBuf> {
    let is_whole = |directory: &PathBuf| {
        ["initdb", "postgres", "pg_isready"].iter().all(|name| directory.join(name).exists())
    };
    let of_debian = std::fs::read_dir(DEBIAN).into_iter().flatten().flatten();
    let mut directories: Vec<PathBuf> = of_debian.map(|entry| entry.path().join("bin")).collect();
    directories.sort_unstable();
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).chain(directories.into_iter().rev()).find(is_whole)
}

/// Gives the directory to a user who may run the server, if we may not.
fn prepare(parent: &Path, directory: &Path) -> Result<Option<User>, Error> {
    let metadata = directory.metadata().context(|| format!("looking at {}", directory.display()))?;
    // What we have just made is ours.
    if metadata.uid() != 0 {
        return Ok(None);
    }
    let id = |option: &str, user: &str| {
        let output = Command::new("id").args([option, user]).stdin(Stdio::null()).output().ok()?;
        String::from_utf8(output.stdout).ok()?.trim().parse().ok()
    };
    let user = ["postgres", "nobody"]
        .into_iter()
        .find_map(|name| Some(User { id: id("-u", name)?, group: id("-g", name)? }));
    let user =
        user.ok_or_else(|| Error::new("PostgreSQL refuses to run as root, and there is no other user"))?;
    // The server must get through the directory above to its own.
    let passable = std::fs::set_permissions(parent, Permissions::from_mode(0o711));
    let given = passable.and_then(|()| chown(directory, Some(user.id), Some(user.group)));
    given.context(|| format!("giving {} away", directory.display()))?;
    Ok(Some(user))
}

fn as_user(user: Option<User>, program: &Path, directory: &Path) -> Command {
    let Some(user) = user else { return isolated(program, directory) };
    // It replaces itself by the program, which thus has the id that we know.
    let mut command = isolated(Path::new("setpriv"), directory);
    command.args([format!("--reuid={}", user.id), format!("--regid={}", user.group)]);
    command.arg("--clear-groups").arg("--").arg(program);
    command
}
