//! Listeners as their projects see and change them.

use bourse_wire::{Address, ChainId, Code, Error, EventFilter, RecordId};

use super::delivery::{self, CursorRow, WebhookLine};
use super::{ListenerRow, Webhook, contracts, filters_text};
use crate::args::{Arg, args};
use crate::audit::{self, Act, Actor, Entry};
use crate::backend::{Pending, Sequence, Store};
use crate::collections::{self, CollectionKey};
use crate::columns::{Insert, or_replace};
use crate::revisions::Revision;
use crate::session::Session;
use crate::{ProjectScope, StoreError, feed, projects};

/// A listener to be made. It is told what happens from then on.
#[derive(Clone)]
pub struct NewWebhook {
    /// The chain of its contracts.
    pub chain: ChainId,
    /// The address.
    pub url: String,
    /// What it is told of.
    pub filters: EventFilter,
    /// What the project calls it.
    pub name: String,
    /// What deliveries are signed with.
    pub secret: String,
}

/// What is to be different of a listener; what is absent stays as it is.
#[derive(Clone, Debug, Default)]
pub struct WebhookChanges {
    /// The address.
    pub url: Option<String>,
    /// What it is told of. Of contracts that were not named before it is told from then on.
    pub filters: Option<EventFilter>,
    /// What the project calls it.
    pub name: Option<String>,
    /// Whether it is told anything. Who is told again is told what happened meanwhile.
    pub active: Option<bool>,
    /// Why it is not, where nobody of the project says so.
    pub pause: String,
}

impl WebhookChanges {
    /// Has it be told again, or not.
    fn told(active: bool) -> Self {
        Self { active: Some(active), ..Self::default() }
    }
}

impl Store {
    /// Makes a listener, of which a project has so many at most.
    pub fn add_webhook(
        &self,
        scope: ProjectScope,
        new: NewWebhook,
        most: u64,
        actor: Actor,
    ) -> Pending<'_, Webhook> {
        self.write(move |mut session| {
            Box::pin(async move {
                let session = &mut session;
                let project = projects::require(session, scope.project()).await?.id;
                // Whoever adds another one waits here, so that the count stays true.
                Revision::Webhooks.raise(session).await?;
                let sql = "SELECT COUNT(*) FROM webhook_listeners WHERE project_id = $1";
                if session.value::<u64>(sql, args![project]).await?.unwrap_or(0) >= most {
                    let message = format!("the project has {most} webhooks, and may have no more");
                    return Err(Error::new(Code::RequestConflict, message).into());
                }
                let listener_id = session.next_id(Sequence::Webhook).await?;
                let row = ListenerRow {
                    project_id: project,
                    listener_id: listener_id
                        .try_into()
                        .map_err(|error| StoreError::corrupt("webhook id", error))?,
                    chain_id: new.chain,
                    url: new.url,
                    filters: filters_text(&new.filters)?,
                    name: new.name,
                    secret: new.secret,
                    active: true,
                    pause: String::new(),
                    created_at: actor.at,
                    updated_at: actor.at,
                    holder: String::new(),
                };
                session.insert(Insert::of([&row])?, "").await?;
                begin(session, &row, contracts(&new.filters)).await?;
                log(session, &actor, scope, (Act::WebhookAdded, row.listener_id)).await?;
                row.webhook()
            })
        })
    }

    /// A listener of a project.
    pub fn webhook(&self, scope: ProjectScope, id: RecordId) -> Pending<'_, Webhook> {
        self.read(move |mut session| {
            Box::pin(async move { require(&mut session, scope, id).await?.webhook() })
        })
    }

    /// The listeners of a project, of a chain where one is named, oldest first.
    pub fn webhooks(&self, scope: ProjectScope, chain: Option<ChainId>) -> Pending<'_, Vec<Webhook>> {
        self.read(move |mut session| {
            Box::pin(async move {
                let rows = rows_of(&mut session, scope, chain).await?;
                rows.into_iter().map(ListenerRow::webhook).collect()
            })
        })
    }

    /// Changes a listener.
    pub fn update_webhook(
        &self,
        scope: ProjectScope,
        id: RecordId,
        changes: WebhookChanges,
        actor: Actor,
    ) -> Pending<'_, Webhook> {
        self.change_webhook(scope, id, |_| changes, actor)
    }

    /// Has a listener be told again that is not, and the other way round.
    pub fn toggle_webhook(&self, scope: ProjectScope, id: RecordId, actor: Actor) -> Pending<'_, Webhook> {
        self.change_webhook(scope, id, |row| WebhookChanges::told(!row.active), actor)
    }

    /// Changes a listener by what it is.
    fn change_webhook(
        &self,
        scope: ProjectScope,
        id: RecordId,
        changes: impl FnOnce(&ListenerRow) -> WebhookChanges + Send + 'static,
        actor: Actor,
    ) -> Pending<'_, Webhook> {
        self.write(move |mut session| {
            Box::pin(async move {
                let session = &mut session;
                Revision::Webhooks.raise(session).await?;
                let row = require(session, scope, id).await?;
                let changes = changes(&row);
                change(session, row, changes, &actor).await?.webhook()
            })
        })
    }

    /// Pauses a listener whose receiver wants nothing more, as it says at the address that something was sent to. Nothing changes
    /// where that is not the listener's any more, or somebody else delivers by now.
    pub fn pause_webhook(
        &self,
        line: &WebhookLine,
        holder: &str,
        (url, pause): (String, String),
        actor: Actor,
    ) -> Pending<'_, ()> {
        let (key, held) = (line.key, delivery::held(line, holder));
        self.write(move |mut session| {
            Box::pin(async move {
                let session = &mut session;
                Revision::Webhooks.raise(session).await?;
                if !delivery::is_held(session, held).await? {
                    return Ok(());
                }
                let row = require(session, ProjectScope::for_delivery(key.project), key.listener).await?;
                if row.url == url {
                    let changes = WebhookChanges { active: Some(false), pause, ..WebhookChanges::default() };
                    change(session, row, changes, &actor).await?;
                }
                Ok(())
            })
        })
    }

    /// Has all listeners of a project be told, or none, those of a chain where one is named.
    pub fn set_webhooks_active(
        &self,
        scope: ProjectScope,
        chain: Option<ChainId>,
        active: bool,
        actor: Actor,
    ) -> Pending<'_, ()> {
        self.write(move |mut session| {
            Box::pin(async move {
                let session = &mut session;
                Revision::Webhooks.raise(session).await?;
                for row in rows_of(session, scope, chain).await? {
                    if row.active != active {
                        change(session, row, WebhookChanges::told(active), &actor).await?;
                    }
                }
                Ok(())
            })
        })
    }

    /// Removes a listener, with what could not be delivered to it.
    pub fn remove_webhook(&self, scope: ProjectScope, id: RecordId, actor: Actor) -> Pending<'_, ()> {
        self.write(move |mut session| {
            Box::pin(async move {
                let session = &mut session;
                Revision::Webhooks.raise(session).await?;
                let row = require(session, scope, id).await?;
                remove(session, scope, &row, &actor).await
            })
        })
    }

    /// Removes all listeners of a project, those of a chain where one is named.
    pub fn remove_webhooks(
        &self,
        scope: ProjectScope,
        chain: Option<ChainId>,
        actor: Actor,
    ) -> Pending<'_, ()> {
        self.write(move |mut session| {
            Box::pin(async move {
                let session = &mut session;
                Revision::Webhooks.raise(session).await?;
                for row in rows_of(session, scope, chain).await? {
                    remove(session, scope, &row, &actor).await?;
                }
                Ok(())
            })
        })
    }
}

/// A listener that must be there.
pub(super) async fn require(
    session: &mut Session<'_>,
    scope: ProjectScope,
    id: RecordId,
) -> Result<ListenerRow, StoreError> {
    let sql = "FROM webhook_listeners WHERE project_id = $1 AND listener_id = $2";
    let found = session.select_first(sql, args![scope.project(), id]).await?;
    found.ok_or_else(|| Error::not_found(format_args!("webhook listener {id}")).into())
}

async fn rows_of(
    session: &mut Session<'_>,
    scope: ProjectScope,
    chain: Option<ChainId>,
) -> Result<Vec<ListenerRow>, StoreError> {
    let mut args = args![scope.project()];
    let of_chain = if chain.is_some() { "AND chain_id = $2" } else { "" };
    args.extend(chain.map(Arg::from));
    let sql = format!("FROM webhook_listeners WHERE project_id = $1 {of_chain} ORDER BY listener_id");
    session.select(sql, args).await
}

async fn change(
    session: &mut Session<'_>,
    mut row: ListenerRow,
    changes: WebhookChanges,
    actor: &Actor,
) -> Result<ListenerRow, StoreError> {
    let scope = ProjectScope::for_delivery(row.project_id);
    if let Some(filters) = &changes.filters {
        row.filters = filters_text(filters)?;
        keep(session, &row, contracts(filters)).await?;
    }
    row.url = changes.url.unwrap_or(row.url);
    row.name = changes.name.unwrap_or(row.name);
    if let Some(active) = changes.active {
        row.active = active;
        row.pause = changes.pause;
    }
    // Whoever was changed has another chance at once.
    let sql =
        "UPDATE webhook_cursors SET failures = 0, due_at = 0 WHERE project_id = $1 AND listener_id = $2";
    session.execute(sql, args![row.project_id, row.listener_id]).await?;
    row.updated_at = actor.at;
    let kept = ["created_at", "secret", "holder"];
    session.insert(Insert::of([&row])?, &or_replace::<ListenerRow>(&kept)).await?;
    log(session, actor, scope, (Act::WebhookChanged, row.listener_id)).await?;
    Ok(row)
}

async fn remove(
    session: &mut Session<'_>,
    scope: ProjectScope,
    row: &ListenerRow,
    actor: &Actor,
) -> Result<(), StoreError> {
    let sql = "DELETE FROM webhook_listeners WHERE project_id = $1 AND listener_id = $2";
    session.execute(sql, args![scope.project(), row.listener_id]).await?;
    log(session, actor, scope, (Act::WebhookRemoved, row.listener_id)).await
}

async fn log(
    session: &mut Session<'_>,
    actor: &Actor,
    scope: ProjectScope,
    (act, id): (Act, RecordId),
) -> Result<(), StoreError> {
    audit::put(session, actor, Entry::new(act, id).of(scope.project())).await
}

/// Has a listener be told of contracts from now on.
async fn begin(
    session: &mut Session<'_>,
    row: &ListenerRow,
    contracts: Vec<Address>,
) -> Result<(), StoreError> {
    let mut cursors = Vec::with_capacity(contracts.len());
    for contract_address in contracts {
        let key = CollectionKey { chain: row.chain_id, address: contract_address };
        let unknown = || Error::not_found(format_args!("contract {} on chain {}", key.address, key.chain));
        let id = collections::find(session, key).await?.ok_or_else(unknown)?;
        let end = feed::end(session, id).await?;
        cursors.push(CursorRow::beginning((row.project_id, row.listener_id), (id, key.address), end));
    }
    session.insert(Insert::of(cursors)?, "").await
}

/// Has a listener be told of these contracts and no others. Of those of which it was told already it goes on where it is.
async fn keep(
    session: &mut Session<'_>,
    row: &ListenerRow,
    mut contracts: Vec<Address>,
) -> Result<(), StoreError> {
    let sql = "FROM webhook_cursors WHERE project_id = $1 AND listener_id = $2";
    let cursors: Vec<CursorRow> = session.select(sql, args![row.project_id, row.listener_id]).await?;
    for cursor in cursors {
        if let Some(place) = contracts.iter().position(|contract| *contract == cursor.contract_address) {
            contracts.remove(place);
            continue;
        }
        let sql =
            "DELETE FROM webhook_cursors WHERE project_id = $1 AND listener_id = $2 AND collection_id = $3";
        session.execute(sql, args![row.project_id, row.listener_id, cursor.collection_id.0]).await?;
    }
    begin(session, row, contracts).await
}
