//! Files that are whole or not there. [`write_whole`] writes any of them. [`Files`] are what was uploaded, in a directory or in a
//! bucket; a [`Keep`] is a directory of files that something in memory is kept in from one start to the next. Those are a
//! cache: every byte of one is checked before it is believed, and one that is damaged, of another build or of something else
//! is thrown away.

mod frames;
mod keep;
mod media;
#[cfg(feature = "testing")]
pub mod testing;
mod uploads;
mod whole;

pub use frames::{FrameReader, FrameWriter};
pub use keep::{Keep, KeptEntry, Label, Opened};
pub use media::{dimensions, media_type};
pub use uploads::{Claim, Content, DrawWord, FileError, Files, Hold, Registry, RemovalError};
pub use whole::{ignore_missing, sync_names, write_whole};
