//! Bytes in frames, each behind its length and a hash of it and of its number. Whoever reads gets no byte before the frame
//! that it is in was checked, so that damage is found before it is believed; a last frame without bytes tells that nothing
//! is missing.

use std::io::{self, BufRead, Read, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use twox_hash::XxHash3_64;

/// Bytes of a frame, at most.
const FRAME_BYTES: usize = 1 << 20;
/// Frames that are read before they are asked for.
const FRAMES_AHEAD: usize = 8;
/// Bytes of a length, and of a hash.
const LENGTH_BYTES: usize = 4;
const HASH_BYTES: usize = 8;

/// Writes frames.
pub struct FrameWriter<W> {
    out: W,
    frame: Vec<u8>,
    number: u64,
}

impl<W: Write> FrameWriter<W> {
    /// Writes frames from here on.
    pub fn new(out: W) -> Self {
        Self { out, frame: Vec::with_capacity(FRAME_BYTES), number: 0 }
    }

    /// Writes the last frame. Without it nothing that was written is believed.
    pub fn finish(mut self) -> io::Result<W> {
        if !self.frame.is_empty() {
            self.end_frame()?;
        }
        self.end_frame()?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn end_frame(&mut self) -> io::Result<()> {
        let length = u32::try_from(self.frame.len()).map_err(io::Error::other)?;
        self.out.write_all(&length.to_le_bytes())?;
        self.out.write_all(&hash(self.number, &self.frame).to_le_bytes())?;
        self.out.write_all(&self.frame)?;
        self.frame.clear();
        self.number += 1;
        Ok(())
    }
}

impl<W: Write> Write for FrameWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(FRAME_BYTES - self.frame.len());
        self.frame.extend_from_slice(&bytes[..taken]);
        if self.frame.len() == FRAME_BYTES {
            self.end_frame()?;
        }
        Ok(taken)
    }

    /// Frames are written when they are full.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Reads frames. A thread reads and checks those that come next, while what is in this one is made use of.
pub struct FrameReader {
    checked: Receiver<io::Result<Vec<u8>>>,
    frame: Vec<u8>,
    /// How much of the frame was read.
    read: usize,
    is_ended: bool,
}

impl FrameReader {
    /// Reads the frames that begin here.
    pub fn new(from: impl Read + Send + 'static) -> io::Result<Self> {
        let (sender, checked) = sync_channel(FRAMES_AHEAD);
        let source = FrameSource { from, number: 0 };
        std::thread::Builder::new().name("frames".to_owned()).spawn(move || source.send_all(&sender))?;
        Ok(Self { checked, frame: Vec::new(), read: 0, is_ended: false })
    }

    /// An error when there is anything left, or the last frame is missing.
    pub fn finish(mut self) -> io::Result<()> {
        if self.fill_buf()?.is_empty() { Ok(()) } else { Err(damaged("there is more in it than was read")) }
    }
}

impl BufRead for FrameReader {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.read == self.frame.len() && !self.is_ended {
            // After an error nothing comes any more.
            self.frame = self.checked.recv().map_err(|_| io::ErrorKind::UnexpectedEof)??;
            (self.read, self.is_ended) = (0, self.frame.is_empty());
        }
        Ok(&self.frame[self.read..])
    }

    fn consume(&mut self, amount: usize) {
        self.read = self.frame.len().min(self.read + amount);
    }
}

impl Read for FrameReader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let taken = {
            let mut here = self.fill_buf()?;
            here.read(into)?
        };
        self.consume(taken);
        Ok(taken)
    }
}

/// What frames are read from.
struct FrameSource<R> {
    from: R,
    number: u64,
}

impl<R: Read> FrameSource<R> {
    /// Hands over frames up to the last, or to the first that is damaged, as long as somebody wants them.
    fn send_all(mut self, checked: &SyncSender<io::Result<Vec<u8>>>) {
        loop {
            let frame = self.next();
            let is_last = frame.as_ref().map_or(true, Vec::is_empty);
            if checked.send(frame).is_err() || is_last {
                return;
            }
        }
    }

    fn next(&mut self) -> io::Result<Vec<u8>> {
        let (mut length, mut told) = ([0; LENGTH_BYTES], [0; HASH_BYTES]);
        self.from.read_exact(&mut length)?;
        self.from.read_exact(&mut told)?;
        let length = u32::from_le_bytes(length) as usize;
        if length > FRAME_BYTES {
            return Err(damaged("a frame of it is too long"));
        }
        let mut frame = vec![0; length];
        self.from.read_exact(&mut frame)?;
        if hash(self.number, &frame) != u64::from_le_bytes(told) {
            return Err(damaged("a frame of it is not what was written"));
        }
        self.number += 1;
        if frame.is_empty() && self.from.read(&mut [0])? > 0 {
            return Err(damaged("there is something behind its end"));
        }
        Ok(frame)
    }
}

/// Frames in another order, or of another file, have other numbers or other bytes.
fn hash(number: u64, frame: &[u8]) -> u64 {
    XxHash3_64::oneshot_with_seed(number, frame)
}

pub(crate) fn damaged(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Some frames, the last of them not full.
    fn content() -> Vec<u8> {
        (0..2 * FRAME_BYTES + 1_000).map(|index| u8::try_from(index % 251).unwrap()).collect()
    }

    fn written(content: &[u8]) -> Vec<u8> {
        let mut writer = FrameWriter::new(Vec::new());
        writer.write_all(content).unwrap();
        writer.finish().unwrap()
    }

    fn reader(bytes: &[u8]) -> FrameReader {
        FrameReader::new(io::Cursor::new(bytes.to_vec())).unwrap()
    }

    fn read(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let (mut reader, mut content) = (reader(bytes), Vec::new());
        reader.read_to_end(&mut content)?;
        reader.finish()?;
        Ok(content)
    }

    #[test]
    fn what_was_written_is_read() {
        for content in [content(), content()[..FRAME_BYTES].to_vec(), b"few".to_vec(), Vec::new()] {
            assert!(read(&written(&content)).unwrap() == content);
        }
    }

    #[test]
    fn whatever_is_damaged_is_noticed() {
        let (content, whole) = (content(), written(&content()));
        let head = LENGTH_BYTES + HASH_BYTES;
        let second = head + FRAME_BYTES;
        // A length, a hash and a byte of the first frame, of one in the middle and of the last two.
        let last = whole.len() - head;
        for place in [0, 4, head, head + 77, second, second + 5, second + head + 9, last - 1, last, last + 7]
        {
            let mut changed = whole.clone();
            changed[place] ^= 0x10;
            assert!(read(&changed).is_err(), "byte {place} is another");
        }
        for end in [0, 3, head, second - 1, second, second + 7, last - 1, last, whole.len() - 1] {
            assert!(read(&whole[..end]).is_err(), "it ends after {end} bytes");
        }
        let swapped = [&whole[second..2 * second], &whole[..second], &whole[2 * second..]].concat();
        assert!(read(&swapped).is_err(), "frames in another order");
        assert!(read(&[&whole[..], b"x"].concat()).is_err(), "something behind the end");
        let mut reader = reader(&whole);
        reader.read_exact(&mut vec![0; content.len() - 1]).unwrap();
        assert!(reader.finish().is_err(), "not everything was read");
    }
}
