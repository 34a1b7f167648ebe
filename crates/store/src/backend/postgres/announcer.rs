//! Announcing what was committed, beside everything else.
//!
//! Whoever commits what announces something keeps everybody else from it until their commit is on disk, in all databases of the
//! server: such commits would go to the disk one after the other, where others share their way. So what is committed often is
//! announced afterwards, along with everything that was committed meanwhile. Where that fails, others find it when they look
//! without having been woken.

use std::pin::pin;

use tokio::sync::watch;

use super::CHANNEL;
use super::checkout::Checkout;
use super::reach::Reach;
use crate::StoreError;
use crate::args::args;

/// What is committed by it is nothing that would have to be on disk.
const TELL: &str = "SELECT 1::BIGINT FROM set_config('synchronous_commit', 'off', TRUE), pg_notify($1, '')";

/// Cheap to clone; every clone is the same.
#[derive(Clone)]
pub(super) struct Announcer {
    reach: Reach,
    state: watch::Sender<State>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Everything was announced.
    Quiet,
    /// Somebody announces what was committed before.
    Telling,
    /// The same, and more was committed since they began.
    Behind,
}

impl Announcer {
    pub(super) fn new(reach: Reach) -> Self {
        Self { reach, state: watch::Sender::new(State::Quiet) }
    }

    /// Has it announced that something was committed.
    pub(super) fn announce(&self) {
        let before = self.state.send_replace(State::Behind);
        if before == State::Quiet {
            tokio::spawn(self.clone().tell_all());
        }
    }

    /// Returns once everything was announced that was committed by now, or could not be.
    pub(super) async fn finish(&self) {
        // There is somebody to tell it for as long as we are here.
        let _ = self.state.subscribe().wait_for(|state| *state == State::Quiet).await;
    }

    async fn tell_all(self) {
        while self.goes_on() {
            if let Err(error) = self.tell().await {
                error.log("announcing what was committed");
            }
        }
    }

    /// Whether there is anything to announce, which is then being announced.
    fn goes_on(&self) -> bool {
        let mut goes_on = false;
        self.state.send_modify(|state| {
            goes_on = *state == State::Behind;
            *state = if goes_on { State::Telling } else { State::Quiet };
        });
        goes_on
    }

    async fn tell(&self) -> Result<(), StoreError> {
        let telling = async {
            let mut connection = Checkout::new(&self.reach).await?;
            let told = connection.session().has(TELL, args![CHANNEL]).await;
            connection.give_back(&told);
            told.map(drop)
        };
        self.reach.attend(pin!(telling)).await
    }
}
