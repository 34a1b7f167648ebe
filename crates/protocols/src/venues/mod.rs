//! Marketplaces on chains: what each speaks, where its contracts are, and what can be done there. What there is to say of
//! one marketplace, its family says in its own module.

mod deployment;
mod family;
mod profile;
mod registry;
#[cfg(test)]
mod tests;
mod venue;

pub use deployment::Deployment;
pub(crate) use deployment::{Setup, Site, address, at, nothing_follows};
pub(crate) use family::{Family, known};
pub use profile::{Abilities, Ability, ShownBy, VenueProfile, profiles, table};
pub use registry::Registry;
pub use venue::Venue;
