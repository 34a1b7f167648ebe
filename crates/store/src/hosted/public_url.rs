//! The address that this service is at. What hosted collections say of contracts has it in it, with the files that it names, and is
//! stored as it is said: at another address it is said anew.

use bourse_wire::Timestamp;
use sha2::{Digest as _, Sha256};

use super::link_queue::ask_of_all;
use crate::args::args;
use crate::backend::{Pending, Store};

/// The name of the note.
const NOTE: &str = "public_url";

impl Store {
    /// Notes the address that this service is at. Where it is another one than was noted before, everything of all contracts that
    /// are linked is asked for; tells whether it is.
    pub fn note_public_url(&self, now: Timestamp) -> Pending<'_, bool> {
        let noted = digest(&self.public_url);
        self.write(move |mut session| {
            Box::pin(async move {
                let sql = "SELECT revision FROM revisions WHERE name = $1";
                if session.value::<u64>(sql, args![NOTE]).await? == Some(noted) {
                    return Ok(false);
                }
                let sql = "INSERT INTO revisions (name, revision) VALUES ($1, $2)
                    ON CONFLICT (name) DO UPDATE SET revision = excluded.revision";
                session.execute(sql, args![NOTE, noted]).await?;
                ask_of_all(&mut session, now).await?;
                Ok(true)
            })
        })
    }
}

/// An address as a number, which is what the table of notes has; never negative.
fn digest(public_url: &str) -> u64 {
    let digest = Sha256::digest(public_url);
    let mut first = [0; 8];
    first.copy_from_slice(&digest[..8]);
    u64::from_be_bytes(first) >> 1
}
