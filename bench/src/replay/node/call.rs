//! What the contracts answer when they are asked.

use serde_json::Value;

use crate::replay::event::{COIN, MARKET, POTIONS, RELICS};
use crate::replay::hex::{Address, data, number, parse_data};

/// The answer of a contract to `eth_call`; nothing when it would revert.
pub(super) fn call(asked: &Value) -> Option<String> {
    let to: Address = parse_data(asked["to"].as_str()?)?;
    let input = asked["input"].as_str().or_else(|| asked["data"].as_str())?;
    let (selector, arguments) = input.split_at_checked(10)?;
    match (selector, to) {
        ("0x01ffc9a7", RELICS | POTIONS | MARKET) => Some(truth(supports(to, arguments.get(..8)?))),
        ("0x06fdde03", RELICS) => Some(text("Relics")),
        ("0x06fdde03", POTIONS) => Some(text("Potions")),
        ("0x06fdde03" | "0x95d89b41", COIN) => Some(text("COIN")),
        ("0x95d89b41", RELICS) => Some(text("RELIC")),
        ("0x95d89b41", POTIONS) => Some(text("POTION")),
        ("0x313ce567", COIN) => Some(data(&number(18))),
        // Balance and allowance: everybody has enough of the currency.
        ("0x70a08231" | "0xdd62ed3e", COIN) => Some(data(&number(u64::MAX))),
        // Approval for all.
        ("0xe985e9c5", RELICS | POTIONS) => Some(truth(true)),
        // Royalties: nobody gets any.
        ("0x2a55205a", RELICS | POTIONS) | ("0x36de9742", MARKET) => Some(data(&[0; 64])),
        _ => None,
    }
}

/// Whether a contract has the interface of ERC-165, and that of its own kind.
fn supports(contract: Address, interface: &str) -> bool {
    match interface {
        "01ffc9a7" => true,
        "80ac58cd" => contract == RELICS,
        "d9b67a26" => contract == POTIONS,
        _ => false,
    }
}

fn truth(value: bool) -> String {
    data(&number(u64::from(value)))
}

/// A text of at most 32 bytes.
fn text(value: &str) -> String {
    let mut padded = [0; 32];
    for (byte, letter) in padded.iter_mut().zip(value.bytes()) {
        *byte = letter;
    }
    let length = u64::try_from(value.len()).unwrap_or(u64::MAX);
    data(&[number(32), number(length), padded].concat())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::call;
    use crate::replay::event::{MARKET, POTIONS, RELICS};
    use crate::replay::hex::data;

    #[test]
    fn contracts_tell_what_they_are() {
        let supports = |contract: [u8; 20], interface: &str| {
            let input = format!("0x01ffc9a7{interface:0<64}");
            call(&json!({ "to": data(&contract), "data": input })).unwrap().ends_with('1')
        };
        assert!(supports(RELICS, "80ac58cd") && !supports(RELICS, "d9b67a26"));
        assert!(supports(POTIONS, "d9b67a26") && !supports(POTIONS, "80ac58cd"));
        assert!(supports(MARKET, "01ffc9a7") && !supports(MARKET, "ffffffff"));
        let name = call(&json!({ "to": data(&RELICS), "input": "0x06fdde03" })).unwrap();
        assert!(name.contains("52656c696373"), "{name}");
    }

    #[test]
    fn other_calls_revert() {
        assert_eq!(call(&json!({ "to": data(&RELICS), "input": "0xe8a3d485" })), None);
        assert_eq!(call(&json!({ "to": data(&[1; 20]), "input": "0x06fdde03" })), None);
        assert_eq!(call(&json!({ "to": data(&RELICS), "input": "0x" })), None);
    }
}
