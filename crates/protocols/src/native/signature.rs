//! Signatures of makers, and who made them.

use alloy_primitives::{B256, Bytes, U256, b256, eip191_hash_message};
use alloy_sol_types::{SolCall, sol};
use bourse_wire::Address;

use super::values::Data;

sol! {
    function isValidSignature(bytes32 hash, bytes signature) returns (bytes4 magic);
}

/// The largest second half of a signature: contracts refuse the other signature that the same signer could make.
const HALF_ORDER: B256 = b256!("7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0");

/// Length of a signature.
pub(crate) const FULL: usize = 65;
/// Length of a signature whose last byte is in the highest bit of its second half (EIP-2098).
pub(crate) const COMPACT: usize = 64;

/// A signature with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Signature {
    pub(crate) r: B256,
    pub(crate) s: B256,
    /// 27 or 28.
    pub(crate) v: u8,
}

/// Why a signature cannot be one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignatureFault {
    /// There is none.
    #[error("is required")]
    Missing,
    /// It cannot be read.
    #[error("must be 0x and pairs of hexadecimal digits")]
    Format,
    /// It has a length that the marketplace's contract does not take.
    #[error("{length} bytes, where signatures have 64 or 65 bytes")]
    Length {
        /// How long it is.
        length: usize,
    },
    /// Its last byte is neither of the two.
    #[error("ends with {v}, where it must be 27 or 28")]
    Parity {
        /// The byte.
        v: u8,
    },
    /// It is the second of the two signatures that a key can make.
    #[error("its second half is too large, which contracts refuse")]
    Malleable,
    /// Somebody else made it, and contracts cannot.
    #[error("was made by {found}, not by the maker {maker}")]
    Signer {
        /// Who made it.
        found: Address,
        /// Who should have.
        maker: Address,
    },
}

/// Whether a maker signed an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// The maker's key did.
    Signed,
    /// Not with the maker's key; the maker may be a contract that says so when asked.
    Ask(Question),
    /// The marketplace has the signature and shows it to nobody.
    Held,
}

/// A question for a contract that has a yes for an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The contract.
    pub to: Address,
    /// The question.
    pub data: Bytes,
    yes: Yes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Yes {
    /// The question itself comes back, as EIP-1271 has it.
    Magic,
    /// Anything but a failure.
    NoFailure,
}

impl Question {
    /// Asks a maker that is a contract, after EIP-1271.
    pub(crate) fn to_maker(maker: Address, digest: B256, signature: Bytes) -> Self {
        let data = isValidSignatureCall { hash: digest, signature }.abi_encode().into();
        Self { to: maker, data, yes: Yes::Magic }
    }

    /// A call that fails when the answer is no.
    pub(crate) fn unless_it_fails(to: Address, data: Vec<u8>) -> Self {
        Self { to, data: data.into(), yes: Yes::NoFailure }
    }

    /// Whether an answer is a yes; `None` when the call failed.
    pub fn is_yes(&self, answer: Option<&[u8]>) -> bool {
        match self.yes {
            Yes::Magic => answer.is_some_and(|answer| {
                let magic = isValidSignatureCall::SELECTOR;
                answer.len() == 32 && answer[..4] == magic && answer[4..].iter().all(|byte| *byte == 0)
            }),
            Yes::NoFailure => answer.is_some(),
        }
    }
}

/// The bytes of a signature as it is given.
pub(crate) fn read(given: Option<&str>) -> Result<Bytes, SignatureFault> {
    let text = given.filter(|text| !text.is_empty()).ok_or(SignatureFault::Missing)?;
    let data: Data = text.parse().map_err(|_| SignatureFault::Format)?;
    if data.0.is_empty() { Err(SignatureFault::Missing) } else { Ok(data.0) }
}

/// Whether a maker signed something, if not with a key then perhaps as a contract.
pub(crate) fn prove(maker: Address, digest: B256, given: &Bytes) -> Proof {
    let signer = Signature::parse(given).ok().and_then(|signature| signature.signer(digest));
    if signer == Some(maker) {
        return Proof::Signed;
    }
    Proof::Ask(Question::to_maker(maker, digest, given.clone()))
}

/// Whether somebody signed a text as wallets sign what people read (EIP-191), if not with a key then perhaps as a contract.
pub fn prove_text(signer: Address, text: &str, signature: &str) -> Result<Proof, SignatureFault> {
    let mut given = read(Some(signature))?.to_vec();
    // Some wallets count the last byte from 0.
    if given.len() == FULL && given[FULL - 1] < 2 {
        given[FULL - 1] += 27;
    }
    Ok(prove(signer, eip191_hash_message(text), &given.into()))
}

impl Signature {
    /// A signature of a key.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, SignatureFault> {
        let word = |start: usize| B256::from_slice(&bytes[start..start + 32]);
        let signature = match bytes.len() {
            FULL => Self { r: word(0), s: word(32), v: bytes[64] },
            COMPACT => {
                let mut s = word(32);
                let v = 27 + (s[0] >> 7);
                s[0] &= 0x7f;
                Self { r: word(0), s, v }
            }
            length => return Err(SignatureFault::Length { length }),
        };
        match signature.v {
            27 | 28 if signature.s > HALF_ORDER => Err(SignatureFault::Malleable),
            27 | 28 => Ok(signature),
            v => Err(SignatureFault::Parity { v }),
        }
    }

    /// Whose key made it; `None` when it is of nobody.
    pub(crate) fn signer(&self, digest: B256) -> Option<Address> {
        let (r, s) = (U256::from_be_bytes(self.r.0), U256::from_be_bytes(self.s.0));
        let signature = alloy_primitives::Signature::new(r, s, self.v == 28);
        let signer = signature.recover_address_from_prehash(&digest).ok()?;
        Some(Address::from_bytes(signer.into_array()))
    }

    /// The signature in 65 bytes.
    pub(crate) fn to_bytes(self) -> [u8; FULL] {
        let mut bytes = [0; FULL];
        bytes[..32].copy_from_slice(&self.r[..]);
        bytes[32..64].copy_from_slice(&self.s[..]);
        bytes[64] = self.v;
        bytes
    }
}
