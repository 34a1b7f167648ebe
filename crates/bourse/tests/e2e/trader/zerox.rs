//! 0x.

use alloy_primitives::{Bytes, U256};
use alloy_sol_types::sol;
use bourse_wire::Address;
use serde_json::Value;

use super::cover;
use super::orders::{Order, Ours, Theirs};
use super::rules::{Asked, Question, Rules, Skill};
use super::scene::Scene;

sol! {
    struct Fee { address recipient; uint256 amount; bytes feeData; }
    struct Property { address propertyValidator; bytes propertyData; }
    struct ERC721Order {
        uint8 direction; address maker; address taker; uint256 expiry; uint256 nonce; address erc20Token;
        uint256 erc20TokenAmount; Fee[] fees; address erc721Token; uint256 erc721TokenId;
        Property[] erc721TokenProperties;
    }
    struct ERC1155Order {
        uint8 direction; address maker; address taker; uint256 expiry; uint256 nonce; address erc20Token;
        uint256 erc20TokenAmount; Fee[] fees; address erc1155Token; uint256 erc1155TokenId;
        Property[] erc1155TokenProperties; uint128 erc1155TokenAmount;
    }
    struct OrderInfo { bytes32 orderHash; uint8 status; uint128 orderAmount; uint128 remainingAmount; }
    function getERC721OrderStatus(ERC721Order order) returns (uint8 status);
    function getERC1155OrderInfo(ERC1155Order order) returns (OrderInfo orderInfo);
}

/// What the contract calls an order that can be filled, and one whose time is over.
const FILLABLE: u8 = 1;
const EXPIRED: u8 = 3;

pub(super) struct ZeroX;

impl Rules for ZeroX {
    fn skills(&self) -> &'static [Skill] {
        &[Skill::Native, Skill::Parts]
    }

    fn end_all(&self, _scene: &Scene, _who: Address, _collection: Option<Address>) -> bool {
        false
    }

    fn questions(&self, scene: &Scene, order: &Order, _ours: Option<&Ours>) -> Vec<Question> {
        let value = &order.signed.as_ref().unwrap().value;
        let of_order = if order.collection == scene.multiples {
            Question::new(scene.venue.contract, &getERC1155OrderInfoCall { order: many(value) })
        } else {
            Question::new(scene.venue.contract, &getERC721OrderStatusCall { order: single(value) })
        };
        cover::questions(scene, order).into_iter().chain([of_order]).collect()
    }

    fn theirs(&self, asked: &Asked<'_>) -> Theirs {
        let (status, remaining) = if asked.order.collection == asked.scene.multiples {
            let info = asked.returned::<getERC1155OrderInfoCall>(cover::QUESTIONS).unwrap();
            (info.status, u64::try_from(info.remainingAmount).unwrap())
        } else {
            (asked.returned::<getERC721OrderStatusCall>(cover::QUESTIONS).unwrap(), 1)
        };
        match status {
            FILLABLE => {}
            // It does not tell of such an order whether it was filled or taken back before.
            EXPIRED => return Theirs::Over(&["expired", "filled", "cancelled"]),
            _ => return Theirs::Over(&["filled", "cancelled"]),
        }
        Theirs::Standing { remaining, available: remaining.min(cover::units(asked)), fee_bps: None }
    }
}

fn read<T: std::str::FromStr<Err: std::fmt::Debug>>(value: &Value) -> T {
    value.as_str().unwrap().parse().unwrap()
}

fn amount(value: &Value) -> U256 {
    value.as_u64().map_or_else(|| read(value), U256::from)
}

fn direction(value: &Value) -> u8 {
    amount(&value["direction"]).to()
}

fn bytes(value: &Value) -> Bytes {
    alloy_primitives::hex::decode(value.as_str().unwrap()).unwrap().into()
}

fn fees(value: &Value) -> Vec<Fee> {
    let fee = |fee: &Value| Fee {
        recipient: read(&fee["recipient"]),
        amount: amount(&fee["amount"]),
        feeData: bytes(&fee["feeData"]),
    };
    value["fees"].as_array().unwrap().iter().map(fee).collect()
}

fn properties(value: &Value) -> Vec<Property> {
    let property = |property: &Value| Property {
        propertyValidator: read(&property["propertyValidator"]),
        propertyData: bytes(&property["propertyData"]),
    };
    value.as_array().unwrap().iter().map(property).collect()
}

/// What both kinds of orders say of themselves, and what one kind says beside it.
macro_rules! order_of {
    ($kind:ident, $value:ident, $($member:ident: $read:expr),*) => {
        $kind {
            direction: direction($value),
            maker: read(&$value["maker"]),
            taker: read(&$value["taker"]),
            expiry: amount(&$value["expiry"]),
            nonce: amount(&$value["nonce"]),
            erc20Token: read(&$value["erc20Token"]),
            erc20TokenAmount: amount(&$value["erc20TokenAmount"]),
            fees: fees($value),
            $($member: $read),*
        }
    };
}

fn single(value: &Value) -> ERC721Order {
    order_of!(ERC721Order, value,
        erc721Token: read(&value["erc721Token"]),
        erc721TokenId: amount(&value["erc721TokenId"]),
        erc721TokenProperties: properties(&value["erc721TokenProperties"])
    )
}

fn many(value: &Value) -> ERC1155Order {
    order_of!(ERC1155Order, value,
        erc1155Token: read(&value["erc1155Token"]),
        erc1155TokenId: amount(&value["erc1155TokenId"]),
        erc1155TokenProperties: properties(&value["erc1155TokenProperties"]),
        erc1155TokenAmount: amount(&value["erc1155TokenAmount"]).to()
    )
}
