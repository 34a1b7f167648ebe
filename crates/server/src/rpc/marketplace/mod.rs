//! Listings and offers.

pub(crate) mod activities;
pub(crate) mod checkout_options_marketplace;
pub(crate) mod execute;
pub(crate) mod filter;
pub(crate) mod generate_buy_transaction;
pub(crate) mod generate_cancel_transaction;
pub(crate) mod generate_listing_transaction;
pub(crate) mod generate_offer_transaction;
pub(crate) mod generate_sell_transaction;
pub(crate) mod get_collectible;
pub(crate) mod get_collection_detail;
pub(crate) mod get_count_of_all_collectibles;
pub(crate) mod get_count_of_filtered_collectibles;
pub(crate) mod get_floor_order;
pub(crate) mod get_orders;
pub(crate) mod list_collectibles;
pub(crate) mod list_currencies;
pub(crate) mod orders_of_collectible;
pub(crate) mod supported_marketplaces;
mod trading;
pub(crate) mod types;

use std::sync::Arc;

use bourse_catalog::Position;
use bourse_store::CollectionKey;
use bourse_wire::{Code, Error};

use crate::app::App;
use crate::failure::Failure;
use crate::paging::PagePlan;
use crate::resident::{Residence, Slot};

/// Answers a page of what a collection has: a head, the list that `write` appends, which tells where the page ended when
/// more follow, and the page's own record. A collection of which nothing is known has an empty list.
pub(crate) async fn answer_page(
    app: &App,
    key: CollectionKey,
    head: &[u8],
    page: &PagePlan,
    write: impl FnOnce(&Slot, &mut Vec<u8>) -> Result<Option<Position>, Failure>,
) -> Result<Vec<u8>, Failure> {
    let mut answer = head.to_vec();
    let next = if let Some(slot) = searchable(app, key).await? {
        write(&slot, &mut answer)?
    } else {
        answer.extend_from_slice(b"[]");
        None
    };
    page.write(&mut answer, next)?;
    answer.push(b'}');
    Ok(answer)
}

/// A collection to search in; `None` when nobody ever said anything of it.
pub(crate) async fn searchable(app: &App, key: CollectionKey) -> Result<Option<Arc<Slot>>, Failure> {
    match app.resident.find(key).await? {
        Residence::Resident(slot) => Ok(Some(slot)),
        Residence::Missing => Ok(None),
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
