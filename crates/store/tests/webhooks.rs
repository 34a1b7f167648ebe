//! Listeners of projects, how far each was told, and which server delivers.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

use bourse_store::testing::{TestDatabase, batch, operator};
use bourse_store::{
    Act, AuditPage, Change, CollectionKey, DeliveringServer, Extent, NewLetter, NewWebhook, Place,
    ProjectScope, Sent, Store, StoreError, Webhook, WebhookChanges, WebhookLine,
};
use bourse_wire::{Address, ChainId, Code, EventFilter, Timestamp, TokenId};

const ME: &str = "me";

fn key(number: u8) -> CollectionKey {
    CollectionKey { chain: ChainId(137), address: Address::from_bytes([number; 20]) }
}

/// A store of two projects, with three collections.
async fn start() -> (TestDatabase, Store, [ProjectScope; 2]) {
    let database = TestDatabase::fresh().await.unwrap();
    let store = database.open().await.unwrap();
    let mut scopes = Vec::new();
    for name in ["one", "other"] {
        let project = store.create_project(name.parse().unwrap(), operator()).await.unwrap();
        scopes.push(ProjectScope::of_operator(project.id));
    }
    for number in 1..=3 {
        let token_id = TokenId::from(1);
        let changes = vec![Change::Token { token_id, metadata: r#"{"tokenId":"1"}"#.to_owned() }];
        store.commit(batch(key(number), changes)).await.unwrap();
    }
    (database, store, scopes.try_into().unwrap())
}

fn of(contracts: &[u8]) -> EventFilter {
    let contract_addresses = contracts.iter().map(|number| key(*number).address).collect();
    EventFilter { contract_addresses, ..EventFilter::default() }
}

async fn try_add(store: &Store, scope: ProjectScope, contracts: &[u8]) -> Result<Webhook, StoreError> {
    let new = NewWebhook {
        chain: ChainId(137),
        url: "https://hooks.example/".to_owned(),
        filters: of(contracts),
        name: "n".to_owned(),
        secret: "s".to_owned(),
    };
    store.add_webhook(scope, new, 3, operator()).await
}

async fn add(store: &Store, scope: ProjectScope, contracts: &[u8]) -> Webhook {
    try_add(store, scope, contracts).await.unwrap()
}

fn code<T>(result: Result<T, StoreError>) -> Option<Code> {
    match result {
        Err(StoreError::Refused(error)) => Some(error.code),
        _ => None,
    }
}

async fn only_line(store: &Store, scope: ProjectScope) -> WebhookLine {
    let [line] = store.webhook_lines(scope).await.unwrap().try_into().unwrap();
    line
}

const fn at(activity: u64) -> Sent {
    Sent { place: Place { retractions: 0, activity }, told: 0 }
}

fn letter(message: &str) -> NewLetter {
    let (message, body) = (message.to_owned(), "{}".to_owned());
    NewLetter { message, body, failure: "no".to_owned(), failed_at: Timestamp::ZERO, most: 2 }
}

#[tokio::test]
async fn a_listener_is_its_project_s_alone() {
    let (_database, store, [one, other]) = start().await;
    let webhook = add(&store, one, &[1, 2]).await;
    assert!(store.webhook(one, webhook.id).await.unwrap() == webhook);
    assert!(store.webhooks(one, Some(ChainId(1))).await.unwrap().is_empty());
    assert_eq!(store.webhook_lines(one).await.unwrap().len(), 2);
    let missing = Some(Code::NotFound);
    assert_eq!(code(store.webhook(other, webhook.id).await), missing);
    let changes = WebhookChanges { active: Some(false), ..WebhookChanges::default() };
    assert_eq!(code(store.update_webhook(other, webhook.id, changes, operator()).await), missing);
    assert_eq!(code(store.toggle_webhook(other, webhook.id, operator()).await), missing);
    assert_eq!(code(store.remove_webhook(other, webhook.id, operator()).await), missing);
    assert_eq!(code(store.dead_letters(other, webhook.id).await), missing);
    store.set_webhooks_active(other, None, false, operator()).await.unwrap();
    store.remove_webhooks(other, None, operator()).await.unwrap();
    assert!(store.webhook(one, webhook.id).await.unwrap() == webhook);
    assert!(store.webhooks(other, None).await.unwrap().is_empty());

    // A contract that nobody knows, and more than there may be, leave nothing behind.
    assert_eq!(code(try_add(&store, one, &[1, 9]).await), missing);
    add(&store, one, &[1]).await;
    add(&store, one, &[1]).await;
    assert_eq!(code(try_add(&store, one, &[1]).await), Some(Code::RequestConflict));
    store.remove_webhooks(one, Some(ChainId(137)), operator()).await.unwrap();
    assert!(store.webhook_lines(one).await.unwrap().is_empty());
    let page = AuditPage { before: None, limit: 100 };
    let log = store.audit(Extent::Project(one), page).await.unwrap();
    let acts = |act| log.iter().filter(|entry| entry.act == Some(act)).count();
    assert_eq!((acts(Act::WebhookAdded), acts(Act::WebhookRemoved)), (3, 3));
    store.close().await;
}

#[tokio::test]
async fn a_contract_that_is_added_begins_now_and_others_go_on() {
    let (_database, store, [one, _]) = start().await;
    let webhook = add(&store, one, &[1, 2]).await;
    store.hold_webhooks(ME.to_owned()).await.unwrap();
    let lines = store.webhook_lines(one).await.unwrap();
    assert!(store.webhook_sent(&lines[1], ME, at(7)).await.unwrap());
    let changes = WebhookChanges { filters: Some(of(&[2, 3, 3])), ..WebhookChanges::default() };
    let changed = store.update_webhook(one, webhook.id, changes, operator()).await.unwrap();
    assert_eq!((changed.filters, changed.secret.as_str()), (of(&[2, 3, 3]), "s"));
    let lines = store.webhook_lines(one).await.unwrap();
    let sent: Vec<_> = lines.iter().map(|line| (line.contract, line.sent)).collect();
    assert_eq!(sent, [(key(2).address, at(7)), (key(3).address, at(0))]);
    store.close().await;
}

#[tokio::test]
async fn only_who_holds_a_listener_moves_it_and_only_from_where_it_is() {
    let (_database, store, [one, _]) = start().await;
    let webhook = add(&store, one, &[1]).await;
    let line = only_line(&store, one).await;
    assert!(!store.webhook_sent(&line, ME, at(1)).await.unwrap(), "nobody holds it");
    assert_eq!(store.hold_webhooks(ME.to_owned()).await.unwrap(), std::slice::from_ref(&line));
    assert!(!store.webhook_sent(&line, "somebody else", at(1)).await.unwrap());
    let due = Timestamp::from_unix_seconds(9);
    assert!(store.webhook_failed(&line, ME, "no".to_owned(), (Timestamp::ZERO, due)).await.unwrap());
    let failed = only_line(&store, one).await;
    assert_eq!((failed.failures, failed.due_at, failed.failure.as_str(), failed.sent), (1, due, "no", at(0)));
    // Who was found before that says nothing about it.
    let late = store.webhook_failed(&line, ME, "late".to_owned(), (Timestamp::ZERO, due)).await.unwrap();
    assert!(!late && !store.webhook_given_up(&line, ME, at(1), letter("late")).await.unwrap());
    assert_eq!(only_line(&store, one).await, failed);
    assert!(store.webhook_sent(&line, ME, at(2)).await.unwrap());
    let moved = only_line(&store, one).await;
    assert_eq!((moved.failures, moved.due_at, moved.sent), (0, Timestamp::from_unix_seconds(0), at(2)));
    assert!(!store.webhook_sent(&line, ME, at(1)).await.unwrap(), "it is not where that was found");
    assert!(!store.webhook_given_up(&line, ME, at(1), letter("late")).await.unwrap());
    assert!(store.dead_letters(one, webhook.id).await.unwrap().is_empty());

    // Who is paused is not told, nor does anything of it move.
    assert!(store.webhook_line(moved.key, ME.to_owned()).await.unwrap().is_some());
    let paused =
        WebhookChanges { active: Some(false), pause: "gone".to_owned(), ..WebhookChanges::default() };
    store.update_webhook(one, webhook.id, paused, operator()).await.unwrap();
    assert!(store.webhook_line(moved.key, ME.to_owned()).await.unwrap().is_none());
    assert!(!store.webhook_sent(&moved, ME, at(3)).await.unwrap());
    let paused = store.webhook(one, webhook.id).await.unwrap();
    assert_eq!((paused.active, paused.pause.as_str()), (false, "gone"));
    let resumed = store.toggle_webhook(one, webhook.id, operator()).await.unwrap();
    assert_eq!((resumed.active, resumed.pause.as_str()), (true, ""));
    assert!(store.webhook_sent(&moved, ME, at(3)).await.unwrap());
    store.close().await;
}

#[tokio::test]
async fn a_listener_is_paused_by_the_receiver_at_its_address_and_no_other() {
    let (_database, store, [one, _]) = start().await;
    let webhook = add(&store, one, &[1]).await;
    store.hold_webhooks(ME.to_owned()).await.unwrap();
    let line = only_line(&store, one).await;
    let pause = async |line: &WebhookLine, holder: &str, url: &str| {
        let change = (url.to_owned(), "gone".to_owned());
        store.pause_webhook(line, holder, change, operator()).await.unwrap();
        store.webhook(one, webhook.id).await.unwrap()
    };
    let elsewhere = WebhookLine { sent: at(9), ..line.clone() };
    assert!(pause(&line, ME, "https://before.example/").await.active);
    assert!(pause(&line, "somebody else", &webhook.url).await.active);
    assert!(pause(&elsewhere, ME, &webhook.url).await.active);
    let paused = pause(&line, ME, &webhook.url).await;
    assert_eq!((paused.active, paused.pause.as_str()), (false, "gone"));
    store.remove_webhook(one, webhook.id, operator()).await.unwrap();
    let change = (webhook.url, String::new());
    store.pause_webhook(&line, ME, change, operator()).await.unwrap();
    store.close().await;
}

#[tokio::test]
async fn so_many_undelivered_messages_are_kept() {
    let (_database, store, [one, other]) = start().await;
    let webhook = add(&store, one, &[1]).await;
    store.hold_webhooks(ME.to_owned()).await.unwrap();
    for number in 1..=3 {
        let line = only_line(&store, one).await;
        assert!(store.webhook_given_up(&line, ME, at(number), letter(&number.to_string())).await.unwrap());
    }
    let letters = store.dead_letters(one, webhook.id).await.unwrap();
    let messages: Vec<&str> = letters.iter().map(|letter| letter.message.as_str()).collect();
    assert_eq!((messages, only_line(&store, one).await.sent), (vec!["2", "3"], at(3)));
    let id = letters[0].id;
    assert_eq!(code(store.dead_letter(other, id).await), Some(Code::NotFound));
    assert_eq!(code(store.forget_dead_letter(other, id).await), Some(Code::NotFound));
    store.note_dead_letter(other, id, "theirs".to_owned(), Timestamp::ZERO).await.unwrap();
    assert_eq!(store.dead_letter(one, id).await.unwrap(), letters[0]);
    store.forget_dead_letter(one, id).await.unwrap();
    assert_eq!(code(store.dead_letter(one, id).await), Some(Code::NotFound));
    store.remove_webhook(one, webhook.id, operator()).await.unwrap();
    assert_eq!(code(store.dead_letter(one, letters[1].id).await), Some(Code::NotFound));
    store.close().await;
}

#[tokio::test]
async fn a_listener_is_one_server_s_until_that_is_gone() {
    let (_database, store, [one, other]) = start().await;
    add(&store, one, &[1]).await;
    let server = |name: &str, beat| DeliveringServer { name: name.to_owned(), beat };
    let held = async |name: &str| store.hold_webhooks(name.to_owned()).await.unwrap().len();
    store.beat_webhooks(server("a", 1), Vec::new()).await.unwrap();
    assert_eq!(held("a").await, 1);
    store.beat_webhooks(server("b", 1), Vec::new()).await.unwrap();
    assert_eq!(held("b").await, 0);
    // One that moved meanwhile is not gone.
    store.beat_webhooks(server("a", 2), Vec::new()).await.unwrap();
    let known = store.beat_webhooks(server("b", 2), vec![server("a", 1)]).await.unwrap();
    assert_eq!((known, held("b").await), (vec![server("a", 2), server("b", 2)], 0));
    store.beat_webhooks(server("b", 3), vec![server("a", 2)]).await.unwrap();
    assert_eq!((held("b").await, held("a").await), (1, 0));
    // Who leaves is not waited for.
    add(&store, other, &[2]).await;
    assert_eq!(held("b").await, 2);
    store.leave_webhooks("b".to_owned()).await.unwrap();
    assert_eq!(held("a").await, 2);
    store.close().await;
}
