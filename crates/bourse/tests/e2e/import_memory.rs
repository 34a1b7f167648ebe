//! An import's memory does not grow with its input.

use std::io::{BufWriter, Write as _};
use std::process::{ChildStdin, Stdio};
use std::time::{Duration, Instant};

use crate::instance::Instance;
use crate::process::POLL_INTERVAL;

/// Lines after which memory is looked at first: so many that they fill the page cache of SQLite, which is memory too.
const FIRST_LINES: u64 = 10_000;
const LINES: u64 = 30_000;
const DESCRIPTION_BYTES: usize = 8_000;
const IMPORT_LIMIT: Duration = Duration::from_mins(5);

#[test]
fn memory_stays_flat_with_the_size_of_the_input() {
    let started = Instant::now();
    let instance = Instance::new();
    let mut command = instance.command(&["import", "-"]);
    command.stdin(Stdio::piped());
    let mut process = instance.start(command);
    let stdin = process.take_stdin();
    let id = process.id();
    let (mut first, mut peak) = (0, 0);
    std::thread::scope(|scope| {
        let writing = scope.spawn(|| write_tokens(stdin, id));
        while process.ended().is_none() {
            assert!(started.elapsed() < IMPORT_LIMIT, "{}", process.stderr());
            peak = peak_kilobytes(id).unwrap_or(peak);
            std::thread::sleep(POLL_INTERVAL);
        }
        first = writing.join().unwrap().unwrap();
    });
    let done = process.wait(IMPORT_LIMIT);
    assert!(done.status.success(), "{done:?}");
    println!("{FIRST_LINES} lines: {first} kB at most, {LINES} lines: {peak} kB, {:?}", started.elapsed());
    assert!(peak * 2 <= first * 3, "{FIRST_LINES} lines took {first} kB, {LINES} lines {peak} kB");
}

/// The most memory that a process had at once, as long as it is there.
fn peak_kilobytes(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches("kB").trim().parse().ok()
}

/// Writes all lines; tells how much memory their reader had had when it had taken the first of them.
fn write_tokens(stdin: ChildStdin, reader: u32) -> std::io::Result<u64> {
    let mut first = 0;
    let mut pipe = BufWriter::new(stdin);
    let description = "x".repeat(DESCRIPTION_BYTES);
    for number in 1..=LINES {
        writeln!(
            pipe,
            r#"{{"type":"token","chainId":137,"contractAddress":"0x1111111111111111111111111111111111111111","tokenId":"{number}","description":"{description}"}}"#
        )?;
        if number == FIRST_LINES {
            first = peak_kilobytes(reader).unwrap();
        }
    }
    pipe.flush()?;
    Ok(first)
}
