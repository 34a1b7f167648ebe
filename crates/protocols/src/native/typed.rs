//! Typed data, as wallets sign it (EIP-712).

use std::borrow::Cow;

use alloy_primitives::{B256, U256, keccak256};
use alloy_sol_types::{Eip712Domain, SolStruct};
use bourse_wire::{Address, ChainId, JsonObject, from_value};
use serde_json::{Value, json};

use super::values::{Data, Number, Word};

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

    /// What a key signs of it, as every wallet finds it from the types and the value; `None` when the value is not of its
    /// type.
    pub fn digest(&self) -> Option<B256> {
        Some(self.domain.digest(self.struct_hash(&self.primary_type, &self.value)?))
    }

    fn struct_hash(&self, name: &str, value: &JsonObject) -> Option<B256> {
        let mut words = keccak256(self.written(name)?).to_vec();
        for (member, kind) in self.members(name)? {
            words.extend(self.word(kind, value.get(member)?)?);
        }
        Some(keccak256(words))
    }

    /// What stands for a value in what is hashed.
    fn word(&self, kind: &str, value: &Value) -> Option<B256> {
        if let Some(item) = kind.strip_suffix("[]") {
            let words = value.as_array()?.iter().map(|value| self.word(item, value));
            return Some(keccak256(words.collect::<Option<Vec<_>>>()?.concat()));
        }
        match kind {
            _ if self.types.contains_key(kind) => self.struct_hash(kind, value.as_object()?),
            "string" => Some(keccak256(value.as_str()?)),
            "bytes" => Some(keccak256(value.as_str()?.parse::<Data>().ok()?.0)),
            "bytes32" => Some(value.as_str()?.parse::<Word>().ok()?.0),
            "address" => Some(B256::left_padding_from(value.as_str()?.parse::<Address>().ok()?.bytes())),
            // Small numbers are numbers in JSON too.
            _ if kind.starts_with("uint") => Some(from_value::<Number>(value.clone()).ok()?.0.into()),
            _ => None,
        }
    }

    /// Names and types of the members of a type.
    fn members(&self, name: &str) -> Option<Vec<(&str, &str)>> {
        let members = self.types.get(name)?.as_array()?.iter();
        members.map(|member| Some((member["name"].as_str()?, member["type"].as_str()?))).collect()
    }

    /// A type as it is hashed: written out, with those that it is made of behind it in the order of their names.
    fn written(&self, name: &str) -> Option<String> {
        let (mut known, mut next) = (vec![name], 0);
        while let Some(name) = known.get(next) {
            for (_, kind) in self.members(name)? {
                let inner = kind.trim_end_matches("[]");
                if self.types.contains_key(inner) && !known.contains(&inner) {
                    known.push(inner);
                }
            }
            next += 1;
        }
        known[1..].sort_unstable();
        let mut text = String::new();
        for name in known {
            let members = self.members(name)?.into_iter().map(|(member, kind)| format!("{kind} {member}"));
            text.push_str(&[name, "(", &members.collect::<Vec<_>>().join(","), ")"].concat());
        }
        Some(text)
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
    fn what_is_signed_is_as_in_the_standard() {
        let person = |name: &str, byte: &str| json!({ "name": name, "wallet": format!("0x{}", byte) });
        let value = json!({
            "from": person("Cow", "cd2a3d9f938e13cd947ec05abc7fe734df8dd826"),
            "to": person("Bob", &"b".repeat(40)),
            "contents": "Hello, Bob!",
        });
        let contract = "0xcccccccccccccccccccccccccccccccccccccccc".parse().unwrap();
        let domain = Domain { contract, ..domain() };
        let typed = TypedData::new::<Mail>(domain, value.as_object().unwrap());
        let digest = b256!("be609aee343fb3c4b28e1df9e632fca64fcfaede20f02e86244efddf30957bd2");
        assert_eq!(typed.digest(), Some(digest));
        let missing = TypedData { value: JsonObject::new(), ..typed };
        assert_eq!(missing.digest(), None);
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
