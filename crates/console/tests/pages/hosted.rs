//! Hosted metadata: editing it in both ways, files, links to contracts, and who may do what.

use serde_json::{Value, json};

use super::browser::{Browser, escaped};
use crate::support::TestApp;
use crate::support::body::{PNG, SVG};
use crate::support::seed::{self, RELICS};

const HOSTILE: &str = "<script>alert(1)</script>\u{202e}\"'&";

struct Desk {
    app: TestApp,
    owner: Browser,
    /// The path of a private collection with one token, 1, that has an image.
    path: String,
    collection: u64,
    asset: u64,
}

impl Desk {
    async fn start() -> Self {
        let app = TestApp::start().await;
        let owner = Browser::of_owner(&app, app.project_a.id).await;
        let made = seed::belongings(&app.store, &app.project_a, "Relics", true).await;
        let path = format!("/console/projects/{}/hosted/{}", app.project_a.id, made.collection);
        Self { app, owner, path, collection: made.collection, asset: made.asset }
    }

    async fn token(&self) -> Value {
        let body = json!({ "collectionId": self.collection, "tokenId": "1" });
        self.app.project_a.call("Collections/GetToken", body).await.ok()["token"].clone()
    }

    async fn metadata(&self) -> Value {
        let body = json!({ "collectionId": self.collection });
        let answer = self.app.project_a.call("Collections/GetCollection", body).await.ok();
        answer["collection"]["metadata"].clone()
    }

    async fn set_token(&self, token: Value) {
        let body = json!({ "collectionId": self.collection, "tokenId": "1", "token": token });
        self.app.project_a.call("Collections/UpdateToken", body).await.ok();
    }
}

#[tokio::test]
async fn a_collection_is_made_published_and_deleted() {
    let app = TestApp::start().await;
    let owner = Browser::of_owner(&app, app.project_a.id).await;
    let list = format!("/console/projects/{}/hosted", app.project_a.id);
    let empty = owner.get(&list).await;
    assert!(empty.says("Nothing is hosted here yet") && empty.says("/rpc/Collections/CreateCollection"));
    assert!(owner.post(&list, &[("name", "")]).await.says("collection.metadata.name: is required"));
    let made = owner.post(&list, &[("name", HOSTILE)]).await;
    assert_eq!(made.status, 303, "{}", made.html);
    let (one, _) = made.location().split_once('?').unwrap();
    for page in [owner.get(&list).await, owner.get(one).await] {
        assert!(page.says(HOSTILE) && page.says("private") && !page.html.contains("<script>alert"));
    }
    let (_, id) = one.rsplit_once('/').unwrap();
    let public = format!("/projects/{}/collections/{id}", app.project_a.id);
    assert_eq!(app.anonymous.get(&public).await.status, 404);
    assert_eq!(owner.post(&format!("{one}/publish"), &[("recursive", "yes")]).await.status, 303);
    assert_eq!(app.anonymous.get(&public).await.status, 200);
    assert!(owner.get(one).await.says("published"));
    assert_eq!(owner.post(&format!("{one}/unpublish"), &[]).await.status, 303);
    assert_eq!(app.anonymous.get(&public).await.status, 404);
    assert_eq!(owner.post(&format!("{one}/delete"), &[]).await.status, 303);
    assert_eq!(owner.get(one).await.status, 404);
}

#[tokio::test]
async fn tokens_are_made_and_edited_with_the_form() {
    let desk = Desk::start().await;
    let tokens = format!("{}/tokens", desk.path);
    let wrong = desk.owner.post(&tokens, &[("token_id", "x1"), ("name", HOSTILE)]).await;
    assert_eq!(wrong.status, 422);
    assert!(wrong.says("token id:") && wrong.html.contains(&format!("value=\"{}\"", escaped(HOSTILE))));
    let taken = desk.owner.post(&tokens, &[("token_id", "1")]).await;
    assert!(taken.status == 422 && taken.says("token 1 exists in collection"));
    let largest = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
    let made = desk.owner.post(&tokens, &[("token_id", largest), ("name", HOSTILE)]).await;
    assert_eq!(made.status, 303, "{}", made.html);
    let page = desk.owner.get(made.location()).await;
    assert!(page.says(largest) && page.says(HOSTILE) && !page.html.contains("<script>alert"));
    // What has several shapes keeps them.
    let attributes = json!([{ "trait_type": "Metal", "value": "tin", "max_value": 9 }, { "level": 7 }, { "a": 1, "b": 2 }]);
    let properties: Value = serde_json::from_str(r#"{"kept":1.50}"#).unwrap();
    desk.set_token(json!({ "attributes": attributes, "properties": properties })).await;
    let edit = format!("{}/tokens/1/edit", desk.path);
    let page = desk.owner.get(&edit).await;
    // The uploaded file is shown, but not written into the metadata.
    assert!(page.value("image").is_empty(), "{}", page.html);
    let count = page.value("attributes");
    let originals: Vec<String> = (0..3).map(|row| page.value(&format!("attribute-{row}-original"))).collect();
    let mut fields = vec![
        ("name", "Tin & <relic>"),
        ("description", "An old thing\nof tin"),
        ("private", "yes"),
        ("attributes", &count),
        ("attribute-0-name", "Metal"),
        ("attribute-0-value", "copper"),
        ("attribute-0-original", &originals[0]),
        ("attribute-1-name", "level"),
        ("attribute-1-value", "eight"),
        ("attribute-1-kind", "number"),
        ("attribute-1-original", &originals[1]),
        ("attribute-2-kind", "whole"),
        ("attribute-2-value", &originals[2]),
        ("attribute-3-name", "New"),
        ("attribute-3-value", "yes"),
    ];
    let refused = desk.owner.post(&edit, &fields).await;
    assert_eq!(refused.status, 422);
    assert!(refused.says("attribute 2: `eight` is not a number") && refused.value("name") == "Tin & <relic>");
    assert_eq!(refused.value("attribute-0-value"), "copper");
    assert_eq!(desk.token().await["name"], "Relics");
    fields[8].1 = "8";
    let mut more = fields.clone();
    more.push(("do", "rows"));
    let more = desk.owner.post(&edit, &more).await;
    assert!(
        more.status == 200
            && more.value("attributes").len() > count.len()
            && more.value("name") == "Tin & <relic>"
    );
    assert_eq!(desk.token().await["name"], "Relics");
    let saved = desk.owner.post(&edit, &fields).await;
    assert_eq!(saved.status, 303, "{}", saved.html);
    let token = desk.token().await;
    assert_eq!(token["name"], "Tin & <relic>");
    assert_eq!(
        token["attributes"].to_string(),
        r#"[{"trait_type":"Metal","value":"copper","max_value":9},{"level":8},{"a":1,"b":2},{"trait_type":"New","value":"yes"}]"#
    );
    assert_eq!(token["properties"].to_string(), r#"{"kept":1.50}"#);
    assert!(token["image"].as_str().unwrap().contains("/assets/"));
    assert!(desk.owner.get(&format!("{}/tokens/1", desk.path)).await.says("private"));
    assert_eq!(desk.owner.post(&format!("{}/tokens/1/delete", desk.path), &[]).await.status, 303);
    assert_eq!(desk.owner.get(&format!("{}/tokens/1", desk.path)).await.status, 404);
}

/// A browser strips line breaks from fields of one line and sends others as two characters; the form trims.
#[tokio::test]
async fn a_form_that_nobody_touched_changes_nothing() {
    let desk = Desk::start().await;
    let many = (0..230).map(|n| json!({ (format!("n{n}")): n }));
    let attributes: Vec<Value> =
        [json!({ "trait_type": " A", "value": "two\nlines" })].into_iter().chain(many).collect();
    desk.set_token(
        json!({ "name": " padded\nname ", "description": "one\ntwo\n", "attributes": attributes }),
    )
    .await;
    let before = desk.token().await;
    let edit = format!("{}/tokens/1/edit", desk.path);
    let page = desk.owner.get(&edit).await;
    let rows: usize = page.value("attributes").parse().unwrap();
    let mut fields = vec![
        ("name".to_owned(), "paddedname".to_owned()),
        ("description".to_owned(), "one\r\ntwo\r\n".to_owned()),
    ];
    for row in 0..rows {
        for part in ["original", "name", "value"] {
            let name = format!("attribute-{row}-{part}");
            fields.push((name.clone(), page.value(&name).replace('\n', "")));
        }
        let kind = if row == 0 { "text" } else { "number" };
        fields.push((format!("attribute-{row}-kind"), kind.to_owned()));
    }
    fields.push(("attributes".to_owned(), rows.to_string()));
    let fields: Vec<(&str, &str)> =
        fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let saved = desk.owner.post(&edit, &fields).await;
    assert_eq!(saved.status, 303, "{}", saved.html);
    let after = desk.token().await;
    for member in ["name", "description", "attributes"] {
        assert_eq!(after[member], before[member], "{member}");
    }
}

#[tokio::test]
async fn json_is_edited_as_a_whole_and_says_what_is_wrong() {
    let desk = Desk::start().await;
    let edit = format!("{}/edit", desk.path);
    let send = async |json: &str| desk.owner.post(&edit, &[("as", "json"), ("json", json)]).await;
    let broken = send("{\n \"name\": \"<b>\",\n \"image\" \"x\"\n}").await;
    assert_eq!(broken.status, 422);
    assert!(broken.says("line 3, column 10") && broken.says("\"name\": \"<b>\""), "{}", broken.html);
    assert!(broken.html.contains("<details class=\"panel\" open>"));
    assert!(send(r#"{"name":"x","colour":"red"}"#).await.says("`colour` is not a member that can be edited"));
    // What only the operation knows is told with the place as well.
    let wrong = send(r#"{"name":"x","attributes":[{"a":1},"b"]}"#).await;
    assert!(wrong.status == 422 && wrong.says("attributes[1]"), "{}", wrong.html);
    assert_eq!(desk.metadata().await["description"], "Relics");
    let saved = send(r#"{"name":"Only a name","properties":{"z":1.0,"a":2}}"#).await;
    assert_eq!(saved.status, 303, "{}", saved.html);
    let metadata = desk.metadata().await;
    assert_eq!((&metadata["name"], &metadata["description"]), (&json!("Only a name"), &json!("")));
    assert_eq!(metadata["properties"].to_string(), r#"{"z":1.0,"a":2}"#);
    let form = desk.owner.get(&edit).await;
    assert!(form.says("\"z\": 1.0") && !form.says("external_link"), "{}", form.html);
}

#[tokio::test]
async fn files_are_uploaded_shown_and_replaced() {
    let desk = Desk::start().await;
    let file = format!("{}/assets/{}/file", desk.path, desk.asset);
    // The collection is private, so nobody else sees it.
    let public =
        format!("/projects/{}/collections/{}/assets/{}", desk.app.project_a.id, desk.collection, desk.asset);
    assert_eq!(desk.app.anonymous.get(&public).await.status, 404);
    let shown = desk.owner.get(&file).await;
    assert_eq!((shown.status, &shown.headers["content-type"]), (200, &"image/svg+xml".parse().unwrap()));
    assert!(shown.headers["content-security-policy"].to_str().unwrap().contains("sandbox"));
    let token = desk.owner.get(&format!("{}/tokens/1", desk.path)).await;
    assert!(token.html.contains(&format!("<img class=\"picture\" src=\"{file}\"")), "{}", token.html);
    assert_eq!(desk.owner.post_file(&file, &[], ("other.png", PNG)).await.status, 303);
    assert_eq!(desk.owner.get(&file).await.headers["content-type"], "image/png");
    // For the collection itself, and one that is no picture.
    let assets = format!("{}/assets", desk.path);
    let taken = desk.owner.post_file(&assets, &[("field", "image")], ("C:\\<b>.svg", SVG)).await;
    assert_eq!(taken.status, 303, "{}", taken.html);
    assert!(desk.owner.get(&desk.path).await.says("<b>.svg"));
    for (field, content, said) in [
        ("image", &b"MZ\x90\0"[..], "not of a type that can be uploaded"),
        ("", PNG, "say which member"),
        ("image", b"", "choose one"),
    ] {
        let refused = desk.owner.post_file(&assets, &[("field", field)], ("a.exe", content)).await;
        assert!(refused.status == 422 && refused.says(said), "{}", refused.html);
        let refused = desk
            .owner
            .post_file(&format!("{}/tokens/1/assets", desk.path), &[("field", field)], ("a", content))
            .await;
        assert!(refused.status == 422 && refused.says(said) && refused.says("Token id"), "{}", refused.html);
    }
    let sent = desk
        .owner
        .post_file(&format!("{}/tokens/404/assets", desk.path), &[("field", "image")], ("a", PNG))
        .await;
    assert_eq!(sent.status, 404);
    assert_eq!(
        desk.owner.post(&format!("{}/assets/{}/delete", desk.path, desk.asset), &[]).await.status,
        303
    );
    assert_eq!(desk.owner.get(&file).await.status, 404);
    assert_eq!(desk.token().await["image"], "");
}

#[tokio::test]
async fn images_elsewhere_are_not_fetched() {
    let desk = Desk::start().await;
    let inline = "data:image/svg+xml,%3Csvg/%3E";
    for (image, shown) in
        [("https://evil.example/<a>.png", false), ("javascript:alert(1)", false), (inline, true)]
    {
        desk.set_token(
            json!({ "image": image, "externalUrl": image, "animationUrl": "https://ok.example/x" }),
        )
        .await;
        for path in [desk.path.clone(), format!("{}/tokens/1", desk.path)] {
            let page = desk.owner.get(&path).await;
            assert_eq!(page.html.contains(&format!("src=\"{}\"", escaped(image))), shown, "{path} {image}");
            assert!(!page.html.contains("href=\"javascript") && !page.html.contains("href=\"data:image"));
        }
    }
    let page = desk.owner.get(&format!("{}/tokens/1", desk.path)).await;
    assert!(page.html.contains("href=\"https://ok.example/x\" rel=\"noopener noreferrer\""));
}

#[tokio::test]
async fn contracts_are_linked_taken_over_and_unlinked() {
    let desk = Desk::start().await;
    let other = json!({ "collection": { "metadata": { "name": "Other" } } });
    let other = desk.app.project_a.call("Collections/CreateCollection", other).await.ok();
    let other = desk
        .path
        .replace(&format!("hosted/{}", desk.collection), &format!("hosted/{}", other["collection"]["id"]));
    assert!(desk.owner.get(&desk.path).await.says(RELICS));
    let contracts = format!("{other}/contracts");
    let taken = desk.owner.post(&contracts, &[("chain", "polygon"), ("contract", RELICS)]).await;
    assert!(taken.status == 422 && taken.says("tick the box") && taken.value("contract") == RELICS);
    for (chain, contract, said) in
        [("nowhere", RELICS, "`nowhere` is not the name"), ("137", "0x12", "not an address")]
    {
        let refused = desk.owner.post(&contracts, &[("chain", chain), ("contract", contract)]).await;
        assert!(
            refused.status == 422 && refused.says(said) && refused.value("chain") == chain,
            "{}",
            refused.html
        );
    }
    let fields = [("chain", "polygon"), ("contract", RELICS), ("take_over", "yes")];
    assert_eq!(desk.owner.post(&contracts, &fields).await.status, 303);
    assert!(desk.owner.get(&other).await.says(RELICS) && !desk.owner.get(&desk.path).await.says(RELICS));
    assert_eq!(desk.owner.post(&format!("{contracts}/remove"), &fields).await.status, 303);
    assert!(!desk.owner.get(&other).await.says(RELICS));
    assert_eq!(desk.owner.post(&format!("{contracts}/remove"), &fields).await.status, 404);
}

#[tokio::test]
async fn viewers_look_and_others_see_nothing() {
    let desk = Desk::start().await;
    let viewer = Browser::of_viewer(&desk.app, desk.app.project_a.id).await;
    let stranger = Browser::of_owner(&desk.app, desk.app.project_b.id).await;
    let list = desk.path.rsplit_once('/').unwrap().0.to_owned();
    let at = |rest: &str| format!("{}{rest}", desk.path);
    let file = format!("/assets/{}/file", desk.asset);
    for path in [list.clone(), at(""), at("/tokens/1"), at(&file)] {
        let page = viewer.get(&path).await;
        assert_eq!(page.status, 200, "{path}");
        // What a viewer gets has no form but the one to sign out with.
        assert!(page.html.matches("<form").count() <= 1, "{path} {}", page.html);
        assert_eq!(stranger.get(&path).await.status, 404, "{path}");
        let own = format!("/projects/{}/", desk.app.project_a.id);
        let by_own_project = path.replace(&own, &format!("/projects/{}/", desk.app.project_b.id));
        if path != list {
            assert_eq!(stranger.get(&by_own_project).await.status, 404, "{by_own_project}");
        }
    }
    for path in [at("/edit"), at("/tokens/1/edit")] {
        assert_eq!((viewer.get(&path).await.status, stranger.get(&path).await.status), (403, 404));
    }
    let delete = format!("/assets/{}/delete", desk.asset);
    let verbs =
        ["/edit", "/publish", "/unpublish", "/delete", "/tokens", "/tokens/1/edit", "/tokens/1/delete"];
    let more =
        ["/tokens/1/assets", "/assets", file.as_str(), delete.as_str(), "/contracts", "/contracts/remove"];
    for path in verbs.iter().chain(&more).map(|rest| at(rest)).chain([list]) {
        assert_eq!(viewer.post(&path, &[("name", "x")]).await.status, 403, "{path}");
        assert_eq!(stranger.post(&path, &[("name", "x")]).await.status, 404, "{path}");
    }
    assert_eq!(desk.token().await["name"], "Relics");
}
