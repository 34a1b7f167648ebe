//! What contracts say of themselves: their standard, their names, and who gets a share of a sale.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use alloy_primitives::{Address as RawAddress, Bytes, U256, hex, keccak256};
use alloy_sol_types::{SolCall, sol};
use bourse_store::CollectionKey;
use bourse_wire::{Address, ContractInfo, ContractInfoExtensions, ContractType, FeeEntry, Timestamp};

use crate::calls::Caller;
use crate::node::{Call, Failure, Node, Reverted};
use crate::pace::later;

sol! {
    function supportsInterface(bytes4 interfaceId) returns (bool);
    function name() returns (string);
    function symbol() returns (string);
    function decimals() returns (uint8);
    function owner() returns (address);
    function contractURI() returns (string);
    function royaltyInfo(uint256 tokenId, uint256 salePrice) returns (address receiver, uint256 royaltyAmount);
    function getRoyaltyInfo(address tokenContract, uint256 tokenId, uint256 cost)
        returns (address recipient, uint256 royalty);
}

/// The names of interfaces in ERC-165.
const ERC721: [u8; 4] = [0x80, 0xac, 0x58, 0xcd];
const ERC1155: [u8; 4] = [0xd9, 0xb6, 0x7a, 0x26];
const NO_INTERFACE: [u8; 4] = [0xff; 4];

/// The price that royalties are asked for: the answer is in basis points then.
const BPS_WHOLE: u64 = 10_000;
/// Names longer than this are cut: they are bytes that somebody else chose.
const NAME_CHARS_MAX: usize = 2048;
/// The longest link to metadata that is kept; it may hold the metadata itself.
const LINK_CHARS_MAX: usize = 262_144;
/// How long a royalty counts before it is asked for again.
const ROYALTY_LASTS: Duration = Duration::from_hours(1);

/// What a contract says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described {
    /// Whether there is code at all, and its hash.
    pub code_hash: Option<String>,
    /// Its standard.
    pub standard: ContractType,
    /// Its name; empty when it has none.
    pub name: String,
    /// Its symbol; empty when it has none.
    pub symbol: String,
    /// Decimals of its amounts.
    pub decimals: Option<u8>,
    /// Who owns it.
    pub owner: Option<Address>,
    /// Where more is said of it.
    pub contract_uri: Option<String>,
}

impl Described {
    /// The record of the contract, as it is served.
    pub fn info(&self, key: CollectionKey, now: Timestamp) -> ContractInfo {
        ContractInfo {
            chain_id: key.chain,
            address: key.address,
            name: self.name.clone(),
            r#type: self.standard,
            symbol: self.symbol.clone(),
            decimals: self.decimals.map(u64::from),
            logo_uri: String::new(),
            deployed: self.code_hash.is_some(),
            bytecode_hash: self.code_hash.clone().unwrap_or_default(),
            extensions: ContractInfoExtensions {
                link: String::new(),
                description: String::new(),
                og_image: String::new(),
                og_name: String::new(),
                origin_chain_id: 0,
                origin_address: key.address,
                verified: false,
                verified_by: String::new(),
            },
            updated_at: now,
            status: None,
            queued_at: None,
        }
    }
}

/// What contracts say of themselves, in the order asked.
pub async fn describe<N: Node>(
    node: &N,
    caller: &Caller,
    contracts: &[Address],
) -> Result<Vec<Described>, Failure> {
    let codes = node.code(contracts).await?;
    let questions = [
        supportsInterfaceCall { interfaceId: ERC721.into() }.abi_encode(),
        supportsInterfaceCall { interfaceId: ERC1155.into() }.abi_encode(),
        supportsInterfaceCall { interfaceId: NO_INTERFACE.into() }.abi_encode(),
        nameCall {}.abi_encode(),
        symbolCall {}.abi_encode(),
        decimalsCall {}.abi_encode(),
        ownerCall {}.abi_encode(),
        contractURICall {}.abi_encode(),
    ];
    let calls: Vec<Call> = contracts
        .iter()
        .flat_map(|to| questions.iter().map(|data| Call { to: *to, data: data.clone().into() }))
        .collect();
    let answers = caller.call(node, &calls, None).await?;
    let of_each = answers.chunks(questions.len()).zip(&codes);
    Ok(of_each.map(|(answers, code)| described(answers, code)).collect())
}

fn described(answers: &[Result<Bytes, Reverted>], code: &Bytes) -> Described {
    let answer = |place: usize| Some(answers.get(place)?.as_ref().ok()?.as_ref());
    let says = |place| answer(place).and_then(|bytes| supportsInterfaceCall::abi_decode_returns(bytes).ok());
    // A contract that supports what no contract may support says yes to everything.
    let is_honest = says(2) != Some(true);
    let decimals = answer(5).and_then(|bytes| decimalsCall::abi_decode_returns(bytes).ok());
    let standard = match () {
        () if is_honest && says(0) == Some(true) => ContractType::Erc721,
        () if is_honest && says(1) == Some(true) => ContractType::Erc1155,
        () if decimals.is_some() => ContractType::Erc20,
        () => ContractType::Unknown,
    };
    let is_somebody = |owner: &RawAddress| *owner != RawAddress::ZERO;
    Described {
        code_hash: (!code.is_empty()).then(|| hex::encode_prefixed(keccak256(code))),
        standard,
        name: text(answer(3), NAME_CHARS_MAX).unwrap_or_default(),
        symbol: text(answer(4), 256).unwrap_or_default(),
        // Amounts of tokens that are one of a kind have none.
        decimals: decimals.filter(|_| standard == ContractType::Erc20),
        owner: answer(6)
            .and_then(|bytes| ownerCall::abi_decode_returns(bytes).ok())
            .filter(is_somebody)
            .map(|owner| Address::from_bytes(owner.into_array())),
        contract_uri: text(answer(7), LINK_CHARS_MAX).filter(|link| !link.is_empty()),
    }
}

/// A text; old contracts answer 32 bytes that end with zeros.
fn text(answer: Option<&[u8]>, chars_max: usize) -> Option<String> {
    let answer = answer?;
    let whole = match nameCall::abi_decode_returns(answer) {
        Ok(text) => text,
        Err(_) if answer.len() == 32 => {
            String::from_utf8(answer.iter().copied().take_while(|byte| *byte != 0).collect()).ok()?
        }
        Err(_) => return None,
    };
    // What a database cannot store or a page cannot show is left out.
    Some(whole.chars().filter(|c| !c.is_control()).take(chars_max).collect())
}

/// Who gets a share when tokens of a collection are sold.
pub struct Royalties {
    caller: Caller,
    /// The marketplace that knows royalties of contracts that do not tell theirs.
    market: Option<Address>,
    known: Mutex<HashMap<Address, (Timestamp, Option<FeeEntry>)>>,
}

impl Royalties {
    /// Royalties as a marketplace of our own pays them, or as contracts tell them.
    pub fn new(caller: Caller, market: Option<Address>) -> Self {
        Self { caller, market, known: Mutex::default() }
    }

    /// The royalty of each of these collections; none for those that ask for none.
    pub async fn of<N: Node>(
        &self,
        node: &N,
        collections: &BTreeSet<Address>,
        now: Timestamp,
    ) -> Result<BTreeMap<Address, Option<FeeEntry>>, Failure> {
        let (mut found, mut missing) = (BTreeMap::new(), Vec::new());
        {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            for collection in collections {
                match known.get(collection) {
                    Some((until, royalty)) if *until > now => {
                        found.insert(*collection, royalty.clone());
                    }
                    _ => missing.push(*collection),
                }
            }
        }
        if missing.is_empty() {
            return Ok(found);
        }
        let calls: Vec<Call> = missing.iter().flat_map(|of| self.questions(*of)).collect();
        let answers = self.caller.call(node, &calls, None).await?;
        let each = calls.len() / missing.len();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        for (collection, answers) in missing.into_iter().zip(answers.chunks(each)) {
            let royalty = answers.iter().find_map(|answer| share(answer.as_deref().ok()?));
            known.insert(collection, (later(now, ROYALTY_LASTS), royalty.clone()));
            found.insert(collection, royalty);
        }
        Ok(found)
    }

    /// Asked for the first two token ids, as contracts may refuse one that does not exist.
    fn questions(&self, collection: Address) -> Vec<Call> {
        let price = U256::from(BPS_WHOLE);
        let mut calls = Vec::with_capacity(4);
        for token in [U256::ZERO, U256::from(1)] {
            if let Some(market) = self.market {
                let contract = RawAddress::from(*collection.bytes());
                let asked = getRoyaltyInfoCall { tokenContract: contract, tokenId: token, cost: price };
                calls.push(Call { to: market, data: asked.abi_encode().into() });
            }
            let asked = royaltyInfoCall { tokenId: token, salePrice: price };
            calls.push(Call { to: collection, data: asked.abi_encode().into() });
        }
        calls
    }
}

fn share(answer: &[u8]) -> Option<FeeEntry> {
    let royalty = royaltyInfoCall::abi_decode_returns(answer).ok()?;
    let bps = u64::try_from(royalty.royaltyAmount).ok().filter(|bps| (1..=BPS_WHOLE).contains(bps))?;
    let recipient_address = Address::from_bytes(royalty.receiver.into_array());
    let is_somebody = recipient_address != Address::ZERO;
    let bps = i64::try_from(bps).ok()?;
    is_somebody.then(|| FeeEntry { kind: "royalty".to_owned(), recipient_address, bps })
}
