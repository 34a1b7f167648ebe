//! What the shop of the fair sells: provisions, all on the same terms but for three.

use std::str::FromStr;

use bourse_protocols::primary_sale::{SaleHead, SaleItem, SaleRange, SaleTerms};
use bourse_wire::{Address, Timestamp};

use super::currencies::{CURRENCIES, DOLLAR};
use super::{PROVISIONS_ADDRESS, provision};

/// The contract that sells them.
pub(crate) const SALE: Address = Address::from_bytes(*b"Guild Provisions Ltd");
/// Base units of a dollar.
const ONE_DOLLAR: u64 = 1_000_000;
/// From the first of January 2026 on, and long after that.
const STARTS: u64 = 1_767_225_600;
const ENDS: u64 = 4_070_908_800;
/// Tokens with terms of their own: token, price in dollars, how many are left, how many were sold.
const OWN: [(u64, u64, u64, u64); 3] = [(7, 9, 12, 3), (21, 15, 0, 20), (84, 4, 250, 0)];

/// What the contract says.
pub(crate) fn sale() -> Result<(SaleHead, Vec<SaleItem>), <Address as FromStr>::Err> {
    let at = Timestamp::from_unix_seconds;
    let terms = |dollars: u64, left: u64| SaleTerms {
        cost: (dollars * ONE_DOLLAR).into(),
        remaining: left.into(),
        starts: at(STARTS),
        ends: at(ENDS),
    };
    let items: Vec<SaleItem> = OWN
        .iter()
        .map(|(token, dollars, left, sold)| SaleItem {
            token_id: (*token).into(),
            terms: Some(terms(*dollars, *left)),
            sold: (*sold).into(),
            created_at: at(STARTS),
            updated_at: at(STARTS),
        })
        .collect();
    let head = SaleHead {
        collection: PROVISIONS_ADDRESS.parse()?,
        is_erc1155: true,
        currency: CURRENCIES[DOLLAR].address.parse()?,
        range: Some(SaleRange { min: 1_u64.into(), max: provision::TOTAL.into(), terms: terms(2, 400) }),
        items: items.len() as u64,
    };
    Ok((head, items))
}
