//! The numbers by which chains take orders back, many at once.

use alloy_primitives::U256;
use bourse_wire::{Address, Amount};
use serde::{Deserialize, Serialize};

/// A row of numbers that a maker has on a marketplace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Series {
    /// One number for all orders at a time; it rises, and with it all orders of lower numbers are over.
    Counter,
    /// The same for offers alone.
    BidCounter,
    /// The same for listings alone.
    AskCounter,
    /// A number that some orders share, to be taken back together.
    Group,
    /// A number of one order, or of several of which one at most can be filled.
    Nonce,
    /// The same of orders for many units, where a marketplace counts those apart.
    UnitsNonce,
}

/// The numbers of an order, by which it can be taken back without being named. They mean something to one contract:
/// others of the same marketplace count for themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nonces {
    contract: Address,
    numbers: Vec<(Series, Amount)>,
}

/// Which orders of a maker are over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Revoked {
    /// To which contract.
    pub contract: Address,
    /// By which of their numbers.
    pub series: Series,
    /// Which of these.
    pub numbers: Numbers,
}

/// Some numbers of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// This one.
    Exactly(U256),
    /// All lower ones: numbers that move only ever rise, and whoever signed with a higher one knew of a later block.
    Below(U256),
}

impl Nonces {
    /// These numbers, as a contract counts them.
    pub fn new(contract: Address, numbers: impl IntoIterator<Item = (Series, U256)>) -> Self {
        let numbers = numbers.into_iter().map(|(series, number)| (series, Amount::from(number)));
        Self { contract, numbers: numbers.collect() }
    }

    /// Whether a contract counts them.
    pub fn are_of(&self, contract: Address) -> bool {
        self.contract == contract
    }

    /// The number of a series, if the order has one.
    pub fn get(&self, series: Series) -> Option<U256> {
        self.numbers.iter().find(|(of, _)| *of == series).map(|(_, number)| number.value())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }
}

impl Revoked {
    /// Whether an order with these numbers is among those that are over.
    pub fn concerns(&self, nonces: &Nonces) -> bool {
        let Some(number) = nonces.get(self.series).filter(|_| nonces.are_of(self.contract)) else {
            return false;
        };
        match self.numbers {
            Numbers::Exactly(this) => number == this,
            Numbers::Below(this) => number < this,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTRACT: Address = Address::from_bytes([0xc0; 20]);

    #[test]
    fn orders_are_over_by_their_numbers() {
        let order = Nonces::new(CONTRACT, [(Series::Counter, U256::from(7)), (Series::Nonce, U256::MAX)]);
        let concerned = |series, numbers| Revoked { contract: CONTRACT, series, numbers }.concerns(&order);
        assert!(!concerned(Series::Counter, Numbers::Below(U256::from(7))));
        assert!(concerned(Series::Counter, Numbers::Below(U256::from(8))));
        assert!(!concerned(Series::Counter, Numbers::Below(U256::from(6))), "it was signed after that");
        assert!(concerned(Series::Nonce, Numbers::Exactly(U256::MAX)));
        assert!(!concerned(Series::Nonce, Numbers::Exactly(U256::from(7))));
        assert!(!concerned(Series::Group, Numbers::Below(U256::ZERO)), "it has no such number");
        let contract = Address::from_bytes([0xc1; 20]);
        let elsewhere = Revoked { contract, series: Series::Nonce, numbers: Numbers::Exactly(U256::MAX) };
        assert!(!elsewhere.concerns(&order), "another contract counts for itself");
    }

    #[test]
    fn numbers_are_kept_as_text() {
        let nonces = Nonces::new(CONTRACT, [(Series::AskCounter, U256::from(3)), (Series::Nonce, U256::MAX)]);
        let text = serde_json::to_string(&nonces).unwrap();
        let numbers = format!(r#"[["askCounter","3"],["nonce","{}"]]"#, U256::MAX);
        assert_eq!(text, format!(r#"{{"contract":"{CONTRACT}","numbers":{numbers}}}"#));
        assert_eq!(serde_json::from_str::<Nonces>(&text).unwrap(), nonces);
    }
}
