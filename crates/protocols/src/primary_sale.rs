//! Primary sales: contracts that mint tokens of a collection for whoever pays. What they sell is asked of them.

use alloy_primitives::{B256, Bytes, U256};
use alloy_sol_types::{SolCall, sol};
use bourse_wire::{Address, Amount, Timestamp, TokenId};

use super::native::{Answers, Inquiry};

/// Items that are asked for at once: an answer of some tens of kilobytes.
const ITEMS_AT_ONCE: u64 = 200;
/// Items of a contract that are asked for at most.
pub const ITEMS_MAX: u64 = 10_000;

sol! {
    struct GlobalSaleDetails {
        uint256 minTokenId;
        uint256 maxTokenId;
        uint256 cost;
        uint256 remainingSupply;
        uint64 startTime;
        uint64 endTime;
        bytes32 merkleRoot;
    }

    struct SaleDetails {
        uint256 cost;
        uint256 remainingSupply;
        uint64 startTime;
        uint64 endTime;
        bytes32 merkleRoot;
    }

    struct Item {
        uint256 tokenId;
        SaleDetails details;
        uint256 sold;
        uint64 createdAt;
        uint64 updatedAt;
    }

    function globalSaleDetails() external view returns (GlobalSaleDetails);
    function paymentToken() external view returns (address);
    function itemsContract() external view returns (address);
    function isERC1155() external view returns (bool);
    function itemCount() external view returns (uint256);
    function items(uint256 from, uint256 count) external view returns (Item[]);
}

/// On which terms something is sold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SaleTerms {
    /// What one costs, in base units of the sale's currency.
    pub cost: Amount,
    /// How many are left.
    pub remaining: Amount,
    /// From when on.
    pub starts: Timestamp,
    /// Until when; what ends then cannot be bought at that very second.
    pub ends: Timestamp,
}

impl SaleTerms {
    /// Whether so many can be bought at a time.
    pub fn allow(&self, quantity: Amount, now: Timestamp) -> bool {
        self.starts <= now && now < self.ends && quantity <= self.remaining
    }
}

/// On which terms all tokens of a range are sold that have no terms of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SaleRange {
    /// The lowest token.
    pub min: TokenId,
    /// The highest token.
    pub max: TokenId,
    /// The terms.
    pub terms: SaleTerms,
}

/// A token that has terms of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SaleItem {
    /// The token.
    pub token_id: TokenId,
    /// The terms; `None` once they were taken away, so that those of the range hold.
    pub terms: Option<SaleTerms>,
    /// How many were sold.
    pub sold: Amount,
    /// When it first had terms.
    pub created_at: Timestamp,
    /// When its terms last changed.
    pub updated_at: Timestamp,
}

/// What a contract says of its sale, but for its items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SaleHead {
    /// The collection whose tokens are minted.
    pub collection: Address,
    /// Whether that is an ERC-1155 collection.
    pub is_erc1155: bool,
    /// The currency; the zero address is the chain's own.
    pub currency: Address,
    /// What is sold on common terms.
    pub range: Option<SaleRange>,
    /// How many tokens have, or had, terms of their own.
    pub items: u64,
}

impl SaleHead {
    /// Asks a contract for it; [`SaleHead::read`] reads what is answered.
    pub fn inquiries(contract: Address) -> Vec<Inquiry> {
        vec![
            Inquiry::new(contract, &globalSaleDetailsCall {}),
            Inquiry::new(contract, &paymentTokenCall {}),
            Inquiry::new(contract, &itemsContractCall {}),
            Inquiry::new(contract, &isERC1155Call {}),
            Inquiry::new(contract, &itemCountCall {}),
        ]
    }

    /// What was answered; `None` when that is no such contract.
    pub fn read(answers: Answers<'_>) -> Option<Self> {
        let [range, currency, collection, is_erc1155, items] = answers else { return None };
        Some(Self {
            range: range_of(&decoded::<globalSaleDetailsCall>(range.as_ref())?),
            currency: Address::from_bytes(decoded::<paymentTokenCall>(currency.as_ref())?.into()),
            collection: Address::from_bytes(decoded::<itemsContractCall>(collection.as_ref())?.into()),
            is_erc1155: decoded::<isERC1155Call>(is_erc1155.as_ref())?,
            items: decoded::<itemCountCall>(items.as_ref())?.saturating_to(),
        })
    }

    /// What a contract that sells this answers to an inquiry; `None` to another one. So something is sold where there is no chain, as
    /// in a demonstration.
    pub fn answer(&self, items: &[SaleItem], asked: &Inquiry) -> Option<Bytes> {
        let raw = |address: Address| alloy_primitives::Address::from(*address.bytes());
        let answer = match *asked.data.first_chunk::<4>()? {
            globalSaleDetailsCall::SELECTOR => {
                globalSaleDetailsCall::abi_encode_returns(&told_range(self.range.as_ref()))
            }
            paymentTokenCall::SELECTOR => paymentTokenCall::abi_encode_returns(&raw(self.currency)),
            itemsContractCall::SELECTOR => itemsContractCall::abi_encode_returns(&raw(self.collection)),
            isERC1155Call::SELECTOR => isERC1155Call::abi_encode_returns(&self.is_erc1155),
            itemCountCall::SELECTOR => itemCountCall::abi_encode_returns(&U256::from(items.len())),
            itemsCall::SELECTOR => {
                let itemsCall { from, count } = itemsCall::abi_decode(&asked.data).ok()?;
                let (from, count): (usize, usize) = (from.saturating_to(), count.saturating_to());
                let told: Vec<Item> = items.iter().skip(from).take(count).map(told_item).collect();
                itemsCall::abi_encode_returns(&told)
            }
            _ => return None,
        };
        Some(answer.into())
    }

    /// Asks a contract for all its items, or for as many as are asked for at most; [`read_items`] reads what is answered.
    pub fn item_inquiries(&self, contract: Address) -> Vec<Inquiry> {
        let wanted = self.items.min(ITEMS_MAX);
        let step = usize::try_from(ITEMS_AT_ONCE).unwrap_or(1);
        let calls = (0..wanted).step_by(step).map(|from| itemsCall {
            from: U256::from(from),
            count: U256::from(ITEMS_AT_ONCE.min(wanted - from)),
        });
        calls.map(|call| Inquiry::new(contract, &call)).collect()
    }
}

/// The items that were answered, in the order of their tokens; `None` when one of the answers is none.
pub fn read_items(answers: Answers<'_>) -> Option<Vec<SaleItem>> {
    let mut items = Vec::new();
    for answer in answers {
        items.extend(decoded::<itemsCall>(answer.as_ref())?.iter().map(item_of));
    }
    items.sort_unstable_by_key(|item| item.token_id);
    Some(items)
}

/// What says that there is no range is one that ends at no time.
fn told_range(range: Option<&SaleRange>) -> GlobalSaleDetails {
    let details = told_terms(range.map(|range| &range.terms));
    GlobalSaleDetails {
        minTokenId: range.map_or(U256::ZERO, |range| range.min.value()),
        maxTokenId: range.map_or(U256::ZERO, |range| range.max.value()),
        cost: details.cost,
        remainingSupply: details.remainingSupply,
        startTime: details.startTime,
        endTime: details.endTime,
        merkleRoot: details.merkleRoot,
    }
}

fn told_item(item: &SaleItem) -> Item {
    Item {
        tokenId: item.token_id.value(),
        details: told_terms(item.terms.as_ref()),
        sold: item.sold.value(),
        createdAt: seconds(item.created_at),
        updatedAt: seconds(item.updated_at),
    }
}

fn told_terms(terms: Option<&SaleTerms>) -> SaleDetails {
    SaleDetails {
        cost: terms.map_or(U256::ZERO, |terms| terms.cost.value()),
        remainingSupply: terms.map_or(U256::ZERO, |terms| terms.remaining.value()),
        startTime: terms.map_or(0, |terms| seconds(terms.starts)),
        endTime: terms.map_or(0, |terms| seconds(terms.ends)),
        merkleRoot: B256::ZERO,
    }
}

fn seconds(at: Timestamp) -> u64 {
    u64::try_from(at.unix_seconds()).unwrap_or_default()
}

fn decoded<C: SolCall>(answer: Option<&Bytes>) -> Option<C::Return> {
    C::abi_decode_returns(answer?).ok()
}

fn range_of(told: &GlobalSaleDetails) -> Option<SaleRange> {
    let terms = terms_of(told.cost, told.remainingSupply, told.startTime, told.endTime)?;
    Some(SaleRange { min: told.minTokenId.into(), max: told.maxTokenId.into(), terms })
}

fn item_of(told: &Item) -> SaleItem {
    let details = &told.details;
    SaleItem {
        token_id: told.tokenId.into(),
        terms: terms_of(details.cost, details.remainingSupply, details.startTime, details.endTime),
        sold: told.sold.into(),
        created_at: at(told.createdAt),
        updated_at: at(told.updatedAt),
    }
}

/// An end of zero says that there are none.
fn terms_of(cost: U256, remaining: U256, starts: u64, ends: u64) -> Option<SaleTerms> {
    (ends != 0).then(|| SaleTerms {
        cost: cost.into(),
        remaining: remaining.into(),
        starts: at(starts),
        ends: at(ends),
    })
}

fn at(seconds: u64) -> Timestamp {
    Timestamp::from_unix_seconds(seconds)
}

#[cfg(test)]
mod tests;
