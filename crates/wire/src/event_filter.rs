//! What listeners are told of.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ActivityAction, Address, Error, TokenId};

/// What a listener is told of: what happened of these kinds in these contracts, between these accounts, of these tokens. Where no
/// kind, account or token is named, any is meant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(rename = "EventFilter")]
pub struct EventFilter {
    /// Kinds: words of activities, such as `sale`, or the signatures or names of the events of transfers.
    pub events: Vec<String>,
    /// Contracts; one at least.
    pub contract_addresses: Vec<Address>,
    /// Whoever gave or got.
    pub accounts: Vec<Address>,
    /// Tokens.
    #[serde(rename = "tokenIDs")]
    pub token_ids: Vec<TokenId>,
}

/// Events by which contracts tell that tokens change hands.
const TRANSFERS: [&str; 3] = ["Transfer", "TransferSingle", "TransferBatch"];

/// Longest name of an event, with the types that it has.
const NAME_BYTES_MAX: usize = 256;

impl EventFilter {
    /// Refuses kinds that nothing is of, and a filter without a contract, by the member that it is.
    pub fn check(&self, member: &str) -> Result<(), Error> {
        if self.contract_addresses.is_empty() {
            let reason = "name the contracts whose events are to be told";
            return Err(Error::invalid(&format!("{member}.contractAddresses"), reason));
        }
        match self.events.iter().find(|name| kinds(name).is_empty()) {
            None => Ok(()),
            Some(name) => {
                let words = ActivityAction::ALL.iter().skip(1).map(|action| action.word());
                let words = words.chain(TRANSFERS).collect::<Vec<_>>().join(", ");
                let reason = format!("`{name:.64}` is none that is told: name any of {words}");
                Err(Error::invalid(&format!("{member}.events"), reason))
            }
        }
    }

    /// The kinds of activities that are told; none where any is.
    pub fn actions(&self) -> Vec<ActivityAction> {
        self.events.iter().flat_map(|name| kinds(name)).collect()
    }
}

/// The kinds of activities that a name stands for, where it stands for any. A token that changes hands may be made or sold by that.
fn kinds(name: &str) -> Vec<ActivityAction> {
    let bare = name.split('(').next().unwrap_or_default().trim();
    if name.len() <= NAME_BYTES_MAX && TRANSFERS.contains(&bare) {
        return vec![ActivityAction::Transfer, ActivityAction::Mint, ActivityAction::Sale];
    }
    let known = ActivityAction::ALL.iter().find(|action| action.word() == name);
    known.filter(|action| **action != ActivityAction::Unknown).copied().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filters(events: &[&str]) -> EventFilter {
        let events = events.iter().map(|name| (*name).to_owned()).collect();
        EventFilter { events, contract_addresses: vec![Address::ZERO], ..EventFilter::default() }
    }

    #[test]
    fn kinds_have_words_and_transfers_the_names_of_their_events_too() {
        let actions = |events: &[&str]| filters(events).actions();
        assert_eq!(actions(&["sale", "listing"]), [ActivityAction::Sale, ActivityAction::Listing]);
        for name in ["Transfer", "Transfer(address,address,uint256)", "TransferBatch(address a)"] {
            assert!(actions(&[name]).contains(&ActivityAction::Transfer), "{name}");
        }
        assert_eq!(actions(&[]), []);
        for name in ["", "unknown", "Sale", "sale()", "Approval(address,address,uint256)", "\u{0}"] {
            assert!(filters(&[name]).check("filter").is_err(), "{name}");
        }
    }

    #[test]
    fn a_filter_names_contracts() {
        assert!(filters(&[]).check("filter").is_ok());
        let error = EventFilter::default().check("filter").unwrap_err();
        assert!(error.message.starts_with("filter.contractAddresses: "), "{}", error.message);
    }
}
