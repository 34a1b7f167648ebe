//! Reading logs.

use alloy_primitives::U256;
use alloy_sol_types::SolEvent;
use bourse_market::facts::{Fact, Log, OrderRef};
use bourse_market::{Numbers, Revoked, Series};
use bourse_wire::{Address, Marketplace, OrderSide};

use super::{LogError, Scope, Statement};

/// Something that a log states, and of which collections.
pub(super) type ScopedFact = (Scope, Fact);

/// What logs state, each read by itself.
pub(super) fn each(
    logs: &[&Log],
    read: impl Fn(&Log) -> Result<Vec<ScopedFact>, LogError>,
) -> Vec<Result<Statement, LogError>> {
    let mut decoded = Vec::with_capacity(logs.len());
    for (place, log) in logs.iter().enumerate() {
        match read(log) {
            Ok(findings) => decoded.extend(findings.into_iter().map(|finding| Ok(found(place, finding)))),
            Err(error) => decoded.push(Err(error)),
        }
    }
    decoded
}

/// What the log at a place states.
pub(super) fn found(log: usize, (scope, fact): ScopedFact) -> Statement {
    Statement { log, scope, fact }
}

/// A maker, as one contract of a marketplace counts their orders.
#[derive(Clone, Copy, Debug)]
pub(super) struct MakerAccount {
    pub(super) marketplace: Marketplace,
    pub(super) contract: Address,
    pub(super) maker: Address,
}

impl MakerAccount {
    /// The maker's orders with some numbers are over, whichever collections they are for.
    pub(super) fn revoked(self, series: Series, numbers: Numbers) -> ScopedFact {
        let Self { marketplace, contract, maker } = self;
        let revoked = Revoked { contract, series, numbers };
        (Scope::EveryCollection, Fact::OrdersRevoked { marketplace, maker, revoked })
    }

    /// The maker's order with a number.
    pub(super) fn numbered(self, side: OrderSide, series: Series, number: U256) -> OrderRef {
        let Self { contract, maker, .. } = self;
        OrderRef::Numbered { contract, maker, side, series, number, others: Vec::new() }
    }
}

/// The event that a log is by its name.
pub(super) fn read<E: SolEvent>(log: &Log) -> Result<E, LogError> {
    E::decode_raw_log_validate(log.topics.iter().copied(), &log.data).map_err(|error| LogError {
        address: log.address,
        tx_hash: log.tx_hash,
        index: log.index,
        event: E::SIGNATURE,
        reason: error.to_string(),
    })
}

/// An address as the rest of the service has it.
pub(super) fn address(given: alloy_primitives::Address) -> Address {
    Address::from_bytes(given.into_array())
}
