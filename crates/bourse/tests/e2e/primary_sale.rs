//! A primary sale on a chain: what is told of it, and that whoever pays has the tokens.

use std::cell::Cell;

use alloy_primitives::{B256, Bytes, U256, hex};
use alloy_sol_types::{SolCall as _, SolValue as _, sol};
use bourse_wire::Address;
use serde_json::{Value, json};

use crate::anvil::{Anvil, Multi, alloy_address};
use crate::market::{Market, V2, node_setting, wait};

sol! {
    function setGlobalSaleDetails(uint256 minTokenId, uint256 maxTokenId, uint256 cost, uint256 remainingSupply,
        uint64 startTime, uint64 endTime, bytes32 merkleRoot);
    function setTokenSaleDetails(uint256 tokenId, uint256 cost, uint256 remainingSupply, uint64 startTime,
        uint64 endTime, bytes32 merkleRoot);

    interface Sale {
        function mint(address to, uint256[] tokenIds, uint256[] amounts, bytes data, address expectedPaymentToken,
            uint256 maxTotal, bytes32[] proof) payable;
    }
}

const ENDS: u64 = 4_000_000_000;

/// A market with a contract that sells token 7 for 20 wei each, of which there are five, and tokens 1 to 3 for 10.
pub(crate) struct Shop {
    pub(crate) market: Market,
    pub(crate) collection: Address,
    pub(crate) sale: Address,
}

impl Shop {
    pub(crate) fn open() -> Self {
        let deployed = Cell::new(None);
        let settings = |anvil: &Anvil| {
            let (collection, sale) = deploy(anvil);
            deployed.set(Some((collection, sale)));
            format!("{}sales = [\"{sale}\"]\n", node_setting(anvil))
        };
        let market = Market::open_at(&V2, settings);
        let (collection, sale) = deployed.get().unwrap();
        Self { market, collection, sale }
    }

    fn call(&self, operation: &str, members: Value) -> Value {
        let mut body = members;
        body["primarySaleContractAddress"] = json!(self.sale);
        self.market.marketplace(operation, &body)
    }

    /// What is left of every token that is for sale.
    fn left(&self) -> Vec<(String, String)> {
        let answer = self.call("ListPrimarySaleItems", json!({ "filter": { "includeEmpty": true } }));
        let items = answer["primarySaleItems"].as_array().unwrap().iter();
        let text = |item: &Value, member: &str| item["primarySaleItem"][member].as_str().unwrap().to_owned();
        items.map(|item| (text(item, "tokenId"), text(item, "supply"))).collect()
    }

    fn wait_left(&self, expected: &[(&str, &str)]) {
        let is_so = |left: &Vec<(String, String)>| {
            left.iter().map(|(token, count)| (token.as_str(), count.as_str())).eq(expected.iter().copied())
        };
        wait(&format!("{expected:?} are left"), || self.left(), is_so);
    }

    fn crypto(&self, token: &str, quantity: &str) -> Value {
        let body = json!({ "wallet": self.market.buyer(), "contractAddress": self.sale,
            "collectionAddress": self.collection, "items": [{ "tokenId": token, "quantity": quantity }] });
        self.market.marketplace("CheckoutOptionsSalesContract", &body)["options"]["crypto"].clone()
    }

    /// Buys tokens with native coin, as storefronts do.
    fn buy(&self, tokens: &[(u64, u64)], total: u64) {
        let buyer = self.market.buyer();
        let call = Sale::mintCall {
            to: alloy_address(buyer),
            tokenIds: tokens.iter().map(|(token, _)| U256::from(*token)).collect(),
            amounts: tokens.iter().map(|(_, amount)| U256::from(*amount)).collect(),
            data: Bytes::new(),
            expectedPaymentToken: alloy_address(Address::ZERO),
            maxTotal: U256::from(total),
            proof: Vec::new(),
        };
        let step = json!([{ "to": self.sale, "data": hex::encode_prefixed(call.abi_encode()), "value": total.to_string() }]);
        self.market.anvil.perform(buyer, &step);
    }

    fn held(&self, token: u64) -> U256 {
        let call =
            Multi::balanceOfCall { owner: alloy_address(self.market.buyer()), tokenId: U256::from(token) };
        self.market.anvil.ask(self.collection, &call)
    }
}

/// A collection of tokens with many of each, and a contract that sells some of them.
fn deploy(anvil: &Anvil) -> (Address, Address) {
    let (owner, collection) = (anvil.account(0), anvil.deploy_multiples());
    let people = (alloy_address(owner), alloy_address(anvil.account(3)));
    let sale = anvil.deploy(
        "Sale",
        &(people.0, people.1, alloy_address(collection), true, alloy_address(Address::ZERO))
            .abi_encode_params(),
    );
    let range = setGlobalSaleDetailsCall {
        minTokenId: U256::from(1),
        maxTokenId: U256::from(3),
        cost: U256::from(10),
        remainingSupply: U256::from(100),
        startTime: 0,
        endTime: ENDS,
        merkleRoot: B256::ZERO,
    };
    anvil.send(owner, sale, &range);
    let single = setTokenSaleDetailsCall {
        tokenId: U256::from(7),
        cost: U256::from(20),
        remainingSupply: U256::from(5),
        startTime: 0,
        endTime: ENDS,
        merkleRoot: B256::ZERO,
    };
    anvil.send(owner, sale, &single);
    (collection, sale)
}

#[test]
fn whoever_pays_has_the_tokens_and_what_is_left_is_told_also_after_a_reorganisation() {
    let shop = Shop::open();
    shop.market.follow(shop.collection);
    // Nothing is known of the tokens of the range before the first of them is there.
    shop.wait_left(&[("7", "5")]);
    shop.buy(&[(2, 4), (7, 3)], 100);
    assert_eq!((shop.held(2), shop.held(7)), (U256::from(4), U256::from(3)));
    shop.wait_left(&[("2", "96"), ("7", "2")]);
    let item = shop.call("GetPrimarySaleItem", json!({ "tokenId": "7" }))["item"]["primarySaleItem"].clone();
    assert_eq!(
        (&item["supplyCap"], &item["priceAmount"], &item["priceUsdFormatted"]),
        (&json!("5"), &json!("20"), &json!("0.000000000000040"))
    );
    assert_eq!((shop.crypto("7", "2"), shop.crypto("7", "3")), (json!("all"), json!("none")));
    shop.market.anvil.reorganise(1);
    shop.wait_left(&[("7", "5")]);
    shop.buy(&[(7, 5)], 100);
    shop.wait_left(&[("7", "0")]);
    assert_eq!(shop.crypto("7", "1"), json!("none"));
}
