//! Loads two things in turns and compares them: Bourse and the bare server, or deep pages and first ones.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::time::timeout;

use crate::client::{Connection, post};
use crate::error::{Context, Error};
use crate::load::Target;
use crate::options::Options;
use crate::report::{Contest, Heading, Round};
use crate::scenario::{Paging, PagingRequests, Request, Scenario};
use crate::stage::{Server, Stage};
use crate::trading::TradedCollection;

const CHECK_LIMIT: Duration = Duration::from_mins(5);

/// How many answers of the bare server are looked at.
const BARE_CHECKS: usize = 3;

/// A running server and what is needed to ask it.
#[derive(Debug)]
pub(crate) struct Bench<'a> {
    /// What to do.
    pub(crate) options: &'a Options,
    /// Where the bare server is started.
    pub(crate) stage: &'a Stage<'a>,
    /// Bourse.
    pub(crate) server: &'a Server,
    /// What opens it.
    pub(crate) access_key: &'a str,
}

impl Bench<'_> {
    /// Compares Bourse with a bare server that answers the same bytes.
    pub(crate) async fn against_bare<Data>(
        &self,
        scenario: &Scenario<Data>,
        data: &Data,
    ) -> Result<Contest, Error> {
        let requests = (scenario.requests)(data);
        let bourse = self.target(self.server, scenario.path, &requests);
        let answers = self.check(&requests, &bourse).await?;
        let bare_server = self.stage.serve_bare(scenario.path, &answers).await?;
        let bare = self.target(&bare_server, scenario.path, &requests);
        check_bare(&bare, &answers).await?;
        let heading = Heading {
            name: scenario.name,
            title: scenario.title.to_owned(),
            path: scenario.path,
            cores: self.stage.cores(),
            subject: "bourse",
            reference: "bare",
            ratio_goal: scenario.ratio_goal,
        };
        self.rounds(heading, &bourse, &bare).await
    }

    /// Compares pages far behind with the first ones.
    pub(crate) async fn deep_against_first(
        &self,
        paging: &Paging,
        collection: &TradedCollection,
    ) -> Result<Contest, Error> {
        let PagingRequests { first, deep, deep_page } = paging.requests(collection);
        let shallow_target = self.target(self.server, Paging::PATH, &first);
        let deep_target = self.target(self.server, Paging::PATH, &deep);
        self.check(&first, &shallow_target).await?;
        self.check(&deep, &deep_target).await?;
        let heading = Heading {
            name: paging.name,
            title: format!("{}, {} pages up to {deep_page} and as many from 1", paging.title, deep.len()),
            path: Paging::PATH,
            cores: self.stage.cores(),
            subject: "deep",
            reference: "first",
            ratio_goal: Paging::RATIO_GOAL,
        };
        self.rounds(heading, &deep_target, &shallow_target).await
    }

    /// A server with these requests for it.
    pub(crate) fn target<'s>(&self, server: &'s Server, path: &str, requests: &[Request]) -> Target<'s> {
        let bytes = |request: &Request| self.bytes(server.address, path, &request.body);
        Target {
            process: &server.process,
            address: server.address,
            requests: requests.iter().map(bytes).collect(),
            pause: Duration::ZERO,
        }
    }

    /// The bytes of a request to a server at `address`.
    pub(crate) fn bytes(&self, address: SocketAddr, path: &str, body: &str) -> Vec<u8> {
        post(address, path, &[("X-Access-Key", self.access_key)], body)
    }

    /// Sends each request to Bourse once, checks its answer, and returns the answers.
    async fn check(&self, requests: &[Request], target: &Target<'_>) -> Result<Vec<Vec<u8>>, Error> {
        let checked = timeout(CHECK_LIMIT, check_all(requests, target)).await;
        let checked = checked.context(|| "checking the answers".to_owned()).flatten();
        checked.map_err(|error| self.server.process.failure(&format!("is not right: {error}")))
    }

    async fn rounds(
        &self,
        heading: Heading,
        subject: &Target<'_>,
        reference: &Target<'_>,
    ) -> Result<Contest, Error> {
        let plan = self.options.plan();
        let connections = self.options.connections;
        subject.load(connections, plan.warm_up).await?;
        reference.load(connections, plan.warm_up).await?;
        let mut contest = Contest::begin(heading, connections);
        for index in 0..plan.rounds {
            // The order changes each time, so that a machine that slows down or speeds up favours neither.
            let (subject, reference) = if index % 2 == 0 {
                let first = subject.load(connections, plan.round).await?;
                (first, reference.load(connections, plan.round).await?)
            } else {
                let first = reference.load(connections, plan.round).await?;
                (subject.load(connections, plan.round).await?, first)
            };
            contest.add(Round { subject, reference });
        }
        contest.print_end();
        Ok(contest)
    }
}

async fn check_all(requests: &[Request], target: &Target<'_>) -> Result<Vec<Vec<u8>>, Error> {
    let mut connection = Connection::open(target.address).await?;
    let mut answers = Vec::with_capacity(requests.len());
    for (request, bytes) in requests.iter().zip(target.requests.iter()) {
        let answer = connection.exchange(bytes).await.context(|| format!("request {}", request.body))?;
        let read = serde_json::from_slice(answer).context(|| format!("answer to {}", request.body))?;
        (request.check)(&read).context(|| format!("answer to {}", request.body))?;
        answers.push(answer.to_owned());
    }
    Ok(answers)
}

/// The comparison stands only if the bare server answers the very bytes of the real one.
async fn check_bare(bare: &Target<'_>, expected: &[Vec<u8>]) -> Result<(), Error> {
    let mut connection = Connection::open(bare.address).await?;
    for (request, answer) in bare.requests.iter().zip(expected).take(BARE_CHECKS) {
        if connection.exchange(request).await? != answer {
            return Err(bare.process.failure("does not answer the bytes it was given"));
        }
    }
    Ok(())
}
