//! Audiences: making them, looking through contacts before they are stored, and who may do what.

use serde_json::{Value, json};

use super::browser::{Browser, escaped};
use crate::support::TestApp;
use crate::support::seed::{self, RELICS};

const ADA: &str = "0x00000000000000000000000000000000000000ad";
const BOB: &str = "0x00000000000000000000000000000000000000b0";
const HOSTILE: &str = "<script>alert(1)</script>\u{202e}\"'&";

struct Desk {
    app: TestApp,
    owner: Browser,
    /// The path of an audience without contacts.
    path: String,
    audience: u64,
}

impl Desk {
    async fn start(settings: &[(&'static str, &str)]) -> Self {
        let app = TestApp::with(settings).await;
        let owner = Browser::of_owner(&app, app.project_a.id).await;
        let made = app.project_a.call("Builder/CreateAudience", json!({ "name": "Testers" })).await.ok();
        let audience = made["audience"]["id"].as_u64().unwrap();
        let path = format!("/console/projects/{}/audiences/{audience}", app.project_a.id);
        Self { app, owner, path, audience }
    }

    async fn contacts(&self) -> Vec<Value> {
        let body = json!({ "audienceId": self.audience });
        self.app.project_a.call("Builder/GetAudience", body).await.ok()["contacts"]
            .as_array()
            .unwrap()
            .clone()
    }

    /// Name, address and e-mail of every contact, in the order of addresses.
    async fn people(&self) -> Vec<String> {
        let contacts = self.contacts().await;
        let text = |contact: &Value, member: &str| contact[member].as_str().unwrap().to_owned();
        let mut people: Vec<String> = contacts
            .iter()
            .map(|contact| ["address", "name", "email"].map(|member| text(contact, member)).join("|"))
            .collect();
        people.sort();
        people
    }
}

#[tokio::test]
async fn audiences_are_made_renamed_and_deleted() {
    let app = TestApp::start().await;
    let owner = Browser::of_owner(&app, app.project_a.id).await;
    let path = format!("/console/projects/{}/audiences", app.project_a.id);
    assert!(owner.get(&path).await.says("There is no audience yet"));
    let made = owner.post(&path, &[("name", HOSTILE)]).await;
    assert_eq!(made.status, 303, "{}", made.html);
    let (one, _) = made.location().split_once('?').unwrap();
    for page in [owner.get(&path).await, owner.get(one).await] {
        assert!(page.says(HOSTILE) && !page.html.contains("<script>alert"), "{}", page.html);
    }
    let again = owner.post(&path, &[("name", HOSTILE)]).await;
    assert_eq!(again.status, 422);
    assert!(again.says("exists") && again.html.contains(&format!("value=\"{}\"", escaped(HOSTILE))));
    let empty = owner.post(&format!("{one}/rename"), &[("name", " ")]).await;
    assert_eq!(empty.status, 422);
    assert!(empty.says("name: must not be empty"));
    let other = owner.post(&path, &[("name", "Taken")]).await;
    assert_eq!(other.status, 303);
    let taken = owner.post(&format!("{one}/rename"), &[("name", "Taken")]).await;
    assert!(taken.status == 422 && taken.value("name") == "Taken");
    assert!(taken.html.contains(&format!("<h1>{}</h1>", escaped(HOSTILE))));
    assert_eq!(owner.post(&format!("{one}/rename"), &[("name", "Testers")]).await.status, 303);
    assert!(owner.get(one).await.html.contains("<h1>Testers</h1>"));
    assert!(owner.get(one).await.says("Only the project adds contacts"));
    let registration = format!("{one}/registration");
    assert_eq!(owner.post(&registration, &[("open", "yes")]).await.status, 303);
    assert!(owner.get(one).await.says("Close registration"));
    assert_eq!(owner.post(&registration, &[("open", "no")]).await.status, 303);
    assert!(owner.get(one).await.says("Open for registration"));
    assert_eq!(owner.post(&format!("{one}/delete"), &[]).await.status, 303);
    assert_eq!(owner.get(one).await.status, 404);
}

#[tokio::test]
async fn nothing_is_stored_before_it_was_looked_through() {
    let desk = Desk::start(&[]).await;
    let table = format!(
        "\u{feff}Name;Wallet;E-Mail\r\nAda;{ADA};ada@mail.example\r\nNobody;0x12;\r\n\"B;b\";{BOB};bob\r\n{HOSTILE};{BOB};\r\nBob;{BOB};bob@mail.example\r\n"
    );
    let preview = format!("{}/preview", desk.path);
    let page = desk.owner.post_file(&preview, &[("contacts", "")], ("people.csv", table.as_bytes())).await;
    assert_eq!(page.status, 200, "{}", page.html);
    for said in ["2 good", "2 wrong", "1 repeated", "is not an address", "`bob` is not an e-mail address"] {
        assert!(page.says(said), "{said}: {}", page.html);
    }
    assert!(
        page.html.contains("<td class=\"number\">3</td>")
            && page.html.contains("<td class=\"number\">4</td>")
    );
    assert!(desk.contacts().await.is_empty());
    let rows = page.value("rows");
    let added = desk.owner.post(&format!("{}/contacts", desk.path), &[("rows", &rows)]).await;
    assert_eq!(added.status, 303, "{}", added.html);
    let expected = [format!("{ADA}|Ada|ada@mail.example"), format!("{BOB}|Bob|bob@mail.example")];
    assert_eq!(desk.people().await, expected);
    // Again, with one that is as it was and one that is different.
    let text = format!("{ADA}, Ada, ada@mail.example\n{BOB}, {HOSTILE}");
    let page = desk.owner.post(&preview, &[("contacts", &text)]).await;
    assert!(
        page.says("1 that are here with another name")
            && page.says(HOSTILE)
            && !page.html.contains("<script>alert")
    );
    let rows = page.value("rows");
    assert_eq!(desk.owner.post(&format!("{}/contacts", desk.path), &[("rows", &rows)]).await.status, 303);
    assert_eq!(desk.people().await[1], format!("{BOB}|{HOSTILE}|"));
}

#[tokio::test]
async fn what_cannot_be_read_is_told_and_kept() {
    let desk = Desk::start(&[]).await;
    let preview = format!("{}/preview", desk.path);
    let page = desk.owner.post(&preview, &[("contacts", "Ada & <Bob>")]).await;
    assert_eq!(page.status, 422);
    assert!(page.says("0 good") && page.says("`Ada & <Bob>` is not an address"));
    assert!(page.html.contains("Ada &amp; &lt;Bob&gt;</textarea>") && !page.html.contains("name=\"rows\""));
    let empty = desk.owner.post(&preview, &[("contacts", "  \n ")]).await;
    assert_eq!(empty.status, 422);
    assert!(empty.says("paste some lines"));
    let binary =
        desk.owner.post_file(&preview, &[("contacts", "kept")], ("a.xlsx", b"PK\x03\x04\xff\xfe")).await;
    assert_eq!(binary.status, 422);
    assert!(binary.says("save it as CSV UTF-8") && binary.html.contains("kept</textarea>"));
    // What comes back from the page is believed no more than what was sent first.
    let forged = desk.owner.post(&format!("{}/contacts", desk.path), &[("rows", "0x12,Nobody,")]).await;
    assert_eq!(forged.status, 422);
    assert!(desk.contacts().await.is_empty());
}

#[tokio::test]
async fn more_contacts_than_one_call_takes_are_added_in_several() {
    let desk = Desk::start(&[("limits.contacts_max", "40")]).await;
    let lines: Vec<String> = (1..=101).map(|number| format!("0x{number:040x}, Person {number}")).collect();
    let page = desk.owner.post(&format!("{}/preview", desk.path), &[("contacts", &lines.join("\n"))]).await;
    assert!(page.says("101 good") && page.says("and 91 more"), "{}", page.html);
    let rows = page.value("rows");
    assert_eq!(desk.owner.post(&format!("{}/contacts", desk.path), &[("rows", &rows)]).await.status, 303);
    assert_eq!(desk.contacts().await.len(), 101);
    // Pages, and what is sought.
    let first = desk.owner.get(&desk.path).await;
    assert!(first.says("1–50 of 101") && first.says("Person 50") && !first.says("Person 51"));
    let last = desk.owner.get(&format!("{}?page=3", desk.path)).await;
    assert!(last.says("101–101 of 101") && last.says("Person 101") && !last.html.contains("rel=\"next\""));
    let found = desk.owner.get(&format!("{}?q=PERSON+10", desk.path)).await;
    assert!(found.says("1–3 of 3") && found.says("Person 101") && !found.says("Person 11"));
    let none = desk.owner.get(&format!("{}?q=%3Cb%3E&page=7", desk.path)).await;
    assert!(none.says("Nobody here has that") && none.html.contains("value=\"&lt;b&gt;\""));
    // Two of them go.
    let ids: Vec<String> =
        desk.contacts().await[..2].iter().map(|contact| contact["id"].to_string()).collect();
    let chosen: Vec<(&str, &str)> = ids.iter().map(|id| ("contact", id.as_str())).collect();
    assert_eq!(desk.owner.post(&format!("{}/remove", desk.path), &chosen).await.status, 303);
    assert_eq!(desk.contacts().await.len(), 99);
    let nobody = desk.owner.post(&format!("{}/remove", desk.path), &[]).await;
    assert_eq!(nobody.status, 422);
    assert!(nobody.says("choose those"));
}

#[tokio::test]
async fn contacts_go_out_as_a_table_that_runs_nothing_and_comes_back() {
    let desk = Desk::start(&[]).await;
    let contacts = json!([
        { "address": ADA, "name": "=HYPERLINK(\"https://evil.example\")", "email": "+a@mail.example" },
        { "address": BOB, "name": "B, \"b\"" },
    ]);
    let body = json!({ "audienceId": desk.audience, "contacts": contacts });
    desk.app.project_a.call("Builder/AddAudienceContacts", body).await.ok();
    let page = desk.owner.get(&format!("{}/contacts.csv", desk.path)).await;
    assert_eq!(page.headers["content-type"], "text/csv; charset=utf-8");
    assert!(page.headers["content-disposition"].to_str().unwrap().starts_with("attachment"));
    let lines: Vec<&str> = page.html.lines().collect();
    assert_eq!(lines[0], "address,name,email,added");
    assert!(lines[1].starts_with(&format!("{ADA},\"'=HYPERLINK(")), "{}", lines[1]);
    assert!(lines[1].contains(",'+a@mail.example,"), "{}", lines[1]);
    let people = desk.people().await;
    let again =
        desk.owner.post_file(&format!("{}/preview", desk.path), &[], ("a.csv", page.html.as_bytes())).await;
    assert!(again.says("2 good") && again.says("0 that are here with another name"), "{}", again.html);
    assert_eq!(desk.people().await, people);
}

#[tokio::test]
async fn viewers_look_and_others_see_nothing() {
    let desk = Desk::start(&[]).await;
    let contact = json!([{ "address": ADA, "name": "Ada" }]);
    let body = json!({ "audienceId": desk.audience, "contacts": contact });
    desk.app.project_a.call("Builder/AddAudienceContacts", body).await.ok();
    let id = desk.contacts().await[0]["id"].to_string();
    let viewer = Browser::of_viewer(&desk.app, desk.app.project_a.id).await;
    let stranger = Browser::of_owner(&desk.app, desk.app.project_b.id).await;
    let list = format!("/console/projects/{}/audiences", desk.app.project_a.id);
    for path in [list.clone(), desk.path.clone(), format!("{}/contacts.csv", desk.path)] {
        let page = viewer.get(&path).await;
        assert_eq!(page.status, 200);
        assert!(!page.html.contains("name=\"contact\"") && !page.says("Add contacts"));
        assert_eq!(stranger.get(&path).await.status, 404, "{path}");
    }
    let row = format!("{BOB},Bob,");
    let sent: [(String, &[(&str, &str)]); 7] = [
        (list, &[("name", "More")]),
        (format!("{}/registration", desk.path), &[("open", "yes")]),
        (format!("{}/rename", desk.path), &[("name", "Other")]),
        (format!("{}/remove", desk.path), &[("contact", &id)]),
        (format!("{}/preview", desk.path), &[("contacts", &row)]),
        (format!("{}/contacts", desk.path), &[("rows", &row)]),
        (format!("{}/delete", desk.path), &[]),
    ];
    for (path, fields) in &sent {
        assert_eq!(viewer.post(path, fields).await.status, 403, "{path}");
        assert_eq!(stranger.post(path, fields).await.status, 404, "{path}");
    }
    // By way of their own project they do not get there either.
    let own = desk.path.replace(
        &format!("projects/{}", desk.app.project_a.id),
        &format!("projects/{}", desk.app.project_b.id),
    );
    assert_eq!(stranger.get(&own).await.status, 404);
    assert_eq!(stranger.post(&format!("{own}/contacts"), &[("rows", &row)]).await.status, 404);
    assert_eq!(desk.people().await, [format!("{ADA}|Ada|")]);
}

#[tokio::test]
async fn linked_contracts_are_shown() {
    use bourse_store::{AudienceContractInput, AudienceImport};
    use bourse_wire::{ChainId, ContractSource};
    let desk = Desk::start(&[]).await;
    assert!(desk.owner.get(&desk.path).await.says("No contract is linked"));
    let contract = AudienceContractInput {
        chain: ChainId(137),
        address: RELICS.parse().unwrap(),
        name: HOSTILE.to_owned(),
        contract_type: "ERC1155".to_owned(),
        source: ContractSource::Sale,
        items_contract_address: None,
        abi: String::new(),
        bytecode: String::new(),
        bytecode_hash: String::new(),
    };
    let import =
        AudienceImport { name: "Testers".parse().unwrap(), contacts: vec![], contracts: vec![contract] };
    desk.app.store.import_audience(desk.app.project_a.scope, import, desk.app.now()).await.unwrap();
    seed::relics(&desk.app.store).await;
    let page = desk.owner.get(&desk.path).await;
    for said in [HOSTILE, "polygon", "ERC1155", "sale", RELICS] {
        assert!(page.says(said), "{said}: {}", page.html);
    }
    assert!(!page.html.contains("<script>alert"));
}
