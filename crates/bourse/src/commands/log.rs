//! Tells who said what: of a collection, of an order, and in the administration of the service.

use bourse_server::logbook;
use bourse_store::{
    Attribution, AttributionPage, AuditPage, CollectionKey, Extent, OrderAttributions, ProjectScope,
};
use bourse_wire::{Error, Marketplace, OrderKey, ServiceName};

use crate::cli::{Common, Log};
use crate::context::{CommandError, Context};
use crate::output::{print, table};

/// Entries that are read from the store at once.
const READ_AT_ONCE: u64 = 1_000;

pub(super) async fn run(common: &Common, log: Log) -> Result<(), CommandError> {
    let context = Context::open(common).await?;
    match (&log.network, log.contract) {
        (Some(network), Some(address)) => {
            let key = CollectionKey { chain: context.chain(network)?, address };
            history(common, &context, key, &log).await?;
        }
        (None, None) if log.order.is_none() => audit(common, &context, &log).await?,
        (None, Some(_)) => return Err(Error::invalid("contract", "needs --network as well").into()),
        (Some(_), None) => return Err(Error::invalid("network", "needs --contract as well").into()),
        (None, None) => return Err(Error::invalid("order", "needs --network and --contract as well").into()),
    }
    context.store.close().await;
    Ok(())
}

/// Who said what of a collection, or of one of its orders.
async fn history(
    common: &Common,
    context: &Context,
    key: CollectionKey,
    log: &Log,
) -> Result<(), CommandError> {
    let service = ServiceName::new(&context.settings.service.name);
    let page = AttributionPage::newest(log.limit);
    let found = match order_key(&service, log)? {
        Some(order) => order_history(context, key, order, log.limit).await?,
        None => context.store.attributions(key, page).await?,
    };
    let value = found.iter().map(|one| logbook::attribution_record(one, &service)).collect();
    print(common.json, &value, || {
        if found.is_empty() {
            return "Nobody said anything of it, or it was longer ago than storage.attributions_days."
                .to_owned();
        }
        let rows = found.iter().map(|one| {
            let version = one.version.to_string();
            [version, one.at.to_string(), one.author.full_name(), logbook::attribution_summary(one, &service)]
        });
        table(["VERSION", "WHEN", "WHO", "WHAT"], rows.collect())
    })
}

/// Who said what of an order, however long that takes to find.
async fn order_history(
    context: &Context,
    key: CollectionKey,
    order: OrderKey,
    limit: u64,
) -> Result<Vec<Attribution>, CommandError> {
    let (mut all, mut before) = (Vec::new(), None);
    loop {
        let page = AttributionPage { before, limit: limit - all.len() as u64 };
        let OrderAttributions { found, more_before } =
            context.store.order_attributions(key, order.clone(), page).await?;
        all.extend(found);
        before = more_before;
        if before.is_none() || all.len() as u64 >= limit {
            return Ok(all);
        }
    }
}

fn order_key(service: &ServiceName, log: &Log) -> Result<Option<OrderKey>, CommandError> {
    match (&log.order, &log.marketplace) {
        (None, None) => Ok(None),
        (Some(order_id), Some(word)) => {
            let unknown = || Error::invalid("marketplace", format!("`{word:.64}` is not known"));
            let marketplace = Marketplace::parse(word, service).ok_or_else(unknown)?;
            Ok(Some(OrderKey { marketplace, order_id: order_id.clone() }))
        }
        (Some(_), None) => Err(Error::invalid("order", "needs --marketplace as well").into()),
        (None, Some(_)) => Err(Error::invalid("marketplace", "needs --order as well").into()),
    }
}

/// Who administered what.
async fn audit(common: &Common, context: &Context, log: &Log) -> Result<(), CommandError> {
    let extent = match log.project {
        Some(project) => {
            context.store.project(project).await?;
            Extent::Project(ProjectScope::of_operator(project))
        }
        None => Extent::Everything,
    };
    let (mut found, mut before) = (Vec::new(), None);
    while (found.len() as u64) < log.limit {
        let limit = READ_AT_ONCE.min(log.limit - found.len() as u64);
        let page = context.store.audit(extent, AuditPage { before, limit }).await?;
        let Some(last) = page.last() else { break };
        before = Some(last.id);
        found.extend(page);
    }
    print(common.json, &found.iter().map(logbook::audit_record).collect(), || {
        let rows = found.iter().map(|entry| {
            let project = entry.project.map(|project| project.to_string()).unwrap_or_default();
            let what = logbook::audit_summary(entry);
            let from = entry.actor.address.map(|address| address.to_string()).unwrap_or_default();
            [entry.actor.at.to_string(), entry.actor.identity.to_string(), from, project, what]
        });
        table(["WHEN", "WHO", "FROM", "PROJECT", "WHAT"], rows.collect())
    })
}
