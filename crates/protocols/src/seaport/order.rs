//! Orders as they are signed, and what they come to.

use alloy_primitives::{U256, hex};
use bourse_wire::{Address, JsonObject, OrderFacts, OrderSide, TokenId, from_value};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Seaport;
use super::abi;
use crate::logs::address;
use crate::native::{
    Data, Deal, Number, OrderFault, Share, ShareKind, SignatureFault, SubmittedOrder, Word, check_count,
    read_signature, total,
};

/// Things of one kind that an order asks for: a price, and shares of it.
const CONSIDERATION_MAX: usize = 17;

/// An order with its signature, as it is put and as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SeaportOrder {
    pub(super) offerer: Address,
    pub(super) zone: Address,
    pub(super) offer: Vec<Offered>,
    pub(super) consideration: Vec<ConsiderationItem>,
    pub(super) order_type: u8,
    pub(super) start_time: Number,
    pub(super) end_time: Number,
    pub(super) zone_hash: Word,
    pub(super) salt: Number,
    pub(super) conduit_key: Word,
    pub(super) counter: Number,
    /// What the zone wants to see, beyond the signature.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub(super) extra_data: Data,
    #[serde(default)]
    pub(super) signature: Data,
    /// Whether the contract knows it from its maker, and wants no signature.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_published: bool,
    /// The contract that it is signed for.
    #[serde(default)]
    pub(super) protocol_address: Address,
}

/// Something that an order gives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Offered {
    pub(super) item_type: u8,
    pub(super) token: Address,
    pub(super) identifier_or_criteria: Number,
    pub(super) start_amount: Number,
    pub(super) end_amount: Number,
}

/// Something that an order asks for, and who gets it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ConsiderationItem {
    pub(super) item_type: u8,
    pub(super) token: Address,
    pub(super) identifier_or_criteria: Number,
    pub(super) start_amount: Number,
    pub(super) end_amount: Number,
    pub(super) recipient: Address,
}

/// What something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// The chain's own currency.
    Native,
    /// A currency with a contract.
    Erc20,
    /// The only one of a token.
    Erc721,
    /// Units of a token.
    Erc1155,
    /// Any token, or one of a set, of which there is one each.
    AnyErc721,
    /// The same of which there are many each.
    AnyErc1155,
}

impl Item {
    pub(super) fn of(number: u8) -> Option<Self> {
        [Self::Native, Self::Erc20, Self::Erc721, Self::Erc1155, Self::AnyErc721, Self::AnyErc1155]
            .get(usize::from(number))
            .copied()
    }

    pub(super) fn is_money(self) -> bool {
        matches!(self, Self::Native | Self::Erc20)
    }

    pub(super) fn is_multiple(self) -> bool {
        matches!(self, Self::Erc1155 | Self::AnyErc1155)
    }

    pub(super) fn is_any(self) -> bool {
        matches!(self, Self::AnyErc721 | Self::AnyErc1155)
    }
}

/// How an order may be filled.
pub(super) const PARTIAL: u8 = 1;
pub(super) const RESTRICTED: u8 = 2;
const KINDS: &str = "0 (whole, open), 1 (in parts, open), 2 (whole, restricted), 3 (in parts, restricted)";
const ITEMS: &str = "0 (native), 1 (ERC20), 2 (ERC721), 3 (ERC1155), 4 or 5 (any of those)";

fn is_empty(data: &Data) -> bool {
    data.0.is_empty()
}

impl SeaportOrder {
    /// Reads an order, either with its members or, as marketplaces publish it, with these under `parameters`. Its
    /// signature may be missing where the marketplace can be asked for it.
    pub(super) fn read(
        order: SubmittedOrder<'_>,
        contract: Address,
        may_be_held: bool,
    ) -> Result<Self, OrderFault> {
        let members = order.native.get("parameters").and_then(Value::as_object).unwrap_or(order.native);
        let mut signed: Self = from_value(Value::Object(members.clone()))?;
        let named = |object: &JsonObject| object.get("signature").and_then(Value::as_str).map(str::to_owned);
        let given = order.signature.map(str::to_owned).or_else(|| named(order.native));
        signed.signature = match read_signature(given.as_deref()) {
            Ok(bytes) => Data(bytes),
            Err(SignatureFault::Missing) if may_be_held => Data::default(),
            Err(fault) => return Err(fault.into()),
        };
        signed.protocol_address = contract;
        // Only the contract can tell.
        signed.is_published = false;
        // Nobody signed it: whoever sends the order first could say what no zone takes.
        signed.extra_data = Data::default();
        check_count("offer", signed.offer.len(), CONSIDERATION_MAX)?;
        check_count("consideration", signed.consideration.len(), CONSIDERATION_MAX)?;
        if signed.order_type > (PARTIAL | RESTRICTED) {
            let value = signed.order_type.into();
            return Err(OrderFault::Kind { member: "orderType", value, known: KINDS });
        }
        Ok(signed)
    }

    /// An order that a contract knows from its maker. The contract does not tell the counter that the order is for, which
    /// is zero for whoever never moved it.
    pub(super) fn published(parameters: &abi::OrderParameters, contract: Address, counter: U256) -> Self {
        Self {
            offerer: address(parameters.offerer),
            zone: address(parameters.zone),
            offer: parameters.offer.iter().map(Offered::of).collect(),
            consideration: parameters.consideration.iter().map(ConsiderationItem::of).collect(),
            order_type: parameters.orderType,
            start_time: Number(parameters.startTime),
            end_time: Number(parameters.endTime),
            zone_hash: Word(parameters.zoneHash),
            salt: Number(parameters.salt),
            conduit_key: Word(parameters.conduitKey),
            counter: Number(counter),
            extra_data: Data::default(),
            signature: Data::default(),
            is_published: true,
            protocol_address: contract,
        }
    }

    pub(super) fn to_text(&self) -> String {
        // Members are numbers, texts and lists of such.
        serde_json::to_string(self).unwrap_or_default()
    }

    pub(super) fn is_partial(&self) -> bool {
        self.order_type & PARTIAL != 0
    }

    pub(super) fn is_restricted(&self) -> bool {
        self.order_type & RESTRICTED != 0
    }

    /// Whether the marketplace keeps the signature.
    pub(super) fn is_held(&self) -> bool {
        self.signature.0.is_empty() && !self.is_published
    }

    pub(super) fn components(&self) -> abi::OrderComponents {
        abi::OrderComponents {
            offerer: self.offerer.bytes().into(),
            zone: self.zone.bytes().into(),
            offer: self.offer.iter().map(Offered::abi).collect(),
            consideration: self.consideration.iter().map(ConsiderationItem::abi).collect(),
            orderType: self.order_type,
            startTime: self.start_time.0,
            endTime: self.end_time.0,
            zoneHash: self.zone_hash.0,
            salt: self.salt.0,
            conduitKey: self.conduit_key.0,
            counter: self.counter.0,
        }
    }
}

impl Offered {
    fn of(item: &abi::OfferItem) -> Self {
        Self {
            item_type: item.itemType,
            token: address(item.token),
            identifier_or_criteria: Number(item.identifierOrCriteria),
            start_amount: Number(item.startAmount),
            end_amount: Number(item.endAmount),
        }
    }

    fn abi(&self) -> abi::OfferItem {
        abi::OfferItem {
            itemType: self.item_type,
            token: self.token.bytes().into(),
            identifierOrCriteria: self.identifier_or_criteria.0,
            startAmount: self.start_amount.0,
            endAmount: self.end_amount.0,
        }
    }
}

impl ConsiderationItem {
    fn of(item: &abi::ConsiderationItem) -> Self {
        Self {
            item_type: item.itemType,
            token: address(item.token),
            identifier_or_criteria: Number(item.identifierOrCriteria),
            start_amount: Number(item.startAmount),
            end_amount: Number(item.endAmount),
            recipient: address(item.recipient),
        }
    }

    fn abi(&self) -> abi::ConsiderationItem {
        abi::ConsiderationItem {
            itemType: self.item_type,
            token: self.token.bytes().into(),
            identifierOrCriteria: self.identifier_or_criteria.0,
            startAmount: self.start_amount.0,
            endAmount: self.end_amount.0,
            recipient: self.recipient.bytes().into(),
        }
    }
}

impl Seaport {
    /// The collection, and what the order is.
    pub(super) fn derive(&self, signed: &SeaportOrder) -> Result<(Address, OrderFacts), OrderFault> {
        let operator =
            self.mover(signed.conduit_key.0).ok_or(OrderFault::Conduit { key: signed.conduit_key.0 })?;
        if signed.is_restricted() && !self.signed_zones.contains(&signed.zone) {
            return Err(OrderFault::Zone { zone: signed.zone });
        }
        let [offered] = signed.offer.as_slice() else {
            return Err(OrderFault::Bundle { member: "offer", count: signed.offer.len() });
        };
        let given = kind("offer.itemType", offered.item_type)?;
        steady("offer.startAmount", offered.start_amount, offered.end_amount)?;
        for asked in &signed.consideration {
            kind("consideration.itemType", asked.item_type)?;
            steady("consideration.startAmount", asked.start_amount, asked.end_amount)?;
        }
        let sale = if given.is_money() {
            self.offer(signed, offered)?
        } else {
            self.listing(signed, offered, given)?
        };
        let deal = Deal {
            marketplace: self.marketplace,
            order_id: format!("0x{}", hex::encode(signed.hash())),
            side: sale.side,
            maker: signed.offerer,
            token_id: sale.token_id,
            quantity: sale.quantity,
            is_whole: !signed.is_partial(),
            price: sale.price,
            currency: sale.currency,
            shares: sale.shares,
            time: (signed.start_time.0, signed.end_time.0),
            operator,
            price_member: sale.price_member,
        };
        Ok((sale.collection, deal.facts()?))
    }

    fn listing(&self, signed: &SeaportOrder, offered: &Offered, given: Item) -> Result<Sale, OrderFault> {
        if given.is_any() {
            return Err(OrderFault::TokenSet { member: "offer.itemType" });
        }
        let currency = currency_of(signed.consideration.iter())?;
        let amounts = signed.consideration.iter().map(|asked| asked.start_amount.0);
        let others = signed.consideration.iter().filter(|asked| asked.recipient != signed.offerer);
        Ok(Sale {
            side: OrderSide::Listing,
            collection: offered.token,
            token_id: Some(TokenId::from(offered.identifier_or_criteria.0)),
            quantity: units("offer.startAmount", given, offered.start_amount)?,
            price: total("consideration", amounts)?,
            currency,
            shares: others.map(|asked| self.share(asked)).collect(),
            price_member: "consideration",
        })
    }

    fn offer(&self, signed: &SeaportOrder, offered: &Offered) -> Result<Sale, OrderFault> {
        if Item::of(offered.item_type) == Some(Item::Native) {
            return Err(OrderFault::NativeOffer { member: "offer.itemType" });
        }
        let is_token =
            |asked: &&ConsiderationItem| Item::of(asked.item_type).is_some_and(|item| !item.is_money());
        let tokens: Vec<&ConsiderationItem> = signed.consideration.iter().filter(is_token).collect();
        let [token] = tokens.as_slice() else {
            return Err(OrderFault::Bundle { member: "consideration", count: tokens.len() });
        };
        if token.recipient != signed.offerer {
            let (maker, recipient) = (signed.offerer, token.recipient);
            return Err(OrderFault::Recipient { member: "consideration.recipient", maker, recipient });
        }
        let wanted = kind("consideration.itemType", token.item_type)?;
        let criteria = token.identifier_or_criteria.0;
        if wanted.is_any() && !criteria.is_zero() {
            return Err(OrderFault::TokenSet { member: "consideration.identifierOrCriteria" });
        }
        let money = || signed.consideration.iter().filter(|asked| !is_token(asked));
        if money().next().is_some() {
            let other = currency_of(money())?;
            if other != offered.token {
                let first = offered.token;
                return Err(OrderFault::Currencies { member: "consideration", first, other });
            }
        }
        Ok(Sale {
            side: OrderSide::Offer,
            collection: token.token,
            token_id: (!wanted.is_any()).then(|| TokenId::from(criteria)),
            quantity: units("consideration.startAmount", wanted, token.start_amount)?,
            price: offered.start_amount.0,
            currency: offered.token,
            shares: money().map(|asked| self.share(asked)).collect(),
            price_member: "offer",
        })
    }

    fn share(&self, asked: &ConsiderationItem) -> Share {
        let is_own = self.fee_recipient == Some(asked.recipient);
        let kind = if is_own { ShareKind::Marketplace } else { ShareKind::Royalty };
        Share { kind, recipient: asked.recipient, amount: asked.start_amount.0 }
    }
}

/// What an order sells or buys.
struct Sale {
    side: OrderSide,
    collection: Address,
    token_id: Option<TokenId>,
    quantity: U256,
    price: U256,
    currency: Address,
    shares: Vec<Share>,
    price_member: &'static str,
}

fn kind(member: &'static str, number: u8) -> Result<Item, OrderFault> {
    Item::of(number).ok_or(OrderFault::Kind { member, value: number.into(), known: ITEMS })
}

/// Refuses amounts that change with time.
fn steady(member: &'static str, start: Number, end: Number) -> Result<(), OrderFault> {
    if start == end { Ok(()) } else { Err(OrderFault::ChangingAmount { member, start: start.0, end: end.0 }) }
}

/// The one currency of some things, all of which must be money.
fn currency_of<'a>(mut asked: impl Iterator<Item = &'a ConsiderationItem>) -> Result<Address, OrderFault> {
    let member = "consideration";
    let money = |asked: &ConsiderationItem| match Item::of(asked.item_type) {
        Some(Item::Native) => Ok(Address::ZERO),
        Some(Item::Erc20) => Ok(asked.token),
        // A token that the maker asks for is for the one who shall have it.
        _ => Err(OrderFault::Private { member, taker: asked.recipient }),
    };
    let first = money(asked.next().ok_or(OrderFault::ZeroPrice { member })?)?;
    for asked in asked {
        let other = money(asked)?;
        if other != first {
            return Err(OrderFault::Currencies { member, first, other });
        }
    }
    Ok(first)
}

/// How many units something is.
fn units(member: &'static str, item: Item, amount: Number) -> Result<U256, OrderFault> {
    let value = amount.0;
    match () {
        () if value.is_zero() => Err(OrderFault::Quantity { member, value, expected: "at least 1" }),
        () if !item.is_multiple() && value != U256::from(1) => {
            Err(OrderFault::Quantity { member, value, expected: "1 of an ERC721 token" })
        }
        () => Ok(value),
    }
}
