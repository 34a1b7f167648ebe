//! Contracts as settings name them.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use bourse_wire::{Address, ChainId, Marketplace, ServiceName};
use serde::Deserialize;

use crate::native::Domain;
use crate::{FAMILIES, Protocol};

/// A contract of a marketplace that settings name. As text it is the name of the marketplace, the contract, and what else
/// its protocol needs to know, with spaces between: the declaration of each family says what that is.
#[derive(Clone, Deserialize)]
#[serde(try_from = "String")]
pub struct Deployment {
    marketplace: Marketplace,
    contract: Address,
    setup: Setup,
}

/// Where a contract is, and whose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Site {
    pub(crate) marketplace: Marketplace,
    pub(crate) chain: ChainId,
    pub(crate) contract: Address,
}

impl Site {
    /// What is signed for the contract, by the name and the version that it calls itself.
    pub(crate) fn domain(&self, name: &'static str, version: &'static str) -> Domain {
        Domain { name: name.into(), version: version.into(), chain: self.chain, contract: self.contract }
    }
}

/// How a contract is spoken with once it is known on which chain: settings are read before that.
#[derive(Clone)]
pub(crate) struct Setup(Arc<dyn Fn(Site) -> Arc<dyn Protocol> + Send + Sync>);

impl Setup {
    pub(crate) fn new<P: Protocol>(protocol: impl Fn(Site) -> P + Send + Sync + 'static) -> Self {
        Self(Arc::new(move |site| Arc::new(protocol(site))))
    }
}

impl Deployment {
    pub(crate) fn new(marketplace: Marketplace, contract: Address, setup: Setup) -> Self {
        Self { marketplace, contract, setup }
    }

    pub(super) fn marketplace(&self) -> Marketplace {
        self.marketplace
    }

    /// How it is spoken with on a chain.
    pub(super) fn protocol(&self, chain: ChainId) -> Arc<dyn Protocol> {
        let Self { marketplace, contract, setup } = self;
        (setup.0)(Site { marketplace: *marketplace, chain, contract: *contract })
    }
}

impl fmt::Debug for Deployment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { marketplace, contract, .. } = self;
        formatter.debug_tuple("Deployment").field(marketplace).field(contract).finish()
    }
}

impl FromStr for Deployment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let [name, contract, rest @ ..] = words.as_slice() else {
            return Err("must be the name of a marketplace and its contract, with a space between".to_owned());
        };
        let marketplace = Marketplace::parse(name, &ServiceName::new("service")).filter(|of| !of.is_own());
        let family = marketplace.and_then(|marketplace| {
            let is_its = |profile: &super::VenueProfile| profile.marketplace == marketplace;
            FAMILIES.iter().find(|family| family.profiles.iter().any(is_its))
        });
        let (Some(marketplace), Some(family)) = (marketplace, family) else {
            return Err(format!("`{name}` is no marketplace of signed orders"));
        };
        Ok(Self::new(marketplace, address(contract)?, (family.configured)(rest)?))
    }
}

impl TryFrom<String> for Deployment {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

/// A contract in settings.
pub(crate) fn address(text: &str) -> Result<Address, String> {
    match text.parse() {
        Ok(Address::ZERO) => Err("must be a contract, not the zero address".to_owned()),
        Ok(address) => Ok(address),
        Err(error) => Err(format!("{error}")),
    }
}

/// What is said of words behind a contract whose protocol needs none.
pub(crate) fn nothing_follows(words: &[&str]) -> String {
    format!("nothing is known to follow the contract: `{}`", words.join(" "))
}

/// An address that is known when this is compiled.
pub(crate) const fn at(text: &str) -> Address {
    match alloy_primitives::hex::const_decode_to_array(text.as_bytes()) {
        Ok(bytes) => Address::from_bytes(bytes),
        Err(_) => panic!("no address"),
    }
}
