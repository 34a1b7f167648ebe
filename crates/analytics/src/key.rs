//! Names of what is stored on its own.

use bourse_wire::Day;

/// What is stored of a project on its own, so that a batch of events rewrites little.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Key {
    /// Addresses of [`Wallets::CHUNK`](crate::Wallets::CHUNK) wallets: the first chunk has the first so many.
    Wallets {
        /// Which of the chunks.
        chunk: u32,
    },
    /// Who of 65,536 wallets was active, sent and traded on a day.
    Presence {
        /// The day.
        day: Day,
        /// Which 65,536 of the wallets.
        part: u16,
    },
    /// How many events of what kind a day had.
    Counters {
        /// The day.
        day: Day,
    },
}

impl Key {
    /// The kind of addresses.
    pub const WALLETS: u8 = 0;
    /// The kind of who was there.
    pub const PRESENCE: u8 = 1;
    /// The kind of counters.
    pub const COUNTERS: u8 = 2;

    /// The key as three numbers for a table: kind, [`Day::number`] and index; what a kind does not have is 0.
    pub fn columns(self) -> (u8, i32, u32) {
        match self {
            Self::Wallets { chunk } => (Self::WALLETS, 0, chunk),
            Self::Presence { day, part } => (Self::PRESENCE, day.number(), part.into()),
            Self::Counters { day } => (Self::COUNTERS, day.number(), 0),
        }
    }

    /// The key of such three numbers; nothing when no key has them.
    pub fn from_columns((kind, day, index): (u8, i32, u32)) -> Option<Self> {
        let key = match kind {
            Self::WALLETS => Self::Wallets { chunk: index },
            Self::PRESENCE => Self::Presence { day: Day::from_number(day), part: index.try_into().ok()? },
            Self::COUNTERS => Self::Counters { day: Day::from_number(day) },
            _ => return None,
        };
        (key.columns() == (kind, day, index)).then_some(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_back() {
        let day = Day::from_number(19_782);
        for key in [Key::Wallets { chunk: 7 }, Key::Presence { day, part: 9 }, Key::Counters { day }] {
            assert_eq!(Key::from_columns(key.columns()), Some(key));
        }
        for no_key in [(3, 0, 0), (0, 1, 0), (1, 0, 65_536), (2, 0, 1), (2, i32::MAX, 0)] {
            assert_eq!(Key::from_columns(no_key), None);
        }
    }
}
