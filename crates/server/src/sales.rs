//! What contracts of primary sales say, as they said a moment ago.
//!
//! Terms are asked for, not followed: whoever buys is told what holds at this moment, and a reorganisation leaves nothing
//! behind. A contract is asked once in a while, however many want to know, and only one that the settings name.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bourse_protocols::primary_sale::{ITEMS_MAX, SaleHead, SaleItem, read_items};
use bourse_settings::Networks;
use bourse_wire::{Address, ChainId, Code, Error};
use tokio::sync::Mutex;

use crate::chains::Chains;

/// For so long an answer is as good as a new one: about as long as a block takes.
const FRESH: Duration = Duration::from_secs(2);

/// A primary sale, as its contract says.
#[derive(Debug)]
pub(crate) struct Sale {
    /// Everything but items.
    pub(crate) head: SaleHead,
    /// Tokens that have, or had, terms of their own, in their order.
    pub(crate) items: Vec<SaleItem>,
}

/// What was last said, and when. That nobody said anything counts as well: who asks after that need not wait for it again.
type Said = Option<(Instant, Result<Arc<Sale>, Error>)>;

/// The sales of all networks.
pub(crate) struct Sales(HashMap<(ChainId, Address), Mutex<Said>>);

impl Sales {
    /// Those that the settings name.
    pub(crate) fn new(networks: &Networks) -> Self {
        let named = networks
            .iter()
            .flat_map(|network| network.sales.iter().map(|contract| (ChainId(network.id), *contract)));
        Self(named.map(|named| (named, Mutex::default())).collect())
    }

    /// What a contract says. Of all who want to know at once, one asks.
    pub(crate) async fn find(
        &self,
        chains: &dyn Chains,
        chain: ChainId,
        contract: Address,
    ) -> Result<Arc<Sale>, Error> {
        let unknown = || {
            Error::not_found(format_args!(
                "primary sale {contract} on chain {chain}: `sales` of a network in the settings names those that are known"
            ))
        };
        let mut said = self.0.get(&(chain, contract)).ok_or_else(unknown)?.lock().await;
        if let Some((_, sale)) = said.as_ref().filter(|(at, _)| at.elapsed() < FRESH) {
            return sale.clone();
        }
        let sale = ask(chains, chain, contract).await.map(Arc::new);
        *said = Some((Instant::now(), sale.clone()));
        sale
    }
}

async fn ask(chains: &dyn Chains, chain: ChainId, contract: Address) -> Result<Sale, Error> {
    let no_answer = || {
        Error::new(
            Code::ChainUnavailable,
            format!("no node of chain {chain} answers just now; try again shortly"),
        )
    };
    let no_sale = || {
        Error::not_found(format_args!("primary sale at {contract} on chain {chain}: the contract is none"))
    };
    let answers = chains.ask_all(chain, SaleHead::inquiries(contract)).await.ok_or_else(no_answer)?;
    let head = SaleHead::read(&answers).ok_or_else(no_sale)?;
    if head.items > ITEMS_MAX {
        let (items, reason) = (head.items, "has terms for more tokens than are read of one contract");
        return Err(Error::invalid(
            "primarySaleContractAddress",
            format!("{contract} {reason}: {items}, of at most {ITEMS_MAX}"),
        ));
    }
    let inquiries = head.item_inquiries(contract);
    let answers = if inquiries.is_empty() {
        Vec::new()
    } else {
        chains.ask_all(chain, inquiries).await.ok_or_else(no_answer)?
    };
    // A contract that told its head and not its items is one that a node failed at.
    let items = read_items(&answers).ok_or_else(no_answer)?;
    Ok(Sale { head, items })
}
