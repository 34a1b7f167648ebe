//! Whether reads stay quick while orders change.

use std::time::Duration;

use serde_json::Value;

use crate::client::Connection;
use crate::compare::Bench;
use crate::error::{Context, Error};
use crate::load::Target;
use crate::report::ReadsDuringWrites;
use crate::scenario::{LISTINGS_PATH, READS_DURING_WRITES, listings_body};
use crate::stats::Figures;
use crate::trading::{Order, TradedCollection};
use crate::writer::Writer;

/// What `--only` picks it by.
pub(crate) const NAME: &str = "write-load";

/// Few that pause, so that reads leave the machine some time for writes: what is asked is how long an answer takes
/// while orders change, not how many there are.
const CONNECTIONS: u16 = 4;
const PAUSE: Duration = Duration::from_millis(2);

/// Measures all reads without and then with writes. What the collection knows of prices is wrong afterwards.
pub(crate) async fn measure(
    bench: &Bench<'_>,
    collection: &TradedCollection,
    writer: &Writer,
) -> Result<Vec<ReadsDuringWrites>, Error> {
    let mut measured = Vec::with_capacity(READS_DURING_WRITES.len());
    // All quiet rounds come first: the server may be busy with writes for a while after they ended.
    for scenario in READS_DURING_WRITES {
        let target = bench.target(bench.server, scenario.path, &(scenario.requests)(collection));
        let target = Target { pause: PAUSE, ..target };
        let quiet = quiet_rounds(bench, &target).await?;
        measured.push((scenario.name, target, quiet));
    }
    check_write(bench, collection, writer).await?;
    let mut reports = Vec::with_capacity(measured.len());
    for (name, target, quiet) in measured {
        let (writing, changes_per_second) = writing_rounds(bench, &target, writer).await?;
        let cores = bench.stage.cores();
        let report =
            ReadsDuringWrites { name, connections: CONNECTIONS, cores, quiet, writing, changes_per_second };
        report.print();
        reports.push(report);
    }
    Ok(reports)
}

async fn quiet_rounds(bench: &Bench<'_>, target: &Target<'_>) -> Result<Vec<Figures>, Error> {
    let plan = bench.options.plan();
    target.load(CONNECTIONS, plan.warm_up).await?;
    let mut rounds = Vec::with_capacity(plan.rounds);
    for _ in 0..plan.rounds {
        rounds.push(target.load(CONNECTIONS, plan.round).await?);
    }
    Ok(rounds)
}

/// The figures of the reads, and the changes acknowledged in a second, round by round.
async fn writing_rounds(
    bench: &Bench<'_>,
    target: &Target<'_>,
    writer: &Writer,
) -> Result<(Vec<Figures>, Vec<f64>), Error> {
    let plan = bench.options.plan();
    tokio::try_join!(target.load(CONNECTIONS, plan.warm_up), writer.write_for(plan.warm_up))?;
    let mut reads = Vec::with_capacity(plan.rounds);
    let mut changes_per_second = Vec::with_capacity(plan.rounds);
    for _ in 0..plan.rounds {
        let round = tokio::try_join!(target.load(CONNECTIONS, plan.round), writer.write_for(plan.round));
        let (figures, changes) = round?;
        reads.push(figures);
        changes_per_second.push(changes);
    }
    Ok((reads, changes_per_second))
}

/// Writes count only if they are seen: the first batch is sent alone, and its orders are asked for.
async fn check_write(bench: &Bench<'_>, collection: &TradedCollection, writer: &Writer) -> Result<(), Error> {
    let written = writer.write_one(collection).await?;
    let address = bench.server.address;
    let mut connection = Connection::open(address).await?;
    for order in &written {
        let request = bench.bytes(address, LISTINGS_PATH, &listings_body(order.token));
        let answer =
            connection.exchange(&request).await.context(|| "asking for a changed order".to_owned())?;
        let answer = serde_json::from_slice(answer).context(|| "reading a changed order".to_owned())?;
        is_seen(order, &answer)?;
    }
    Ok(())
}

fn is_seen(order: &Order, answer: &Value) -> Result<(), Error> {
    let (order_id, price) = (order.order_id(), order.price_amount());
    let mut listings = answer["listings"].as_array().into_iter().flatten();
    let found = listings.find(|listing| listing["orderId"] == order_id.as_str());
    match found.and_then(|listing| listing["priceAmount"].as_str()) {
        Some(seen) if seen == price => Ok(()),
        seen => Err(Error::new(format!("order {order_id} was changed to {price}, but is seen as {seen:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::is_seen;
    use crate::trading::TradedCollection;

    #[test]
    fn an_old_price_is_not_a_change_that_is_seen() {
        let collection = TradedCollection::new(2_000);
        let old = &collection.orders[0];
        let new = old.repriced(90);
        let answer = json!({
            "listings": [{ "orderId": new.order_id(), "priceAmount": new.price_amount() }],
        });
        is_seen(&new, &answer).unwrap();
        is_seen(old, &answer).unwrap_err();
        is_seen(&new, &json!({ "listings": [] })).unwrap_err();
    }
}
