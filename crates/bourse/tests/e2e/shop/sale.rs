//! A primary sale in a shop: what is sold is minted for whoever pays.

use alloy_primitives::U256;
use bourse_wire::Address;
use serde_json::json;

use super::meanwhile::sent;
use super::person::{Person, open_shop_with};
use crate::anvil::{Multi, alloy_address};
use crate::market::{Market, wait};
use crate::primary_sale::Shop;

/// Has the shop of a market sell by a contract, and waits until that is known to sell its seventh token.
pub(super) fn open_sale(market: &Market, collection: Address, sale: Address) {
    market.follow(collection);
    let items = || {
        let body = json!({ "primarySaleContractAddress": sale });
        market.marketplace_answer("ListPrimarySaleItems", &body).body.contains("\"tokenId\":\"7\"")
    };
    wait("token 7 is on sale", items, |is_there| *is_there);
    let terms =
        json!({ "chainId": 31_337, "itemsAddress": collection, "saleAddress": sale, "name": "Provisions" });
    let storefront = json!({ "shop": { "enabled": true }, "shopCollections": [terms] });
    open_shop_with(market, &json!({}), storefront);
}

#[test]
fn what_is_on_sale_is_minted_for_whoever_pays() {
    let Shop { market, collection, sale } = Shop::open();
    open_sale(&market, collection, sale);
    let buyer = Person::new(&market, market.buyer());
    buyer.goes(&format!("/sale/31337/{sale}"));
    buyer.clicks("[data-act=mint]");
    buyer.types("quantity", "3");
    buyer.clicks("dialog form button");
    buyer.until("[data-confirm]");
    let plan = buyer.browser.text_of("dialog");
    // Sixty of the smallest part of a coin.
    let price = format!("Price\n0.{:0>17} ETH", 6);
    assert!(plan.contains("Units\n3") && plan.contains(&price), "{plan}");
    let before = market.anvil.native_balance(market.artist());
    buyer.confirms();
    let held = Multi::balanceOfCall { owner: alloy_address(buyer.account), tokenId: U256::from(7) };
    assert_eq!(market.anvil.ask(collection, &held), U256::from(3));
    assert_eq!(market.anvil.native_balance(market.artist()) - before, U256::from(60));
    assert_eq!(sent(&market, buyer.account), "0x1");
    // There were five.
    let left = || {
        buyer.goes(&format!("/sale/31337/{sale}"));
        buyer.browser.text()
    };
    wait("two are left", left, |page| page.contains("2 left"));
}
