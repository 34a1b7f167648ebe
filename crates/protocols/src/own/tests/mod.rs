mod calls;
mod logs;

use alloy_primitives::{B256, U256};
use bourse_wire::Address;

const MARKET: Address = address(0xa1);
const COLLECTION: Address = address(0xc0);
const MAKER: Address = address(0x3a);

const fn address(byte: u8) -> Address {
    Address::from_bytes([byte; 20])
}

fn word_of(address: Address) -> B256 {
    let mut word = [0; 32];
    word[12..].copy_from_slice(address.bytes());
    B256::from(word)
}

fn word(number: u64) -> B256 {
    U256::from(number).into()
}
