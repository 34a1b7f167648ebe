//! The primary sale of the demo, by a contract that no chain has: what that would say is told here. Where the network has a node
//! nothing is made up, and there is no sale.

use std::sync::Arc;

use alloy_primitives::Bytes;
use bourse_protocols::native::Inquiry;
use bourse_protocols::primary_sale::{SaleHead, SaleItem};
use bourse_server::Chains;
use bourse_server::settings::Settings;
use bourse_wire::{ChainId, Error};
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, ready};
use serde_json::{Value, json};

use super::data::{self, CHAIN_ID};

/// Tokens that the front of the shop shows.
const SHOWN: u64 = 24;

/// A chain of which this is all that anybody says.
struct SaleAlone {
    head: SaleHead,
    items: Vec<SaleItem>,
}

impl Chains for SaleAlone {
    fn ask_all(&self, chain: ChainId, asked: Vec<Inquiry>) -> BoxFuture<'_, Option<Vec<Option<Bytes>>>> {
        let is_told = chain.0 == CHAIN_ID && asked.iter().all(|inquiry| inquiry.to == data::SALE);
        let answers = is_told
            .then(|| asked.iter().map(|inquiry| self.head.answer(&self.items, inquiry)).collect::<Vec<_>>());
        ready(answers).boxed()
    }
}

/// Whether there is a sale.
pub(super) fn is_told(settings: &Settings) -> bool {
    settings.networks.get(CHAIN_ID).is_some_and(|network| network.rpc_urls.is_empty())
}

/// Whom to ask about what is sold, which the settings name from then on.
pub(super) fn tell(settings: &mut Settings) -> Result<Arc<dyn Chains>, Error> {
    let wrong = |error| Error::invalid("saleAddress", error);
    let (head, items) = data::sale().map_err(wrong)?;
    settings.networks.name_sale(CHAIN_ID, data::SALE);
    Ok(Arc::new(SaleAlone { head, items }))
}

/// What the project's storefront says of it.
pub(super) fn shop_collection() -> Value {
    let tokens: Vec<String> = (1..=SHOWN).map(|token| token.to_string()).collect();
    json!({
        "chainId": CHAIN_ID,
        "itemsAddress": data::PROVISIONS_ADDRESS,
        "saleAddress": data::SALE,
        "name": "Guild Provisions",
        "tokenIds": tokens,
    })
}
