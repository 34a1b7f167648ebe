//! `bourse doctor --deep`: has the running service compare what it holds in memory with the database.

use bourse_server::Clock;
use bourse_server::auth::TokenSigner;
use bourse_server::settings::Settings;
use serde_json::Value;

use super::health::{Request, ask, reachable};
use crate::context::CommandError;

/// Collections that are compared unless all are asked for.
const SAMPLE: usize = 16;

/// What was found, or what to do. A service that does not run holds nothing that could differ.
pub(super) fn check_memory(settings: &Settings, is_whole: bool) -> Result<String, String> {
    let address = reachable(settings.server.listen);
    if std::net::TcpStream::connect_timeout(&address, super::health::TIMEOUT).is_err() {
        return Ok(format!("no service answers at {address}: nothing is in memory"));
    }
    compare(settings, is_whole).map_err(|error| error.to_string())?
}

fn compare(settings: &Settings, is_whole: bool) -> Result<Result<String, String>, CommandError> {
    let listed = call(settings, "GET", "/self-check")?;
    let all = listed["collections"].as_array().cloned().unwrap_or_default();
    // Spread over all of them, so that another number of collections shows others.
    let step = if is_whole { 1 } else { all.len().div_ceil(SAMPLE).max(1) };
    let (mut equal, mut others, mut differences) = (0, 0, Vec::new());
    for collection in all.iter().step_by(step) {
        let contract = collection["contractAddress"].as_str().unwrap_or_default();
        let path = format!("/self-check/{}/{contract}", collection["chainId"]);
        let verdict = call(settings, "POST", &path)?;
        match verdict["outcome"].as_str() {
            Some("equal") => equal += 1,
            Some("different") => differences.push(format!("{contract} in {}", verdict["differences"])),
            _ => others += 1,
        }
    }
    let compared =
        format!("{equal} of {} loaded collections are as stored, {others} could not be compared", all.len());
    if differences.is_empty() {
        return Ok(Ok(compared));
    }
    let differ = differences.join("; ");
    Ok(Err(format!(
        "{compared}; loaded anew as they differed: {differ}. Keep the log of the service and report it"
    )))
}

/// Asks the service by right of the signing secret. What a token says is over soon, so that each request has its own.
pub(super) fn call(settings: &Settings, method: &'static str, path: &str) -> Result<Value, CommandError> {
    let address = reachable(settings.server.listen);
    let signer = TokenSigner::open(&settings.auth.jwt_secret, &settings.storage.data)
        .map_err(CommandError::io("opening the signing secret"))?;
    let token = signer.issue_operator(Clock::system().now())?;
    let asked = format!("asking http://{address}{path}");
    let request = Request { method, path, token: Some(&token) };
    let answer = ask(address, &request).map_err(CommandError::io(asked.clone()))?;
    if answer.status != 200 {
        return Err(CommandError::Other(format!("{asked}: {}: {}", answer.status, answer.body.trim())));
    }
    serde_json::from_str(&answer.body).map_err(|error| CommandError::Other(format!("{asked}: {error}")))
}
