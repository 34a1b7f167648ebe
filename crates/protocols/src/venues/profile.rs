//! What can be done where, as documentation tells it.

use std::fmt::Write as _;

use bourse_wire::{Marketplace, ServiceName};

use crate::FAMILIES;

/// What there is to know of a marketplace, whichever chain it is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VenueProfile {
    /// Its value in the interface.
    pub marketplace: Marketplace,
    /// What it speaks, in words.
    pub protocol: &'static str,
    /// What can be done there.
    pub abilities: Abilities,
    /// What that needs beyond a node; empty for nothing.
    pub needs: &'static str,
    /// Which test shows it.
    pub shown_by: ShownBy,
}

/// What a test has to do with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShownBy {
    /// The marketplace's own contracts on a chain: a file among the tests of the whole service.
    Chain(&'static str),
    /// Contracts of ours that check what the marketplace's own check, as no package has those: a file among the tests of
    /// the whole service.
    Check(&'static str),
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

impl ShownBy {
    fn link(self) -> String {
        match self {
            Self::Chain(file) => format!("[contracts on a chain](../crates/bourse/tests/e2e/{file})"),
            Self::Check(file) => {
                format!("[contracts that check the same](../crates/bourse/tests/e2e/{file})")
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

/// All marketplaces, in the order of their numbers.
pub fn profiles() -> Vec<VenueProfile> {
    let mut profiles: Vec<VenueProfile> =
        FAMILIES.iter().flat_map(|family| family.profiles).copied().collect();
    profiles.sort_by_key(|profile| profile.marketplace.number());
    profiles
}

/// The table of marketplaces, as documentation has it.
pub fn table(service: &ServiceName) -> String {
    let mut table = String::from(
        "| `marketplace` | Protocol | Make | Fill | Several at once | In parts | Fees on top | Cancel | Needs | Shown by |\n\
         |---|---|---|---|---|---|---|---|---|---|\n",
    );
    for profile in profiles() {
        let Abilities { make, fill, batch, partial, fees, cancel } = profile.abilities;
        let cells = [make, fill, batch, partial, fees, cancel].map(Ability::word).join(" | ");
        let (word, needs) = (profile.marketplace.word(service), profile.needs);
        let needs = if needs.is_empty() { "nothing else" } else { needs };
        let _ = writeln!(
            table,
            "| `{word}` | {} | {cells} | {needs} | {} |",
            profile.protocol,
            profile.shown_by.link()
        );
    }
    table
}
