//! Revisions of what every server holds in memory and reloads as a whole.

use crate::StoreError;
use crate::args::args;
use crate::backend::{Pending, Store};
use crate::collections::Mark;
use crate::columns::selection;
use crate::session::Session;

/// Something that has a revision.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Revision {
    Credentials,
    Currencies,
    Webhooks,
}

impl Revision {
    fn name(self) -> &'static str {
        match self {
            Self::Credentials => "credentials",
            Self::Currencies => "currencies",
            Self::Webhooks => "webhooks",
        }
    }

    /// Tells every server that it changed. It also holds the revision's row until the transaction ends: what is read
    /// after this call nobody else is changing who begins with the same call.
    pub(crate) async fn raise(self, session: &mut Session<'_>) -> Result<(), StoreError> {
        let stamp = session.notify().await?;
        let sql = "UPDATE revisions SET revision = revision + 1, stamp = $2 WHERE name = $1";
        session.execute(sql, args![self.name(), stamp]).await.map(drop)
    }
}

impl Store {
    /// The revision of everything that credentials consist of; raised by every change to them.
    pub fn credentials_revision(&self) -> Pending<'_, Mark> {
        self.revision(Revision::Credentials)
    }

    /// The revision of the currencies and their rates; raised by every change to them.
    pub fn currencies_revision(&self) -> Pending<'_, Mark> {
        self.revision(Revision::Currencies)
    }

    /// The revision of the listeners of all projects; raised by every change to them.
    pub fn webhooks_revision(&self) -> Pending<'_, Mark> {
        self.revision(Revision::Webhooks)
    }

    fn revision(&self, revision: Revision) -> Pending<'_, Mark> {
        selection! {
            struct Found {
                revision: u64,
                stamp: u64,
            }
        }
        self.read(move |mut session| {
            Box::pin(async move {
                let found =
                    session.select_first("FROM revisions WHERE name = $1", args![revision.name()]).await?;
                let Found { revision: version, stamp } =
                    found.ok_or_else(|| StoreError::corrupt("revision", "missing"))?;
                Ok(Mark { version, stamp })
            })
        })
    }
}
