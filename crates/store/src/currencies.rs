//! Currencies and their rates.

use std::collections::{BTreeMap, HashSet};

use bourse_wire::{Address, ChainId, Currency, DatedRate, Timestamp};

use crate::StoreError;
use crate::args::args;
use crate::audit::{self, Act, Actor, Entry};
use crate::backend::{Pending, Store};
use crate::columns::{Declared as _, Insert, or_nothing, or_replace_different, position, record};
use crate::revisions::Revision;
use crate::session::Session;

impl Store {
    /// Stores currencies; tells how many are different now. That a rate was told again is stored too, and is no
    /// difference.
    pub fn put_currencies(&self, currencies: Vec<Currency>, actor: Actor) -> Pending<'_, u64> {
        self.write(move |mut session| Box::pin(async move { put(&mut session, currencies, actor).await }))
    }

    /// Stores those of these currencies that nobody told of yet; tells how many.
    pub fn add_currencies(&self, currencies: Vec<Currency>) -> Pending<'_, u64> {
        self.write(move |mut session| {
            Box::pin(async move {
                let rows: Vec<CurrencyRow> = currencies.into_iter().map(CurrencyRow::of).collect();
                let added = session.insert_counting(Insert::of(&rows)?, &or_nothing::<CurrencyRow>()).await?;
                if added > 0 {
                    Revision::Currencies.raise(&mut session).await?;
                }
                Ok(added)
            })
        })
    }

    /// Stores what one currency is worth; whether there is such a currency.
    pub fn set_rate(&self, chain: ChainId, currency: Address, told: DatedRate) -> Pending<'_, bool> {
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
    }

    /// Every currency, by chain and address.
    pub fn currencies(&self) -> Pending<'_, Vec<Currency>> {
        self.read(|mut session| {
            Box::pin(async move {
                let sql = "FROM currencies ORDER BY chain_id, contract_address";
                let rows: Vec<CurrencyRow> = session.select(sql, args![]).await?;
                rows.into_iter().map(CurrencyRow::currency).collect()
            })
        })
    }
}

async fn put(session: &mut Session<'_>, currencies: Vec<Currency>, actor: Actor) -> Result<u64, StoreError> {
    let latest: BTreeMap<_, Currency> = currencies
        .into_iter()
        .map(|currency| ((currency.chain_id, currency.contract_address), currency))
        .collect();
    let rows: Vec<CurrencyRow> = latest.into_values().map(CurrencyRow::of).collect();
    let described = described_anew(session, &rows).await?;
    let replace = or_replace_different::<CurrencyRow>(&[], &[RATE_TOLD_AT]);
    let changed = session.insert_counting(Insert::of(&rows)?, &replace).await?;
    let all_but_told_at: Vec<&str> =
        CurrencyRow::COLUMNS.iter().copied().filter(|column| *column != RATE_TOLD_AT).collect();
    let replace = or_replace_different::<CurrencyRow>(&all_but_told_at, &[]);
    let told_again = session.insert_counting(Insert::of(&rows)?, &replace).await?;
    if changed > 0 || told_again > 0 {
        Revision::Currencies.raise(session).await?;
    }
    if !described.is_empty() {
        let named = described.iter().take(CURRENCIES_NAMED).cloned().collect::<Vec<_>>().join(", ");
        let more = described.len().saturating_sub(CURRENCIES_NAMED);
        let detail = if more > 0 { format!("and {more} more") } else { String::new() };
        audit::put(session, &actor, Entry::new(Act::CurrenciesStated, named).with(detail)).await?;
    } else if changed > 0 && !audit::has_recent(session, &actor, Act::RatesStated, RATES_NOTED_MS).await? {
        audit::put(session, &actor, Entry::new(Act::RatesStated, "rates of currencies")).await?;
    }
    Ok(changed)
}

/// Currencies that an entry of the audit log names.
const CURRENCIES_NAMED: usize = 5;
/// Milliseconds in which it is written down once who states rates: they are stated every minute.
const RATES_NOTED_MS: i64 = 60 * 60 * 1_000;

/// The currencies that are new, or told to be something else: rates aside, which change all the time.
async fn described_anew(session: &mut Session<'_>, rows: &[CurrencyRow]) -> Result<Vec<String>, StoreError> {
    let known: Vec<CurrencyRow> = session.select("FROM currencies", args![]).await?;
    let known: HashSet<_> = known.iter().map(CurrencyRow::description).collect();
    let anew = rows.iter().filter(|row| !known.contains(&row.description()));
    Ok(anew.map(|row| format!("{} on chain {}", row.contract_address, row.chain_id)).collect())
}

record! {
    struct CurrencyRow: "currencies" ("chain_id, contract_address") {
        chain_id: ChainId,
        contract_address: Address,
        name: String,
        symbol: String,
        decimals: u8,
        image_url: String,
        exchange_rate: String,
        rate_told_at: Timestamp,
    }
}

/// That a rate was told again is no difference.
const RATE_TOLD_AT: &str = CurrencyRow::COLUMNS[position(CurrencyRow::COLUMNS, "rate_told_at")];

impl CurrencyRow {
    /// Everything but its rate.
    fn description(&self) -> (ChainId, Address, &str, &str, u8, &str) {
        (self.chain_id, self.contract_address, &self.name, &self.symbol, self.decimals, &self.image_url)
    }

    fn of(currency: Currency) -> Self {
        let (exchange_rate, rate_told_at) = match currency.rate {
            Some(told) => (told.rate.to_string(), told.at),
            None => Default::default(),
        };
        Self {
            chain_id: currency.chain_id,
            contract_address: currency.contract_address,
            name: currency.name,
            symbol: currency.symbol,
            decimals: currency.decimals,
            image_url: currency.image_url,
            exchange_rate,
            rate_told_at,
        }
    }

    fn currency(self) -> Result<Currency, StoreError> {
        let rate = match self.exchange_rate.as_str() {
            "" => None,
            rate => {
                let rate = rate.parse().map_err(|error| StoreError::corrupt("exchange_rate", error))?;
                Some(DatedRate { rate, at: self.rate_told_at })
            }
        };
        Ok(Currency {
            chain_id: self.chain_id,
            contract_address: self.contract_address,
            name: self.name,
            symbol: self.symbol,
            decimals: self.decimals,
            image_url: self.image_url,
            rate,
        })
    }
}
