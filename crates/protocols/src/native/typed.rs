//! Typed data, as wallets sign it (EIP-712).

use std::borrow::Cow;

use alloy_primitives::{B256, U256, keccak256};
use alloy_sol_types::{Eip712Domain, SolStruct};
use bourse_wire::{Address, ChainId, JsonObject};
use serde_json::{Value, json};

/// For whom something is signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Domain {
    /// Name of the contract.
    pub name: Cow<'static, str>,
    /// Its version.
    pub version: Cow<'static, str>,
    /// Its chain.
    pub chain: ChainId,
    /// The contract.
    pub contract: Address,
}

/// Something to sign, as wallets are asked for it.
#[derive(Clone, Debug, PartialEq)]
pub struct TypedData {
    /// For whom.
    pub domain: Domain,
    /// Its types: for each its members with their types.
    pub types: JsonObject,
    /// The type of the value.
    pub primary_type: String,
    /// The value.
    pub value: JsonObject,
}

impl Domain {
    /// The hash of the domain.
    pub(crate) fn separator(&self) -> B256 {
        let Self { name, version, chain, contract } = self;
        let (name, version) = (Some(name.clone()), Some(version.clone()));
        let (chain, contract) = (Some(U256::from(chain.0)), Some(contract.bytes().into()));
        Eip712Domain::new(name, version, chain, contract, None).separator()
    }

    /// What is signed, by the hash of its value.
    pub(crate) fn digest(&self, value: B256) -> B256 {
        keccak256([&[0x19, 0x01], self.separator().as_slice(), value.as_slice()].concat())
    }
}

impl TypedData {
    /// A value of a type that contracts know, written with the members of its type.
    pub(crate) fn new<S: SolStruct>(domain: Domain, value: &JsonObject) -> Self {
        let types = types(&S::eip712_encode_type());
        let members = types.get(S::NAME).and_then(Value::as_array).into_iter().flatten();
        let names = members.filter_map(|member| member["name"].as_str());
        let signed = names.filter_map(|name| Some((name.to_owned(), value.get(name)?.clone())));
        let value = signed.collect();
        Self { domain, types, primary_type: S::NAME.to_owned(), value }
    }
}

/// The types in the text that is hashed of them, such as `Mail(Person to)Person(address wallet)`.
fn types(text: &str) -> JsonObject {
    let structs = text.split_terminator(')').filter_map(|written| written.split_once('('));
    structs.map(|(name, members)| (name.to_owned(), members_of(members))).collect()
}

fn members_of(text: &str) -> Value {
    let members = text.split(',').filter_map(|member| member.split_once(' '));
    members.map(|(of, name)| json!({ "name": name, "type": of })).collect()
}

#[cfg(test)]
mod tests {
    use alloy_primitives::b256;
    use alloy_sol_types::sol;

    use super::*;

    sol! {
        struct Person { string name; address wallet; }
        struct Mail { Person from; Person to; string contents; }
    }

    fn domain() -> Domain {
        let contract = Address::from_bytes([0xcc; 20]);
        Domain { name: "Ether Mail".into(), version: "1".into(), chain: ChainId(1), contract }
    }

    #[test]
    fn domains_hash_as_in_the_standard() {
        let contract = "0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC".parse().unwrap();
        let published = b256!("f2cee375fa42b42143804025fc449deafd50cc031ca257e0b194a650a912090f");
        assert_eq!(Domain { contract, ..domain() }.separator(), published);
        let mail = b256!("c52c0ee5d84264471806290a3f2c4cecfc5490626bf912d01f240d7a274b371e");
        let digest = b256!("be609aee343fb3c4b28e1df9e632fca64fcfaede20f02e86244efddf30957bd2");
        assert_eq!(Domain { contract, ..domain() }.digest(mail), digest);
    }

    #[test]
    fn types_are_those_that_are_hashed() {
        let value = json!({ "to": {}, "from": {}, "contents": "", "other": 1 });
        let typed = TypedData::new::<Mail>(domain(), value.as_object().unwrap());
        let person = json!([{ "name": "name", "type": "string" }, { "name": "wallet", "type": "address" }]);
        let mail = json!([{ "name": "from", "type": "Person" }, { "name": "to", "type": "Person" },
            { "name": "contents", "type": "string" }]);
        assert_eq!(Value::Object(typed.types), json!({ "Mail": mail, "Person": person }));
        assert_eq!(typed.primary_type, "Mail");
        assert_eq!(typed.value.keys().collect::<Vec<_>>(), ["from", "to", "contents"]);
    }
}
