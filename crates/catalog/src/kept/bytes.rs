//! Values as bytes: numbers in the order of bytes that most processors have, lists behind their lengths.

use std::collections::BTreeMap;
use std::hash::Hash;
use std::io::{self, BufRead, ErrorKind, Write};

use alloy_primitives::U256;
use bourse_market::Terms;
use bourse_sets::{Bits, Set, SetForm};
use bourse_wire::{Address, Amount, Marketplace, OrderSide, OrderStatus, Timestamp, TokenId};
use hashbrown::HashMap;

use crate::common::Common;

/// Items that there is room for before the first is read: a length is believed once as much was read.
const ROOM_MAX: usize = 1 << 20;
/// Bytes that are written at once.
const PIECE_BYTES: usize = 1 << 13;

/// What can be written as bytes and read again.
pub(crate) trait Kept: Sized {
    fn keep(&self, out: &mut impl Write) -> io::Result<()>;

    fn read(from: &mut impl BufRead) -> io::Result<Self>;

    /// Writes many, which may be quicker than one after the other.
    fn keep_all(items: &[Self], out: &mut impl Write) -> io::Result<()> {
        items.iter().try_for_each(|item| item.keep(out))
    }

    /// Reads so many.
    fn read_all(len: usize, from: &mut impl BufRead) -> io::Result<Vec<Self>> {
        let mut items = Vec::with_capacity(len.min(ROOM_MAX));
        for _ in 0..len {
            items.push(Self::read(from)?);
        }
        Ok(items)
    }
}

/// Writes and reads all members of a record one after the other.
macro_rules! kept {
    ($type:ty { $($member:ident),+ $(,)? }) => {
        impl $crate::kept::Kept for $type {
            fn keep(&self, out: &mut impl std::io::Write) -> std::io::Result<()> {
                let Self { $($member),+ } = self;
                $($crate::kept::Kept::keep($member, out)?;)+
                Ok(())
            }

            fn read(from: &mut impl std::io::BufRead) -> std::io::Result<Self> {
                Ok(Self { $($member: $crate::kept::Kept::read(from)?),+ })
            }
        }
    };
}
pub(crate) use kept;

/// So many bytes.
#[inline]
fn take<const LEN: usize>(from: &mut impl BufRead) -> io::Result<[u8; LEN]> {
    if let Some(bytes) = from.fill_buf()?.first_chunk() {
        let bytes = *bytes;
        from.consume(LEN);
        return Ok(bytes);
    }
    let mut bytes = [0; LEN];
    from.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Bytes behind their length, as one piece.
pub(crate) fn read_blob(from: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let len = usize::read(from)?;
    let mut blob = Vec::with_capacity(len.min(ROOM_MAX));
    while blob.len() < len {
        let here = from.fill_buf()?;
        if here.is_empty() {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        let taken = here.len().min(len - blob.len());
        blob.extend_from_slice(&here[..taken]);
        from.consume(taken);
    }
    Ok(blob)
}

/// Writes what [`read_blob`] reads.
pub(crate) fn keep_blob(blob: &[u8], out: &mut impl Write) -> io::Result<()> {
    blob.len().keep(out)?;
    out.write_all(blob)
}

fn wrong(what: &'static str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what)
}

/// Values of a fixed length, of which many are converted at once.
macro_rules! fixed {
    ($type:ty, $len:literal, $to:expr, $of:expr) => {
        impl Kept for $type {
            fn keep(&self, out: &mut impl Write) -> io::Result<()> {
                let to: fn(&$type) -> [u8; $len] = $to;
                out.write_all(&to(self))
            }

            fn read(from: &mut impl BufRead) -> io::Result<Self> {
                let of: fn([u8; $len]) -> $type = $of;
                take(from).map(of)
            }

            fn keep_all(items: &[Self], out: &mut impl Write) -> io::Result<()> {
                let to: fn(&$type) -> [u8; $len] = $to;
                let mut piece = Vec::with_capacity(PIECE_BYTES);
                for some in items.chunks(PIECE_BYTES / $len) {
                    piece.clear();
                    for item in some {
                        piece.extend_from_slice(&to(item));
                    }
                    out.write_all(&piece)?;
                }
                Ok(())
            }

            fn read_all(len: usize, from: &mut impl BufRead) -> io::Result<Vec<Self>> {
                let of: fn([u8; $len]) -> $type = $of;
                let mut items = Vec::with_capacity(len.min(ROOM_MAX));
                while items.len() < len {
                    let here = from.fill_buf()?;
                    let (whole, _) = here.as_chunks::<$len>();
                    let whole = &whole[..whole.len().min(len - items.len())];
                    items.extend(whole.iter().map(|bytes| of(*bytes)));
                    let taken = whole.len() * $len;
                    if taken == 0 {
                        // It is in two frames, or the end came too early.
                        items.push(Self::read(from)?);
                    } else {
                        from.consume(taken);
                    }
                }
                Ok(items)
            }
        }
    };
}

fixed!(u8, 1, |byte| [*byte], |[byte]| byte);
fixed!(u16, 2, |number| number.to_le_bytes(), u16::from_le_bytes);
fixed!(u32, 4, |number| number.to_le_bytes(), u32::from_le_bytes);
fixed!(u64, 8, |number| number.to_le_bytes(), u64::from_le_bytes);
fixed!(i64, 8, |number| number.to_le_bytes(), i64::from_le_bytes);
fixed!(i128, 16, |number| number.to_le_bytes(), i128::from_le_bytes);
fixed!(f64, 8, |number| number.to_le_bytes(), f64::from_le_bytes);
fixed!(Address, 20, |address| *address.bytes(), Address::from_bytes);
fixed!(TokenId, 32, |id| id.value().to_le_bytes(), |bytes| U256::from_le_bytes(bytes).into());
fixed!(Amount, 32, |amount| amount.value().to_le_bytes(), |bytes| U256::from_le_bytes(bytes).into());

/// Values that are told by another.
macro_rules! told_by {
    ($type:ty, $told:ty, $to:expr, $of:expr) => {
        impl Kept for $type {
            fn keep(&self, out: &mut impl Write) -> io::Result<()> {
                let to: fn(&$type) -> $told = $to;
                to(self).keep(out)
            }

            fn read(from: &mut impl BufRead) -> io::Result<Self> {
                let of: fn($told) -> Option<$type> = $of;
                of(<$told>::read(from)?).ok_or_else(|| wrong(concat!("no ", stringify!($type))))
            }
        }
    };
}

told_by!(bool, u8, |value| u8::from(*value), |byte| (byte < 2).then_some(byte == 1));
told_by!(usize, u64, |number| *number as u64, |number| usize::try_from(number).ok());
told_by!(char, u32, |letter| u32::from(*letter), char::from_u32);
told_by!(Timestamp, i128, |at| at.unix_nanos(), |nanos| Some(Timestamp::from_unix_nanos(nanos)));
told_by!(Marketplace, u8, |marketplace| marketplace.number(), Marketplace::from_number);
told_by!(OrderSide, u8, |side| side.number(), OrderSide::from_number);
told_by!(OrderStatus, u8, |status| status.number(), OrderStatus::from_number);

kept!(Terms { side, status, remaining, valid_from, valid_until, backing, is_whole });

impl<T: Kept> Kept for Vec<T> {
    fn keep(&self, out: &mut impl Write) -> io::Result<()> {
        self.len().keep(out)?;
        T::keep_all(self, out)
    }

    fn read(from: &mut impl BufRead) -> io::Result<Self> {
        let len = usize::read(from)?;
        T::read_all(len, from)
    }
}

impl<T: Kept> Kept for Option<T> {
    fn keep(&self, out: &mut impl Write) -> io::Result<()> {
        self.is_some().keep(out)?;
        self.iter().try_for_each(|value| value.keep(out))
    }

    fn read(from: &mut impl BufRead) -> io::Result<Self> {
        bool::read(from)?.then(|| T::read(from)).transpose()
    }
}

impl<A: Kept, B: Kept> Kept for (A, B) {
    fn keep(&self, out: &mut impl Write) -> io::Result<()> {
        self.0.keep(out)?;
        self.1.keep(out)
    }

    fn read(from: &mut impl BufRead) -> io::Result<Self> {
        Ok((A::read(from)?, B::read(from)?))
    }
}

impl<T: Kept> Kept for Common<T> {
    fn keep(&self, out: &mut impl Write) -> io::Result<()> {
        (**self).keep(out)
    }

    fn read(from: &mut impl BufRead) -> io::Result<Self> {
        T::read(from).map(Self::new)
    }
}

impl Kept for String {
    fn keep(&self, out: &mut impl Write) -> io::Result<()> {
        keep_blob(self.as_bytes(), out)
    }

    fn read(from: &mut impl BufRead) -> io::Result<Self> {
        Self::from_utf8(read_blob(from)?).map_err(|_| wrong("no text"))
    }
}

impl<K: Kept + Eq + Hash, V: Kept> Kept for HashMap<K, V> {
    fn keep(&self, out: &mut impl Write) -> io::Result<()> {
        self.len().keep(out)?;
        self.iter().try_for_each(|(key, value)| key.keep(out).and_then(|()| value.keep(out)))
    }

    fn read(from: &mut impl BufRead) -> io::Result<Self> {
        let len = usize::read(from)?;
        let mut map = Self::with_capacity(len.min(ROOM_MAX));
        for _ in 0..len {
            map.insert(K::read(from)?, V::read(from)?);
        }
        Ok(map)
    }
}

impl<K: Kept + Ord, V: Kept> Kept for BTreeMap<K, V> {
    fn keep(&self, out: &mut impl Write) -> io::Result<()> {
        self.len().keep(out)?;
        self.iter().try_for_each(|(key, value)| key.keep(out).and_then(|()| value.keep(out)))
    }

    fn read(from: &mut impl BufRead) -> io::Result<Self> {
        let len = usize::read(from)?;
        (0..len).map(|_| Ok((K::read(from)?, V::read(from)?))).collect()
    }
}

impl Kept for Bits {
    fn keep(&self, out: &mut impl Write) -> io::Result<()> {
        self.words().len().keep(out)?;
        u64::keep_all(self.words(), out)
    }

    fn read(from: &mut impl BufRead) -> io::Result<Self> {
        Ok(Vec::read(from)?.into())
    }
}

impl Kept for Set {
    fn keep(&self, out: &mut impl Write) -> io::Result<()> {
        match self.form() {
            SetForm::List(list) => {
                false.keep(out)?;
                list.len().keep(out)?;
                u32::keep_all(list, out)
            }
            SetForm::Bits(words) => {
                true.keep(out)?;
                words.len().keep(out)?;
                u64::keep_all(words, out)
            }
        }
    }

    fn read(from: &mut impl BufRead) -> io::Result<Self> {
        Ok(if bool::read(from)? {
            Self::from_bits(Bits::read(from)?)
        } else {
            Self::from_list(Vec::read(from)?)
        })
    }
}
