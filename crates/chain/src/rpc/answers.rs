//! What a node answered, held against what it was asked: answers are put in order, and those that cannot be right are
//! refused.

use bourse_market::facts::Block;

use crate::bloom;
use crate::node::{Failure, Header, LogFilter, Span, SpanLogs, TimedLog};

/// Refuses blocks that are not those that were asked about, are not all, or do not follow on each other.
pub(super) fn sound_blocks(numbers: &[u64], headers: &[Option<Header>]) -> Result<(), Failure> {
    let is_asked = |(number, header): (&u64, &Option<Header>)| {
        header.as_ref().is_none_or(|header| header.block.number == *number)
    };
    if headers.len() != numbers.len() || !numbers.iter().zip(headers).all(is_asked) {
        return Err(Failure::retry("it told of other blocks than it was asked about"));
    }
    if let Some((number, _)) = numbers.iter().zip(headers).find(|(_, header)| header.is_none()) {
        return Err(Failure::reorg(format!("it does not know block {number}")));
    }
    let known: Vec<Block> = headers.iter().flatten().map(|header| header.block).collect();
    let is_broken = |pair: &&[Block]| matches!(pair, [one, next] if one.number + 1 == next.number && next.parent != one.hash);
    match known.windows(2).find(is_broken) {
        Some([_, next]) => {
            Err(Failure::reorg(format!("its block {} does not follow on the one before it", next.number)))
        }
        _ => Ok(()),
    }
}

/// The logs that were asked for, in the order of the chain and each once. Refuses an answer about other blocks, and one in
/// which two logs have the same place.
pub(super) fn sound_logs(span: Span, filters: &[LogFilter], mut told: SpanLogs) -> Result<SpanLogs, Failure> {
    if let Some(last) = told.last.as_ref().filter(|last| !is_last(span, &last.block)) {
        let (number, hash) = (last.block.number, last.block.hash);
        return Err(Failure::retry(format!("it told of block {number} {hash}, which was not asked about")));
    }
    if let Some(timed) = told.logs.iter().find(|timed| !is_in(span, timed)) {
        return Err(of_other_block(span, timed));
    }
    // What was not asked about says nothing, and is nothing to fail over.
    told.logs.retain(|timed| filters.iter().any(|filter| filter.admits(&timed.log)));
    told.logs.sort_by_key(place);
    told.logs.dedup_by(|later, first| later.log == first.log);
    match told.logs.windows(2).find(|pair| place(&pair[0]) == place(&pair[1])) {
        None => Ok(told),
        Some(pair) => {
            let (number, index) = place(&pair[0]);
            Err(Failure::retry(format!("it told of two logs of block {number} that are both number {index}")))
        }
    }
}

fn place(timed: &TimedLog) -> (u64, u64) {
    (timed.log.block_number, timed.log.index)
}

fn is_last(span: Span, last: &Block) -> bool {
    match span {
        Span::Range { to, .. } => last.number == to,
        Span::Block(hash) => last.hash == hash,
    }
}

fn is_in(span: Span, timed: &TimedLog) -> bool {
    match span {
        Span::Range { from, to } => (from..=to).contains(&timed.log.block_number),
        Span::Block(hash) => timed.log.block_hash == hash,
    }
}

fn of_other_block(span: Span, timed: &TimedLog) -> Failure {
    let (number, hash) = (timed.log.block_number, timed.log.block_hash);
    match span {
        Span::Range { from, to } => {
            Failure::retry(format!("asked about blocks {from} to {to}, it told of a log of block {number}"))
        }
        // At the same height there may be another block by now.
        Span::Block(_) => {
            Failure::reorg(format!("a log is of block {number} {hash}, which was not asked about"))
        }
    }
}

/// The logs of the last block of a span that `told` lacks, where all logs of the block are known. Refuses those when the
/// block speaks of still others.
pub(super) fn lacking(
    last: &Header,
    filters: &[LogFilter],
    told: &[TimedLog],
    all: Vec<TimedLog>,
) -> Result<Vec<TimedLog>, Failure> {
    let (number, span) = (last.block.number, Span::Block(last.block.hash));
    if let Some(timed) = all.iter().find(|timed| !is_in(span, timed)) {
        return Err(of_other_block(span, timed));
    }
    if !bloom::is_explained(last, filters, &all) {
        return Err(Failure::retry(format!(
            "block {number} has logs, by its bloom, that are neither among the logs nor in the receipts it told"
        )));
    }
    let SpanLogs { logs, .. } = sound_logs(span, filters, all.into())?;
    let is_told = |timed: &TimedLog| told.iter().any(|known| known.log == timed.log);
    Ok(logs.into_iter().filter(|timed| !is_told(timed)).collect())
}
