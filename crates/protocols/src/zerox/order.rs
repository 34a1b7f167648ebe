//! Orders as they are signed, and what they come to.

use alloy_primitives::{B256, U256, hex, keccak256};
use alloy_sol_types::SolStruct as _;
use bourse_wire::{Address, JsonObject, Marketplace, OrderFacts, OrderSide, TokenId, from_value};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Zerox;
use super::abi;
use crate::logs::address;
use crate::native::{
    Data, Deal, Number, OrderFault, Proof, Question, Share, ShareKind, Signature, SignatureFault,
    SubmittedOrder, check_bits, check_count, read_signature, total,
};

/// How contracts write the chain's own currency.
const NATIVE: Address = Address::from_bytes([0xee; 20]);
/// Shares of a price; real orders have two or three.
const FEES_MAX: usize = 16;
/// Conditions of an offer for any token; one says it all.
const PROPERTIES_MAX: usize = 4;

const EIP712: u8 = 2;
const MESSAGE: u8 = 3;
const ON_CHAIN: u8 = 4;

/// An order with its signature, as it is put and as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ZeroxOrder {
    pub(super) direction: u8,
    pub(super) maker: Address,
    pub(super) taker: Address,
    pub(super) expiry: Number,
    pub(super) nonce: Number,
    pub(super) erc20_token: Address,
    pub(super) erc20_token_amount: Number,
    pub(super) fees: Vec<Fee>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) erc721_token: Option<Address>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) erc721_token_id: Option<Number>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) erc721_token_properties: Option<Vec<Property>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) erc1155_token: Option<Address>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) erc1155_token_id: Option<Number>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) erc1155_token_properties: Option<Vec<Property>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) erc1155_token_amount: Option<Number>,
    #[serde(default = "eip712")]
    pub(super) signature_type: u8,
    #[serde(default)]
    pub(super) signature: Data,
    /// The contract that it is signed for.
    #[serde(default)]
    pub(super) protocol_address: Address,
}

/// A share on top of the price.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Fee {
    pub(super) recipient: Address,
    pub(super) amount: Number,
    #[serde(default)]
    pub(super) fee_data: Data,
}

/// A condition of an offer for any token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Property {
    pub(super) property_validator: Address,
    #[serde(default)]
    pub(super) property_data: Data,
}

impl Fee {
    fn of(fee: &abi::Fee) -> Self {
        Self {
            recipient: address(fee.recipient),
            amount: Number(fee.amount),
            fee_data: Data(fee.feeData.clone()),
        }
    }
}

impl Property {
    fn of(property: &abi::Property) -> Self {
        Self {
            property_validator: address(property.propertyValidator),
            property_data: Data(property.propertyData.clone()),
        }
    }
}

/// An order as the contract takes it, by the kind of token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Order {
    One(abi::ERC721Order),
    Units(abi::ERC1155Order),
}

fn eip712() -> u8 {
    EIP712
}

impl ZeroxOrder {
    pub(super) fn read(order: SubmittedOrder<'_>, contract: Address) -> Result<Self, OrderFault> {
        let mut members = order.native.clone();
        let parts = parts_of(&mut members);
        let mut signed: Self = from_value(Value::Object(members))?;
        if let Some((kind, bytes)) = parts {
            (signed.signature_type, signed.signature) = (kind, bytes?);
        }
        signed.protocol_address = contract;
        match signed.signature_type {
            ON_CHAIN => signed.signature = Data::default(),
            EIP712 | MESSAGE if order.signature.is_some() || signed.signature.0.is_empty() => {
                signed.signature = Data(read_signature(order.signature)?);
            }
            EIP712 | MESSAGE => {}
            other => {
                let known = "2 (EIP-712), 3 (message), 4 (on the chain)";
                return Err(OrderFault::Kind { member: "signatureType", value: other.into(), known });
            }
        }
        if signed.direction > 1 {
            let (value, known) = (signed.direction.into(), "0 (sell), 1 (buy)");
            return Err(OrderFault::Kind { member: "direction", value, known });
        }
        check_count("fees", signed.fees.len(), FEES_MAX)?;
        Ok(signed)
    }

    /// An order for one token that its maker signed on the chain.
    pub(super) fn of_one(event: &abi::ERC721OrderPreSigned, contract: Address) -> Self {
        Self {
            direction: event.direction,
            maker: address(event.maker),
            taker: address(event.taker),
            expiry: Number(event.expiry),
            nonce: Number(event.nonce),
            erc20_token: address(event.erc20Token),
            erc20_token_amount: Number(event.erc20TokenAmount),
            fees: event.fees.iter().map(Fee::of).collect(),
            erc721_token: Some(address(event.erc721Token)),
            erc721_token_id: Some(Number(event.erc721TokenId)),
            erc721_token_properties: Some(event.erc721TokenProperties.iter().map(Property::of).collect()),
            erc1155_token: None,
            erc1155_token_id: None,
            erc1155_token_properties: None,
            erc1155_token_amount: None,
            signature_type: ON_CHAIN,
            signature: Data::default(),
            protocol_address: contract,
        }
    }

    /// The same for units of a token.
    pub(super) fn of_units(event: &abi::ERC1155OrderPreSigned, contract: Address) -> Self {
        Self {
            direction: event.direction,
            maker: address(event.maker),
            taker: address(event.taker),
            expiry: Number(event.expiry),
            nonce: Number(event.nonce),
            erc20_token: address(event.erc20Token),
            erc20_token_amount: Number(event.erc20TokenAmount),
            fees: event.fees.iter().map(Fee::of).collect(),
            erc721_token: None,
            erc721_token_id: None,
            erc721_token_properties: None,
            erc1155_token: Some(address(event.erc1155Token)),
            erc1155_token_id: Some(Number(event.erc1155TokenId)),
            erc1155_token_properties: Some(event.erc1155TokenProperties.iter().map(Property::of).collect()),
            erc1155_token_amount: Some(Number(U256::from(event.erc1155TokenAmount))),
            signature_type: ON_CHAIN,
            signature: Data::default(),
            protocol_address: contract,
        }
    }

    pub(super) fn to_text(&self) -> String {
        // Members are numbers, texts and lists of such.
        serde_json::to_string(self).unwrap_or_default()
    }

    pub(super) fn side(&self) -> OrderSide {
        if self.direction == 0 { OrderSide::Listing } else { OrderSide::Offer }
    }

    pub(super) fn currency(&self) -> Address {
        if self.erc20_token == NATIVE { Address::ZERO } else { self.erc20_token }
    }

    /// The signature as the contract takes it.
    pub(super) fn abi_signature(&self) -> Result<abi::Signature, SignatureFault> {
        if self.signature_type == ON_CHAIN {
            return Ok(abi::Signature { signatureType: ON_CHAIN, v: 0, r: B256::ZERO, s: B256::ZERO });
        }
        let Signature { r, s, v } = Signature::parse(&self.signature.0)?;
        Ok(abi::Signature { signatureType: self.signature_type, v, r, s })
    }

    /// The order as the contract takes it.
    pub(super) fn order(&self) -> Result<Order, OrderFault> {
        let fee = |fee: &Fee| abi::Fee {
            recipient: fee.recipient.bytes().into(),
            amount: fee.amount.0,
            feeData: fee.fee_data.0.clone(),
        };
        let property = |property: &Property| abi::Property {
            propertyValidator: property.property_validator.bytes().into(),
            propertyData: property.property_data.0.clone(),
        };
        let properties = |list: &Option<Vec<Property>>| list.iter().flatten().map(property).collect();
        match (self.erc721_token, self.erc1155_token) {
            (Some(token), None) => Ok(Order::One(abi::ERC721Order {
                direction: self.direction,
                maker: self.maker.bytes().into(),
                taker: self.taker.bytes().into(),
                expiry: self.expiry.0,
                nonce: self.nonce.0,
                erc20Token: self.erc20_token.bytes().into(),
                erc20TokenAmount: self.erc20_token_amount.0,
                fees: self.fees.iter().map(fee).collect(),
                erc721Token: token.bytes().into(),
                erc721TokenId: self.erc721_token_id.unwrap_or_default().0,
                erc721TokenProperties: properties(&self.erc721_token_properties),
            })),
            (None, Some(token)) => {
                let amount = self.erc1155_token_amount.unwrap_or_default().0;
                check_bits("erc1155TokenAmount", amount, 128)?;
                Ok(Order::Units(abi::ERC1155Order {
                    direction: self.direction,
                    maker: self.maker.bytes().into(),
                    taker: self.taker.bytes().into(),
                    expiry: self.expiry.0,
                    nonce: self.nonce.0,
                    erc20Token: self.erc20_token.bytes().into(),
                    erc20TokenAmount: self.erc20_token_amount.0,
                    fees: self.fees.iter().map(fee).collect(),
                    erc1155Token: token.bytes().into(),
                    erc1155TokenId: self.erc1155_token_id.unwrap_or_default().0,
                    erc1155TokenProperties: properties(&self.erc1155_token_properties),
                    erc1155TokenAmount: amount.saturating_to(),
                }))
            }
            (Some(_), Some(_)) => Err(OrderFault::Bundle { member: "erc1155Token", count: 2 }),
            (None, None) => Err(OrderFault::Bundle { member: "erc721Token", count: 0 }),
        }
    }

    /// What the whole order moves: its price and the shares on top.
    pub(super) fn gross(&self) -> Result<U256, OrderFault> {
        let fees = self.fees.iter().map(|fee| fee.amount.0);
        total("fees", fees.chain([self.erc20_token_amount.0]))
    }
}

/// The parts of a signature, as marketplaces publish them, taken out of an order.
fn parts_of(members: &mut JsonObject) -> Option<(u8, Result<Data, SignatureFault>)> {
    let parts = members.get("signature")?.as_object()?.clone();
    members.remove("signature");
    let number =
        |name: &str| parts.get(name).and_then(Value::as_u64).and_then(|number| u8::try_from(number).ok());
    let kind = number("signatureType").unwrap_or_default();
    let text = |name: &str| parts.get(name).and_then(Value::as_str)?.strip_prefix("0x");
    let joined = text("r").zip(text("s")).zip(number("v")).map(|((r, s), v)| format!("0x{r}{s}{v:02x}"));
    let bytes = joined.and_then(|joined| joined.parse().ok()).ok_or(SignatureFault::Format);
    Some((kind, bytes))
}

impl Zerox {
    /// The collection, what the order is, and by which hash the contract calls it.
    pub(super) fn derive(&self, signed: &ZeroxOrder) -> Result<(Address, OrderFacts, B256), OrderFault> {
        let order = signed.order()?;
        let is_offer = signed.side() == OrderSide::Offer;
        if signed.taker != Address::ZERO {
            return Err(OrderFault::Private { member: "taker", taker: signed.taker });
        }
        if is_offer && signed.currency() == Address::ZERO {
            return Err(OrderFault::NativeOffer { member: "erc20Token" });
        }
        if signed.erc20_token_amount.0.is_zero() {
            return Err(OrderFault::ZeroPrice { member: "erc20TokenAmount" });
        }
        let (collection, token, quantity) = match &order {
            Order::One(order) => (order.erc721Token, order.erc721TokenId, U256::ONE),
            Order::Units(order) => {
                (order.erc1155Token, order.erc1155TokenId, U256::from(order.erc1155TokenAmount))
            }
        };
        if quantity.is_zero() {
            let (member, expected) = ("erc1155TokenAmount", "at least 1");
            return Err(OrderFault::Quantity { member, value: quantity, expected });
        }
        let token_id = if order.is_for_any(is_offer)? { None } else { Some(TokenId::from(token)) };
        let hash = self.domain.digest(order.hash());
        let share =
            |fee: &Fee| Share { kind: ShareKind::Royalty, recipient: fee.recipient, amount: fee.amount.0 };
        let deal = Deal {
            marketplace: Marketplace::Zerox,
            order_id: format!("0x{}", hex::encode(hash)),
            side: signed.side(),
            maker: signed.maker,
            token_id,
            quantity,
            is_whole: false,
            price: signed.gross()?,
            currency: signed.currency(),
            shares: signed.fees.iter().map(share).collect(),
            time: (U256::ZERO, signed.expiry.0),
            operator: self.domain.contract,
            price_member: "fees",
        };
        Ok((Address::from_bytes(collection.into_array()), deal.facts()?, hash))
    }

    /// Whether the maker signed the order, of which contracts are not able here.
    pub(super) fn prove(&self, signed: &ZeroxOrder, hash: B256) -> Result<Proof, OrderFault> {
        let digest = match signed.signature_type {
            MESSAGE => keccak256([b"\x19Ethereum Signed Message:\n32", hash.as_slice()].concat()),
            ON_CHAIN => return self.ask_chain(signed),
            _ => hash,
        };
        let signature = Signature::parse(&signed.signature.0)?;
        match signature.signer(digest) {
            Some(signer) if signer == signed.maker => Ok(Proof::Signed),
            found => {
                let found = found.unwrap_or_default();
                Err(SignatureFault::Signer { found, maker: signed.maker }.into())
            }
        }
    }

    fn ask_chain(&self, signed: &ZeroxOrder) -> Result<Proof, OrderFault> {
        use alloy_sol_types::SolCall as _;
        let signature = signed.abi_signature()?;
        let data = match signed.order()? {
            Order::One(order) => abi::validateERC721OrderSignatureCall { order, signature }.abi_encode(),
            Order::Units(order) => abi::validateERC1155OrderSignatureCall { order, signature }.abi_encode(),
        };
        Ok(Proof::Ask(Question::unless_it_fails(self.domain.contract, data)))
    }
}

impl Order {
    /// Whether an offer is for any token of the collection.
    fn is_for_any(&self, is_offer: bool) -> Result<bool, OrderFault> {
        let (member, properties, token) = match self {
            Self::One(order) => ("erc721TokenProperties", &order.erc721TokenProperties, order.erc721TokenId),
            Self::Units(order) => {
                ("erc1155TokenProperties", &order.erc1155TokenProperties, order.erc1155TokenId)
            }
        };
        check_count(member, properties.len(), PROPERTIES_MAX)?;
        let is_condition = |property: &abi::Property| !property.propertyValidator.is_zero();
        match () {
            () if properties.is_empty() => Ok(false),
            () if properties.iter().any(is_condition) => Err(OrderFault::TokenSet { member }),
            // The contract takes no other as an offer for any token.
            () if !is_offer || !token.is_zero() => {
                Err(OrderFault::Unsupported { member, what: "properties of an order for one token" })
            }
            () => Ok(true),
        }
    }

    fn hash(&self) -> B256 {
        match self {
            Self::One(order) => order.eip712_hash_struct(),
            Self::Units(order) => order.eip712_hash_struct(),
        }
    }
}

/// The members of a new order, by the kind of its token.
pub(super) fn token_members(is_multiple: bool, collection: Address, token: U256, amount: U256) -> JsonObject {
    let members = if is_multiple {
        json!({ "erc1155Token": collection, "erc1155TokenId": Number(token), "erc1155TokenProperties": [],
            "erc1155TokenAmount": Number(amount) })
    } else {
        json!({ "erc721Token": collection, "erc721TokenId": Number(token), "erc721TokenProperties": [] })
    };
    members.as_object().cloned().unwrap_or_default()
}
