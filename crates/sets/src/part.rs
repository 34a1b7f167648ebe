//! A set of wallets within one part of 65,536: a sorted list while they are few, one bit each once they are many.
#![expect(clippy::cast_possible_truncation, reason = "a part has 65,536 wallets")]

/// Wallets in a part.
pub(crate) const PART_WALLETS: usize = 1 << 16;
/// Words of the bits of a part.
const WORDS: usize = PART_WALLETS / 64;
/// A longer list becomes bits: at most twice the memory, and many times faster to unite.
const FEW_MAX: usize = 2_048;

/// One bit for each wallet of a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bits(Box<[u64; WORDS]>);

impl Default for Bits {
    fn default() -> Self {
        Self(Box::new([0; WORDS]))
    }
}

impl Bits {
    pub(crate) fn clear(&mut self) {
        self.0.fill(0);
    }

    fn contains(&self, wallet: u16) -> bool {
        self.0[usize::from(wallet >> 6)] >> (wallet & 63) & 1 == 1
    }

    fn insert(&mut self, wallet: u16) {
        self.0[usize::from(wallet >> 6)] |= 1 << (wallet & 63);
    }

    fn remove(&mut self, wallet: u16) {
        self.0[usize::from(wallet >> 6)] &= !(1 << (wallet & 63));
    }

    pub(crate) fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    pub(crate) fn union(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0.iter()).for_each(|(word, other)| *word |= other);
    }

    pub(crate) fn subtract(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0.iter()).for_each(|(word, other)| *word &= !other);
    }

    /// How many are in either.
    pub(crate) fn union_len(&self, other: &Self) -> u32 {
        self.0.iter().zip(other.0.iter()).map(|(word, other)| (word | other).count_ones()).sum()
    }

    /// How many are in both.
    pub(crate) fn common_len(&self, other: &Self) -> u32 {
        self.0.iter().zip(other.0.iter()).map(|(word, other)| (word & other).count_ones()).sum()
    }

    /// The bits that these bytes are, eight wallets to a byte.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Self {
        let mut bits = Self::default();
        for (word, bytes) in bits.0.iter_mut().zip(bytes.chunks(8)) {
            let mut whole = [0; 8];
            whole[..bytes.len()].copy_from_slice(bytes);
            *word = u64::from_le_bytes(whole);
        }
        bits
    }

    pub(crate) fn for_each(&self, mut take: impl FnMut(u16)) {
        for (first, word) in (0..=u16::MAX).step_by(64).zip(self.0.iter()) {
            let mut rest = *word;
            while rest != 0 {
                take(first | rest.trailing_zeros() as u16);
                rest &= rest - 1;
            }
        }
    }
}

/// A set of wallets of one part. The same set always has the same form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Ascending.
    Few(Vec<u16>),
    Many {
        bits: Bits,
        len: u32,
    },
}

impl Default for Part {
    fn default() -> Self {
        Self::Few(Vec::new())
    }
}

impl Part {
    /// The set of these wallets, which ascend.
    pub(crate) fn from_sorted(wallets: &[u16]) -> Self {
        if wallets.len() <= FEW_MAX {
            return Self::Few(wallets.to_vec());
        }
        let mut bits = Bits::default();
        for wallet in wallets {
            bits.insert(*wallet);
        }
        Self::Many { bits, len: wallets.len() as u32 }
    }

    pub(crate) fn from_bits(bits: Bits) -> Self {
        let len = bits.len();
        if len as usize > FEW_MAX {
            return Self::Many { bits, len };
        }
        let mut few = Vec::with_capacity(len as usize);
        bits.for_each(|wallet| few.push(wallet));
        Self::Few(few)
    }

    pub(crate) fn len(&self) -> u32 {
        match self {
            Self::Few(few) => few.len() as u32,
            Self::Many { len, .. } => *len,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn contains(&self, wallet: u16) -> bool {
        match self {
            Self::Few(few) => few.binary_search(&wallet).is_ok(),
            Self::Many { bits, .. } => bits.contains(wallet),
        }
    }

    pub(crate) fn for_each(&self, take: impl FnMut(u16)) {
        match self {
            Self::Few(few) => few.iter().copied().for_each(take),
            Self::Many { bits, .. } => bits.for_each(take),
        }
    }

    /// Adds what is in it to bits.
    pub(crate) fn add_to(&self, all: &mut Bits) {
        match self {
            Self::Few(few) => few.iter().for_each(|wallet| all.insert(*wallet)),
            Self::Many { bits, .. } => all.union(bits),
        }
    }

    /// Takes what is in it out of bits.
    fn take_from(&self, all: &mut Bits) {
        match self {
            Self::Few(few) => few.iter().for_each(|wallet| all.remove(*wallet)),
            Self::Many { bits, .. } => all.subtract(bits),
        }
    }

    pub(crate) fn to_bits(&self) -> Bits {
        match self {
            Self::Few(_) => {
                let mut bits = Bits::default();
                self.add_to(&mut bits);
                bits
            }
            Self::Many { bits, .. } => bits.clone(),
        }
    }

    /// With these wallets, which ascend and may repeat or be in it already.
    pub(crate) fn with(&self, wallets: &[u16]) -> Self {
        match self {
            Self::Few(few) if few.len() + wallets.len() <= FEW_MAX => Self::Few(merge(few, wallets)),
            Self::Few(_) | Self::Many { .. } => {
                let mut bits = self.to_bits();
                for wallet in wallets {
                    bits.insert(*wallet);
                }
                Self::from_bits(bits)
            }
        }
    }

    pub(crate) fn without(&self, wallet: u16) -> Self {
        self.minus(&Self::Few(vec![wallet]))
    }

    pub(crate) fn minus(&self, other: &Self) -> Self {
        match (self, other) {
            _ if other.is_empty() => self.clone(),
            (Self::Few(few), _) => {
                Self::Few(few.iter().copied().filter(|wallet| !other.contains(*wallet)).collect())
            }
            (Self::Many { bits, .. }, _) => {
                let mut bits = bits.clone();
                other.take_from(&mut bits);
                Self::from_bits(bits)
            }
        }
    }

    pub(crate) fn plus(&self, other: &Self) -> Self {
        match (self, other) {
            (_, Self::Few(few)) => self.with(few),
            (Self::Few(few), _) => other.with(few),
            (Self::Many { bits, .. }, Self::Many { bits: other, .. }) => {
                let mut bits = bits.clone();
                bits.union(other);
                Self::from_bits(bits)
            }
        }
    }

    /// Those that were not seen yet, which they are from now on.
    pub(crate) fn take_unseen(&self, seen: &mut Bits) -> Self {
        match self {
            Self::Few(few) => {
                let unseen: Vec<u16> = few.iter().copied().filter(|wallet| !seen.contains(*wallet)).collect();
                for wallet in &unseen {
                    seen.insert(*wallet);
                }
                Self::Few(unseen)
            }
            Self::Many { bits, len } if bits.common_len(seen) == *len => Self::default(),
            Self::Many { bits, .. } => {
                let mut unseen = bits.clone();
                unseen.subtract(seen);
                seen.union(bits);
                Self::from_bits(unseen)
            }
        }
    }

    /// How many are in both.
    pub(crate) fn common_len(&self, other: &Self) -> u32 {
        match (self, other) {
            (Self::Many { bits, .. }, Self::Many { bits: other, .. }) => bits.common_len(other),
            (Self::Few(few), other) | (other, Self::Few(few)) => {
                few.iter().map(|wallet| u32::from(other.contains(*wallet))).sum()
            }
        }
    }
}

/// Two ascending lists as one without repetitions.
fn merge(left: &[u16], right: &[u16]) -> Vec<u16> {
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left.iter().copied().peekable(), right.iter().copied().peekable());
    loop {
        let next = match (left.peek(), right.peek()) {
            (Some(a), Some(b)) if a <= b => left.next(),
            (_, Some(_)) => right.next(),
            (_, None) => left.next(),
        };
        let Some(wallet) = next else { return merged };
        if merged.last() != Some(&wallet) {
            merged.push(wallet);
        }
    }
}
