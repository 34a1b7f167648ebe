//! Makers that are contracts: what their owner signs, they have signed (EIP-1271).

use alloy_primitives::{Bytes, U256};
use alloy_sol_types::{SolValue as _, sol};
use bourse_wire::Address;
use serde_json::{Value, json};

use super::{COIN, Stage, Venue, ids, units_of};
use crate::anvil::{alloy_address, mintCall, transferFromCall};
use crate::market::order;

sol! {
    function execute(address to, uint256 value, bytes data);
}

/// What the first listing asks for, in the chain's own currency.
pub(super) const PRICE: i128 = 1_000_000;

/// A wallet that is a contract.
pub(super) struct Wallet {
    owner: Address,
    pub(super) address: Address,
}

impl Wallet {
    /// One that belongs to somebody who trades in no other way.
    pub(super) fn deploy(stage: &Stage) -> Self {
        let anvil = &stage.market.anvil;
        let owner = anvil.account(7);
        let address = anvil.deploy("TestWallet", &alloy_address(owner).abi_encode());
        Self { owner, address }
    }

    /// Has it call a contract.
    pub(super) fn send(&self, stage: &Stage, to: Address, data: Vec<u8>) {
        let call = executeCall { to: alloy_address(to), value: U256::ZERO, data: Bytes::from(data) };
        stage.market.anvil.send(self.owner, self.address, &call);
    }

    /// Does what steps say; tells the order that a signature made.
    fn carry_out(&self, stage: &Stage, steps: &Value) -> Option<String> {
        let mut made = None;
        for step in steps.as_array().unwrap() {
            if step["id"] == json!("signEIP712") {
                let signature = stage.sign(self.owner, &step["signature"]);
                made = Some(stage.execute(step, &signature).ok()["orderId"].as_str().unwrap().to_owned());
                continue;
            }
            let to: Address = serde_json::from_value(step["to"].clone()).unwrap();
            self.send(stage, to, alloy_primitives::hex::decode(step["data"].as_str().unwrap()).unwrap());
        }
        made
    }

    /// Gives it a token of the seller.
    pub(super) fn receive(&self, stage: &Stage, collection: Address, token: u64) {
        let (seller, id) = (stage.market.seller(), U256::from(token));
        let (from, to) = (alloy_address(seller), alloy_address(self.address));
        stage.market.anvil.send(seller, collection, &transferFromCall { from, to, tokenId: id });
        stage.catch_up();
    }
}

/// A wallet's listing is bought and its offer is taken; the listing pays it so much. Whom it did not ask cannot sign for it.
pub(super) fn a_contract_lists_and_offers(stage: &Stage, venue: &Venue, paid: i128) {
    let (market, collection) = (&stage.market, stage.singles(2));
    let wallet = Wallet::deploy(stage);
    wallet.receive(stage, collection, 1);
    let listing = order("1", "1", Address::ZERO, &PRICE.to_string());
    let body = json!({ "collectionAddress": collection, "owner": wallet.address, "contractType": "ERC721",
        "orderbook": venue.word, "listing": listing, "walletType": "unknown" });
    let steps = market.steps("GenerateListingTransaction", &body);
    let signing = steps.as_array().unwrap().last().unwrap();
    let forged = stage.execute(signing, &stage.sign(market.buyer(), &signing["signature"]));
    assert_ne!(forged.status, 200, "{} {forged:?}", venue.word);
    let listed = wallet.carry_out(stage, &steps).unwrap();
    let listing = stage.only_listing(venue, collection, "1");
    assert_eq!((&listing["orderId"], &listing["createdBy"]), (&json!(listed), &json!(wallet.address)));
    let steps = stage.buying(venue, collection, &units_of(&listed, "1"), &Value::Null);
    market.anvil.perform(market.buyer(), &steps);
    assert_eq!(stage.owner(collection, 1), market.buyer(), "{}", venue.word);
    let got = i128::try_from(market.anvil.native_balance(wallet.address)).unwrap();
    assert_eq!(got, paid, "{}", venue.word);
    stage.wait_filled(venue, collection, "1", &listed);

    let coins = mintCall { to: alloy_address(wallet.address), tokenId: U256::from(4 * COIN) };
    market.anvil.send(market.seller(), market.currency, &coins);
    let offer = order("2", "1", market.currency, &(4 * COIN).to_string());
    let body = json!({ "collectionAddress": collection, "maker": wallet.address, "contractType": "ERC721",
        "orderbook": venue.word, "offer": offer, "walletType": "unknown" });
    let steps = market.steps("GenerateOfferTransaction", &body);
    assert_eq!(ids(&steps), ["tokenApproval", "signEIP712"], "{}", venue.word);
    let offered = wallet.carry_out(stage, &steps).unwrap();
    market.wait_offers(collection, "2", 1);
    let steps = stage.selling(venue, collection, &units_of(&offered, "1"), &Value::Null);
    market.anvil.perform(market.seller(), &steps);
    assert_eq!(stage.owner(collection, 2), wallet.address, "{}", venue.word);
    stage.wait_status(venue, collection, &offered, "filled");
}
