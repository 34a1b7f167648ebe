//! Currencies and their rates.

use std::collections::BTreeMap;

use bourse_wire::{ChainId, Currency};

use crate::StoreError;
use crate::args::args;
use crate::backend::Store;
use crate::revisions::Revision;
use crate::row::Row;

impl Store {
    /// Stores currencies; tells how many are different now.
    pub async fn put_currencies(&self, currencies: Vec<Currency>) -> Result<u64, StoreError> {
        self.write(move |mut session| {
            Box::pin(async move {
                let latest: BTreeMap<_, Currency> = currencies
                    .into_iter()
                    .map(|currency| ((currency.chain_id, currency.contract_address), currency))
                    .collect();
                let rows = latest.into_values().map(|currency| {
                    let rate = currency.exchange_rate.map(|rate| rate.to_string()).unwrap_or_default();
                    args![
                        currency.chain_id,
                        currency.contract_address,
                        currency.name,
                        currency.symbol,
                        currency.decimals,
                        currency.image_url,
                        rate,
                    ]
                });
                let head = "INSERT INTO currencies
                    (chain_id, contract_address, name, symbol, decimals, image_url, exchange_rate)";
                let tail = "ON CONFLICT (chain_id, contract_address) DO UPDATE SET name = excluded.name,
                    symbol = excluded.symbol, decimals = excluded.decimals, image_url = excluded.image_url,
                    exchange_rate = excluded.exchange_rate
                    WHERE (currencies.name, currencies.symbol, currencies.decimals, currencies.image_url,
                        currencies.exchange_rate)
                        <> (excluded.name, excluded.symbol, excluded.decimals, excluded.image_url,
                        excluded.exchange_rate)
                    RETURNING contract_address";
                let changed = session.insert(head, tail, rows.collect()).await?.len() as u64;
                if changed > 0 {
                    Revision::Currencies.raise(&mut session).await?;
                }
                Ok(changed)
            })
        })
        .await
    }

    /// Every currency, by chain and address.
    pub async fn currencies(&self) -> Result<Vec<Currency>, StoreError> {
        self.read(|mut session| {
            Box::pin(async move {
                let sql =
                    "SELECT chain_id, contract_address, name, symbol, decimals, image_url, exchange_rate
                    FROM currencies ORDER BY chain_id, contract_address";
                session.all(sql, args![]).await?.iter().map(currency).collect()
            })
        })
        .await
    }
}

fn currency(row: &Row) -> Result<Currency, StoreError> {
    Ok(Currency {
        chain_id: ChainId(row.u64(0, "chain id")?),
        contract_address: row.parse(1, "currency address")?,
        name: row.text(2)?,
        symbol: row.text(3)?,
        decimals: row.u8(4, "currency decimals")?,
        image_url: row.text(5)?,
        exchange_rate: match row.text(6)?.as_str() {
            "" => None,
            rate => Some(rate.parse().map_err(|error| StoreError::corrupt("exchange rate", error))?),
        },
    })
}
