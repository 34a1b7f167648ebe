//! A wallet: it signs what it is shown, and knows nothing of marketplaces.

use alloy_primitives::{B256, U256, hex, keccak256};
use k256::ecdsa::{RecoveryId, Signature, SigningKey, VerifyingKey};
use serde_json::Value;

/// Somebody with a key.
pub(crate) struct Wallet(SigningKey);

impl Wallet {
    /// The one whose key consists of this byte.
    pub(crate) fn of(byte: u8) -> Self {
        Self(SigningKey::from_slice(&[byte; 32]).unwrap())
    }

    pub(crate) fn address(&self) -> String {
        address_of(self.0.verifying_key())
    }

    fn sign(&self, digest: B256) -> String {
        let (signature, recovery) = self.0.sign_prehash_recoverable(digest.as_slice()).unwrap();
        format!("0x{}{:02x}", hex::encode(signature.to_bytes()), 27 + recovery.to_byte())
    }

    /// Signs typed data as a step has it, after EIP-712.
    pub(crate) fn sign_typed(&self, asked: &Value) -> String {
        self.sign(digest(asked))
    }

    /// Signs a text, after EIP-191.
    pub(crate) fn sign_text(&self, text: &str) -> String {
        self.sign(text_digest(text))
    }
}

/// Who signed a text.
pub(crate) fn signer_of_text(text: &str, signature: &str) -> Option<String> {
    let bytes = hex::decode(signature).ok().filter(|bytes| bytes.len() == 65)?;
    let recovery = RecoveryId::from_byte(bytes[64].checked_sub(27)?)?;
    let signature = Signature::from_slice(&bytes[..64]).ok()?;
    let digest = text_digest(text);
    VerifyingKey::recover_from_prehash(digest.as_slice(), &signature, recovery)
        .ok()
        .map(|key| address_of(&key))
}

fn address_of(key: &VerifyingKey) -> String {
    let point = key.to_encoded_point(false);
    format!("0x{}", hex::encode(&keccak256(&point.as_bytes()[1..])[12..]))
}

fn text_digest(text: &str) -> B256 {
    keccak256(format!("\x19Ethereum Signed Message:\n{}{text}", text.len()))
}

fn digest(asked: &Value) -> B256 {
    let domain = &asked["domain"];
    let name = |member: &str| keccak256(domain[member].as_str().unwrap());
    let members = "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)";
    let separator = keccak256(
        [
            keccak256(members),
            name("name"),
            name("version"),
            U256::from(domain["chainId"].as_u64().unwrap()).into(),
            word("address", &domain["verifyingContract"], &asked["types"]),
        ]
        .concat(),
    );
    let value = struct_hash(asked["primaryType"].as_str().unwrap(), &asked["value"], &asked["types"]);
    keccak256([&[0x19, 0x01], separator.as_slice(), value.as_slice()].concat())
}

/// The members of a type: name and type of each.
fn members<'a>(name: &str, types: &'a Value) -> Vec<(&'a str, &'a str)> {
    let list = types[name].as_array().unwrap_or_else(|| panic!("no type {name} in {types}"));
    list.iter().map(|member| (member["name"].as_str().unwrap(), member["type"].as_str().unwrap())).collect()
}

/// A type as it is written, with those that it is made of behind it in their alphabetical order.
fn written(name: &str, types: &Value) -> String {
    let (mut known, mut next) = (vec![name.to_owned()], 0);
    while let Some(name) = known.get(next).cloned() {
        for (_, kind) in members(&name, types) {
            let inner = kind.split('[').next().unwrap().to_owned();
            if types.get(&inner).is_some() && !known.contains(&inner) {
                known.push(inner);
            }
        }
        next += 1;
    }
    known[1..].sort();
    let one = |name: &String| {
        let members =
            members(name, types).iter().map(|(name, kind)| format!("{kind} {name}")).collect::<Vec<_>>();
        format!("{name}({})", members.join(","))
    };
    known.iter().map(one).collect()
}

fn struct_hash(name: &str, value: &Value, types: &Value) -> B256 {
    let members = members(name, types);
    assert_eq!(value.as_object().unwrap().len(), members.len(), "{value}");
    let words = members.iter().flat_map(|(member, kind)| word(kind, &value[*member], types));
    keccak256(keccak256(written(name, types)).into_iter().chain(words).collect::<Vec<u8>>())
}

/// What stands for a value in what is hashed.
fn word(kind: &str, value: &Value, types: &Value) -> B256 {
    let text = || value.as_str().unwrap_or_else(|| panic!("{value} is no {kind}"));
    match kind {
        _ if kind.ends_with("[]") => {
            let items = value.as_array().unwrap().iter();
            let words = items.flat_map(|item| word(&kind[..kind.len() - 2], item, types));
            keccak256(words.collect::<Vec<u8>>())
        }
        _ if types.get(kind).is_some() => struct_hash(kind, value, types),
        "bytes" => keccak256(hex::decode(text()).unwrap()),
        "string" => keccak256(text()),
        "bytes32" => text().parse().unwrap(),
        "address" => B256::left_padding_from(&hex::decode(text()).unwrap()),
        _ if kind.starts_with("uint") => match value {
            Value::Number(number) => U256::from(number.as_u64().unwrap()).into(),
            _ => U256::from_str_radix(text(), 10).unwrap().into(),
        },
        other => panic!("{other} is not known to this wallet"),
    }
}
