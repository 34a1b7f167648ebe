//! The table of marketplaces: what each speaks, where its contracts are, and what can be done there.

mod addresses;
mod configured;
mod floor;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use bourse_wire::{Address, ChainId, Marketplace, ServiceName};

pub use addresses::{CONDUIT_CONTROLLER, conduit, deployments};
pub use configured::configured;
pub use floor::Floor;

use super::Protocol;
use super::blur::Blur;
use super::looks_rare::LooksRare;
use super::native::{Api, Domain};
use super::payment_processor::{PaymentProcessor, PaymentProcessorV1, Version};
use super::seaport::{Conduit, Seaport};
use super::x2y2::X2y2;
use super::zerox::Zerox;

/// A marketplace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Venue {
    /// Which.
    pub marketplace: Marketplace,
    /// What it speaks.
    pub protocol: &'static str,
    /// What can be done there.
    pub abilities: Abilities,
    /// What that needs beyond a node.
    pub needs: &'static str,
    /// Which test shows it.
    pub shown_by: ShownBy,
}

/// What a test has to do with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShownBy {
    /// The marketplace's own contracts on a chain: a file among the tests of the whole service.
    Chain(&'static str),
    /// Calls that others made, and a stand-in for the marketplace's service: a file among the tests of the server.
    StandIn(&'static str),
}

/// What can be done on a marketplace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abilities {
    /// Making listings and offers.
    pub make: Ability,
    /// Filling them.
    pub fill: Ability,
    /// Filling several in one call.
    pub batch: Ability,
    /// Filling some units of an order.
    pub partial: Ability,
    /// Paying fees to others on top.
    pub fees: Ability,
    /// Taking orders back.
    pub cancel: Ability,
}

/// Whether something can be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ability {
    /// It can.
    Yes,
    /// It can, with a restriction.
    With(&'static str),
    /// It cannot.
    No,
}

use Ability::{No, With, Yes};

const SEAPORT: Abilities = Abilities {
    make: Yes,
    fill: Yes,
    batch: Yes,
    partial: With("ERC-1155 orders that allow it"),
    fees: With("exact; of parts in multiples"),
    cancel: Yes,
};
const PAYMENT_PROCESSOR: Abilities = Abilities {
    make: With("2 and 2.1"),
    fill: With("of 1 listings only"),
    batch: With("listings"),
    partial: With("ERC-1155 orders that allow it"),
    fees: With("2 and 2.1: one for each order"),
    cancel: Yes,
};

/// All marketplaces, in the order of their numbers.
pub const VENUES: [Venue; 11] = [
    Venue {
        marketplace: Marketplace::OwnV1,
        protocol: "our own contract",
        abilities: Abilities {
            make: With("ERC-20"),
            fill: Yes,
            batch: Yes,
            partial: Yes,
            fees: Yes,
            cancel: Yes,
        },
        needs: "",
        shown_by: ShownBy::Chain("trade_several.rs"),
    },
    Venue {
        marketplace: Marketplace::OwnV2,
        protocol: "our own contract",
        abilities: Abilities {
            make: Yes,
            fill: Yes,
            batch: With("native with a helper"),
            partial: Yes,
            fees: Yes,
            cancel: Yes,
        },
        needs: "",
        shown_by: ShownBy::Chain("trade.rs"),
    },
    Venue {
        marketplace: Marketplace::Blur,
        protocol: "Blur v2",
        abilities: Abilities {
            make: No,
            fill: With("listings"),
            batch: Yes,
            partial: No,
            fees: No,
            cancel: Yes,
        },
        needs: "its service, and buyers who log in there",
        shown_by: ShownBy::StandIn("sources.rs"),
    },
    Venue {
        marketplace: Marketplace::Zerox,
        protocol: "0x v4",
        abilities: Abilities {
            make: Yes,
            fill: Yes,
            batch: With("listings"),
            partial: With("ERC-1155"),
            fees: No,
            cancel: Yes,
        },
        needs: "",
        shown_by: ShownBy::Chain("floors/zerox.rs"),
    },
    Venue {
        marketplace: Marketplace::Opensea,
        protocol: "Seaport 1.6",
        abilities: SEAPORT,
        needs: "its service for orders of its signed zone, and those whose signature it keeps",
        shown_by: ShownBy::Chain("floors/seaport.rs"),
    },
    Venue {
        marketplace: Marketplace::LooksRare,
        protocol: "LooksRare v2",
        abilities: Abilities {
            make: Yes,
            fill: Yes,
            batch: With("listings"),
            partial: No,
            fees: No,
            cancel: Yes,
        },
        needs: "",
        shown_by: ShownBy::Chain("floors/looks_rare.rs"),
    },
    Venue {
        marketplace: Marketplace::X2y2,
        protocol: "X2Y2",
        abilities: Abilities { make: No, fill: Yes, batch: No, partial: No, fees: No, cancel: No },
        needs: "its service",
        shown_by: ShownBy::StandIn("sources.rs"),
    },
    Venue {
        marketplace: Marketplace::Alienswap,
        protocol: "Seaport 1.4, as Alienswap",
        abilities: SEAPORT,
        needs: "",
        shown_by: ShownBy::Chain("floors/seaport.rs"),
    },
    Venue {
        marketplace: Marketplace::PaymentProcessor,
        protocol: "Payment Processor 1, 2 and 2.1",
        abilities: PAYMENT_PROCESSOR,
        needs: "a cosigner's service for orders that name one; buyers who sign for listings of 1",
        shown_by: ShownBy::StandIn("buying.rs"),
    },
    Venue {
        marketplace: Marketplace::Mintify,
        protocol: "Seaport 1.6, as MintifyExchange",
        abilities: SEAPORT,
        needs: "",
        shown_by: ShownBy::Chain("floors/seaport.rs"),
    },
    Venue {
        marketplace: Marketplace::MagicEden,
        protocol: "Seaport 1.6, or Payment Processor",
        abilities: SEAPORT,
        needs: "its service for orders of its signed zone, and those whose signature it keeps",
        shown_by: ShownBy::Chain("floors/seaport.rs"),
    },
];

impl ShownBy {
    fn link(self) -> String {
        match self {
            Self::Chain(file) => format!("[contracts on a chain](../crates/bourse/tests/e2e/{file})"),
            Self::StandIn(file) => {
                format!("[vectors and a stand-in](../crates/server/tests/suite/floors/{file})")
            }
        }
    }
}

impl Ability {
    fn word(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::With(restriction) => restriction,
            Self::No => "no",
        }
    }
}

/// The table, as documentation has it.
pub fn table(service: &ServiceName) -> String {
    let mut table = String::from(
        "| `marketplace` | Protocol | Make | Fill | Several at once | In parts | Fees on top | Cancel | Needs | Shown by |\n\
         |---|---|---|---|---|---|---|---|---|---|\n",
    );
    for venue in VENUES {
        let Abilities { make, fill, batch, partial, fees, cancel } = venue.abilities;
        let cells = [make, fill, batch, partial, fees, cancel].map(Ability::word).join(" | ");
        let (word, needs) = (venue.marketplace.word(service), venue.needs);
        let needs = if needs.is_empty() { "nothing else" } else { needs };
        let _ = writeln!(
            table,
            "| `{word}` | {} | {cells} | {needs} | {} |",
            venue.protocol,
            venue.shown_by.link()
        );
    }
    table
}

/// A contract of a marketplace on a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deployment {
    /// The contract that orders are signed for.
    pub contract: Address,
    /// How it is spoken with.
    pub kind: Kind,
}

/// How a contract of a marketplace is spoken with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Seaport or a fork.
    Seaport {
        /// Name and version that orders are signed for.
        signed_for: (&'static str, &'static str),
        /// Its conduits; the first is for takers and new orders.
        conduits: Vec<Conduit>,
        /// Contracts that agree to fills by a signature of the marketplace.
        signed_zones: Vec<Address>,
        /// Through what the marketplace agrees, if it ever has to.
        api: Option<Api>,
        /// Who gets the marketplace's own share.
        fee_recipient: Option<Address>,
    },
    /// LooksRare, second version.
    LooksRare {
        /// The contract that moves tokens.
        transfer_manager: Address,
    },
    /// 0x, fourth version.
    Zerox,
    /// Payment Processor, first version.
    PaymentProcessorV1,
    /// Payment Processor since its second version.
    PaymentProcessor {
        /// Its version.
        version: Version,
    },
    /// Blur, second version.
    Blur {
        /// The contract that moves tokens.
        delegate: Address,
    },
    /// X2Y2.
    X2y2 {
        /// The contract that moves tokens of which there is one each.
        erc721_delegate: Address,
        /// The contract that moves tokens of which there are many each.
        erc1155_delegate: Address,
    },
}

impl Deployment {
    /// How a marketplace with this contract is spoken with on a chain.
    pub fn protocol(&self, marketplace: Marketplace, chain: ChainId) -> Box<dyn Protocol + Send + Sync> {
        let domain = |(name, version): (&'static str, &'static str)| Domain {
            name: name.into(),
            version: version.into(),
            chain,
            contract: self.contract,
        };
        match &self.kind {
            Kind::Seaport { signed_for, conduits, signed_zones, api, fee_recipient } => Box::new(Seaport {
                marketplace,
                domain: domain(*signed_for),
                conduits: conduits.clone(),
                signed_zones: signed_zones.clone(),
                api: *api,
                fee_recipient: *fee_recipient,
            }),
            Kind::LooksRare { transfer_manager } => Box::new(LooksRare {
                domain: domain(("LooksRareProtocol", "2")),
                transfer_manager: *transfer_manager,
            }),
            Kind::Zerox => Box::new(Zerox { domain: domain(("ZeroEx", "1.0.0")) }),
            Kind::PaymentProcessorV1 => {
                Box::new(PaymentProcessorV1 { marketplace, domain: domain(("PaymentProcessor", "1")) })
            }
            Kind::PaymentProcessor { version } => Box::new(PaymentProcessor {
                marketplace,
                version: *version,
                domain: domain(("PaymentProcessor", version.word())),
            }),
            Kind::Blur { delegate } => {
                Box::new(Blur { domain: domain(("Blur Exchange", "1.0")), delegate: *delegate })
            }
            Kind::X2y2 { erc721_delegate, erc1155_delegate } => Box::new(X2y2 {
                contract: self.contract,
                erc721_delegate: *erc721_delegate,
                erc1155_delegate: *erc1155_delegate,
            }),
        }
    }
}
