//! Accounts are numbers here and addresses outside.

use bourse_random::Random;

/// The address of an account.
pub(crate) fn account(number: usize) -> String {
    let mut random = Random::new(u64::try_from(number).unwrap_or(u64::MAX));
    // The number is part of the address, so that no two are the same.
    format!("0x{number:08x}{:016x}{:016x}", random.next(), random.next())
}
