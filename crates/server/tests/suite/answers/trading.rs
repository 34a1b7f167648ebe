//! Steps to trade.

use serde_json::json;

use crate::marketplace::{ANA, BEN, COIN, DOLLAR, balance, listing, market, offer, order, with};
use crate::support::seed::{ACCOUNT, RELICS};
use crate::support::transcript::Transcript;

#[tokio::test]
async fn steps() {
    let own = json!({ "marketplace": "service_marketplace_v2", "quantityInitial": "5",
        "priceCurrencyAddress": DOLLAR });
    let app = market(vec![
        order(with(listing("77", 1, 5_000), own.clone())),
        order(with(with(listing("78", 1, 7_000), own.clone()), json!({ "priceCurrencyAddress": COIN }))),
        order(with(offer("79", 1, 3_000), own)),
        balance(1, ANA, 5),
        balance(1, ACCOUNT, 2),
    ])
    .await;
    let mut said = Transcript::default();
    let place =
        json!({ "chainId": "137", "collectionAddress": RELICS, "marketplace": "bourse_marketplace_v2" });
    let data = |id: &str| json!([{ "orderId": id, "quantity": "2", "tokenId": "1" }]);
    let fees = json!([{ "amount": "250", "receiver": BEN }]);
    for id in ["77", "78"] {
        let members = json!({ "buyer": ACCOUNT, "ordersData": data(id), "additionalFees": fees });
        said.call(&app.project_a, "Marketplace/GenerateBuyTransaction", with(place.clone(), members)).await;
    }
    let members = json!({ "seller": ACCOUNT, "ordersData": data("79"), "additionalFees": null });
    said.call(&app.project_a, "Marketplace/GenerateSellTransaction", with(place.clone(), members)).await;
    let new = json!({ "tokenId": "1", "quantity": "2", "expiry": "1893456000", "currencyAddress": DOLLAR,
        "pricePerToken": "4000" });
    let book =
        json!({ "contractType": "ERC1155", "orderbook": "bourse_marketplace_v2", "walletType": "unknown" });
    let members = with(book.clone(), json!({ "owner": ACCOUNT, "listing": new }));
    said.call(&app.project_a, "Marketplace/GenerateListingTransaction", with(place.clone(), members)).await;
    let members = with(book, json!({ "maker": ACCOUNT, "offer": new }));
    said.call(&app.project_a, "Marketplace/GenerateOfferTransaction", with(place.clone(), members)).await;
    let members = json!({ "maker": BEN, "orderId": "79" });
    said.call(&app.project_a, "Marketplace/GenerateCancelTransaction", with(place, members)).await;
    let orders =
        json!([{ "contractAddress": RELICS, "orderId": "77", "marketplace": "bourse_marketplace_v2" }]);
    let body = json!({ "chainId": "137", "wallet": ACCOUNT, "orders": orders, "additionalFee": 250 });
    said.call(&app.project_a, "Marketplace/CheckoutOptionsMarketplace", body).await;
    insta::assert_snapshot!(said.text());
}
