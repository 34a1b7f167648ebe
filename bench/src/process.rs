//! Processes that the benchmark starts, each ended at the latest when its guard is dropped.

use std::fs::File;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tokio::time::{sleep, timeout};

use crate::client::{Connection, get};
use crate::error::{Context, Error};

/// Short, because the time of an import is taken with it.
const POLL: Duration = Duration::from_millis(2);

/// A health check that hangs must not hide that the process has ended.
const HEALTH_LIMIT: Duration = Duration::from_secs(2);

/// How much of a failed process' output is shown.
const TAIL_LINES: usize = 20;

/// A running process. Dropping it kills the process.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    name: &'static str,
    output: Option<Output>,
}

/// The files that take what a process prints.
#[derive(Debug)]
struct Output {
    stdout: PathBuf,
    stderr: PathBuf,
}

/// A command that sees none of the caller's settings for Bourse and PostgreSQL and finds no configuration file: the
/// figures are those of the defaults. Its working directory is `directory`.
pub(crate) fn isolated(program: &Path, directory: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(directory).stdin(Stdio::null());
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("BOURSE_") || text.starts_with("PG") {
            command.env_remove(&name);
        }
    }
    command
}

impl Running {
    /// Starts `command`. What it prints goes to files in `log_directory`, or to the terminal without one.
    pub(crate) fn spawn(
        command: &mut Command,
        name: &'static str,
        log_directory: Option<&Path>,
    ) -> Result<Self, Error> {
        let output = log_directory.map(|directory| Output {
            stdout: directory.join(format!("{name}.out")),
            stderr: directory.join(format!("{name}.err")),
        });
        if let Some(output) = &output {
            command.stdout(create(&output.stdout)?).stderr(create(&output.stderr)?);
        }
        let child = command.spawn().context(|| format!("starting {}", command.get_program().display()))?;
        Ok(Self { child, name, output })
    }

    /// Waits until the process has ended well, and returns what it printed and how long that took.
    pub(crate) async fn finish(mut self, limit: Duration) -> Result<(String, Duration), Error> {
        let started = Instant::now();
        while !self.ended_well()? {
            if started.elapsed() > limit {
                return Err(self.failure(&format!("did not end within {} s", limit.as_secs())));
            }
            sleep(POLL).await;
        }
        let took = started.elapsed();
        let Some(output) = &self.output else { return Ok((String::new(), took)) };
        let printed = std::fs::read_to_string(&output.stdout);
        Ok((printed.context(|| format!("reading {}", output.stdout.display()))?, took))
    }

    /// Asks the process to end, as Ctrl-C does.
    pub(crate) fn interrupt(&self) -> Result<(), Error> {
        let mut command = Command::new("kill");
        command.args(["-INT", &self.child.id().to_string()]).stdin(Stdio::null());
        match command.status().context(|| format!("interrupting {}", self.name))? {
            status if status.success() => Ok(()),
            status => Err(self.failure(&format!("could not be interrupted, {status}"))),
        }
    }

    /// Waits for the process to end, without leaving the thread to others; for guards alone.
    pub(crate) fn wait_at_most(&mut self, limit: Duration) {
        let started = Instant::now();
        while started.elapsed() < limit && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(POLL);
        }
    }

    /// Waits until the server at `address`, which this process is, reports that it is healthy.
    pub(crate) async fn ready(&mut self, address: SocketAddr, limit: Duration) -> Result<(), Error> {
        let started = Instant::now();
        while !matches!(timeout(HEALTH_LIMIT, is_healthy(address)).await, Ok(true)) {
            if self.ended_well()? {
                return Err(self.failure("ended before it was healthy"));
            }
            if started.elapsed() > limit {
                return Err(self.failure(&format!("was not healthy within {} s", limit.as_secs())));
            }
            sleep(POLL * 10).await;
        }
        Ok(())
    }

    /// What the system knows the process by.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// An error if the process has ended, though it should not have.
    pub(crate) fn check_running(&mut self) -> Result<(), Error> {
        if self.ended_well()? { Err(self.failure("ended too early")) } else { Ok(()) }
    }

    /// Processor time that the process has used so far, where the system tells (Linux).
    pub(crate) fn cpu_time(&self) -> Option<Duration> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).ok()?;
        parse_cpu_time(&stat)
    }

    /// Memory that the process has resident, in bytes, where the system tells (Linux).
    pub(crate) fn memory_bytes(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        parse_memory_bytes(&status)
    }

    /// The error to report when `what` happened to this process, with the end of what it printed.
    pub(crate) fn failure(&self, what: &str) -> Error {
        let mut message = format!("{} {what}", self.name);
        for path in self.output.iter().flat_map(|output| [&output.stdout, &output.stderr]) {
            // Output that cannot be read must not replace the error that is being reported.
            let printed = std::fs::read(path).unwrap_or_default();
            let printed = String::from_utf8_lossy(&printed);
            let lines: Vec<&str> = printed.lines().collect();
            for line in lines.iter().skip(lines.len().saturating_sub(TAIL_LINES)) {
                message.push_str("\n  ");
                message.push_str(line);
            }
        }
        Error::new(message)
    }

    /// Whether the process has ended; an error if it did so with a failure.
    fn ended_well(&mut self) -> Result<bool, Error> {
        match self.child.try_wait().context(|| format!("waiting for {}", self.name))? {
            None => Ok(false),
            Some(status) if status.success() => Ok(true),
            Some(status) => Err(self.failure(&format!("failed, {status}"))),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Both fail only for a process that has ended already, which is what they are for. Killing is enough:
        // the data is thrown away, so nothing needs an orderly end.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn create(path: &Path) -> Result<File, Error> {
    File::create(path).context(|| format!("creating {}", path.display()))
}

async fn is_healthy(address: SocketAddr) -> bool {
    let Ok(mut connection) = Connection::open(address).await else { return false };
    connection.exchange(&get(address, "/health")).await.is_ok()
}

/// Reads the user and system time from the text of `/proc/PID/stat`: fields 14 and 15, in hundredths of a
/// second. They are counted from the last parenthesis, since the name of the program may hold spaces.
fn parse_cpu_time(stat: &str) -> Option<Duration> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut times = fields.split_ascii_whitespace().skip(11).map(str::parse::<u64>);
    let ticks = times.next()?.ok()? + times.next()?.ok()?;
    Some(Duration::from_millis(ticks * 10))
}

/// Reads the resident memory from the text of `/proc/PID/status`, where it is in units of 1024 bytes.
fn parse_memory_bytes(status: &str) -> Option<u64> {
    let value = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = value.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::Duration;

    use super::{Running, parse_cpu_time, parse_memory_bytes};

    #[test]
    fn reads_the_processor_time_behind_a_name_with_spaces() {
        let stat = "7 (a ) b) S 1 7 7 0 -1 4194560 100 0 0 0 150 25 0 0 20 0 3 0 12345";
        assert_eq!(parse_cpu_time(stat), Some(Duration::from_millis(1750)));
        assert_eq!(parse_cpu_time("nonsense"), None);
    }

    #[test]
    fn reads_the_resident_memory() {
        let status = "Name:\tbourse\nVmHWM:\t  300 kB\nVmRSS:\t    250 kB\nThreads:\t3\n";
        assert_eq!(parse_memory_bytes(status), Some(256_000));
        assert_eq!(parse_memory_bytes("Name:\tbourse\n"), None);
    }

    #[tokio::test]
    async fn a_failure_shows_what_was_printed() {
        let directory = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "echo no such thing >&2; exit 3"]);
        let running = Running::spawn(&mut command, "sh", Some(directory.path())).unwrap();
        let error = running.finish(Duration::from_secs(10)).await.unwrap_err().to_string();
        assert!(error.contains("no such thing") && error.contains('3'), "{error}");
    }

    #[tokio::test]
    async fn a_process_that_takes_too_long_is_ended() {
        let mut command = Command::new("sleep");
        let running = Running::spawn(command.arg("60"), "sleep", None).unwrap();
        let id = running.child.id();
        running.finish(Duration::from_millis(50)).await.unwrap_err();
        assert!(!std::path::Path::new(&format!("/proc/{id}")).exists());
    }
}
