//! Has the project's storefront be another one.

use bourse_wire::{Error, Marketplace, ProjectId, ServiceName, Storefront};
use schemars::JsonSchema;
use serde::Deserialize;

use super::get_storefront::Answer;
use crate::auth::AccessKey;
use crate::call::Call;
use crate::failure::Failure;
use crate::route::request;
use crate::storefronts::{check_site_key, is_public_host, origin_of, plain_host, site_address};

/// The storefront.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "PutStorefrontRequest")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Request {
    /// The credential's own project, when given.
    project_id: Option<ProjectId>,
    /// All of it: what is left out is as usual from then on.
    storefront: Storefront,
}
request!(Request, project_id);

pub(crate) async fn handle(call: Call, request: Request) -> Result<Answer, Failure> {
    let (app, scope) = (&call.app, call.scope());
    let storefront = request.storefront;
    storefront.check()?;
    check_marketplaces(&storefront, &app.service_name)?;
    check_host(&call, &storefront).await?;
    if storefront.site.enabled {
        check_key(&call, &storefront).await?;
    }
    let stored = app.store.put_storefront(scope, storefront, call.actor()).await?;
    app.storefronts.forget(scope.project());
    Ok(Answer { storefront: stored.storefront })
}

/// A word that is no marketplace's would leave a shop without orders.
fn check_marketplaces(storefront: &Storefront, service: &ServiceName) -> Result<(), Error> {
    let known = |word: &str| Marketplace::parse(word, service).filter(|found| *found != Marketplace::Unknown);
    for (index, word) in storefront.site.marketplaces.iter().enumerate() {
        if known(word.as_str()).is_none() {
            let all = Marketplace::ALL.iter().filter(|one| **one != Marketplace::Unknown);
            let all: Vec<String> = all.map(|one| one.word(service)).collect();
            let reason = format!("`{}` is none of {}", word.as_str(), all.join(", "));
            return Err(Error::invalid(&format!("storefront.site.marketplaces[{index}]"), reason));
        }
    }
    Ok(())
}

/// At the host of the whole service people see what they believe to be the service's own. Whoever runs it says whose that is; where
/// there is one project alone, it is theirs.
async fn check_host(call: &Call, storefront: &Storefront) -> Result<(), Failure> {
    let (store, domain) = (&call.app.store, storefront.domain.as_str());
    let plain = plain_host(domain, &call.app.settings.public_url());
    if plain != domain {
        // Nobody would ever come by it.
        let reason = format!("browsers name this host {plain}: write it so");
        return Err(Error::invalid("storefront.domain", reason).into());
    }
    if domain.is_empty() || !is_public_host(domain, &call.app.settings) {
        return Ok(());
    }
    let known = store.storefront(call.scope()).await?;
    if known.is_some_and(|known| known.storefront.domain == storefront.domain) {
        return Ok(());
    }
    let is_administrator = match call.caller.account() {
        Some(account) => store.accounts().await?.iter().any(|one| one.id == account && one.administrator),
        None => false,
    };
    if is_administrator || store.projects().await?.len() == 1 {
        return Ok(());
    }
    let reason = format!(
        "{domain} is the host of the whole service: an administrator gives it to a project, in the console"
    );
    Err(Error::invalid("storefront.domain", reason).into())
}

/// Refuses a key with which the pages could not ask what they show.
async fn check_key(call: &Call, storefront: &Storefront) -> Result<(), Failure> {
    let refused = |reason: &str| Error::invalid("storefront.settings.accessKey", reason);
    let named = storefront.settings.access_key.as_ref().and_then(|key| AccessKey::parse(key.as_str()));
    let named = named.filter(|key| key.project() == call.scope().project()).ok_or_else(|| {
        refused(
            "must be an access key of this project where storefront.site is enabled: its pages ask with it",
        )
    })?;
    let hash = named.hash().to_string();
    let mut keys = call.app.store.access_keys(call.scope()).await?.into_iter();
    let key = keys.find(|key| key.active && key.hash == hash);
    let key = key.ok_or_else(|| refused("is disabled, or none of this project's"))?;
    let origin = site_address(storefront, &call.app.settings);
    check_site_key(&key, &origin_of(&origin)).map_err(|reason| refused(&reason).into())
}
