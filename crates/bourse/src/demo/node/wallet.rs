//! Who sends transactions: accounts that the node signs for, or keys, whose transactions are signed here.

use std::fmt;

use alloy_primitives::{B256, U256, keccak256};
use bourse_wire::Address;
use k256::ecdsa::SigningKey;
use secrecy::{ExposeSecret as _, SecretString};

use super::rlp::{self, Item};
use crate::context::CommandError;

/// An account of which transactions can be sent. It is shown by its address alone.
#[derive(Clone)]
pub(super) struct Wallet {
    pub(super) address: Address,
    /// What its transactions are signed with; none where the node does.
    key: Option<SigningKey>,
}

impl fmt::Debug for Wallet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Wallet({})", self.address)
    }
}

/// A transaction as it is signed.
pub(super) struct Unsigned<'a> {
    pub(super) chain: u64,
    pub(super) nonce: u64,
    pub(super) gas_price: U256,
    pub(super) gas: u64,
    /// None makes a contract.
    pub(super) to: Option<Address>,
    pub(super) value: U256,
    pub(super) data: &'a [u8],
}

impl Wallet {
    /// One that the node signs for.
    pub(super) fn of_node(address: Address) -> Self {
        Self { address, key: None }
    }

    /// One whose key somebody gave, as hexadecimal digits. What is wrong is said without repeating any of it.
    pub(super) fn of_secret(secret: &SecretString) -> Result<Self, CommandError> {
        let digits = secret.expose_secret().trim();
        let bytes = const_hex::decode(digits).ok().filter(|bytes| bytes.len() == 32);
        let key = bytes.and_then(|bytes| SigningKey::from_slice(&bytes).ok());
        let wrong = "the key of the demo's account must be a private key: 64 hexadecimal digits";
        key.map(Self::of_key).ok_or_else(|| CommandError::Other(wrong.to_owned()))
    }

    fn of_key(key: SigningKey) -> Self {
        let point = key.verifying_key().to_encoded_point(false);
        // The first byte tells how the point is written.
        let address = last_twenty(keccak256(&point.as_bytes()[1..]));
        Self { address, key: Some(key) }
    }

    /// Another wallet whose key follows from this one's, or, where the node keeps that, from what everybody may know.
    pub(super) fn relative(&self, number: u64, public: &[u8]) -> Option<Self> {
        let secret = self.key.as_ref().map(|key| key.to_bytes().to_vec());
        let seed = [secret.as_deref().unwrap_or(public), b"demo", &number.to_be_bytes()].concat();
        // Hardly any number of this length is no key.
        SigningKey::from_slice(keccak256(seed).as_slice()).ok().map(Self::of_key)
    }

    /// Whether its transactions are signed here.
    pub(super) fn signs_here(&self) -> bool {
        self.key.is_some()
    }

    /// The signed transaction as nodes take it; none where the node signs.
    pub(super) fn sign(&self, transaction: &Unsigned<'_>) -> Option<Vec<u8>> {
        let chain = U256::from(transaction.chain);
        let what = transaction.items();
        let replayed_nowhere = [Item::number(chain), Item::number(U256::ZERO), Item::number(U256::ZERO)];
        let digest = keccak256(rlp::list(&[&what[..], &replayed_nowhere].concat()));
        let (signature, recovery) = self.key.as_ref()?.sign_prehash_recoverable(digest.as_slice()).ok()?;
        let (r, s) = signature.split_bytes();
        let parity = chain * U256::from(2) + U256::from(35 + u64::from(recovery.to_byte()));
        let signed = [parity, U256::from_be_slice(&r), U256::from_be_slice(&s)].map(Item::number);
        Some(rlp::list(&[&what[..], &signed].concat()))
    }
}

impl Unsigned<'_> {
    fn items(&self) -> [Item; 6] {
        let to = self.to.map_or_else(Vec::new, |to| to.bytes().to_vec());
        [
            Item::number(U256::from(self.nonce)),
            Item::number(self.gas_price),
            Item::number(U256::from(self.gas)),
            Item(to),
            Item::number(self.value),
            Item(self.data.to_vec()),
        ]
    }
}

/// Where a contract lands that an account makes by its transaction of this number.
pub(super) fn contract_address(maker: Address, nonce: u64) -> Address {
    let of = [Item(maker.bytes().to_vec()), Item::number(U256::from(nonce))];
    last_twenty(keccak256(rlp::list(&of)))
}

fn last_twenty(hash: B256) -> Address {
    let mut bytes = [0; 20];
    bytes.copy_from_slice(&hash[12..]);
    Address::from_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example that the standard (EIP-155) gives.
    #[test]
    fn a_transaction_is_signed_as_the_standard_shows() {
        let key = SecretString::from("46".repeat(32));
        let wallet = Wallet::of_secret(&key).unwrap();
        let transaction = Unsigned {
            chain: 1,
            nonce: 9,
            gas_price: U256::from(20_000_000_000_u64),
            gas: 21_000,
            to: Some("0x3535353535353535353535353535353535353535".parse().unwrap()),
            value: U256::from(10_u64.pow(18)),
            data: &[],
        };
        let expected = "f86c098504a817c800825208943535353535353535353535353535353535353535880de0b6b3a76400008025a0\
            28ef61340bd939bc2195fe537567866003e1a15d3c71ff63e1590620aa636276a067cbe9d8997f761aecb703304b3800ccf555\
            c9f3dc64214b297fb1966a3b6d83";
        assert_eq!(const_hex::encode(wallet.sign(&transaction).unwrap()), expected);
    }

    #[test]
    fn contracts_land_where_chains_put_them() {
        let maker = "0x6ac7ea33f8831ea9dcc53393aaa88b25a785dbf0".parse().unwrap();
        assert_eq!(contract_address(maker, 0).to_string(), "0xcd234a471b72ba2f1ccf0a70fcaba648a5eecd8d");
        assert_eq!(contract_address(maker, 1).to_string(), "0x343c43a37d37dff08ae8c4a11544c718abb4fcf8");
    }

    #[test]
    fn what_is_wrong_with_a_key_is_said_without_it() {
        for wrong in ["", "12", &"0".repeat(64), &"zz".repeat(32), &"46".repeat(33)] {
            let error = Wallet::of_secret(&SecretString::from(wrong)).unwrap_err().to_string();
            assert!(wrong.is_empty() || !error.contains(wrong) || wrong == "12", "{error}");
        }
        let wallet = Wallet::of_secret(&SecretString::from(format!("0x{}\n", "46".repeat(32)))).unwrap();
        assert!(!format!("{wallet:?}").contains("4646"));
        let (one, other) = (wallet.relative(1, &[]).unwrap(), wallet.relative(2, &[]).unwrap());
        assert_ne!(one.address, other.address);
    }
}
