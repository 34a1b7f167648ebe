//! Project audiences.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Address, ChainId, ProjectId, RecordId, Text, Timestamp};

/// A named list of people of a project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Audience {
    /// Audience id.
    pub id: RecordId,
    /// The project it belongs to.
    pub project_id: ProjectId,
    /// Name.
    pub name: String,
    /// How many contacts it has.
    pub contact_count: u64,
    /// Whether wallets may sign themselves up.
    #[serde(default)]
    pub registration_open: bool,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// Always null: what is deleted is gone.
    pub deleted_at: Option<Timestamp>,
}

/// One person of an audience.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Contact {
    /// Contact id.
    pub id: RecordId,
    /// The audience it belongs to.
    pub audience_id: RecordId,
    /// Name, may be empty.
    pub name: String,
    /// Wallet address.
    pub address: Address,
    /// E-mail address, may be empty.
    pub email: String,
    /// When it was added.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// A contact to add. A contact is known by its address: adding it again updates name and e-mail.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub struct ContactInput {
    /// Name.
    pub name: Option<Text<256>>,
    /// Wallet address.
    pub address: Address,
    /// E-mail address.
    pub email: Option<Email>,
}

/// A contract that an audience is linked with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AudienceContract {
    /// Contract id.
    pub id: RecordId,
    /// The project it belongs to.
    pub project_id: ProjectId,
    /// Name.
    pub contract_name: String,
    /// Address.
    pub contract_address: Address,
    /// Kind of contract, as the project names it.
    pub contract_type: String,
    /// Chain.
    pub chain_id: ChainId,
    /// How the project came by it.
    pub source: ContractSource,
    /// For a sale contract, the contract of the items sold; null for others.
    pub items_contract_address: Option<Address>,
    /// ABI as JSON text, may be empty.
    pub abi: String,
    /// Code in hexadecimal, may be empty.
    pub bytecode: String,
    /// Hash of the code, may be empty.
    pub bytecode_hash: String,
    /// The audience it is linked with.
    pub audience_id: RecordId,
    /// When it was linked.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

/// How a project came by a contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum ContractSource {
    /// It existed and was linked.
    #[default]
    Linked,
    /// The project deployed it.
    Deployed,
    /// It sells the project's items.
    Sale,
}

impl ContractSource {
    const ALL: [(Self, &'static str); 3] =
        [(Self::Linked, "LINKED"), (Self::Deployed, "DEPLOYED"), (Self::Sale, "SALE")];

    /// The enum value.
    pub fn word(self) -> &'static str {
        Self::ALL[self as usize].1
    }
}

impl FromStr for ContractSource {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|(_, text)| *text == word);
        found.map(|(source, _)| source).ok_or_else(|| format!("`{word}` is none of LINKED, DEPLOYED, SALE"))
    }
}

/// A plausible e-mail address: something@something.something, without spaces. Only sending mail shows more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Email(String);

/// Why a text is not an e-mail address.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("`{0}` is not an e-mail address")]
pub struct EmailError(String);

impl FromStr for Email {
    type Err = EmailError;

    fn from_str(text: &str) -> Result<Self, EmailError> {
        let plausible = text.len() <= 254
            && !text.chars().any(|letter| letter.is_whitespace() || letter.is_control())
            && text.rsplit_once('@').is_some_and(|(local, domain)| {
                (1..=64).contains(&local.len())
                    && !local.contains('@')
                    && domain.contains('.')
                    && domain.split('.').all(|label| !label.is_empty() && label.len() <= 63)
            });
        // An absent address is often sent as an empty one.
        if text.is_empty() || plausible {
            Ok(Self(text.to_owned()))
        } else {
            Err(EmailError(text.chars().take(64).collect()))
        }
    }
}

impl fmt::Display for Email {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

crate::text::string_serde!(Email, "^(.+@.+\\..+)?$", "e-mail address");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plausible_addresses_pass_and_others_do_not() {
        for text in ["", "a@b.co", "first.last+tag@sub.example.org", "用户@例え.jp"] {
            assert!(text.parse::<Email>().is_ok(), "{text}");
        }
        for text in ["a", "@b.co", "a@b", "a@.co", "a@b..co", "a b@c.de", "a@b@c.de", "a@b.c\0"] {
            assert!(text.parse::<Email>().is_err(), "{text}");
        }
    }
}
