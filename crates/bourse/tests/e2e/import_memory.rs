//! An import's memory does not grow with its input.

use std::io::{BufWriter, Write as _};
use std::process::{ChildStdin, Stdio};
use std::time::{Duration, Instant};

use crate::instance::Instance;

const SMALL: u64 = 10_000;
const LARGE: u64 = 30_000;
/// So large that the smaller import already fills the page cache of SQLite, which is memory too.
const DESCRIPTION_BYTES: usize = 8_000;
const IMPORT_LIMIT: Duration = Duration::from_mins(5);

#[test]
fn memory_stays_flat_with_the_size_of_the_input() {
    let (small, large) = (peak_kilobytes(SMALL), peak_kilobytes(LARGE));
    assert!(large * 2 <= small * 3, "{SMALL} lines took {small} kB, {LARGE} lines {large} kB");
}

/// The most memory that an import of so many tokens had at once.
fn peak_kilobytes(count: u64) -> u64 {
    let started = Instant::now();
    let instance = Instance::new();
    let mut command = instance.command(&["import", "-"]);
    command.stdin(Stdio::piped());
    let mut process = instance.start(command);
    let stdin = process.take_stdin();
    let status = format!("/proc/{}/status", process.id());
    let mut peak = 0;
    std::thread::scope(|scope| {
        let writing = scope.spawn(|| write_tokens(stdin, count));
        while process.ended().is_none() {
            assert!(started.elapsed() < IMPORT_LIMIT, "{}", process.stderr());
            // The file is empty once the process has ended.
            peak = high_water(&std::fs::read_to_string(&status).unwrap_or_default()).unwrap_or(peak);
            std::thread::sleep(Duration::from_millis(20));
        }
        writing.join().unwrap().unwrap();
    });
    let done = process.wait(IMPORT_LIMIT);
    assert!(done.status.success(), "{done:?}");
    println!("{count} lines: {peak} kB at most, {:?}", started.elapsed());
    peak
}

fn high_water(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches("kB").trim().parse().ok()
}

fn write_tokens(stdin: ChildStdin, count: u64) -> std::io::Result<()> {
    let mut pipe = BufWriter::new(stdin);
    let description = "x".repeat(DESCRIPTION_BYTES);
    for number in 1..=count {
        writeln!(
            pipe,
            r#"{{"type":"token","chainId":137,"contractAddress":"0x1111111111111111111111111111111111111111","tokenId":"{number}","description":"{description}"}}"#
        )?;
    }
    pipe.flush()
}
