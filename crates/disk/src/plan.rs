//! What is to fail, and when.

use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::image::Images;

/// What SQLite does with files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Opens or makes one.
    Open,
    /// Reads a piece of one.
    Read,
    /// Writes a piece of one.
    Write,
    /// Has everything that was written go to the disk.
    Sync,
    /// Cuts one to a length.
    Truncate,
    /// Removes one.
    Delete,
    /// Locks one, or a part of the index of the journal.
    Lock,
    /// Maps the index of the journal into memory.
    Map,
}

impl Operation {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Open,
        Self::Read,
        Self::Write,
        Self::Sync,
        Self::Truncate,
        Self::Delete,
        Self::Lock,
        Self::Map,
    ];

    /// Whether a disk is different afterwards.
    fn is_change(self) -> bool {
        matches!(self, Self::Write | Self::Sync | Self::Truncate | Self::Delete)
    }
}

/// How an operation fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The disk says no.
    Error,
    /// There is no room; only writes can hear that.
    Full,
    /// Half of it is written, then there is no room; only writes can hear that.
    Short,
    /// Nothing works any more.
    PowerCut,
}

/// How a disk is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weather {
    /// Everything works.
    #[default]
    Fair,
    /// No file can grow.
    Full,
    /// Nothing can be changed.
    ReadOnly,
    /// Nothing works.
    Cut,
}

/// What becomes of one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Pass,
    Error,
    Full,
    Short,
}

/// One disk.
pub(crate) struct State {
    directory: PathBuf,
    plan: Mutex<Plan>,
    images: Mutex<Images>,
    /// How many files are open.
    open: Mutex<usize>,
    closed: Condvar,
}

#[derive(Default)]
struct Plan {
    armed: Option<Armed>,
    has_struck: bool,
    weather: Weather,
    failed: u64,
}

struct Armed {
    operation: Operation,
    /// How many such operations it is still to come to.
    left: u32,
    fault: Fault,
}

impl State {
    pub(crate) fn new(directory: PathBuf) -> Self {
        Self {
            directory,
            plan: Mutex::default(),
            images: Mutex::default(),
            open: Mutex::default(),
            closed: Condvar::new(),
        }
    }

    pub(crate) fn has(&self, file: &Path) -> bool {
        file.parent() == Some(&self.directory)
    }

    pub(crate) fn arm(&self, operation: Operation, nth: u32, fault: Fault) {
        let mut plan = self.plan();
        plan.has_struck = false;
        plan.armed = Some(Armed { operation, left: nth, fault });
    }

    pub(crate) fn set_weather(&self, weather: Weather) {
        self.plan().weather = weather;
    }

    pub(crate) fn spare(&self) -> bool {
        let mut plan = self.plan();
        plan.armed = None;
        plan.weather = Weather::Fair;
        std::mem::take(&mut plan.has_struck)
    }

    pub(crate) fn failed(&self) -> u64 {
        self.plan().failed
    }

    pub(crate) fn images(&self) -> MutexGuard<'_, Images> {
        self.images.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn note_open(&self) {
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) += 1;
    }

    pub(crate) fn note_closed(&self) {
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.closed.notify_all();
    }

    pub(crate) fn wait_until_closed(&self, at_most: Duration) -> bool {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.closed.wait_timeout_while(open, at_most, |open| *open > 0);
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    fn plan(&self) -> MutexGuard<'_, Plan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts an operation and tells what becomes of it. `grows` says that a file would be longer than it is.
    pub(crate) fn judge(&self, operation: Operation, grows: bool) -> Verdict {
        let mut plan = self.plan();
        let verdict = match plan.weather {
            Weather::Cut => Verdict::Error,
            Weather::ReadOnly if operation.is_change() => Verdict::Error,
            Weather::Full if grows => Verdict::Full,
            Weather::Fair | Weather::Full | Weather::ReadOnly => plan.strike(operation),
        };
        plan.failed += u64::from(verdict != Verdict::Pass);
        verdict
    }
}

impl Plan {
    fn strike(&mut self, operation: Operation) -> Verdict {
        let Some(armed) = self.armed.as_mut().filter(|armed| armed.operation == operation) else {
            return Verdict::Pass;
        };
        armed.left = armed.left.saturating_sub(1);
        if armed.left > 0 {
            return Verdict::Pass;
        }
        let fault = armed.fault;
        self.armed = None;
        self.has_struck = true;
        match fault {
            Fault::Full if operation == Operation::Write => Verdict::Full,
            Fault::Short if operation == Operation::Write => Verdict::Short,
            Fault::Error | Fault::Full | Fault::Short => Verdict::Error,
            Fault::PowerCut => {
                self.weather = Weather::Cut;
                Verdict::Error
            }
        }
    }
}
