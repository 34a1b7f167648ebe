//! Typed data, hashed as the standard says (EIP-712) from what a wallet is told, so that names of orders are known without
//! the service.

use std::collections::BTreeSet;

use alloy_primitives::{B256, U256, hex, keccak256};
use serde_json::{Value, json};

/// The type of what something is signed for.
pub(super) const DOMAIN: &str = "EIP712Domain";

/// Something to sign for a contract, written with the members of its types.
pub(super) fn typed(domain: (&str, &str), contract: &Value, types: &[(&str, &str)], value: &Value) -> Value {
    let (name, version) = domain;
    let members = |list: &str| -> Value {
        let members = list.split(',').map(|member| member.split_once(' ').unwrap());
        members.map(|(kind, name)| json!({ "name": name, "type": kind })).collect()
    };
    let domain_type = (DOMAIN, "string name,string version,uint256 chainId,address verifyingContract");
    let all = types.iter().chain([&domain_type]);
    let all: serde_json::Map<String, Value> =
        all.map(|(name, list)| ((*name).to_owned(), members(list))).collect();
    json!({ "primaryType": types[0].0, "types": all, "value": value,
        "domain": { "name": name, "version": version, "chainId": 31337, "verifyingContract": contract } })
}

/// The hash of the value alone.
pub(super) fn struct_hash(typed: &Value) -> B256 {
    hash(&typed["types"], typed["primaryType"].as_str().unwrap(), &typed["value"])
}

/// The hash that is signed.
pub(super) fn digest(typed: &Value) -> B256 {
    let domain = hash(&typed["types"], DOMAIN, &typed["domain"]);
    keccak256([&[0x19, 0x01], domain.as_slice(), struct_hash(typed).as_slice()].concat())
}

fn hash(types: &Value, name: &str, value: &Value) -> B256 {
    let mut used = BTreeSet::new();
    collect(types, name, &mut used);
    used.remove(name);
    let text: String =
        std::iter::once(name.to_owned()).chain(used).map(|name| written(types, &name)).collect();
    let members = types[name].as_array().unwrap().iter();
    let words = members.map(|member| {
        let (name, kind) = (member["name"].as_str().unwrap(), member["type"].as_str().unwrap());
        word(types, kind, &value[name])
    });
    keccak256(std::iter::once(keccak256(text)).chain(words).collect::<Vec<B256>>().concat())
}

/// The types that a type is made of, with itself.
fn collect(types: &Value, name: &str, used: &mut BTreeSet<String>) {
    let name = name.trim_end_matches("[]");
    if types[name].is_array() && used.insert(name.to_owned()) {
        for member in types[name].as_array().unwrap() {
            collect(types, member["type"].as_str().unwrap(), used);
        }
    }
}

fn written(types: &Value, name: &str) -> String {
    let members = types[name].as_array().unwrap().iter();
    let members: Vec<String> = members
        .map(|member| format!("{} {}", member["type"].as_str().unwrap(), member["name"].as_str().unwrap()))
        .collect();
    format!("{name}({})", members.join(","))
}

fn word(types: &Value, kind: &str, value: &Value) -> B256 {
    if let Some(item) = kind.strip_suffix("[]") {
        let items = value.as_array().unwrap().iter().map(|value| word(types, item, value));
        return keccak256(items.collect::<Vec<B256>>().concat());
    }
    match kind {
        "string" => keccak256(value.as_str().unwrap()),
        "bool" => U256::from(value.as_bool().unwrap()).into(),
        "bytes" => keccak256(hex::decode(value.as_str().unwrap()).unwrap()),
        _ if types[kind].is_array() => hash(types, kind, value),
        _ => {
            let number = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            number.parse::<U256>().unwrap().into()
        }
    }
}
