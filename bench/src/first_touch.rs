//! How long a cold server takes to answer the first question about a collection, which it has to load for it.

use std::time::{Duration, Instant};

use crate::client::Connection;
use crate::compare::Bench;
use crate::error::{Context, Error};
use crate::load::Target;
use crate::report::FirstTouch;
use crate::scenario::{FIRST_TOUCH_PATH, first_touch};
use crate::trading::TradedCollection;

/// A server may refuse requests while it loads; it must be done after this.
const LOAD_LIMIT: Duration = Duration::from_mins(5);

/// Sends the first request, again while it is refused, and takes the time to its answer.
pub(crate) async fn measure(bench: &Bench<'_>, collection: &TradedCollection) -> Result<FirstTouch, Error> {
    let request = first_touch(collection);
    let target = bench.target(bench.server, FIRST_TOUCH_PATH, std::slice::from_ref(&request));
    let started = Instant::now();
    let mut refused = 0;
    let answer = loop {
        match ask(&target).await {
            Ok(answer) => break answer,
            Err(_) if started.elapsed() < LOAD_LIMIT => refused += 1,
            Err(error) => {
                return Err(bench.server.process.failure(&format!("did not load the collection: {error}")));
            }
        }
        // Not to be what keeps the server busy.
        tokio::time::sleep(Duration::from_millis(10)).await;
    };
    let took = started.elapsed();
    let answer = serde_json::from_slice(&answer).context(|| "reading the first answer".to_owned())?;
    (request.check)(&answer).context(|| "the first answer".to_owned())?;
    Ok(FirstTouch { took, refused })
}

async fn ask(target: &Target<'_>) -> Result<Vec<u8>, Error> {
    let mut connection = Connection::open(target.address).await?;
    let Some(request) = target.requests.first() else { return Err(Error::new("there is no request")) };
    connection.exchange(request).await.map(ToOwned::to_owned)
}
