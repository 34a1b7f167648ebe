//! What webhooks are told of.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ActivityAction, Address, Error, TokenId};

/// What a listener is told of: what happened of these kinds in these contracts, between these accounts, of these tokens. Where no
/// kind, account or token is named, any is meant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(rename = "EventFilter")]
pub struct WebhookFilters {
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

impl WebhookFilters {
    /// Refuses kinds that nothing is of, and filters without a contract.
    pub fn check(&self) -> Result<(), Error> {
        if self.contract_addresses.is_empty() {
            let reason = "name the contracts whose events are to be told";
            return Err(Error::invalid("filters.contractAddresses", reason));
        }
        for name in &self.events {
            kinds(name)?;
        }
        Ok(())
    }

    /// The kinds of activities that are told; none where any is.
    pub fn actions(&self) -> Result<Vec<ActivityAction>, Error> {
        let mut actions = Vec::new();
        for name in &self.events {
            actions.extend(kinds(name)?);
        }
        Ok(actions)
    }
}

/// The kinds of activities that a name stands for. A token that changes hands may be made or sold by that.
fn kinds(name: &str) -> Result<Vec<ActivityAction>, Error> {
    if name.len() > NAME_BYTES_MAX {
        let reason = format_args!("a name has more than {NAME_BYTES_MAX} bytes");
        return Err(Error::invalid("filters.events", reason));
    }
    let bare = name.split('(').next().unwrap_or_default().trim();
    if TRANSFERS.contains(&bare) {
        return Ok(vec![ActivityAction::Transfer, ActivityAction::Mint, ActivityAction::Sale]);
    }
    let known = ActivityAction::ALL.iter().find(|action| action.word() == bare && bare == name);
    known.filter(|action| **action != ActivityAction::Unknown).map(|action| vec![*action]).ok_or_else(|| {
        let words = ActivityAction::ALL.iter().skip(1).map(|action| action.word());
        let words = words.chain(TRANSFERS).collect::<Vec<_>>().join(", ");
        let shown: String = name.chars().take(64).collect();
        Error::invalid("filters.events", format_args!("`{shown}` is none that is told: name any of {words}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filters(events: &[&str]) -> WebhookFilters {
        let events = events.iter().map(|name| (*name).to_owned()).collect();
        WebhookFilters { events, contract_addresses: vec![Address::ZERO], ..WebhookFilters::default() }
    }

    #[test]
    fn kinds_have_words_and_transfers_the_names_of_their_events_too() {
        let actions = |events: &[&str]| filters(events).actions().unwrap();
        assert_eq!(actions(&["sale", "listing"]), [ActivityAction::Sale, ActivityAction::Listing]);
        for name in ["Transfer", "Transfer(address,address,uint256)", "TransferBatch(address a)"] {
            assert!(actions(&[name]).contains(&ActivityAction::Transfer), "{name}");
        }
        assert_eq!(actions(&[]), []);
        for name in ["", "unknown", "Sale", "sale()", "Approval(address,address,uint256)", "\u{0}"] {
            assert!(filters(&[name]).check().is_err(), "{name}");
        }
    }

    #[test]
    fn a_filter_names_contracts() {
        assert!(filters(&[]).check().is_ok());
        let error = WebhookFilters::default().check().unwrap_err();
        assert!(error.message.starts_with("filters.contractAddresses: "), "{}", error.message);
    }
}
