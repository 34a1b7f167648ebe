//! Looks for cliffs: requests that cost far more than others of their kind. Skewed collections are built in this process
//! and asked thousands of questions of every shape, without HTTP: what is measured is finding an answer and writing it.

mod draw;
mod order;
mod question;
mod report;
mod token;
mod world;

use std::path::Path;
use std::time::{Duration, Instant};

use bourse_catalog::Collection;
use bourse_random::Random;
use bourse_wire::{Address, ServiceName};
use rustix::time::{ClockId, clock_gettime};

use crate::error::Error;
use crate::jsonl;
use crate::options::Options;
use draw::Drawer;
use question::{Operation, Question};
use report::{OperationReport, print_heading};
use world::{Kind, World};

/// The chain of the collections.
const CHAIN_ID: u64 = 137;
/// Their address.
const CONTRACT: &str = "0xc11ff50000000000000000000000000000c11ff5";
/// What the questions depend on.
const SEED: u64 = 0x9e57_1095;
/// Questions of each operation.
const QUESTIONS: usize = 10_000;
const QUICK_QUESTIONS: usize = 1_000;
/// Times that all questions are asked in turn. The least time of each counts: other work that shares the processor's caches
/// makes some of them longer, and nothing makes them shorter.
const ROUNDS: usize = 3;

/// A question, and the least processor time that it took.
#[derive(Debug)]
pub(crate) struct Measured {
    question: Question,
    time: Duration,
}

/// Measures, and prints what it found.
pub(crate) fn measure(options: &Options) -> Result<(), Error> {
    let mut measured = 0;
    for kind in [Kind::Singles, Kind::Stacks] {
        let world = World::new(kind, options.tokens());
        let built = Instant::now();
        let collection = world.collection();
        print_heading(kind, &collection, built.elapsed());
        let selected = Operation::ALL.into_iter();
        for operation in selected.filter(|operation| options.selects(operation.name(), kind.word())) {
            let count = if options.quick { QUICK_QUESTIONS } else { QUESTIONS };
            let report =
                OperationReport::new(operation, measure_operation(&world, &collection, operation, count));
            report.print();
            measured += 1;
        }
    }
    if measured == 0 {
        return Err(Error::new(format!("nothing is named {}", options.only.join(" or "))));
    }
    Ok(())
}

/// Writes a skewed collection as records to import.
pub(crate) fn write_records(options: &Options, path: &Path) -> Result<(), Error> {
    let world = World::new(Kind::Singles, options.tokens());
    let written = jsonl::write(path, world.records())?;
    println!("{} records, {} bytes", written.lines, written.bytes);
    Ok(())
}

fn measure_operation(
    world: &World,
    collection: &Collection,
    operation: Operation,
    count: usize,
) -> Vec<Measured> {
    let mut drawer = Drawer::new(SEED, world, collection);
    let mut measured: Vec<Measured> =
        (0..count).map(|_| Measured { question: drawer.question(operation), time: Duration::MAX }).collect();
    let mut answer = Vec::new();
    for _ in 0..ROUNDS {
        for Measured { question, time } in &mut measured {
            let begun = processor_time();
            question.ask(collection, &mut answer);
            *time = processor_time().saturating_sub(begun).min(*time);
        }
    }
    measured
}

/// Processor time of this thread so far: other work on the machine does not count.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let part = |value: i64| u64::try_from(value).unwrap_or_default();
    Duration::from_secs(part(time.tv_sec)) + Duration::from_nanos(part(time.tv_nsec))
}

fn service() -> ServiceName {
    ServiceName::new("bourse")
}

/// The address of an account.
fn account(number: usize) -> Address {
    let number = number as u64;
    let mut bytes = [0; 20];
    bytes[..8].copy_from_slice(&Random::new(number).next().to_be_bytes());
    // The number is part of the address, so that no two are the same.
    bytes[12..].copy_from_slice(&number.to_be_bytes());
    Address::from_bytes(bytes)
}
