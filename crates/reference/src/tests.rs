//! The page of a small document that has one of everything.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::render;

fn sample() -> Value {
    serde_json::from_str(include_str!("sample.json")).unwrap()
}

/// The values of an attribute, in order.
fn attribute(page: &str, name: &str) -> Vec<String> {
    let start = format!(" {name}=\"");
    page.split(&start).skip(1).map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
}

/// The page with its tags taken out, spaces made single: what a reader sees.
fn words(page: &str) -> String {
    let page =
        ["</td>", "</th>", "</caption>"].iter().fold(page.to_owned(), |page, end| page.replace(end, " "));
    let text: String =
        page.split('<').map(|piece| piece.split_once('>').map_or(piece, |(_, text)| text)).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The page of a document with one record, `Thing`, that has one member.
fn with_member(schema: &Value) -> String {
    let thing = json!({"type": "object", "properties": {"member": schema}});
    let other = json!({"type": "object"});
    render(&json!({"components": {"schemas": {"Thing": thing, "Other": other}}}), None)
}

#[test]
fn every_link_has_its_target() {
    let page = render(&sample(), None);
    let ids = attribute(&page, "id");
    let known: BTreeSet<&str> = ids.iter().map(String::as_str).collect();
    assert_eq!(known.len(), ids.len(), "an id occurs twice: {ids:?}");
    for link in attribute(&page, "href") {
        match link.strip_prefix('#') {
            Some(target) => assert!(known.contains(target), "nothing has the id {target}"),
            None => {
                assert!(["data:,", "/docs/style.css", "/openapi.json"].contains(&link.as_str()), "{link}");
            }
        }
    }
}

#[test]
fn hostile_text_stays_text() {
    let page = render(&sample(), None);
    assert!(!page.contains("<script"), "a tag came through");
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    let hostile = "\"><script>x</script>";
    let page = render(
        &json!({
            "info": {"title": hostile, "version": hostile},
            "paths": {hostile: {"post": {"operationId": hostile, "tags": [hostile], "x-credential": hostile,
                "x-example": hostile, "requestBody": {"content": {hostile: {"schema": {"type": hostile}}}}}}},
            "components": {"schemas": {hostile: {"type": "string", "enum": [hostile]}}},
            "x-errors": [{"code": hostile, "name": hostile}],
        }),
        None,
    );
    assert!(!page.contains("<script"), "a tag came through");
}

#[test]
fn nothing_comes_from_another_host_and_no_style_is_inline() {
    let page = render(&sample(), None);
    for unwanted in ["href=\"http", "src=", "<script", "<style", " style=", " onclick=", "href=\"//"] {
        assert!(!page.contains(unwanted), "the page contains {unwanted}");
    }
    assert!(!super::STYLE.contains("url("), "the stylesheet loads something");
}

#[test]
fn every_operation_appears() {
    let (document, page) = (sample(), render(&sample(), None));
    let words = words(&page);
    let mut count = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in item.as_object().unwrap().keys().filter(|name| *name != "parameters") {
            let shown = format!("{} {path}", method.to_uppercase());
            assert!(words.contains(&shown), "{shown} is missing");
            count += 1;
        }
    }
    assert_eq!(page.matches("<article").count(), count);
}

#[test]
fn types_read_as_words() {
    let cases = [
        (json!({"type": "string"}), "string"),
        (json!({"type": "integer", "format": "uint64", "minimum": 0}), "integer"),
        (json!({"type": "string", "format": "date-time"}), "string (date-time)"),
        (json!({"type": ["string", "null"]}), "string or null"),
        (json!({"type": "array", "items": {"$ref": "#/components/schemas/Other"}}), "array of Other"),
        (json!({"type": "array", "items": {"type": ["string", "null"]}}), "array of (string or null)"),
        (json!({"anyOf": [{"$ref": "#/components/schemas/Other"}, {"type": "null"}]}), "Other or null"),
        (json!({"allOf": [{"$ref": "#/components/schemas/Other"}]}), "Other"),
        (json!({"enum": ["a", "b"]}), "&quot;a&quot; or &quot;b&quot;"),
        (json!({"oneOf": [{"const": 1}, {"const": 2}]}), "1 or 2"),
        (json!({"$ref": "#/components/schemas/Absent"}), "Absent"),
        (json!(true), "any"),
        (
            json!({"type": "object", "additionalProperties": {"type": "array", "items": {"type": "string"}}}),
            "map of string to array of string",
        ),
    ];
    for (schema, expected) in cases {
        let words = words(&with_member(&schema));
        assert!(words.contains(&format!("member {expected} optional")), "{schema}: {words}");
    }
}

#[test]
fn records_that_one_operation_shows_are_not_shown_twice() {
    let page = render(&sample(), None);
    assert!(page.contains("id=\"record-Order\"") && page.contains("id=\"record-Error\""));
    assert!(!page.contains("id=\"record-PingAnswer\""));
    assert!(
        words(&page)
            .contains("Response members of Ping Name Type Required Description status boolean required")
    );
}

#[test]
fn examples_are_commands_for_a_shell() {
    let page = render(&sample(), None);
    let token = "curl -X POST $BOURSE/rpc/Marketplace/ListOrders \\\n  -H 'Content-Type: application/json' \\\n  \
                 -H &quot;Authorization: Bearer $TOKEN&quot; \\\n  -d '{}'";
    assert!(page.contains(token));
    assert!(page.contains("-H &quot;X-Access-Key: $KEY&quot; \\\n  -d '{\n  &quot;chainID&quot;"));
    assert!(page.contains(r"Ann'\''s"), "a quote in the body must not end it");
    assert!(page.contains("curl &quot;$BOURSE/files/${collection_id}/image&quot;<"));
    assert!(page.contains("--data-binary @file"));
}

#[test]
fn objects_without_a_name_show_their_members_in_place() {
    let words = words(&render(&sample(), None));
    assert!(words.contains("filter.currencies array of string or null optional"), "{words}");
}

#[test]
fn headings_descend_one_level_at_a_time() {
    let page = render(&sample(), None);
    let levels: Vec<u32> =
        page.match_indices("<h").filter_map(|(at, _)| page[at + 2..].chars().next()?.to_digit(10)).collect();
    assert_eq!(levels[0], 1);
    assert!(levels.windows(2).all(|pair| pair[1] <= pair[0] + 1), "{levels:?}");
}

#[test]
fn descriptions_keep_their_paragraphs_lists_and_code() {
    let page = render(&sample(), None);
    for expected in [
        "<h3>Pages</h3><p>Lists come in pages:</p><ul><li><code>page</code> asks for one by number</li>",
        "and is\nstable while rows are added</li></ul><pre><code>{&quot;page&quot;",
    ] {
        assert!(page.contains(expected), "{expected}");
    }
    let page = render(
        &json!({"info": {"description": "What it is.\n\nHow to `call` it, and a lone \u{60}."}}),
        None,
    );
    assert!(page.contains("<div class=\"lead\"><p>What it is.</p></div>"));
    assert!(page.contains("<h2>Conventions</h2><p>How to `call` it, and a lone `.</p>"));
}

#[test]
fn strange_documents_give_a_page() {
    let itself = json!({"$ref": "#/components/schemas/Loop"});
    let part = json!({"allOf": [{"$ref": "#/components/schemas/Part"}], "properties": {"a": {}}});
    let schemas = json!({"Loop": itself, "Part": part});
    for document in
        [json!(null), json!([]), json!({"paths": [], "info": 1}), json!({"components": {"schemas": schemas}})]
    {
        assert!(render(&document, None).contains("<h1>"));
    }
}

#[test]
fn a_key_for_everybody_is_shown_where_there_is_one() {
    let page = render(&sample(), Some("AQAA<key>"));
    assert!(page.contains("AQAA&lt;key&gt;"), "{page}");
    assert!(!render(&sample(), None).contains("To try it"));
}
