//! Memory of a process and of those that it started, where the system tells (Linux).

use std::collections::BTreeMap;
use std::fs;

/// The most that was resident at any of the times it was looked at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peak {
    process: u32,
    bytes: Option<u64>,
}

impl Peak {
    /// Starts to watch a process.
    pub(crate) fn of(process: u32) -> Self {
        Self { process, bytes: None }
    }

    /// Looks.
    pub(crate) fn look(&mut self) {
        self.bytes = self.bytes.max(tree_bytes(self.process));
    }

    /// The most so far.
    pub(crate) fn bytes(self) -> Option<u64> {
        self.bytes
    }
}

/// What a process and all that it started have resident together. Pages that they share count for each.
fn tree_bytes(root: u32) -> Option<u64> {
    let processes = processes();
    let mut tree = vec![root];
    let mut next = 0;
    while let Some(parent) = tree.get(next).copied() {
        let children = processes.iter().filter(|(_, process)| process.parent == parent);
        tree.extend(children.map(|(id, _)| *id));
        next += 1;
    }
    let bytes = tree.iter().filter_map(|id| Some(processes.get(id)?.bytes));
    Some(bytes.sum()).filter(|bytes| *bytes > 0)
}

#[derive(Debug, PartialEq, Eq)]
struct Process {
    parent: u32,
    bytes: u64,
}

fn processes() -> BTreeMap<u32, Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let read = entries.filter_map(|entry| {
        let id: u32 = entry.file_name().to_str()?.parse().ok()?;
        // It may have ended since.
        Some((id, parse(&fs::read_to_string(entry.path().join("status")).ok()?)?))
    });
    read.collect()
}

/// Reads the text of `/proc/PID/status`, where memory is in units of 1024 bytes. What the system does itself has none.
fn parse(status: &str) -> Option<Process> {
    let value = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    let kibibytes: u64 = value("VmRSS:")?.strip_suffix(" kB")?.parse().ok()?;
    Some(Process { parent: value("PPid:")?.parse().ok()?, bytes: kibibytes * 1024 })
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::{Peak, Process, parse};

    #[test]
    fn reads_parent_and_memory() {
        let status = "Name:\tnode\nPid:\t8\nPPid:\t7\nVmHWM:\t  300 kB\nVmRSS:\t    250 kB\n";
        assert_eq!(parse(status), Some(Process { parent: 7, bytes: 256_000 }));
        assert_eq!(parse("Name:\tkthreadd\nPPid:\t0\n"), None);
    }

    #[test]
    fn children_count() {
        let mut alone = Peak::of(std::process::id());
        alone.look();
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let (mut of_child, mut together) = (Peak::of(child.id()), Peak::of(std::process::id()));
        of_child.look();
        together.look();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(of_child.bytes().unwrap() > 0);
        // Other tests run in this process, so its own memory may grow meanwhile, but hardly shrinks.
        assert!(together.bytes().unwrap() >= of_child.bytes().unwrap());
        assert!(alone.bytes().unwrap() > 0);
    }
}
