//! A marketplace on one chain, with all its contracts there.

use std::sync::Arc;

use bourse_wire::{Address, Marketplace};
use serde_json::Value;

use crate::native::{NativeOrder, OrderFault, Proof, SubmittedOrder};
use crate::{Protocol, StoredOrder};

/// A marketplace on one chain, with all its contracts there.
#[derive(Debug)]
pub struct Venue {
    marketplace: Marketplace,
    protocols: Vec<Arc<dyn Protocol>>,
}

impl Venue {
    /// A marketplace whose contracts are spoken with in these ways; `None` when there are none.
    pub(super) fn new(marketplace: Marketplace, protocols: Vec<Arc<dyn Protocol>>) -> Option<Self> {
        (!protocols.is_empty()).then_some(Self { marketplace, protocols })
    }

    /// Which marketplace.
    pub fn marketplace(&self) -> Marketplace {
        self.marketplace
    }

    /// How each of its contracts is spoken with.
    pub fn protocols(&self) -> &[Arc<dyn Protocol>] {
        &self.protocols
    }

    /// The contract that new orders are for.
    pub fn newest(&self) -> Option<&dyn Protocol> {
        self.protocols.first().map(AsRef::as_ref)
    }

    /// The contract that an order is for.
    pub fn protocol_of(&self, stored: StoredOrder<'_>) -> Option<&dyn Protocol> {
        let text = stored.native.and_then(|text| serde_json::from_str::<Value>(text).ok());
        match text.as_ref().and_then(|native| native.get("protocolAddress")).and_then(Value::as_str) {
            Some(contract) => self.protocol_at(contract.parse().ok()?),
            None => self.newest(),
        }
    }

    /// How its contract at an address is spoken with.
    pub fn protocol_at(&self, contract: Address) -> Option<&dyn Protocol> {
        self.protocols.iter().map(AsRef::as_ref).find(|protocol| protocol.contract() == contract)
    }

    /// Reads a signed order and tells what it is. When it does not say which contract it is for, its signature does.
    pub fn read_order(&self, order: SubmittedOrder<'_>) -> Result<NativeOrder, OrderFault> {
        let names = ["protocolAddress", "protocol_address"];
        let named = names.iter().find_map(|name| order.native.get(*name)).and_then(Value::as_str);
        let named = named.and_then(|text| text.parse::<Address>().ok());
        if let Some(address) = named.filter(|address| *address != Address::ZERO) {
            return self.protocol_at(address).ok_or(OrderFault::Contract { address })?.read_order(order);
        }
        if let [only] = self.protocols.as_slice() {
            return only.read_order(order);
        }
        let (mut read, mut refused) = (Vec::new(), Vec::new());
        for protocol in &self.protocols {
            match protocol.read_order(order) {
                Ok(native) if native.proof == Proof::Signed => return Ok(native),
                Ok(native) => read.push(native),
                Err(fault) => refused.push(fault),
            }
        }
        match (read.len(), refused.into_iter().min_by_key(is_foreign)) {
            (1, _) => read.pop().ok_or(OrderFault::WhichContract),
            (0, Some(fault)) => Err(fault),
            _ => Err(OrderFault::WhichContract),
        }
    }
}

/// Whether an order seems to be of another protocol altogether.
fn is_foreign(fault: &OrderFault) -> bool {
    matches!(fault, OrderFault::Format(_))
}
