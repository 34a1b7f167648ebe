//! Processes that never outlive their test.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How long something may take that must come to be. It only ends a test that would wait forever: how fast the machine is
/// and what else it does is no test's business.
pub(crate) const WAIT_MAX: Duration = Duration::from_mins(2);
/// How often something is looked at that is waited for.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// A running process; what it prints goes to two files, which cannot fill up as pipes can.
pub(crate) struct Process {
    child: Child,
    stdout: PathBuf,
    stderr: PathBuf,
}

/// A process that has ended.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Process {
    /// Starts a command; its output goes to files whose names begin with `output`.
    pub(crate) fn start(mut command: Command, output: &Path) -> Self {
        let (stdout, stderr) = (output.with_extension("out"), output.with_extension("err"));
        command.stdout(fs::File::create(&stdout).unwrap()).stderr(fs::File::create(&stderr).unwrap());
        let child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        Self { child, stdout, stderr }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Where to write what it reads, when it was started with a pipe.
    pub(crate) fn take_stdin(&mut self) -> ChildStdin {
        self.child.stdin.take().unwrap()
    }

    pub(crate) fn stdout(&self) -> String {
        fs::read_to_string(&self.stdout).unwrap()
    }

    pub(crate) fn stderr(&self) -> String {
        fs::read_to_string(&self.stderr).unwrap()
    }

    /// For how long processors have been busy with it, as far as the system counts: in hundredths of a second.
    pub(crate) fn processor_time(&self) -> Duration {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.id())).unwrap();
        // Behind the name, which may have spaces; in user and in system mode.
        let (_, fields) = stat.rsplit_once(") ").unwrap();
        let ticks = fields.split(' ').skip(11).take(2).map(|ticks| ticks.parse::<u64>().unwrap());
        Duration::from_millis(ticks.sum::<u64>() * 10)
    }

    /// Whether it has ended by itself.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().unwrap()
    }

    /// The end that no process can prepare for.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks it to stop.
    pub(crate) fn terminate(&self) {
        self.signal("TERM");
    }

    /// Sends it a signal by its name.
    pub(crate) fn signal(&self, name: &str) {
        // The shell has a `kill` of its own everywhere.
        let command = format!("kill -{name} {}", self.id());
        assert!(Command::new("sh").args(["-c", &command]).status().unwrap().success());
    }

    /// Waits for its end, which must come in time.
    pub(crate) fn wait(mut self, limit: Duration) -> Done {
        let started = Instant::now();
        loop {
            if let Some(status) = self.ended() {
                return Done { status, stdout: self.stdout(), stderr: self.stderr() };
            }
            assert!(
                started.elapsed() < limit,
                "still running after {limit:?}: {}{}",
                self.stdout(),
                self.stderr()
            );
            std::thread::sleep(POLL_INTERVAL);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended before; that is what the error would say.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A command without any of our own settings, in a directory of its own.
pub(crate) fn clean_command(program: &str, directory: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear().current_dir(directory).stdin(Stdio::null());
    if let Some(path) = std::env::var_os("PATH") {
        command.env("PATH", path);
    }
    command
}
