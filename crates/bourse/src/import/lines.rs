//! Lines out of files, in bounded memory.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

use tokio::sync::mpsc::Sender;

use super::{Message, Pending, Position, Reader};

/// The longest line: more than the largest record.
const LINE_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// What some editors put at the start of a file.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads files one after another and sends their records on in batches. Ends early at the first bad line unless
/// those are skipped; what came before it is sent first.
pub(super) fn read_files(files: &[PathBuf], skip_bad: bool, reader: &Reader, sender: &Sender<Message>) {
    let mut batches = Batches { pending: Pending::default(), position: Position::default(), sender };
    for path in files {
        let ended = match read_file(path, skip_bad, reader, &mut batches) {
            Ok(ended) => ended,
            Err(error) => Some(format!("{}: {error}", path.display())),
        };
        if let Some(reason) = ended {
            batches.flush();
            batches.send(Message::Stop(reason));
            return;
        }
        // A file makes the same batches of events whatever is imported beside it, so that they are known again.
        if batches.pending.has_events() {
            batches.flush();
        }
    }
    batches.flush();
}

struct Batches<'s> {
    pending: Pending,
    position: Position,
    sender: &'s Sender<Message>,
}

impl Batches<'_> {
    fn flush(&mut self) -> bool {
        let pending = std::mem::take(&mut self.pending);
        pending.len() == 0 || self.send(Message::Batch(Box::new(pending), self.position))
    }

    /// Whether somebody still listens.
    fn send(&self, message: Message) -> bool {
        self.sender.blocking_send(message).is_ok()
    }
}

/// Why reading must end, if it must.
fn read_file(
    path: &Path,
    skip_bad: bool,
    reader: &Reader,
    batches: &mut Batches<'_>,
) -> io::Result<Option<String>> {
    let mut input: Box<dyn BufRead> = if path == Path::new("-") {
        Box::new(BufReader::new(io::stdin()))
    } else {
        Box::new(BufReader::with_capacity(256 * 1024, File::open(path)?))
    };
    let mut line = Vec::new();
    for number in 1_u64.. {
        line.clear();
        let read = input.by_ref().take(LINE_BYTES_MAX + 1).read_until(b'\n', &mut line)? as u64;
        if read == 0 {
            return Ok(None);
        }
        batches.position.bytes += read;
        batches.position.lines += 1;
        let text = if number == 1 { line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&line) } else { &line };
        let result = if read > LINE_BYTES_MAX {
            // When the last byte read ends the line, what follows is the next one.
            if !line.ends_with(b"\n") {
                input.skip_until(b'\n')?;
            }
            Err(format!("the line is longer than {LINE_BYTES_MAX} bytes"))
        } else if text.iter().all(u8::is_ascii_whitespace) {
            continue;
        } else {
            reader.read(text).map_err(|error| match error.cause {
                Some(cause) => format!("{}: {cause}", error.message),
                None => error.message,
            })
        };
        let full = match result {
            Ok(record) => batches.pending.add(record, text.len()),
            Err(reason) => {
                let reason = format!("{} line {number}: {reason}", path.display());
                if !skip_bad {
                    return Ok(Some(reason));
                }
                batches.send(Message::Skipped(reason));
                false
            }
        };
        if full && !batches.flush() {
            // The store failed; whoever listened reports it.
            return Ok(None);
        }
    }
    Ok(None)
}
