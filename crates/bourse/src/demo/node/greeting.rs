//! What is printed once everything is there: where to look, and calls to try.

use bourse_wire::Address;
use serde_json::{Value, json};

use super::contracts::Contracts;
use super::journal::{Credentials, Record};
use super::trading::Market;
use crate::context::CommandError;

/// How much there is to see.
pub(super) struct Seen {
    /// A listing that can be bought, where one is open.
    listing: Option<Value>,
    counts: [String; 2],
}

impl Seen {
    /// Asks the service for it.
    pub(super) async fn of(market: &Market, contracts: &Contracts) -> Result<Self, CommandError> {
        let mut counts = [String::new(), String::new()];
        let mut listing = None;
        for (collection, count) in [contracts.relics, contracts.provisions].into_iter().zip(&mut counts) {
            let all = |side: &str| json!({ "contractAddress": collection, "side": side });
            let listed = market.ask("GetCountOfFilteredCollectibles", &all("listing")).await?;
            let offered = market.ask("GetCountOfFilteredCollectibles", &all("offer")).await?;
            *count = format!("{} tokens for sale, {} with offers", listed["count"], offered["count"]);
            if listing.is_none() {
                let found = market.ask("ListCollectibles", &all("listing")).await?;
                listing = Some(found["collectibles"][0]["listing"].clone()).filter(Value::is_object);
            }
        }
        Ok(Self { listing, counts })
    }
}

pub(super) fn text(
    record: &Record,
    project: &Credentials,
    contracts: &Contracts,
    buyer: Address,
    seen: &Seen,
) -> String {
    let url = &record.api_url;
    let curl = |operation: &str, body: &Value| {
        format!(
            "curl -s {url}/{}/rpc/Marketplace/{operation} \\\n  -H 'Content-Type: application/json' \
            -H 'X-Access-Key: {}' \\\n  -d '{body}'\n",
            record.network, project.access_key
        )
    };
    let cheapest =
        json!({ "contractAddress": contracts.relics, "side": "listing", "page": { "pageSize": 2 } });
    let mut calls = vec![curl("ListCollectibles", &cheapest)];
    if let Some(listing) = &seen.listing {
        let buying = json!({
            "collectionAddress": listing["collectionContractAddress"], "buyer": buyer, "marketplace": listing["marketplace"],
            "ordersData": [{ "orderId": listing["orderId"], "quantity": "1", "tokenId": listing["tokenId"] }],
            "additionalFees": [], "walletType": "unknown",
        });
        calls.push(curl("GenerateBuyTransaction", &buying));
    }
    let sale = json!({ "primarySaleContractAddress": contracts.sale });
    calls.push(curl("ListPrimarySaleItems", &sale));
    format!(
        "\nThe demo is on chain {} and at {url}: its shop at {url}/shop, its console at {url}/console, a reference at {url}/docs.\n\n\
        Project        {}\nAccess key     {}\nSecret token   {}\n\
        Relics         {} (ERC721): {}\nProvisions     {} (ERC1155): {}\n\
        Currency       {}\nSale           {}\nMarketplaces   {} and {}\n\n\
        The cheapest tokens, the steps to buy one, and what the sale has:\n\n{}",
        record.chain_id,
        project.project_id,
        project.access_key,
        project.secret_token,
        contracts.relics,
        seen.counts[0],
        contracts.provisions,
        seen.counts[1],
        contracts.currency,
        contracts.sale,
        contracts.market_v1,
        contracts.market_v2,
        calls.join("\n")
    )
}
