//! Orders that are put are stored at once, with what follows from them.

use bourse_wire::{Amount, OrderSide, OrderStatus};
use serde_json::json;

use super::{LATER, order, put, stored_order, taken};
use crate::support::seed::ACCOUNT;
use crate::support::{START, TestApp};

#[tokio::test]
async fn orders_are_stored_with_what_follows_from_them() {
    let app = TestApp::start().await;
    let fees = json!([{ "kind": "royalty", "recipientAddress": ACCOUNT, "bps": 500 }]);
    let listing = order("a", json!({ "feeBps": 1, "feeBreakdown": fees, "priceAmountFormatted": "9.99" }));
    let offer = order(
        "b",
        json!({ "side": "offer", "tokenId": null, "status": "filled", "validUntil": START,
        "createdAt": "2024-01-01T00:00:00Z", "updatedAt": "2024-02-01T00:00:00Z" }),
    );
    assert_eq!(put(&app, "PutOrders", json!({ "orders": [listing, offer] })).await, taken(2, 2));
    let listing = stored_order(&app, "a").await.unwrap();
    assert_eq!(
        (listing.side, listing.status, listing.fee_bps),
        (OrderSide::Listing, OrderStatus::Active, 500)
    );
    assert_eq!((listing.price_amount, listing.quantity_remaining), (Amount::from(250), Amount::from(5)));
    assert_eq!(listing.valid_until.to_string(), LATER);
    assert_eq!((listing.created_at, listing.updated_at), (app.now(), app.now()));
    let offer = stored_order(&app, "b").await.unwrap();
    assert_eq!((offer.side, offer.status, offer.token_id), (OrderSide::Offer, OrderStatus::Filled, None));
    assert_eq!(offer.created_at.to_string(), "2024-01-01T00:00:00Z");
    assert_eq!(offer.updated_at.to_string(), "2024-02-01T00:00:00Z");
}
