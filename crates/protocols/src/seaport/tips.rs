//! Parts of orders, and fees that are paid with them.
//!
//! Whatever is filled of an order, the same part of everything that it asks for is paid, and fees that are added to it
//! are such things. So a fee is written down larger, for its part to be the fee.

use alloy_primitives::U256;
use bourse_wire::{Address, OrderSide};

use super::order::{Item, SeaportOrder};
use crate::{Fee, Refusal};

/// A part of an order that somebody fills.
pub(super) struct Part {
    pub(super) order_id: String,
    pub(super) signed: SeaportOrder,
    pub(super) side: OrderSide,
    /// How many units.
    pub(super) quantity: U256,
    /// Whether the order was never filled before.
    pub(super) is_untouched: bool,
    /// The part, in lowest terms.
    pub(super) numerator: U256,
    pub(super) denominator: U256,
    /// The token that an offer for any is filled with.
    pub(super) token_id: Option<U256>,
    pub(super) fees: Vec<Tip>,
}

/// A fee as it is added to an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tip {
    pub(super) amount: U256,
    pub(super) recipient: Address,
}

impl Part {
    pub(super) fn is_whole(&self) -> bool {
        self.numerator == self.denominator
    }

    /// What the part costs, or for an offer what it pays.
    pub(super) fn price(&self) -> Result<U256, Refusal> {
        match self.side {
            OrderSide::Listing => self.paid(),
            OrderSide::Offer | OrderSide::Unknown => {
                let offered = self.signed.offer.iter().map(|offered| offered.start_amount.0);
                self.sum(offered)
            }
        }
    }

    /// What of the currency whoever fills the part pays to others than themselves, without fees on top.
    pub(super) fn paid(&self) -> Result<U256, Refusal> {
        let money = self.signed.consideration.iter().filter(|asked| is_money(asked.item_type));
        self.sum(money.map(|asked| asked.start_amount.0))
    }

    /// The part of several amounts, each of which must come out whole.
    fn sum(&self, amounts: impl Iterator<Item = U256>) -> Result<U256, Refusal> {
        let mut sum = U256::ZERO;
        for amount in amounts {
            sum = sum.checked_add(self.of(amount)?).ok_or(Refusal::Overflow)?;
        }
        Ok(sum)
    }

    /// The part of an amount.
    fn of(&self, amount: U256) -> Result<U256, Refusal> {
        let (parts, rest) = amount.div_rem(self.denominator);
        if !rest.is_zero() {
            return Err(Refusal::Indivisible { order_id: self.order_id.clone(), quantity: self.quantity });
        }
        Ok(parts * self.numerator)
    }

    /// Adds a fee, of which the part must come out whole.
    fn add(&mut self, fee: U256, recipient: Address) -> Result<(), Refusal> {
        let parts = fee / self.numerator;
        let amount = parts.checked_mul(self.denominator).ok_or(Refusal::Overflow)?;
        self.fees.push(Tip { amount, recipient });
        Ok(())
    }

    /// The most that an offer's fees may be: what it pays, without what it pays to others already.
    fn room(&self) -> Result<U256, Refusal> {
        match self.side {
            OrderSide::Listing => Ok(U256::MAX),
            OrderSide::Offer | OrderSide::Unknown => Ok(self.price()?.saturating_sub(self.paid()?)),
        }
    }
}

pub(super) fn is_money(item_type: u8) -> bool {
    Item::of(item_type).is_some_and(Item::is_money)
}

/// Divides fees among parts of orders, so that each is paid exactly: in one piece where an order can carry it.
pub(super) fn spread(parts: &mut [Part], fees: &[Fee]) -> Result<(), Refusal> {
    let mut rooms = parts.iter().map(Part::room).collect::<Result<Vec<_>, _>>()?;
    for fee in fees {
        place(parts, &mut rooms, *fee)?;
    }
    Ok(())
}

fn place(parts: &mut [Part], rooms: &mut [U256], fee: Fee) -> Result<(), Refusal> {
    let carries =
        |place: &usize| rooms[*place] >= fee.amount && (fee.amount % parts[*place].numerator).is_zero();
    let mut places: Vec<usize> = match (0..parts.len()).find(carries) {
        Some(place) => vec![place],
        None => (0..parts.len()).collect(),
    };
    // Where fees may be finest, the most fits.
    places.sort_by_key(|place| parts[*place].numerator);
    let mut left = fee.amount;
    for place in places {
        let most = left.min(rooms[place]);
        let carried = most - most % parts[place].numerator;
        if !carried.is_zero() {
            rooms[place] -= carried;
            left -= carried;
            parts[place].add(carried, fee.receiver)?;
        }
    }
    let room = rooms.iter().fold(U256::ZERO, |sum, room| sum.saturating_add(*room));
    match () {
        () if left.is_zero() => Ok(()),
        () if room < left => Err(Refusal::FeeSum { fees: fee.amount, most: fee.amount - left }),
        () => {
            let multiple = parts.iter().map(|part| part.numerator).min().unwrap_or(U256::from(1));
            Err(Refusal::FeeFraction { fee: fee.amount, multiple })
        }
    }
}

/// The largest number that divides both.
pub(super) fn common_divisor(a: U256, b: U256) -> U256 {
    if b.is_zero() { a } else { common_divisor(b, a % b) }
}
