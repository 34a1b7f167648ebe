//! Clients that write over HTTP and remember what the service acknowledged.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde_json::{Value, json};

use crate::http::{Answer, Credential, call};
use crate::instance::within;
use crate::process::WAIT_MAX;

/// Contacts that one call adds.
pub(crate) const GROUP_SIZE: usize = 20;
/// Clients of each kind.
const CONTACT_WRITERS: u64 = 3;
const TOKEN_WRITERS: u64 = 2;

/// The records of one round, which nothing after it writes to.
#[derive(Clone, Copy)]
pub(crate) struct Targets {
    pub(crate) audience: u64,
    pub(crate) collection: u64,
    /// The collection that is changed over and over.
    pub(crate) updated: u64,
}

/// What one client did.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log {
    /// Numbers of acknowledged writes, in order.
    pub(crate) acknowledged: Vec<u64>,
    /// The write that got no answer.
    pub(crate) in_doubt: Option<u64>,
}

impl Log {
    pub(crate) fn merge(mut logs: Vec<Self>) -> Merged {
        let in_doubt = logs.iter().filter_map(|log| log.in_doubt).collect();
        Merged {
            acknowledged: logs.iter_mut().flat_map(|log| std::mem::take(&mut log.acknowledged)).collect(),
            in_doubt,
        }
    }
}

/// What several clients of one kind did together.
#[derive(Clone, Debug)]
pub(crate) struct Merged {
    pub(crate) acknowledged: Vec<u64>,
    pub(crate) in_doubt: Vec<u64>,
}

impl Merged {
    pub(crate) fn sent(&self, number: u64) -> bool {
        self.acknowledged.contains(&number) || self.in_doubt.contains(&number)
    }
}

/// What all clients of a round did.
pub(crate) struct Logs {
    pub(crate) contacts: Merged,
    pub(crate) tokens: Merged,
    pub(crate) updates: Log,
}

impl Logs {
    pub(crate) fn acknowledged(&self) -> usize {
        self.contacts.acknowledged.len() + self.tokens.acknowledged.len() + self.updates.acknowledged.len()
    }

    pub(crate) fn in_doubt(&self) -> usize {
        self.contacts.in_doubt.len()
            + self.tokens.in_doubt.len()
            + usize::from(self.updates.in_doubt.is_some())
    }
}

/// Clients at work, until the service is gone or they are told to stop.
pub(crate) struct Writers {
    stopped: AtomicBool,
    next: AtomicU64,
    /// How many writes of each client were acknowledged.
    acknowledged: Mutex<Vec<u64>>,
    /// Whether somebody failed, so that there is nothing to wait for.
    failed: AtomicBool,
}

/// Held by everybody who takes part. Where one of them fails the others stop, as whoever looks for the failure waits for all of
/// them.
pub(crate) struct Together<'w>(&'w Writers);

impl Drop for Together<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.failed.store(true, Ordering::Relaxed);
            self.0.stop();
        }
    }
}

impl Writers {
    /// Nobody yet; the first write gets this number.
    pub(crate) fn numbering_from(next: u64) -> Self {
        Self {
            stopped: AtomicBool::new(false),
            next: AtomicU64::new(next),
            acknowledged: Mutex::default(),
            failed: AtomicBool::new(false),
        }
    }

    /// Has the clients stop if the caller fails.
    pub(crate) fn together(&self) -> Together<'_> {
        Together(self)
    }

    /// The number that the next write gets.
    pub(crate) fn next(&self) -> u64 {
        self.next.load(Ordering::Relaxed)
    }

    /// Waits until every client got so many more answers.
    pub(crate) fn wait_for_each(&self, more: u64) {
        let before = self.acknowledged.lock().unwrap().clone();
        within(WAIT_MAX, "every client gets answers", || {
            assert!(!self.failed.load(Ordering::Relaxed), "a client failed, and said why");
            let now = self.acknowledged.lock().unwrap();
            now.iter().zip(&before).all(|(now, before)| *now >= before + more)
        });
    }

    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// One more client.
    pub(crate) fn add(&self) -> usize {
        let mut acknowledged = self.acknowledged.lock().unwrap();
        acknowledged.push(0);
        acknowledged.len() - 1
    }

    /// What one client does: writes one number after the other, until one write gets no answer.
    pub(crate) fn write(&self, client: usize, send: impl Fn(u64) -> std::io::Result<Answer>) -> Log {
        let mut log = Log::default();
        let _together = self.together();
        while !self.stopped.load(Ordering::Relaxed) {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let Ok(answer) = send(number) else {
                log.in_doubt = Some(number);
                break;
            };
            assert_eq!(answer.status, 200, "{}", answer.body);
            log.acknowledged.push(number);
            self.acknowledged.lock().unwrap()[client] += 1;
        }
        log
    }

    /// Lets so many clients write alike; `until` makes the service go, or stops them.
    pub(crate) fn run(
        &self,
        clients: usize,
        send: impl Fn(u64) -> std::io::Result<Answer> + Sync,
        until: impl FnOnce(),
    ) -> Merged {
        std::thread::scope(|scope| {
            let send = &send;
            let start = |client| scope.spawn(move || self.write(client, send));
            let handles: Vec<_> = (0..clients).map(|_| start(self.add())).collect();
            let _together = self.together();
            until();
            Log::merge(handles.into_iter().map(|handle| handle.join().unwrap()).collect())
        })
    }
}

/// Lets clients of all kinds write; `until` makes the service go, or stops them.
pub(crate) fn write_until(port: u16, token: &str, targets: Targets, until: impl FnOnce(&Writers)) -> Logs {
    let writers = Writers::numbering_from(1);
    std::thread::scope(|scope| {
        let start = |operation: &'static str, body: fn(Targets, u64) -> Value| {
            let (writers, client) = (&writers, writers.add());
            let send = move |number| call(port, operation, Credential::Token(token), &body(targets, number));
            scope.spawn(move || writers.write(client, send))
        };
        let contacts: Vec<_> =
            (0..CONTACT_WRITERS).map(|_| start("Builder/AddAudienceContacts", contacts_body)).collect();
        let tokens: Vec<_> =
            (0..TOKEN_WRITERS).map(|_| start("Collections/CreateToken", token_body)).collect();
        let updates = start("Collections/UpdateCollection", update_body);
        let _together = writers.together();
        until(&writers);
        let join = |handles: Vec<std::thread::ScopedJoinHandle<'_, Log>>| {
            Log::merge(handles.into_iter().map(|handle| handle.join().unwrap()).collect())
        };
        Logs { contacts: join(contacts), tokens: join(tokens), updates: updates.join().unwrap() }
    })
}

fn contacts_body(targets: Targets, group: u64) -> Value {
    let contact = |member| json!({ "name": format!("guest {group}"), "address": format!("0x{group:032x}{member:08x}") });
    let contacts: Vec<Value> = (0..GROUP_SIZE).map(contact).collect();
    json!({ "audienceId": targets.audience, "contacts": contacts })
}

/// The group that a contact's address names.
pub(crate) fn group_of(address: &str) -> u64 {
    u64::from_str_radix(&address[2..34], 16).unwrap()
}

fn token_body(targets: Targets, number: u64) -> Value {
    let token = json!({ "tokenId": number.to_string(), "name": format!("token {number}") });
    json!({ "collectionId": targets.collection, "token": token })
}

fn update_body(targets: Targets, number: u64) -> Value {
    let metadata = json!({ "name": format!("name {number}"), "description": format!("text {number}") });
    json!({ "collection": { "id": targets.updated, "metadata": metadata } })
}

/// A test that fails must end, rather than wait for clients that nobody stops or that get no answers any more.
#[test]
fn when_one_fails_all_stop() {
    let fails = |client: bool| {
        let (done, ended) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let writers = Writers::numbering_from(1);
            let send = |number| Ok(Answer::bare(if client && number == 9 { 500 } else { 200 }));
            let until = || {
                writers.wait_for_each(1);
                assert!(client, "who waits for them fails");
                loop {
                    writers.wait_for_each(1);
                }
            };
            let run = std::panic::AssertUnwindSafe(|| writers.run(2, send, until));
            done.send(std::panic::catch_unwind(run).is_err()).unwrap();
        });
        ended.recv_timeout(WAIT_MAX)
    };
    assert_eq!(fails(true), Ok(true), "a client");
    assert_eq!(fails(false), Ok(true), "who waits for them");
}
