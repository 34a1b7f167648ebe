//! What a contract that refused a call says, in words for whoever was to send it. Nothing that a contract says is believed:
//! it is read within bounds, and what of it is shown is short and without anything that would not show.

mod table;
#[cfg(test)]
mod tests;

use alloy_primitives::{U256, hex, keccak256};
use bourse_wire::Address;

use table::Known;

/// All errors that are known by their signatures.
const KNOWN: [&[Known]; 6] =
    [table::TOKENS, table::OWN, table::SEAPORT, table::LOOKS_RARE, table::ZEROX, table::PAYMENT_PROCESSOR];

/// `Error(string)` and `Panic(uint256)`, which the compiler makes.
const ERROR: [u8; 4] = [0x08, 0xc3, 0x79, 0xa0];
const PANIC: [u8; 4] = [0x4e, 0x48, 0x7b, 0x71];

/// The most letters of a text that a contract wrote which are shown.
const TEXT_MAX: usize = 120;
/// The most bytes of data that are shown which nobody knows.
const DATA_MAX: usize = 36;
/// The most bytes in which a text is looked for.
const READ_MAX: usize = 4096;

/// What the data means that a contract refused a call with.
pub fn in_words(data: &[u8]) -> String {
    let Some((selector, members)) = data.split_first_chunk::<4>() else {
        return match data {
            [] => "the contract refused without a word: what it was asked for is not allowed as things are"
                .to_owned(),
            some => format!("the contract refused with {}", hex::encode_prefixed(some)),
        };
    };
    match *selector {
        ERROR => text(members).map(|text| said(&text)),
        PANIC => word(members, 0).map(panicked),
        _ => known(*selector).and_then(|(signature, words)| filled(signature, words, members)),
    }
    .unwrap_or_else(|| unknown(data))
}

/// The error that has this selector.
fn known(selector: [u8; 4]) -> Option<Known> {
    let has_it = |(signature, _): &&Known| keccak256(signature)[..4] == selector;
    KNOWN.iter().flat_map(|family| family.iter()).find(has_it).copied()
}

/// The words with the members in them, and the name of the error behind; `None` where members are missing.
fn filled(signature: &str, words: &str, members: &[u8]) -> Option<String> {
    let (name, types) = signature.strip_suffix(')')?.split_once('(')?;
    let mut filled = words.to_owned();
    for (place, kind) in types.split(',').filter(|kind| !kind.is_empty()).enumerate() {
        let mark = format!("{{{place}}}");
        if filled.contains(&mark) {
            filled = filled.replace(&mark, &shown(kind, word(members, place)?));
        }
    }
    Some(format!("{filled} ({name})"))
}

/// A member that takes one word.
fn shown(kind: &str, word: [u8; 32]) -> String {
    match kind {
        "address" => {
            let mut address = [0; 20];
            address.copy_from_slice(&word[12..]);
            Address::from_bytes(address).to_string()
        }
        "bytes4" => hex::encode_prefixed(&word[..4]),
        "bytes32" => hex::encode_prefixed(word),
        _ => U256::from_be_bytes(word).to_string(),
    }
}

fn word(members: &[u8], place: usize) -> Option<[u8; 32]> {
    members.get(32 * place..32 * (place + 1))?.try_into().ok()
}

/// A text as it may be shown, where the data holds one.
fn text(members: &[u8]) -> Option<String> {
    let members = &members[..members.len().min(READ_MAX)];
    let number = |word: [u8; 32]| usize::try_from(U256::from_be_bytes(word)).ok();
    let start = number(word(members, 0)?)?;
    let rest = members.get(start..)?;
    let length = number(word(rest, 0)?)?;
    // What is cut off is too long to be shown anyway.
    let text = rest.get(32..)?;
    let text = String::from_utf8_lossy(&text[..text.len().min(length)]);
    let shown: String = text.chars().filter(|letter| is_visible(*letter)).take(TEXT_MAX + 1).collect();
    if shown.chars().count() <= TEXT_MAX {
        return Some(shown);
    }
    Some(shown.chars().take(TEXT_MAX).chain(['…']).collect())
}

/// Whether a letter shows, and changes nothing of how others do.
fn is_visible(letter: char) -> bool {
    let is_format = matches!(
        letter,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff0}'..='\u{ffff}' | '\u{e0000}'..='\u{e0fff}'
    );
    !letter.is_control() && !is_format
}

/// A text of an older contract, with what it means where that is known.
fn said(text: &str) -> String {
    let small = text.to_lowercase();
    match table::TEXTS.iter().find(|(words, _)| small.contains(words)) {
        Some((_, meaning)) => format!("{meaning} (the contract says \"{text}\")"),
        None if text.trim().is_empty() => in_words(&[]),
        None => format!("the contract says \"{text}\""),
    }
}

fn panicked(code: [u8; 32]) -> String {
    let code = U256::from_be_bytes(code);
    let why = match u64::try_from(code).unwrap_or(u64::MAX) {
        0x01 => "something does not hold that must",
        0x11 => "a number becomes too large or negative",
        0x12 => "something is divided by zero",
        0x32 => "a list is too short",
        _ => "it met what it does not expect",
    };
    format!("the contract gave up: {why} (Panic {code:#x})")
}

/// Data that nobody knows: its beginning tells whoever looks it up which error it is.
fn unknown(data: &[u8]) -> String {
    let shown = hex::encode_prefixed(&data[..data.len().min(DATA_MAX)]);
    let more = if data.len() > DATA_MAX { "…" } else { "" };
    format!("the contract refused with an error that is not known here, {shown}{more}")
}
