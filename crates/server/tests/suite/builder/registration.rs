//! Signing up by a signature, and what anybody may ask of an audience that is open for it.

use std::sync::Arc;

use bourse_server::Chains;
use serde_json::{Value, json};

use super::{proof, proof_at};
use crate::support::TestApp;
use crate::support::chain::FakeChain;
use crate::support::seed::ACCOUNT;
use crate::support::transcript::Transcript;
use crate::venues::wallet::Wallet;

const REGISTER: &str = "Builder/RegisterAudienceContact";
const READ: &str = "Builder/GetRegisteredAudienceContact";
const IS_IN: &str = "Builder/IsAudienceContactRegistered";
const STATUS: &str = "Builder/GetAudienceRegistrationPublicStatus";

/// A key, the first project, and its first audience.
const ADA: (u8, u64, u64) = (7, 1, 1);

/// A service with an open audience, which is 1, and a closed one.
async fn service(settings: &[(&'static str, &str)], chain: Option<Arc<FakeChain>>) -> TestApp {
    let chain = chain.map(|chain| chain as Arc<dyn Chains>);
    let (app, ()) = TestApp::asking(settings, chain, async |_, _, _| ()).await;
    for (name, is_open) in [("Guests", true), ("Staff", false)] {
        let body = json!({ "name": name, "registrationOpen": is_open });
        app.project_a.call("Builder/CreateAudience", body).await.ok();
    }
    let staff = json!([{ "address": ACCOUNT, "name": "Staff" }]);
    for audience in [1, 2] {
        let body = json!({ "audienceId": audience, "contacts": staff });
        app.project_a.call("Builder/AddAudienceContacts", body).await.ok();
    }
    app
}

fn sign_up(proof: &Value, contact: &Value) -> Value {
    json!({ "audienceId": 1, "contact": contact, "walletProof": proof })
}

#[tokio::test]
async fn a_wallet_signs_itself_up() {
    let app = service(&[], None).await;
    let (a, mut said) = (&app.project_a, Transcript::default());
    let contact = json!({ "name": "Ada", "email": "ada@mail.example" });
    let signed = proof(ADA, "sign up", "Name: Ada\nE-mail: ada@mail.example\n");
    said.call(a, STATUS, json!({ "audienceId": 1 })).await;
    said.call(a, REGISTER, sign_up(&signed, &contact)).await;
    app.clock.advance(5);
    said.call(a, STATUS, json!({ "projectId": 1, "audienceId": 1 })).await;
    let wallet = signed["address"].clone();
    said.call(a, IS_IN, json!({ "audienceId": 1, "walletAddress": wallet })).await;
    let stranger = Wallet::of(8).address();
    said.call(a, IS_IN, json!({ "audienceId": 1, "walletAddress": stranger })).await;
    let own = proof(ADA, "read my entry", "");
    said.call(a, READ, json!({ "audienceId": 1, "walletProof": own })).await;
    said.call(a, READ, json!({ "audienceId": 1, "walletProof": proof((8, 1, 1), "read my entry", "") }))
        .await;
    insta::assert_snapshot!(said.text());
    // Sent once more, it does the same again, which is nothing.
    a.call(REGISTER, sign_up(&signed, &contact)).await.ok();
    let after = a.call("Builder/GetAudience", json!({ "audienceId": 1 })).await.ok();
    assert_eq!(after["contacts"].as_array().unwrap().len(), 2);
    // What a wallet leaves out stays as it is.
    let renamed = sign_up(&proof(ADA, "sign up", "Name: Ada L.\n"), &json!({ "name": "Ada L." }));
    a.call(REGISTER, renamed).await.ok();
    let read =
        a.call(READ, json!({ "audienceId": 1, "walletProof": proof(ADA, "read my entry", "") })).await.ok();
    assert_eq!(
        (&read["contact"]["name"], &read["contact"]["email"]),
        (&json!("Ada L."), &json!("ada@mail.example"))
    );
    assert!(!read.to_string().contains("Staff"), "{read}");
}

#[tokio::test]
async fn what_was_not_signed_just_so_is_refused() {
    let app = service(&[("limits.wallet_proofs_per_minute", "1000000")], None).await;
    let (a, mut said) = (&app.project_a, Transcript::default());
    let name = json!({ "name": "Ada" });
    let with = |member: &str, value: Value| {
        let mut changed = proof(ADA, "sign up", "Name: Ada\n");
        changed[member] = value;
        changed
    };
    for (proof, contact) in [
        // Another name, purpose, project, audience, wallet.
        (proof(ADA, "sign up", "Name: Eve\n"), name.clone()),
        (proof(ADA, "read my entry", "Name: Ada\n"), name.clone()),
        (proof((7, 2, 1), "sign up", "Name: Ada\n"), name.clone()),
        (proof((7, 1, 2), "sign up", "Name: Ada\n"), name.clone()),
        (with("address", json!(Wallet::of(8).address())), name.clone()),
        // A signature of another text, of nobody, and none.
        (with("signature", proof(ADA, "sign up", "")["signature"].clone()), name.clone()),
        (with("signature", json!("0x00")), name.clone()),
        (with("signature", json!("")), name.clone()),
        // Too old, too new.
        (proof_at("2025-03-14T11:49:59Z", ADA, "sign up", "Name: Ada\n"), name.clone()),
        (proof_at("2025-03-14T12:02:01Z", ADA, "sign up", "Name: Ada\n"), name.clone()),
        // A line too many, and somebody else's entry.
        (proof(ADA, "sign up", "Name: A\nE-mail: a@b.cd\n"), json!({ "name": "A\nE-mail: a@b.cd" })),
        (proof(ADA, "sign up", "Name: Ada\n"), json!({ "name": "Ada", "address": ACCOUNT })),
    ] {
        let answer = a.call(REGISTER, sign_up(&proof, &contact)).await;
        said.note("POST", &answer);
        assert!(matches!(answer.status, 400 | 403), "{}", answer.text());
    }
    insta::assert_snapshot!(said.text());
    let read = json!({ "audienceId": 1, "walletProof": proof(ADA, "sign up", "") });
    assert_eq!(a.call(READ, read).await.status, 400, "signing up lets nobody read");
    let after = a.call("Builder/GetAudience", json!({ "audienceId": 1 })).await.ok();
    assert_eq!(after["contacts"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn an_address_may_be_spelled_with_its_checksum_and_a_signature_end_with_nought() {
    let app = service(&[], None).await;
    let wallet = Wallet::of(7);
    let message = proof(ADA, "sign up", "")["message"].as_str().unwrap().to_owned();
    let spelled = message.replace(&wallet.address(), &wallet.address().to_uppercase().replacen('X', "x", 1));
    let signature = wallet.sign_text(&spelled);
    let last = signature.len() - 2;
    let ended = format!("{}{}", &signature[..last], if signature.ends_with("1b") { "00" } else { "01" });
    for signature in [signature, ended] {
        let signed = json!({ "address": wallet.address(), "signature": signature, "message": spelled });
        app.project_a.call(REGISTER, sign_up(&signed, &json!({}))).await.ok();
    }
}

#[tokio::test]
async fn a_closed_audience_tells_nothing() {
    let app = service(&[], None).await;
    let a = &app.project_a;
    let of = |audience: u64, purpose: &str| proof((7, 1, audience), purpose, "");
    for (audience, refusal) in [(2, (403, 1001)), (3, (404, 3000))] {
        for (operation, body) in [
            (REGISTER, json!({ "contact": {}, "walletProof": of(audience, "sign up") })),
            (READ, json!({ "walletProof": of(audience, "read my entry") })),
            (IS_IN, json!({ "walletAddress": ACCOUNT })),
            (STATUS, json!({})),
        ] {
            let mut body = body;
            body["audienceId"] = json!(audience);
            assert_eq!(a.call(operation, body).await.refusal(), refusal, "{operation}");
        }
    }
    // It can be opened, and closed again.
    for (is_open, status) in [(true, 200), (false, 403)] {
        let body = json!({ "audienceId": 2, "registrationOpen": is_open });
        let audience = a.call("Builder/UpdateAudience", body).await.ok();
        assert_eq!(
            (&audience["audience"]["name"], &audience["audience"]["registrationOpen"]),
            (&json!("Staff"), &json!(is_open))
        );
        let body = json!({ "audienceId": 2, "walletAddress": ACCOUNT });
        assert_eq!(a.call(IS_IN, body).await.status, status);
    }
}

#[tokio::test]
async fn a_contract_signs_by_saying_so() {
    let chain = Arc::new(FakeChain::default());
    let app = service(&[], Some(Arc::clone(&chain))).await;
    let a = &app.project_a;
    let mut signed = proof(ADA, "sign up", "");
    signed["signature"] = json!("0x1234");
    let body = sign_up(&signed, &json!({}));
    assert_eq!(a.call(REGISTER, body.clone()).await.refusal(), (403, 1001), "nobody can be asked");
    let wallet = Wallet::of(7).address();
    let says = |answer: &str| chain.says_data(&wallet, "1626ba7e", &format!("{answer:0<64}"));
    says("ffffffff");
    assert_eq!(a.call(REGISTER, body.clone()).await.refusal(), (403, 1001), "it says no");
    says("1626ba7e");
    let mut nowhere = body.clone();
    nowhere["walletProof"]["chainId"] = json!(null);
    assert_eq!(a.call(REGISTER, nowhere).await.refusal(), (403, 1001), "on no chain");
    a.call(REGISTER, body).await.ok();
}

#[tokio::test]
async fn an_audience_is_not_filled_with_made_up_wallets() {
    let limits = [("limits.wallet_proofs_per_minute", "3"), ("limits.registered_contacts_max", "3")];
    let app = service(&limits, None).await;
    let (here, there) = (app.project_a.key.from([192, 0, 2, 1]), app.project_a.key.from([192, 0, 2, 2]));
    let of = |key: u8| sign_up(&proof((key, 1, 1), "sign up", ""), &json!({}));
    // One is in it already.
    for key in [1, 2] {
        here.call(REGISTER, of(key)).await.ok();
    }
    let full = here.call(REGISTER, of(3)).await;
    assert_eq!(full.refusal(), (409, 1004), "{}", full.text());
    assert_eq!(here.call(REGISTER, of(1)).await.refusal(), (429, 1007));
    // Whoever comes from elsewhere is not kept away, and whoever is in it may change what they said.
    let renamed = sign_up(&proof((2, 1, 1), "sign up", "Name: Two\n"), &json!({ "name": "Two" }));
    there.call(REGISTER, renamed).await.ok();
    assert_eq!(there.call(REGISTER, of(4)).await.refusal(), (409, 1004));
    // A secret token is the project itself: nobody counts, and nobody else is in by it.
    for _ in 0..5 {
        app.project_a.token.call(REGISTER, of(1)).await.ok();
    }
    app.clock.advance(60);
    here.call(REGISTER, of(1)).await.ok();
}
