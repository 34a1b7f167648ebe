//! Currencies and their rates.

use std::collections::BTreeMap;

use bourse_wire::{Address, ChainId, Currency, DatedRate};

use crate::StoreError;
use crate::args::{Arg, args};
use crate::backend::Store;
use crate::revisions::Revision;
use crate::row::Row;
use crate::session::Session;

impl Store {
    /// Stores currencies; tells how many are different now. That a rate was told again is stored too, and is no
    /// difference.
    pub async fn put_currencies(&self, currencies: Vec<Currency>) -> Result<u64, StoreError> {
        self.write(move |mut session| Box::pin(async move { put(&mut session, currencies).await })).await
    }

    /// Stores what one currency is worth; whether there is such a currency.
    pub async fn set_rate(
        &self,
        chain: ChainId,
        currency: Address,
        told: DatedRate,
    ) -> Result<bool, StoreError> {
        self.write(move |mut session| {
            Box::pin(async move {
                let sql = "UPDATE currencies SET exchange_rate = $3, rate_told_at = $4
                    WHERE chain_id = $1 AND contract_address = $2";
                let args = args![chain, currency, told.rate.to_string(), told.at];
                let is_known = session.execute(sql, args).await? > 0;
                if is_known {
                    Revision::Currencies.raise(&mut session).await?;
                }
                Ok(is_known)
            })
        })
        .await
    }

    /// Every currency, by chain and address.
    pub async fn currencies(&self) -> Result<Vec<Currency>, StoreError> {
        self.read(|mut session| {
            Box::pin(async move {
                let sql =
                    "SELECT chain_id, contract_address, name, symbol, decimals, image_url, exchange_rate,
                    rate_told_at FROM currencies ORDER BY chain_id, contract_address";
                session.all(sql, args![]).await?.iter().map(currency).collect()
            })
        })
        .await
    }
}

async fn put(session: &mut Session<'_>, currencies: Vec<Currency>) -> Result<u64, StoreError> {
    let latest: BTreeMap<_, Currency> = currencies
        .into_iter()
        .map(|currency| ((currency.chain_id, currency.contract_address), currency))
        .collect();
    let rows: Vec<Vec<Arg>> = latest.into_values().map(row_of).collect();
    let head = "INSERT INTO currencies
        (chain_id, contract_address, name, symbol, decimals, image_url, exchange_rate, rate_told_at)";
    let tail = "ON CONFLICT (chain_id, contract_address) DO UPDATE SET name = excluded.name,
        symbol = excluded.symbol, decimals = excluded.decimals, image_url = excluded.image_url,
        exchange_rate = excluded.exchange_rate, rate_told_at = excluded.rate_told_at
        WHERE (currencies.name, currencies.symbol, currencies.decimals, currencies.image_url,
            currencies.exchange_rate)
            <> (excluded.name, excluded.symbol, excluded.decimals, excluded.image_url, excluded.exchange_rate)
        RETURNING contract_address";
    let changed = session.insert(head, tail, rows.clone()).await?.len() as u64;
    let tail = "ON CONFLICT (chain_id, contract_address) DO UPDATE SET rate_told_at = excluded.rate_told_at
        WHERE currencies.rate_told_at <> excluded.rate_told_at RETURNING contract_address";
    let told_again = session.insert(head, tail, rows).await?.len();
    if changed > 0 || told_again > 0 {
        Revision::Currencies.raise(session).await?;
    }
    Ok(changed)
}

fn row_of(currency: Currency) -> Vec<Arg> {
    let (rate, at) = match currency.rate {
        Some(told) => (told.rate.to_string(), told.at),
        None => Default::default(),
    };
    args![
        currency.chain_id,
        currency.contract_address,
        currency.name,
        currency.symbol,
        currency.decimals,
        currency.image_url,
        rate,
        at,
    ]
}

fn currency(row: &Row) -> Result<Currency, StoreError> {
    let rate = match row.text(6)?.as_str() {
        "" => None,
        rate => {
            let rate = rate.parse().map_err(|error| StoreError::corrupt("exchange rate", error))?;
            Some(DatedRate { rate, at: row.parse(7, "time of a rate")? })
        }
    };
    Ok(Currency {
        chain_id: ChainId(row.u64(0, "chain id")?),
        contract_address: row.parse(1, "currency address")?,
        name: row.text(2)?,
        symbol: row.text(3)?,
        decimals: row.u8(4, "currency decimals")?,
        image_url: row.text(5)?,
        rate,
    })
}
