//! Files that are whole or not there. [`write_whole`] writes any of them. [`Files`] are what was uploaded; a [`Keep`] is a
//! directory of files that something in memory is kept in from one start to the next. Those are a cache: every byte of one is
//! checked before it is believed, and one that is damaged, of another build or of something else is thrown away.

mod frames;
mod keep;
mod uploads;
mod whole;

pub use frames::{FrameReader, FrameWriter};
pub use keep::{Keep, KeptEntry, Label, Opened};
pub use uploads::{
    ASSETS_DIRECTORY, Aside, Claim, DrawWord, FileError, Files, Hold, Listed, dimensions, media_type,
};
pub use whole::{ignore_missing, sync_names, write_whole};
