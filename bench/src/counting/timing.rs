//! How long charts take.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::time::sleep;

use super::charts::Chart;
use super::events::Dataset;
use crate::client::{Connection, post};
use crate::error::{Context, Error};
use crate::report::{ChartTimes, Percentiles};
use crate::stage::{Project, Server, Stage};
use crate::stats::percentile;

/// Requests before those that are measured.
const WARM_UP: usize = 20;

/// A chart of wallets. Asked for a day before all others it loads the project, and counts nothing.
const PRIMER: &str = "/rpc/Analytics/WalletsTotal";

/// The time without requests after which a server is at rest.
const SETTLE: Duration = Duration::from_secs(3);

/// Makes requests for charts over the whole range.
#[derive(Debug)]
pub(super) struct Asker {
    address: SocketAddr,
    authorization: String,
    body: String,
    primer_body: String,
}

impl Asker {
    pub(super) fn new(dataset: Dataset, server: &Server, project: &Project) -> Self {
        let body = |first: &str, last: &str| {
            json!({ "filter": { "startDate": first, "endDate": last } }).to_string()
        };
        let before = dataset.label_before();
        Self {
            address: server.address,
            authorization: format!("Bearer {}", project.secret_token),
            body: body(&dataset.first_label(), &dataset.last_label()),
            primer_body: body(&before, &before),
        }
    }

    /// The bytes of the request that loads everything.
    fn primer(&self) -> Vec<u8> {
        post(self.address, PRIMER, &[("Authorization", &self.authorization)], &self.primer_body)
    }

    /// The bytes of a request.
    pub(super) fn request(&self, path: &str) -> Vec<u8> {
        post(self.address, path, &[("Authorization", &self.authorization)], &self.body)
    }
}

/// Where charts are asked for, and how often.
#[derive(Debug)]
pub(super) struct Timing<'a> {
    pub(super) stage: &'a Stage<'a>,
    pub(super) project: &'a Project,
    pub(super) dataset: Dataset,
    /// Requests of the warm measure.
    pub(super) requests: usize,
}

/// A chart's times and its answer.
#[derive(Debug)]
pub(super) struct ChartTiming {
    pub(super) times: ChartTimes,
    pub(super) answer: Value,
}

impl Timing<'_> {
    /// Measures each chart, and then the memory of a server that has answered all of them. Every answer to the same
    /// question must have the same bytes, whether it was just loaded, just counted, or remembered.
    pub(super) async fn measure(&self, charts: &[&Chart]) -> Result<(Vec<ChartTiming>, Option<u64>), Error> {
        let mut fresh = Vec::with_capacity(charts.len());
        for chart in charts {
            fresh.push(self.on_new_servers(chart).await.context(|| chart.name().to_owned())?);
        }
        let server = self.stage.serve().await?;
        let mut timed = Vec::with_capacity(charts.len());
        for (chart, fresh) in charts.iter().zip(fresh) {
            timed.push(self.warm(chart, &server, fresh).await.context(|| chart.name().to_owned())?);
        }
        sleep(SETTLE).await;
        let memory = server.process.memory_bytes();
        server.stop().await?;
        Ok((timed, memory))
    }

    async fn on_new_servers(&self, chart: &Chart) -> Result<FreshServers, Error> {
        let (cold, answer) = self.on_new_server(chart, false).await?;
        let (first, again) = self.on_new_server(chart, true).await?;
        if answer != again {
            return Err(Error::new("the answer after a load is another than the one before"));
        }
        Ok(FreshServers { cold, first, answer })
    }

    /// The time of the first request for a chart, to a server that has loaded the project for another, or has not.
    async fn on_new_server(&self, chart: &Chart, is_loaded: bool) -> Result<(Duration, Vec<u8>), Error> {
        let server = self.stage.serve().await?;
        let asker = Asker::new(self.dataset, &server, self.project);
        let mut connection = Connection::open(server.address).await?;
        if is_loaded {
            connection.exchange(&asker.primer()).await?;
        }
        let request = asker.request(chart.path);
        let started = Instant::now();
        let answer = connection.exchange(&request).await?.to_owned();
        let took = started.elapsed();
        server.stop().await?;
        Ok((took, answer))
    }

    async fn warm(&self, chart: &Chart, server: &Server, fresh: FreshServers) -> Result<ChartTiming, Error> {
        let request = Asker::new(self.dataset, server, self.project).request(chart.path);
        let mut connection = Connection::open(server.address).await?;
        let mut times = Vec::with_capacity(self.requests);
        for index in 0..WARM_UP + self.requests {
            let started = Instant::now();
            let answer = connection.exchange(&request).await?;
            let took = started.elapsed();
            if answer != fresh.answer {
                return Err(Error::new("the answer of a warm server is another than the first"));
            }
            if index >= WARM_UP {
                times.push(took);
            }
        }
        times.sort_unstable();
        let none = || Error::new("there were no requests");
        let warm = Percentiles {
            p50: percentile(&times, 50).ok_or_else(none)?,
            p99: percentile(&times, 99).ok_or_else(none)?,
        };
        let answer = serde_json::from_slice(&fresh.answer).context(|| "reading an answer".to_owned())?;
        Ok(ChartTiming { times: ChartTimes { cold: fresh.cold, first: fresh.first, warm }, answer })
    }
}

/// What new servers said.
#[derive(Debug)]
struct FreshServers {
    cold: Duration,
    first: Duration,
    answer: Vec<u8>,
}

/// The only number of an answer with one point.
pub(super) fn number(answer: &[u8]) -> Result<u64, Error> {
    let answer: Value = serde_json::from_slice(answer).context(|| "reading an answer".to_owned())?;
    let value = answer.as_object().and_then(|members| members.values().next()?[0]["value"].as_u64());
    value.ok_or_else(|| Error::new(format!("no number in {answer:.300}")))
}
