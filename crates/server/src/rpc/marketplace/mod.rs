//! Listings and offers.

pub(crate) mod activities;
mod checkout_options_marketplace;
mod checkout_options_sales_contract;
mod currencies_of_orders;
mod execute;
pub(crate) mod filter;
mod generate_buy_transaction;
mod generate_cancel_transaction;
mod generate_listing_transaction;
mod generate_offer_transaction;
mod generate_sell_transaction;
mod get_collectible;
mod get_collection_detail;
mod get_count_of_all_collectibles;
mod get_count_of_filtered_collectibles;
mod get_count_of_primary_sale_items;
mod get_floor_order;
mod get_orders;
mod get_primary_sale_item;
mod list_collectibles;
mod list_currencies;
mod list_primary_sale_items;
mod orders_of_collectible;
mod orders_of_collection;
mod primary_sales;
mod subscribe_activities;
mod supported_marketplaces;
mod sync_orders;
mod trading;
mod types;

use std::sync::Arc;

use bourse_catalog::Position;
use bourse_store::CollectionKey;
use bourse_wire::{Code, Error};

use crate::call::Call;
use crate::failure::Failure;
use crate::paging::PagePlan;
use crate::resident::{Patience, Residence, Slot};
use crate::route::Credential::AccessKey;
use crate::route::Route;
use crate::route::Service::Marketplace;
use crate::rpc::begin_answer;

/// The operations of this service.
pub(crate) fn operations() -> Vec<Route> {
    let mut operations = collectible_operations();
    operations.extend(order_operations());
    operations.extend(book_operations());
    operations.extend(record_operations());
    operations.extend(history_operations());
    operations.extend(trade_operations());
    operations.extend(primary_sale_operations());
    operations
}

/// Bodies to try operations on collectibles with.
const FILTERED: &str = r#"{"chainId":"amoy","side":"listing","contractAddress":"0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af","filter":{"includeEmpty":false},"page":{"page":1,"pageSize":2}}"#;
const COUNTED: &str = r#"{"chainId":"amoy","side":"listing","contractAddress":"0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af","filter":{"includeEmpty":false}}"#;
const WHOLE: &str = r#"{"chainId":"amoy","contractAddress":"0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af"}"#;
const ORDERS: &str = r#"{"chainId":"amoy","input":[{"contractAddress":"0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af","orderId":"6986","marketplace":"service_marketplace_v1"}]}"#;
const ONE: &str =
    r#"{"chainId":"amoy","contractAddress":"0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af","tokenId":"1"}"#;
/// Bodies to try operations that trade with.
const BUY: &str = r#"{"chainId":"amoy","collectionAddress":"0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af","buyer":"0x1111111111111111111111111111111111111111","marketplace":"service_marketplace_v2","ordersData":[{"orderId":"5971","quantity":"1","tokenId":"1492"}],"additionalFees":[{"amount":"250","receiver":"0x2222222222222222222222222222222222222222"}],"walletType":"unknown"}"#;
const SELL: &str = r#"{"chainId":"amoy","collectionAddress":"0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af","seller":"0xedb0cebc14298d54a1dfc6efad805dd10c6dd096","marketplace":"service_marketplace_v2","ordersData":[{"orderId":"7483","quantity":"1","tokenId":"153"}],"additionalFees":[],"walletType":"unknown"}"#;
const LIST: &str = r#"{"chainId":"amoy","collectionAddress":"0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af","owner":"0xedb0cebc14298d54a1dfc6efad805dd10c6dd096","contractType":"ERC721","orderbook":"service_marketplace_v2","listing":{"tokenId":"153","quantity":"1","expiry":"4102444800","currencyAddress":"0x3c0f6a91d8e2b7541a9de06fb83c2570e41d95ab","pricePerToken":"150000000"},"walletType":"unknown"}"#;
const OFFER: &str = r#"{"chainId":"amoy","collectionAddress":"0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af","maker":"0x1111111111111111111111111111111111111111","contractType":"ERC721","orderbook":"service_marketplace_v2","offer":{"tokenId":"153","quantity":"1","expiry":"4102444800","currencyAddress":"0x3c0f6a91d8e2b7541a9de06fb83c2570e41d95ab","pricePerToken":"120000000"},"walletType":"unknown"}"#;
const CANCEL: &str = r#"{"chainId":"amoy","collectionAddress":"0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af","maker":"0x401c7065b8c42c81e75d3c2dffef0bfc5364587b","marketplace":"service_marketplace_v2","orderId":"5971"}"#;
const SYNC_ONE: &str = r#"{"chainId":"amoy","order":{"collectionContractAddress":"0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af","orderId":"5971","marketplace":"service_marketplace_v2"}}"#;
const SYNC: &str = r#"{"chainId":"amoy","orders":[{"collectionContractAddress":"0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af","orderId":"5971","marketplace":"service_marketplace_v2"}]}"#;
/// Bodies to try primary sales with.
const SOLD: &str = r#"{"chainId":"amoy","primarySaleContractAddress":"0x4775696c642050726f766973696f6e73204c7464","filter":{"includeEmpty":false}}"#;
const SOLD_ONE: &str = r#"{"chainId":"amoy","primarySaleContractAddress":"0x4775696c642050726f766973696f6e73204c7464","tokenId":"7"}"#;
const CHECKOUT_SOLD: &str = r#"{"chainId":"amoy","wallet":"0x1111111111111111111111111111111111111111","contractAddress":"0x4775696c642050726f766973696f6e73204c7464","collectionAddress":"0xb1d4e07c93a85f2260ce7d418fa93b5e02d76c18","items":[{"tokenId":"7","quantity":"2"}]}"#;
const CHECKOUT: &str = r#"{"chainId":"amoy","wallet":"0x1111111111111111111111111111111111111111","orders":[{"contractAddress":"0x5ea9c1d27b04f83e6a1590dc3b7f28e4419c60af","orderId":"5971","marketplace":"service_marketplace_v2"}],"additionalFee":250}"#;

fn collectible_operations() -> Vec<Route> {
    vec![
        Marketplace
            .reads_raw::<_, list_collectibles::Answer, _, _>(
                "ListCollectibles",
                AccessKey,
                "Collectibles with their best order, listing and offer.",
                list_collectibles::handle,
            )
            .example(FILTERED),
        Marketplace
            .reads_raw::<_, list_collectibles::Answer, _, _>(
                "ListCollectiblesWithLowestListing",
                AccessKey,
                "Collectibles that have a listing, the cheapest first.",
                list_collectibles::handle_listings,
            )
            .example(FILTERED),
        Marketplace
            .reads_raw::<_, list_collectibles::Answer, _, _>(
                "ListCollectiblesWithHighestOffer",
                AccessKey,
                "Collectibles that have an offer, the dearest first.",
                list_collectibles::handle_offers,
            )
            .example(FILTERED),
        Marketplace
            .reads(
                "GetCountOfFilteredCollectibles",
                AccessKey,
                "How many collectibles match a filter.",
                get_count_of_filtered_collectibles::handle,
            )
            .example(COUNTED),
        Marketplace
            .reads_raw::<_, get_floor_order::Answer, _, _>(
                "GetFloorOrder",
                AccessKey,
                "The cheapest listing of a collection.",
                get_floor_order::handle,
            )
            .example(WHOLE),
    ]
}

/// The orders of one collectible. Each has an older name that clients still call.
fn order_operations() -> Vec<Route> {
    use orders_of_collectible as o;
    let mut operations = Vec::new();
    for name in ["ListListingsForCollectible", "ListCollectibleListings"] {
        let summary = "The active listings of one collectible, the cheapest first.";
        operations.push(Marketplace.reads_raw::<_, o::ListingsAnswer, _, _>(
            name,
            AccessKey,
            summary,
            o::list_listings,
        ));
    }
    for name in ["ListOffersForCollectible", "ListCollectibleOffers"] {
        let summary = "The active offers for one collectible, the dearest first.";
        operations.push(Marketplace.reads_raw::<_, o::OffersAnswer, _, _>(
            name,
            AccessKey,
            summary,
            o::list_offers,
        ));
    }
    for name in ["GetHighestPriceListingForCollectible", "GetCollectibleHighestListing"] {
        let summary = "The dearest active listing of one collectible, or null.";
        operations.push(Marketplace.reads_raw::<_, o::OrderAnswer, _, _>(
            name,
            AccessKey,
            summary,
            o::highest_listing,
        ));
    }
    for name in ["GetLowestPriceListingForCollectible", "GetCollectibleLowestListing"] {
        let summary = "The cheapest active listing of one collectible, or null.";
        operations.push(Marketplace.reads_raw::<_, o::OrderAnswer, _, _>(
            name,
            AccessKey,
            summary,
            o::lowest_listing,
        ));
    }
    for name in ["GetHighestPriceOfferForCollectible", "GetCollectibleHighestOffer"] {
        let summary = "The dearest active offer for one collectible, or null.";
        operations.push(Marketplace.reads_raw::<_, o::OrderAnswer, _, _>(
            name,
            AccessKey,
            summary,
            o::highest_offer,
        ));
    }
    for name in ["GetLowestPriceOfferForCollectible", "GetCollectibleLowestOffer"] {
        let summary = "The cheapest active offer for one collectible, or null.";
        operations.push(Marketplace.reads_raw::<_, o::OrderAnswer, _, _>(
            name,
            AccessKey,
            summary,
            o::lowest_offer,
        ));
    }
    let counted = "How many active listings one collectible has.";
    operations.push(Marketplace.reads(
        "GetCountOfListingsForCollectible",
        AccessKey,
        counted,
        o::count_listings,
    ));
    let counted = "How many active offers there are for one collectible.";
    operations.push(Marketplace.reads("GetCountOfOffersForCollectible", AccessKey, counted, o::count_offers));
    operations.into_iter().map(|route| route.example(ONE)).collect()
}

/// The orders of a whole collection.
fn book_operations() -> Vec<Route> {
    use orders_of_collectible::{ListingsAnswer, OffersAnswer};
    use {currencies_of_orders as c, orders_of_collection as o};
    let listed = "Active orders of a collection, each with its token.";
    let listings = "The active listings of a collection, the cheapest first.";
    let offers = "The active offers for tokens of a collection, the dearest first.";
    let counted = ["How many active orders a collection has.", "How many active orders match a filter."];
    let currencies =
        ["The currencies that active listings ask for.", "The currencies that active offers pay."];
    vec![
        Marketplace
            .reads_raw::<_, o::Answer, _, _>(
                "ListOrdersWithCollectibles",
                AccessKey,
                listed,
                o::list_with_collectibles,
            )
            .example(FILTERED),
        Marketplace.reads("GetCountOfAllOrders", AccessKey, counted[0], o::count).example(COUNTED),
        Marketplace.reads("GetCountOfFilteredOrders", AccessKey, counted[1], o::count).example(COUNTED),
        Marketplace
            .reads_raw::<_, ListingsAnswer, _, _>("ListListings", AccessKey, listings, o::list_listings)
            .example(WHOLE),
        Marketplace
            .reads_raw::<_, OffersAnswer, _, _>("ListOffers", AccessKey, offers, o::list_offers)
            .example(WHOLE),
        Marketplace
            .reads("GetCollectionActiveListingsCurrencies", AccessKey, currencies[0], c::of_listings)
            .example(WHOLE),
        Marketplace
            .reads("GetCollectionActiveOffersCurrencies", AccessKey, currencies[1], c::of_offers)
            .example(WHOLE),
    ]
}

/// Single records, and lists that belong to no collection.
fn record_operations() -> Vec<Route> {
    vec![
        Marketplace
            .reads_raw::<_, get_orders::Answer, _, _>(
                "GetOrders",
                AccessKey,
                "Orders by their names, in any state. Orders that are not known are left out.",
                get_orders::handle,
            )
            .example(ORDERS),
        Marketplace
            .reads(
                "GetCountOfAllCollectibles",
                AccessKey,
                "How many collectibles a collection has.",
                get_count_of_all_collectibles::handle,
            )
            .example(WHOLE),
        Marketplace
            .reads_raw::<_, get_collectible::Answer, _, _>(
                "GetCollectible",
                AccessKey,
                "What is known of one collectible.",
                get_collectible::handle,
            )
            .example(ONE),
        Marketplace
            .reads(
                "GetCollectionDetail",
                AccessKey,
                "What is known of one collection.",
                get_collection_detail::handle,
            )
            .example(WHOLE),
        Marketplace
            .reads(
                "ListCurrencies",
                AccessKey,
                "The currencies of a chain with their rates, or of every chain.",
                list_currencies::handle,
            )
            .example(r#"{"chainId":"amoy"}"#),
        Marketplace.reads(
            "SupportedMarketplaces",
            AccessKey,
            "The marketplaces whose orders are kept here.",
            supported_marketplaces::handle,
        ),
    ]
}

/// Transactions that trade.
fn primary_sale_operations() -> Vec<Route> {
    vec![
        Marketplace
            .reads_raw::<_, list_primary_sale_items::Answer<'_>, _, _>(
                "ListPrimarySaleItems",
                AccessKey,
                "What a contract of a primary sale sells, with its terms, as the contract says.",
                list_primary_sale_items::handle,
            )
            .example(SOLD),
        Marketplace
            .reads_raw::<_, get_primary_sale_item::Answer, _, _>(
                "GetPrimarySaleItem",
                AccessKey,
                "One token of what a contract of a primary sale sells.",
                get_primary_sale_item::handle,
            )
            .example(SOLD_ONE),
        Marketplace
            .reads(
                "GetCountOfPrimarySaleItems",
                AccessKey,
                "How many tokens a contract of a primary sale sells.",
                get_count_of_primary_sale_items::handle,
            )
            .example(SOLD),
        Marketplace
            .reads(
                "CheckoutOptionsSalesContract",
                AccessKey,
                "How tokens of a primary sale can be paid for.",
                checkout_options_sales_contract::handle,
            )
            .example(CHECKOUT_SOLD),
    ]
}

fn trade_operations() -> Vec<Route> {
    vec![
        Marketplace
            .reads(
                "GenerateBuyTransaction",
                AccessKey,
                "The steps to buy collectibles.",
                generate_buy_transaction::handle,
            )
            .example(BUY),
        Marketplace
            .reads(
                "GenerateSellTransaction",
                AccessKey,
                "The steps to accept offers.",
                generate_sell_transaction::handle,
            )
            .example(SELL),
        Marketplace
            .reads(
                "GenerateListingTransaction",
                AccessKey,
                "The steps to list a collectible for sale.",
                generate_listing_transaction::handle,
            )
            .example(LIST),
        Marketplace
            .reads(
                "GenerateOfferTransaction",
                AccessKey,
                "The steps to offer for a collectible.",
                generate_offer_transaction::handle,
            )
            .example(OFFER),
        Marketplace
            .reads(
                "GenerateCancelTransaction",
                AccessKey,
                "The step to take an order back.",
                generate_cancel_transaction::handle,
            )
            .example(CANCEL),
        Marketplace.writes(
            "Execute",
            AccessKey,
            "Takes the signature that a step asked for.",
            execute::handle,
        ),
        Marketplace
            .writes("SyncOrder", AccessKey, "Has the chain asked again about an order.", sync_orders::one)
            .example(SYNC_ONE),
        Marketplace
            .writes("SyncOrders", AccessKey, "Has the chain asked again about orders.", sync_orders::several)
            .example(SYNC),
        Marketplace
            .reads(
                "CheckoutOptionsMarketplace",
                AccessKey,
                "How orders can be paid for.",
                checkout_options_marketplace::handle,
            )
            .example(CHECKOUT),
    ]
}

fn history_operations() -> Vec<Route> {
    vec![
        Marketplace
            .reads_raw::<_, activities::Answer, _, _>(
                "ListCollectionActivities",
                AccessKey,
                "What happened in a collection, the newest first.",
                activities::of_collection,
            )
            .example(WHOLE),
        Marketplace
            .reads_raw::<_, activities::Answer, _, _>(
                "ListCollectibleActivities",
                AccessKey,
                "What happened to one collectible, the newest first.",
                activities::of_collectible,
            )
            .example(ONE),
        Marketplace
            .streams::<_, subscribe_activities::Answer, _>(
                "SubscribeActivities",
                AccessKey,
                "What happens in a collection or to one collectible, as it happens: a stream of lines.",
                subscribe_activities::handle,
            )
            .example(WHOLE),
    ]
}

/// Answers a page of what a collection has: a head, the list that `write` appends, which tells where the page ended when
/// more follow, and the page's own record. A collection of which nothing is known has an empty list.
pub(crate) async fn answer_page(
    call: &Call,
    key: CollectionKey,
    head: &[u8],
    page: &PagePlan,
    write: impl AsyncFnOnce(&Arc<Slot>, &mut Vec<u8>) -> Result<Option<Position>, Failure>,
) -> Result<Vec<u8>, Failure> {
    let mut answer = begin_answer(head);
    let next = if let Some(slot) = searchable(call, key).await? {
        write(&slot, &mut answer).await?
    } else {
        answer.extend_from_slice(b"[]");
        None
    };
    page.write(&mut answer, next)?;
    answer.push(b'}');
    Ok(answer)
}

/// A collection to search in; `None` when nobody ever said anything of it.
pub(crate) async fn searchable(call: &Call, key: CollectionKey) -> Result<Option<Arc<Slot>>, Failure> {
    searchable_within(call, key, &mut call.patience()).await
}

/// One of several collections to search in, waiting as long as is left of the patience.
pub(crate) async fn searchable_within(
    call: &Call,
    key: CollectionKey,
    patience: &mut Patience,
) -> Result<Option<Arc<Slot>>, Failure> {
    match call.app.resident.find_within(key, patience).await? {
        Residence::Resident(slot) => Ok(Some(slot)),
        Residence::Missing => call.check_known(key.chain).await.map(|()| None),
        Residence::Stored(_) => {
            let message = format!(
                "collection {} on chain {} is larger than the memory there is for searching: raise \
                 storage.resident_bytes_max",
                key.address, key.chain
            );
            Err(Error::new(Code::Overloaded, message).into())
        }
    }
}
