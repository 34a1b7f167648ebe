//! Accounts, sessions, memberships and invitations.
#![expect(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod support {
    pub(crate) mod database;
    pub(crate) mod projects;
    pub(crate) mod refused;
}

use bourse_store::testing::{
    change_unnoticed, collection_id, operator, operator_at, tables_of, write_number,
};
use bourse_store::{
    Account, Actor, Confirmation, Extent, Invited, NewAccount, NewInvite, NewPendingSignIn, NewSession,
    ProjectScope, ProofHash, Role, ShownCode, Store, Subject,
};
use bourse_wire::{Code, Timestamp};
use support::database::open;
use support::projects::project;
use support::refused::code;

fn at(second: u64) -> Timestamp {
    Timestamp::from_unix_seconds(1_800_000_000 + second)
}

fn hash(text: &str) -> ProofHash {
    ProofHash(text.to_owned())
}

fn person(email: &str) -> NewAccount {
    NewAccount { email: email.parse().unwrap(), password_hash: format!("hash of {email}") }
}

async fn invite(store: &Store, link: &str, invited: Invited) {
    let new = NewInvite { hash: hash(link), invited, made_by: None, expires_at: at(100) };
    store.create_invite(new, Actor::command_line(at(0))).await.unwrap();
}

async fn join(store: &Store, email: &str, invited: Invited) -> Account {
    invite(store, email, invited).await;
    store.accept_as_new(hash(email), person(email), None, at(1)).await.unwrap()
}

#[tokio::test]
async fn an_invitation_works_once_and_in_time() {
    let (_database, store) = open().await;
    assert!(!store.has_accounts().await.unwrap());
    invite(&store, "link", Invited::Person).await;
    assert_eq!(store.invite(hash("link"), at(100)).await.unwrap(), None, "its time is over");
    let late = store.accept_as_new(hash("link"), person("a@example.com"), None, at(100)).await;
    assert_eq!(code(late), Code::NotFound);
    assert!(!store.has_accounts().await.unwrap());
    let made = store.accept_as_new(hash("link"), person("A@Example.com"), None, at(99)).await.unwrap();
    assert_eq!((made.email.as_str(), made.administrator), ("a@example.com", false));
    let again = store.accept_as_new(hash("link"), person("b@example.com"), None, at(99)).await;
    assert_eq!(code(again), Code::NotFound);
    assert_eq!(store.accounts().await.unwrap(), std::slice::from_ref(&made));
    let (found, password) = store.account_of(&"a@EXAMPLE.com".parse().unwrap()).await.unwrap().unwrap();
    assert_eq!((found, password.as_str()), (made, "hash of A@Example.com"));
}

#[tokio::test]
async fn a_taken_address_leaves_the_invitation_as_it_was() {
    let (_database, store) = open().await;
    join(&store, "a@example.com", Invited::Person).await;
    invite(&store, "link", Invited::Administrator).await;
    let taken = store.accept_as_new(hash("link"), person("A@example.com"), None, at(1)).await;
    assert_eq!(code(taken), Code::RequestConflict);
    assert!(store.invite(hash("link"), at(1)).await.unwrap().is_some());
}

#[tokio::test]
async fn the_first_administrator_voids_the_other_first_links() {
    let (_database, store) = open().await;
    invite(&store, "one", Invited::Administrator).await;
    invite(&store, "two", Invited::Administrator).await;
    assert!(
        store.accept_as_new(hash("one"), person("a@example.com"), None, at(1)).await.unwrap().administrator
    );
    assert_eq!(store.invite(hash("two"), at(1)).await.unwrap(), None);
}

#[tokio::test]
async fn an_account_that_is_there_accepts_as_well() {
    let (_database, store) = open().await;
    let scope = project(&store).await;
    let account = join(&store, "a@example.com", Invited::Person).await.id;
    assert_eq!(store.role_of(account, scope.project()).await.unwrap(), None);
    for (link, role) in [("owner", Role::Owner), ("viewer", Role::Viewer)] {
        invite(&store, link, Invited::Member(scope.project(), role)).await;
        store.accept(hash(link), account, Actor::command_line(at(1))).await.unwrap();
    }
    let role = store.role_of(account, scope.project()).await.unwrap();
    assert_eq!(role, Some(Role::Owner), "who is an owner stays one");
    invite(&store, "all", Invited::Administrator).await;
    store.accept(hash("all"), account, Actor::command_line(at(1))).await.unwrap();
    assert!(store.accounts().await.unwrap()[0].administrator);
}

/// Of several servers some are of a newer version for a while, and invite to what the others know nothing of.
#[tokio::test]
async fn an_invitation_to_what_only_a_newer_version_knows_is_listed_and_cannot_be_accepted() {
    let (_database, store) = open().await;
    let scope = project(&store).await;
    let account = join(&store, "a@example.com", Invited::Person).await.id;
    invite(&store, "of the project", Invited::Member(scope.project(), Role::Viewer)).await;
    invite(&store, "of the service", Invited::Person).await;
    write_number(&store, "invites", "role", 9).await.unwrap();
    let invited = async |extent| {
        let found = store.open_invites(extent, at(1)).await.unwrap().into_iter();
        found.map(|invite| (invite.id, invite.invited)).collect::<Vec<_>>()
    };
    let found = invited(Extent::Everything).await;
    assert_eq!(found.len(), 2);
    assert!(found.iter().any(|(_, invited)| *invited == Invited::Unknown(None)), "{found:?}");
    let of_project = invited(Extent::Project(scope)).await;
    assert_eq!(of_project[0].1, Invited::Unknown(Some(scope.project())));
    for link in ["of the project", "of the service"] {
        assert_eq!(code(store.invite(hash(link), at(1)).await), Code::RequestConflict);
        let accepted = store.accept(hash(link), account, Actor::command_line(at(1))).await;
        assert_eq!(code(accepted), Code::RequestConflict);
    }
    assert_eq!(invited(Extent::Everything).await, found, "they are good where they are known");
    for (id, _) in found {
        store.revoke_invite(Extent::Everything, id, operator()).await.unwrap();
    }
    assert_eq!(invited(Extent::Everything).await, []);
}

#[tokio::test]
async fn a_role_that_only_a_newer_version_knows_gives_no_right_and_fails_no_list() {
    let (_database, store) = open().await;
    let scope = project(&store).await;
    let owner = join(&store, "a@example.com", Invited::Member(scope.project(), Role::Owner)).await.id;
    assert_eq!(store.role_of(owner, scope.project()).await.unwrap(), Some(Role::Owner));
    write_number(&store, "members", "role", 9).await.unwrap();
    assert_eq!(store.role_of(owner, scope.project()).await.unwrap(), None);
    assert_eq!(store.projects_of(owner).await.unwrap().len(), 0);
    assert_eq!(store.members(scope).await.unwrap(), []);
}

#[tokio::test]
async fn an_invitation_ends_with_the_right_to_make_it() {
    let (_database, store) = open().await;
    let other = project(&store).await;
    let owner = Invited::Member(other.project(), Role::Owner);
    let (first, second) = (Invited::Administrator, Invited::Administrator);
    let one = join(&store, "a@example.com", first).await.id;
    let two = join(&store, "b@example.com", second).await.id;
    let three = join(&store, "c@example.com", owner).await.id;
    let links = [
        ("by an administrator", Invited::Administrator, one),
        ("person", Invited::Person, one),
        ("member", owner, one),
        ("by an owner", Invited::Member(other.project(), Role::Viewer), three),
        // Who may not invite at all.
        ("too much", Invited::Administrator, three),
    ];
    for (link, invited, maker) in links {
        let new = NewInvite { hash: hash(link), invited, made_by: Some(maker), expires_at: at(100) };
        store.create_invite(new, Actor::command_line(at(0))).await.unwrap();
    }
    let is_good = async |link: &str| store.invite(hash(link), at(2)).await.unwrap().is_some();
    assert!(is_good("by an administrator").await && is_good("member").await && is_good("by an owner").await);
    assert!(!is_good("too much").await);
    store.remove_account(one, operator()).await.unwrap();
    store.remove_member(other, three, operator()).await.unwrap();
    for (link, _, _) in links {
        assert!(!is_good(link).await, "{link}");
        assert_eq!(
            code(store.accept(hash(link), two, Actor::command_line(at(2))).await),
            Code::NotFound,
            "{link}"
        );
        let new = store.accept_as_new(hash(link), person("d@example.com"), None, at(2)).await;
        assert_eq!(code(new), Code::NotFound, "{link}");
    }
}

#[tokio::test]
async fn open_invitations_are_listed_and_revoked() {
    let (_database, store) = open().await;
    let (one, two) = (project(&store).await, project(&store).await);
    let owner = join(&store, "a@example.com", Invited::Member(one.project(), Role::Owner)).await.id;
    let viewer = Invited::Member(one.project(), Role::Viewer);
    for (second, link, invited, made_by) in [
        (1, "the first link of all", viewer, Some(owner)),
        (2, "the second link of all", Invited::Person, None),
        (3, "the third link of all", Invited::Member(two.project(), Role::Owner), Some(owner)),
    ] {
        let new = NewInvite { hash: hash(link), invited, made_by, expires_at: at(100 + second) };
        store.create_invite(new, Actor::command_line(at(second))).await.unwrap();
    }
    let all = store.open_invites(Extent::Everything, at(4)).await.unwrap();
    let ids: Vec<&str> = all.iter().map(|invite| invite.id.as_str()).collect();
    assert_eq!(ids, ["the third link o", "the second link ", "the first link o"], "the newest first");
    assert_eq!(all[2].invited, viewer);
    assert_eq!((all[2].made_by.as_deref(), all[1].made_by.as_deref()), (Some("a@example.com"), None));
    assert_eq!((all[2].created_at, all[2].expires_at), (at(1), at(101)));
    let void: Vec<bool> = all.iter().map(|invite| invite.is_void).collect();
    assert_eq!(void, [true, false, false], "who owns nothing there invites nobody");
    let of = async |scope, second| {
        let found = store.open_invites(Extent::Project(scope), at(second)).await.unwrap();
        found.into_iter().map(|invite| invite.id).collect::<Vec<_>>()
    };
    assert_eq!((of(one, 4).await, of(one, 101).await), (vec![ids[2].to_owned()], vec![]));
    let revoke = async |scope, id: &str| store.revoke_invite(scope, id.to_owned(), operator()).await;
    for id in [ids[0], ids[1], "", "nothing", "%"] {
        assert_eq!(code(revoke(Extent::Project(one), id).await), Code::NotFound, "{id}");
    }
    revoke(Extent::Project(one), ids[2]).await.unwrap();
    revoke(Extent::Everything, ids[1]).await.unwrap();
    assert_eq!(code(revoke(Extent::Everything, ids[1]).await), Code::NotFound);
    for link in ["the first link of all", "the second link of all"] {
        assert_eq!(store.invite(hash(link), at(5)).await.unwrap(), None, "{link}");
        let accepted = store.accept_as_new(hash(link), person("b@example.com"), None, at(5)).await;
        assert_eq!(code(accepted), Code::NotFound, "{link}");
    }
    assert_eq!(store.open_invites(Extent::Everything, at(4)).await.unwrap().len(), 1);
}

#[tokio::test]
async fn the_first_project_of_an_administrator_may_state_everything() {
    let (_database, store) = open().await;
    let person = join(&store, "a@example.com", Invited::Person).await.id;
    let administrator = join(&store, "b@example.com", Invited::Administrator).await.id;
    let create = async |owner| {
        store.create_own_project("p".parse().unwrap(), owner, Actor::command_line(at(1))).await.unwrap().id
    };
    let grants = async |id| store.grants(ProjectScope::of_operator(id)).await.unwrap().len();
    let of_person = create(person).await;
    assert_eq!((grants(of_person).await, grants(create(administrator).await).await), (0, 0));
    let (_database, store) = open().await;
    let administrator = join(&store, "b@example.com", Invited::Administrator).await.id;
    let first = store
        .create_own_project("p".parse().unwrap(), administrator, Actor::command_line(at(1)))
        .await
        .unwrap()
        .id;
    assert_eq!(store.grants(ProjectScope::of_operator(first)).await.unwrap().len(), Subject::ALL.len());
}

#[tokio::test]
async fn sessions_last_until_they_are_over_or_ended() {
    let (_database, store) = open().await;
    let account = join(&store, "a@example.com", Invited::Person).await;
    for name in ["one", "two", "three"] {
        let new = NewSession { hash: hash(name), account: account.id, expires_at: at(50) };
        store.open_session(new, None, at(10)).await.unwrap();
    }
    let of = async |name: &str, second| store.session_account(hash(name), at(second)).await.unwrap();
    let expected = Account { signed_in_at: Some(at(10)), ..account.clone() };
    assert_eq!(of("one", 49).await, Some(expected));
    assert_eq!((of("one", 50).await, of("none", 10).await), (None, None));
    store.close_session(hash("one")).await.unwrap();
    assert_eq!(of("one", 20).await, None);
    store.set_password(account.id, "new".to_owned(), hash("two"), operator()).await.unwrap();
    assert!(of("two", 20).await.is_some() && of("three", 20).await.is_none(), "others are out");
    store.close_sessions(account.id, operator()).await.unwrap();
    assert_eq!(of("two", 20).await, None);
}

#[tokio::test]
async fn members_and_their_projects() {
    let (_database, store) = open().await;
    let account = join(&store, "a@example.com", Invited::Person).await.id;
    let made =
        store.create_own_project("mine".parse().unwrap(), account, Actor::command_line(at(1))).await.unwrap();
    let other = project(&store).await;
    invite(&store, "link", Invited::Member(other.project(), Role::Viewer)).await;
    store.accept(hash("link"), account, Actor::command_line(at(2))).await.unwrap();
    let roles = |list: Vec<(bourse_store::Project, Role)>| -> Vec<_> {
        list.into_iter().map(|(project, role)| (project.id, role)).collect()
    };
    let own = roles(store.projects_of(account).await.unwrap());
    assert_eq!(own, [(made.id, Role::Owner), (other.project(), Role::Viewer)]);
    store.set_role(other, account, Role::Owner, operator()).await.unwrap();
    let members = store.members(other).await.unwrap();
    assert_eq!((members.len(), members[0].role, members[0].added_at), (1, Role::Owner, at(2)));
    store.remove_member(other, account, operator()).await.unwrap();
    assert_eq!(roles(store.projects_of(account).await.unwrap()), [(made.id, Role::Owner)]);
    assert_eq!(code(store.remove_member(other, account, operator()).await), Code::NotFound);
}

#[tokio::test]
async fn the_last_administrator_stays() {
    let (_database, store) = open().await;
    let one = join(&store, "a@example.com", Invited::Administrator).await.id;
    assert_eq!(code(store.remove_account(one, operator()).await), Code::RequestConflict);
    let two = join(&store, "b@example.com", Invited::Administrator).await.id;
    let new = NewSession { hash: hash("one"), account: one, expires_at: at(50) };
    store.open_session(new, None, at(1)).await.unwrap();
    store.create_own_project("mine".parse().unwrap(), one, Actor::command_line(at(1))).await.unwrap();
    store.remove_account(one, operator()).await.unwrap();
    assert_eq!(store.session_account(hash("one"), at(2)).await.unwrap(), None);
    assert_eq!(store.accounts().await.unwrap()[0].id, two);
    assert_eq!(code(store.remove_account(one, operator()).await), Code::NotFound);
}

/// An account whose second factor is on, with recovery codes `a` and `b`, at step 100.
async fn protected(store: &Store) -> Account {
    let account = join(store, "a@example.com", Invited::Person).await;
    store.propose_second_factor(account.id, "first".to_owned()).await.unwrap();
    store.propose_second_factor(account.id, "secret".to_owned()).await.unwrap();
    let shown = Confirmation { step: 100, recovery: vec![hash("a"), hash("b")], keep: hash("keep") };
    store.confirm_second_factor(account.id, shown, operator_at(at(1))).await.unwrap();
    account
}

#[tokio::test]
async fn a_second_factor_counts_from_its_first_code_on() {
    let (_database, store) = open().await;
    let account = join(&store, "b@example.com", Invited::Person).await.id;
    let shown = || Confirmation { step: 7, recovery: vec![hash("x")], keep: hash("one") };
    assert_eq!(
        code(store.confirm_second_factor(account, shown(), operator_at(at(1))).await),
        Code::RequestConflict
    );
    assert!(store.second_factor(account).await.unwrap().is_none());
    store.propose_second_factor(account, "secret".to_owned()).await.unwrap();
    let proposed = store.second_factor(account).await.unwrap().unwrap();
    assert!(proposed.secret == "secret" && proposed.confirmed_at.is_none());
    assert!(!store.use_code(account, ShownCode::Step(9)).await.unwrap(), "it is not on yet");
    for name in ["one", "two"] {
        let new = NewSession { hash: hash(name), account, expires_at: at(50) };
        store.open_session(new, None, at(1)).await.unwrap();
    }
    store.confirm_second_factor(account, shown(), operator_at(at(2))).await.unwrap();
    let confirmed = store.second_factor(account).await.unwrap().unwrap();
    assert!(confirmed.secret == "secret" && confirmed.confirmed_at == Some(at(2)));
    let of = async |name: &str| store.session_account(hash(name), at(3)).await.unwrap().is_some();
    assert!(of("one").await && !of("two").await, "other sessions end");
    assert_eq!(
        code(store.confirm_second_factor(account, shown(), operator_at(at(3))).await),
        Code::RequestConflict
    );
    let other = store.propose_second_factor(account, "other".to_owned()).await;
    assert_eq!(code(other), Code::RequestConflict, "one that is on is not replaced");
    assert!(store.remove_second_factor(account, operator()).await.unwrap());
    assert!(!store.remove_second_factor(account, operator()).await.unwrap());
    assert!(store.second_factor(account).await.unwrap().is_none());
    assert_eq!(store.recovery_codes_left(account).await.unwrap(), 0);
    store.propose_second_factor(account, "again".to_owned()).await.unwrap();
    store.remove_account(account, operator()).await.unwrap();
    assert_eq!(code(store.propose_second_factor(account, "late".to_owned()).await), Code::NotFound);
}

/// Whoever comes at once with the same code, one gets in.
#[tokio::test(flavor = "multi_thread")]
async fn a_code_is_used_up_once() {
    let (_database, store) = open().await;
    let account = protected(&store).await.id;
    for shown in [ShownCode::Step(101), ShownCode::Recovery(hash("a"))] {
        let tries = (0..8).map(|_| store.use_code(account, shown.clone()));
        let good = futures_util::future::join_all(tries).await;
        assert_eq!(good.iter().filter(|good| *good.as_ref().unwrap()).count(), 1);
    }
    for step in [99, 100, 101] {
        assert!(!store.use_code(account, ShownCode::Step(step)).await.unwrap(), "{step} is over");
    }
    assert!(store.use_code(account, ShownCode::Step(102)).await.unwrap());
    assert_eq!(store.recovery_codes_left(account).await.unwrap(), 1);
    assert!(!store.use_code(account, ShownCode::Recovery(hash("none"))).await.unwrap());
    store.renew_recovery_codes(account, vec![hash("c"), hash("d")], operator()).await.unwrap();
    assert!(!store.use_code(account, ShownCode::Recovery(hash("b"))).await.unwrap());
    assert!(store.use_code(account, ShownCode::Recovery(hash("c"))).await.unwrap());
    let other = join(&store, "b@example.com", Invited::Person).await.id;
    assert!(!store.use_code(other, ShownCode::Recovery(hash("d"))).await.unwrap(), "it is another's");
    assert_eq!(code(store.renew_recovery_codes(other, vec![], operator()).await), Code::RequestConflict);
}

#[tokio::test]
async fn tries_of_codes_are_counted_by_the_hour() {
    let (_database, store) = open().await;
    let account = protected(&store).await.id;
    let hour = |number: u64| Timestamp::from_unix_seconds(1_800_000_000 + number * 3600);
    let may = async |at| store.count_code_try(account, at).await.unwrap();
    for _ in 0..20 {
        assert!(may(hour(0)).await);
    }
    assert!(!may(hour(0)).await && !may(hour(0)).await);
    assert!(may(hour(1)).await, "the next hour is another");
    for _ in 0..18 {
        may(hour(1)).await;
    }
    assert!(store.use_code(account, ShownCode::Step(200)).await.unwrap());
    for _ in 0..20 {
        assert!(may(hour(1)).await, "a good code forgives the others");
    }
    assert!(!may(hour(1)).await);
    let other = join(&store, "b@example.com", Invited::Person).await.id;
    assert!(!store.count_code_try(other, hour(1)).await.unwrap(), "who has none shows none");
}

#[tokio::test]
async fn who_waits_for_a_code_waits_for_a_while() {
    let (_database, store) = open().await;
    let account = protected(&store).await;
    let wait = async |name: &str| {
        let new = NewPendingSignIn { hash: hash(name), account: account.id, expires_at: at(50) };
        store.await_code(new, at(10)).await.unwrap();
    };
    let who = async |name: &str, second| store.pending_account(hash(name), at(second)).await.unwrap();
    wait("one").await;
    assert_eq!(who("one", 49).await.map(|found| found.id), Some(account.id));
    assert_eq!((who("one", 50).await, who("none", 10).await), (None, None));
    assert_eq!(store.session_account(hash("one"), at(20)).await.unwrap(), None, "it is no session");
    assert!(store.end_pending_sign_in(hash("one")).await.unwrap());
    assert!(!store.end_pending_sign_in(hash("one")).await.unwrap());
    assert_eq!(who("one", 20).await, None);
    // Whatever ends sessions ends this too.
    wait("two").await;
    store.set_password(account.id, "new".to_owned(), hash("keep"), operator()).await.unwrap();
    assert_eq!(who("two", 20).await, None);
    wait("three").await;
    store.close_sessions(account.id, operator()).await.unwrap();
    assert_eq!(who("three", 20).await, None);
    wait("four").await;
    store.remove_second_factor(account.id, operator()).await.unwrap();
    assert_eq!(who("four", 20).await, None);
    let found = store.account_by_email(&"A@example.com".parse().unwrap()).await.unwrap();
    assert_eq!(found.id, account.id);
    assert_eq!(code(store.account_by_email(&"none@example.com".parse().unwrap()).await), Code::NotFound);
}

/// A minute may end in between, by the clock of the database, but not twice in a row.
#[tokio::test]
async fn tries_to_sign_in_are_counted_by_the_minute_of_the_database() {
    let (database, store) = open().await;
    let count = async |who: &[&str]| {
        let tried_by = who.iter().map(|who| hash(who)).collect();
        store.count_sign_in_try(tried_by).await.unwrap()
    };
    let counted = async |address: &str, account: &str| {
        let first = count(&[address, account]).await;
        assert_eq!(first, [1, 1]);
        [count(&[address]).await, count(&[address, account]).await] == [vec![2], vec![3, 2]]
    };
    assert!(counted("address", "account").await || counted("other address", "other account").await);
    assert!(count(&[]).await.is_empty());
    let any = collection_id(0);
    let earlier = "UPDATE sign_in_tries SET minute = minute - 1 WHERE minute <> $1";
    change_unnoticed(&store, any, earlier).await.unwrap();
    assert_eq!(count(&["address"]).await, [1], "the next minute has its own");
    // Long after, and where a clock was wrong, nobody is remembered.
    for wrong in [
        "UPDATE sign_in_tries SET minute = minute - 9 WHERE minute <> $1",
        "UPDATE sign_in_tries SET minute = minute + 900 WHERE minute <> $1",
    ] {
        change_unnoticed(&store, any, wrong).await.unwrap();
        assert_eq!(count(&["another"]).await, [1]);
        let rows = tables_of(&database, None).await.unwrap().rows["sign_in_tries"].clone();
        assert_eq!(rows.len(), 1, "{rows:?}");
    }
}
