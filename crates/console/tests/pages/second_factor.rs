//! Passwords that are refused, and the second factor: setting it up, signing in with it, losing it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use axum::http::{Request, header};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use bourse_store::testing::operator_at;
use bourse_store::{Invited, NewInvite, ProofHash};
use bourse_wire::Timestamp;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha1::Sha1;
use sha2::{Digest as _, Sha256};

use crate::support::TestApp;
use crate::support::actor::{Actor, Answer};

const PASSWORD: &str = "lantern quietly grows 7 figs";
const EMAIL: &str = "ada@mail.example";

/// Somebody before a browser that keeps its cookies.
struct Person {
    actor: Actor,
    cookies: RefCell<BTreeMap<String, String>>,
}

impl Person {
    fn new(app: &TestApp, address: [u8; 4]) -> Self {
        Self { actor: app.anonymous.from(address), cookies: RefCell::default() }
    }

    async fn send(&self, request: axum::http::request::Builder, body: String) -> Answer {
        let cookies: Vec<String> =
            self.cookies.borrow().iter().map(|(name, value)| format!("{name}={value}")).collect();
        let request = request.header(header::COOKIE, cookies.join("; ")).body(body.into()).unwrap();
        let answer = self.actor.send(request).await;
        for cookie in answer.headers.get_all(header::SET_COOKIE) {
            let (name, value) = cookie.to_str().unwrap().split(';').next().unwrap().split_once('=').unwrap();
            self.cookies.borrow_mut().insert(name.to_owned(), value.to_owned());
        }
        answer
    }

    async fn get(&self, path: &str) -> Answer {
        self.send(Request::get(path), String::new()).await
    }

    /// Sends a form of a page.
    async fn post(&self, page: &str, path: &str, fields: &[(&str, &str)]) -> Answer {
        let page = self.get(page).await.text();
        let token = between(&page, "name=\"form_token\" value=\"", "\"").to_owned();
        let mut body = form_urlencoded::Serializer::new(String::new());
        body.append_pair("form_token", &token).extend_pairs(fields);
        let request = Request::post(path).header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        self.send(request, body.finish()).await
    }

    async fn sign_in(&self, password: &str) -> Answer {
        let fields = [("email", EMAIL), ("password", password), ("next", "/console/networks")];
        self.post("/console/sign-in", "/console/sign-in", &fields).await
    }

    async fn show_code(&self, code: &str) -> Answer {
        let fields = [("code", code), ("next", "/console/networks")];
        self.post("/console/sign-in/code", "/console/sign-in/code", &fields).await
    }

    /// Sends a form of the page of the second factor.
    async fn change(&self, act: &str, fields: &[(&str, &str)]) -> Answer {
        let path = format!("{PAGE}/{act}");
        self.post(PAGE, &path, fields).await
    }

    async fn is_signed_in(&self) -> bool {
        self.get("/console/account").await.status == 200
    }
}

const PAGE: &str = "/console/account/second-factor";

fn between<'t>(text: &'t str, start: &str, end: &str) -> &'t str {
    let rest = text.split(start).nth(1).unwrap_or_else(|| panic!("no {start} in {text}"));
    rest.split(end).next().unwrap()
}

/// A link that makes an account.
async fn link(app: &TestApp) -> String {
    let word = URL_SAFE_NO_PAD.encode(bourse_server::entropy::bytes::<32>());
    let hash = ProofHash(const_hex::encode(Sha256::digest(&word)));
    let expires_at = Timestamp::from_unix_seconds(u64::try_from(app.now().unix_seconds()).unwrap() + 3600);
    let new = NewInvite { hash, invited: Invited::Person, made_by: None, expires_at };
    app.store.create_invite(new, operator_at(app.now())).await.unwrap();
    format!("/console/join/{word}")
}

/// Somebody who has an account and is signed in.
async fn joined(app: &TestApp) -> Person {
    let (person, link) = (Person::new(app, [192, 0, 2, 1]), link(app).await);
    let fields = [("email", EMAIL), ("password", PASSWORD), ("again", PASSWORD)];
    let made = person.post(&link, &link, &fields).await;
    assert_eq!(made.status, 303, "{}", made.text());
    assert!(person.is_signed_in().await);
    person
}

/// The code that an app shows, of a secret as people type it.
fn code(secret: &str, now: Timestamp) -> String {
    let mut bits = String::new();
    for letter in secret.bytes() {
        let value = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".iter().position(|known| *known == letter).unwrap();
        write!(bits, "{value:05b}").unwrap();
    }
    let key: Vec<u8> =
        (0..bits.len() / 8).map(|i| u8::from_str_radix(&bits[i * 8..i * 8 + 8], 2).unwrap()).collect();
    let mut mac = Hmac::<Sha1>::new_from_slice(&key).unwrap();
    mac.update(&(u64::try_from(now.unix_seconds()).unwrap() / 30).to_be_bytes());
    let hash = mac.finalize().into_bytes();
    let start = usize::from(hash[19] & 15);
    let number = u32::from_be_bytes(hash[start..start + 4].try_into().unwrap()) & 0x7fff_ffff;
    format!("{:06}", number % 1_000_000)
}

/// Switches it on: the secret, and the recovery codes.
async fn switch_on(app: &TestApp, person: &Person) -> (String, Vec<String>) {
    let setup = person.change("begin", &[("current", PASSWORD)]).await;
    assert_eq!(setup.status, 200, "{}", setup.text());
    let secret = between(&setup.text(), "id=\"second-factor-secret\" tabindex=\"0\"><code>", "<").to_owned();
    let on = person.change("confirm", &[("code", &code(&secret, app.now()))]).await;
    assert_eq!(on.status, 200, "{}", on.text());
    let codes = between(&on.text(), "id=\"recovery-codes\" tabindex=\"0\"><code>", "<").to_owned();
    (secret, codes.lines().map(str::to_owned).collect())
}

#[tokio::test]
async fn weak_passwords_are_refused_where_they_are_chosen() {
    let app = TestApp::start().await;
    let (guest, link) = (Person::new(&app, [192, 0, 2, 1]), link(&app).await);
    for weak in ["passwordpassword", "ada@mail.example", "123456789012"] {
        let fields = [("email", EMAIL), ("password", weak), ("again", weak)];
        let refused = guest.post(&link, &link, &fields).await;
        assert_eq!(refused.status, 422, "{weak}");
        assert!(refused.text().contains("is easily guessed"), "{}", refused.text());
    }
    assert!(!app.store.has_accounts().await.unwrap());
    let person = joined(&app).await;
    let fields = [("current", PASSWORD), ("password", "bourse console"), ("again", "bourse console")];
    let refused = person.post("/console/account", "/console/account/password", &fields).await;
    assert_eq!(refused.status, 422);
    assert!(refused.text().contains("is easily guessed"), "{}", refused.text());
    let new = "another lantern, 8 pears";
    let fields = [("current", PASSWORD), ("password", new), ("again", new)];
    assert_eq!(person.post("/console/account", "/console/account/password", &fields).await.status, 303);
}

#[tokio::test]
async fn a_code_is_asked_for_after_the_password() {
    let app = TestApp::start().await;
    let person = joined(&app).await;
    let elsewhere = Person::new(&app, [192, 0, 2, 2]);
    assert_eq!(elsewhere.sign_in(PASSWORD).await.header("location"), "/console/networks");
    let (secret, recovery) = switch_on(&app, &person).await;
    assert_eq!(recovery.len(), 10);
    assert!(person.is_signed_in().await && !elsewhere.is_signed_in().await, "other sessions end");
    // Neither is shown again.
    for path in [PAGE, "/console/account"] {
        let page = person.get(path).await.text();
        assert!(!page.contains(&secret) && recovery.iter().all(|code| !page.contains(code)), "{page}");
    }

    let next = elsewhere.sign_in(PASSWORD).await;
    assert_eq!(
        (next.status, next.header("location")),
        (303, "/console/sign-in/code?next=%2Fconsole%2Fnetworks")
    );
    let cookie = next.header("set-cookie");
    for word in ["bourse_console_pending=", "Max-Age=300", "HttpOnly", "SameSite=Strict", "Secure"] {
        assert!(cookie.contains(word), "{cookie}");
    }
    assert!(!elsewhere.is_signed_in().await, "the password alone opens nothing");
    // What waits for a code is no session under another name either.
    let pending = elsewhere.cookies.borrow()["bourse_console_pending"].clone();
    let forged = Person::new(&app, [192, 0, 2, 3]);
    forged.cookies.borrow_mut().insert("bourse_console".to_owned(), pending);
    assert!(!forged.is_signed_in().await);
    app.clock.advance(30);
    assert_eq!(elsewhere.show_code("000000").await.status, 401);
    let right = code(&secret, app.now());
    let done = elsewhere.show_code(&right).await;
    assert_eq!((done.status, done.header("location")), (303, "/console/networks"), "{}", done.text());
    assert!(elsewhere.is_signed_in().await && person.is_signed_in().await);
    // A code works once, and so does a password that was shown.
    assert_eq!(elsewhere.get("/console/sign-in/code").await.header("location"), "/console/sign-in");
    let third = Person::new(&app, [192, 0, 2, 4]);
    third.sign_in(PASSWORD).await;
    assert_eq!(third.show_code(&right).await.status, 401, "it was used");
    app.clock.advance(60);
    assert_eq!(third.show_code(&right).await.status, 401, "it is old");
    assert_eq!(third.show_code(&code(&secret, app.now())).await.status, 303);
}

#[tokio::test]
async fn who_waits_for_a_code_does_not_wait_for_ever() {
    let app = TestApp::start().await;
    let person = joined(&app).await;
    let (secret, _) = switch_on(&app, &person).await;
    let late = Person::new(&app, [192, 0, 2, 2]);
    late.sign_in(PASSWORD).await;
    assert_eq!(late.get("/console/sign-in/code").await.status, 200);
    app.clock.advance(300);
    assert_eq!(late.get("/console/sign-in/code").await.header("location"), "/console/sign-in");
    let fields = [("code", code(&secret, app.now()))];
    let fields = fields.each_ref().map(|(name, value)| (*name, value.as_str()));
    let answer = late.post("/console/sign-in", "/console/sign-in/code", &fields).await;
    assert_eq!(answer.header("location"), "/console/sign-in");
    // Nor with a password that is another by now.
    let early = Person::new(&app, [192, 0, 2, 3]);
    early.sign_in(PASSWORD).await;
    let new = "another lantern, 8 pears";
    let fields = [("current", PASSWORD), ("password", new), ("again", new)];
    assert_eq!(person.post("/console/account", "/console/account/password", &fields).await.status, 303);
    assert_eq!(early.get("/console/sign-in/code").await.header("location"), "/console/sign-in");
}

#[tokio::test]
async fn codes_cannot_be_tried_until_one_fits() {
    let app = TestApp::start().await;
    let person = joined(&app).await;
    let (secret, recovery) = switch_on(&app, &person).await;
    // From one address, as with passwords.
    let thief = Person::new(&app, [192, 0, 2, 9]);
    let mut statuses = Vec::new();
    thief.sign_in(PASSWORD).await;
    for _ in 0..8 {
        statuses.push(thief.show_code("000000").await.status);
    }
    assert_eq!((statuses[6], statuses[7]), (401, 429));
    // And from many, in an hour.
    for address in 10..14 {
        let thief = Person::new(&app, [192, 0, 2, address]);
        thief.sign_in(PASSWORD).await;
        for _ in 0..4 {
            statuses.push(thief.show_code("000000").await.status);
        }
    }
    assert_eq!(statuses.iter().filter(|status| **status == 401).count(), 20, "{statuses:?}");
    let owner = Person::new(&app, [192, 0, 2, 1]);
    owner.sign_in(PASSWORD).await;
    assert_eq!(owner.show_code(&recovery[0]).await.status, 429, "nor by a recovery code");
    app.clock.advance(3600);
    owner.sign_in(PASSWORD).await;
    assert_eq!(owner.show_code(&code(&secret, app.now())).await.status, 303);
}

#[tokio::test]
async fn recovery_codes_work_once_each_and_can_be_renewed() {
    let app = TestApp::start().await;
    let person = joined(&app).await;
    let (secret, recovery) = switch_on(&app, &person).await;
    let lost = Person::new(&app, [192, 0, 2, 2]);
    lost.sign_in(PASSWORD).await;
    assert_eq!(lost.show_code(&recovery[3].to_lowercase().replace('-', " ")).await.status, 303);
    assert!(lost.is_signed_in().await);
    assert!(person.get(PAGE).await.text().contains("left: 9"));
    let again = Person::new(&app, [192, 0, 2, 3]);
    again.sign_in(PASSWORD).await;
    assert_eq!(again.show_code(&recovery[3]).await.status, 401);
    assert_eq!(again.show_code(&recovery[4]).await.status, 303);
    app.clock.advance(60);
    // The password is asked for, and a wrong one uses no code up.
    let right = code(&secret, app.now());
    let refused = person.change("renew", &[("current", "wrong but long enough"), ("code", &right)]).await;
    assert_eq!(refused.status, 422);
    let renewed = person.change("renew", &[("current", PASSWORD), ("code", &right)]).await;
    assert_eq!(renewed.status, 200, "{}", renewed.text());
    let text = renewed.text();
    let new: Vec<&str> = between(&text, "id=\"recovery-codes\" tabindex=\"0\"><code>", "<").lines().collect();
    assert!(new.len() == 10 && new.iter().all(|code| !recovery.iter().any(|old| old == code)));
    let old = Person::new(&app, [192, 0, 2, 4]);
    old.sign_in(PASSWORD).await;
    assert_eq!(old.show_code(&recovery[5]).await.status, 401);
    assert_eq!(old.show_code(new[5]).await.status, 303);
}

#[tokio::test]
async fn it_is_switched_on_and_off_by_who_proves_it() {
    let app = TestApp::start().await;
    let person = joined(&app).await;
    assert_eq!(person.change("begin", &[("current", "wrong but long enough")]).await.status, 422);
    assert_eq!(person.change("confirm", &[("code", "123456")]).await.status, 422, "nothing was begun");
    let setup = person.change("begin", &[("current", PASSWORD)]).await.text();
    let secret = between(&setup, "id=\"second-factor-secret\" tabindex=\"0\"><code>", "<").to_owned();
    assert!(setup.contains(&format!(
        "href=\"otpauth://totp/Bourse%20bourse.example:ada%40mail.example?secret={secret}&amp;"
    )));
    let picture = STANDARD.decode(between(&setup, "src=\"data:image/svg+xml;base64,", "\"")).unwrap();
    assert!(picture.starts_with(b"<svg "));
    let wrong = person.change("confirm", &[("code", "000000")]).await;
    assert!(wrong.status == 422 && wrong.text().contains(&secret), "it is tried again with the same secret");
    // Until it is confirmed the password alone does.
    assert_eq!(
        Person::new(&app, [192, 0, 2, 2]).sign_in(PASSWORD).await.header("location"),
        "/console/networks"
    );
    let on = person.change("confirm", &[("code", &code(&secret, app.now()))]).await;
    assert_eq!(on.status, 200, "{}", on.text());
    app.clock.advance(60);
    let (right, wrong) = (code(&secret, app.now()), "wrong but long enough");
    assert_eq!(person.change("begin", &[("current", PASSWORD)]).await.status, 422, "it is on");
    assert_eq!(person.change("off", &[("current", wrong), ("code", &right)]).await.status, 422);
    assert_eq!(person.change("off", &[("current", PASSWORD), ("code", "000000")]).await.status, 422);
    let off = person.change("off", &[("current", PASSWORD), ("code", &right)]).await;
    assert_eq!(off.header("location"), "/console/account?done=second-factor-off");
    assert_eq!(
        Person::new(&app, [192, 0, 2, 3]).sign_in(PASSWORD).await.header("location"),
        "/console/networks"
    );
}

/// A form that another site sends, or that carries no word of ours, changes nothing.
#[tokio::test]
async fn other_sites_switch_nothing() {
    let app = TestApp::start().await;
    let person = joined(&app).await;
    for act in ["begin", "confirm", "renew", "off"] {
        let request = Request::post(format!("{PAGE}/{act}"))
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
        let answer = person.send(request, format!("current={PASSWORD}&code=123456")).await;
        assert_eq!(answer.status, 403, "{act}");
    }
    let guest = Person::new(&app, [192, 0, 2, 2]);
    assert_eq!(guest.get(PAGE).await.status, 303);
}
