//! Finding tokens: what the page shows is what the operations answer.

use bourse_store::Change;
use serde_json::{Value, json};

use super::super::browser::{Browser, escaped};
use super::{HOSTILE, Room, token};
use crate::support::orders::{ANA, BEN, COIN, DOLLAR, balance, listing, offer, order, with};
use crate::support::seed::RELICS;

/// Five tokens: 1 and 2 are listed, 3 has an offer, Ana holds 1 and 2 and Ben 3.
fn five() -> Vec<Change> {
    let rarity = ["Common", "Rare", "Rare", "Epic", "Common"];
    let mut changes: Vec<Change> = (1..=5)
        .map(|id| {
            let attributes =
                json!([{ "Rarity": rarity[usize::try_from(id).unwrap() - 1] }, { "Power": id * 10 }]);
            token(
                id,
                &format!("Relic {id}"),
                json!({ "attributes": attributes, "properties": { "Sealed": id > 3 } }),
            )
        })
        .collect();
    changes.extend([balance(1, ANA, 1), balance(2, ANA, 1), balance(3, BEN, 1)]);
    let dollars = json!({ "priceCurrencyAddress": DOLLAR, "priceAmount": "2500001", "marketplace": "blur" });
    changes.extend([
        order(listing("a", 1, 1_000_000_000_000_000_000)),
        order(with(listing("b", 2, 1), dollars)),
        order(offer("c", 3, 500_000_000_000_000_000)),
    ]);
    changes
}

#[tokio::test]
async fn every_filter_of_the_operations_is_in_the_address() {
    let room = Room::of(five()).await;
    for (query, expected) in [
        (String::new(), vec!["1", "2", "3", "4", "5"]),
        ("?only=1".to_owned(), vec!["1", "2", "3"]),
        ("?side=offer&only=1".to_owned(), vec!["3"]),
        ("?side=listing&only=1&sort=-price".to_owned(), vec!["2", "1"]),
        ("?sort=-id".to_owned(), vec!["5", "4", "3", "2", "1"]),
        ("?q=relic+4".to_owned(), vec!["4"]),
        ("?p.Rarity=Rare&p.Rarity=Epic".to_owned(), vec!["2", "3", "4"]),
        ("?p.Rarity=Rare&min.Power=25".to_owned(), vec!["3"]),
        ("?max.Power=20".to_owned(), vec!["1", "2"]),
        ("?v.Sealed=true".to_owned(), vec!["4", "5"]),
        ("?v.Power=30".to_owned(), vec!["3"]),
        (format!("?owner={ANA}"), vec!["1", "2"]),
        (format!("?owner={ANA}+{BEN}"), vec!["1", "2", "3"]),
        (format!("?not_owner={ANA}&only=1"), vec!["3"]),
        (format!("?maker={BEN}&only=1"), vec!["3"]),
        (format!("?not_maker={BEN}&only=1"), vec!["1", "2"]),
        (format!("?currency={DOLLAR}&only=1"), vec!["2"]),
        ("?marketplace=blur&only=1".to_owned(), vec!["2"]),
        (format!("?price_min=2.500001&price_in={DOLLAR}&only=1"), vec!["2"]),
        (format!("?price_min=2.500002&price_in={DOLLAR}&only=1"), vec![]),
        (format!("?price_max=0.5&price_in={COIN}&only=1"), vec!["3"]),
    ] {
        let page = room.page(&query).await;
        assert_eq!(page.tokens(), expected, "{query}");
        let tokens = if expected.len() == 1 { "token" } else { "tokens" };
        assert!(
            page.html.contains(&format!("<h2>{} {tokens}</h2>", expected.len())),
            "{query}: {}",
            page.html
        );
    }
    assert!(room.page("?q=nothing").await.says("No token is like that."));
}

#[tokio::test]
async fn cards_show_exact_prices_with_their_currency() {
    let room = Room::of(five()).await;
    let page = room.page("").await;
    let card = |id: &str| {
        let cards = page.html.split("<li class=\"token\">");
        cards.filter(|card| card.contains(&format!("/{id}\">"))).last().unwrap().to_owned()
    };
    let dollars = format!("title=\"2500001 base units of {DOLLAR}\">2.500001 <bdi>M</bdi></span>");
    assert!(card("2").contains(&dollars), "{}", card("2"));
    assert!(card("2").contains("title=\"US$ 2.500001\">≈ $2.50</span>"), "{}", card("2"));
    assert!(
        card("3").contains("0.5 <bdi>M</bdi>")
            && card("3").contains("<dt>Listing</dt><dd><span class=\"soft\">none")
    );
    assert!(card("1").contains("<bdi>Relic 1</bdi>") && card("1").contains("#<code>1</code>"));
}

#[tokio::test]
async fn properties_count_what_would_be_found() {
    let room = Room::of(five()).await;
    let count = |html: &str, field: &str, value: &str| {
        let input = html.split(&format!("name=\"{field}\" value=\"{value}\"")).nth(1)?;
        input.split("<span class=\"count\">").nth(1)?.split('<').next().map(str::to_owned)
    };
    let page = room.page("?p.Rarity=Rare").await;
    for (value, expected) in [("Common", "2"), ("Rare", "2"), ("Epic", "1")] {
        let found = count(&page.html, "p.Rarity", value);
        assert_eq!(found.as_deref(), Some(expected), "as if no rarity were chosen: {value}");
    }
    assert_eq!(count(&page.html, "v.Sealed", "false").as_deref(), Some("2"), "among the rare ones");
    assert_eq!(count(&page.html, "v.Sealed", "true"), None, "none of them is");
    assert!(page.html.contains("name=\"p.Rarity\" value=\"Rare\" checked"));
    assert!(
        page.html.contains("placeholder=\"10\"") && page.html.contains("placeholder=\"50\""),
        "of all tokens"
    );
    // What is chosen is shown with the way to do without it.
    let page = room.page("?q=relic&p.Rarity=Rare&p.Rarity=Epic&min.Power=10").await;
    let without = format!("{}?q=relic&amp;p.Rarity=Epic&amp;min.Power=10", room.path);
    assert!(page.html.contains(&format!("<a href=\"{without}\"")), "{}", page.html);
    assert_eq!(room.page(&without.replace("&amp;", "&")[room.path.len()..]).await.tokens(), ["4"]);
}

#[tokio::test]
async fn pages_go_on_where_they_ended() {
    let changes = (1..=60).map(|id| token(id, "Relic", json!({}))).collect();
    let room = Room::of(changes).await;
    let (mut seen, mut rest, mut pages) = (Vec::new(), "?sort=id".to_owned(), 0);
    loop {
        let page = room.page(&rest).await;
        seen.extend(page.tokens());
        pages += 1;
        let next = page.html.split("rel=\"next\" href=\"").nth(1).and_then(|link| link.split('"').next());
        let Some(next) = next else { break };
        rest = next.replace("&amp;", "&")[room.path.len()..].to_owned();
        assert!(rest.starts_with("?sort=id&page=") && rest.contains("&after="), "{rest}");
    }
    assert_eq!(pages, 3);
    assert_eq!(seen, (1..=60).map(|id: u32| id.to_string()).collect::<Vec<_>>());
    let second = room.page("?sort=id&page=2").await;
    assert!(second.says("25–48") && second.tokens()[0] == "25");
    assert!(second.html.contains(&format!("rel=\"prev\" href=\"{}?sort=id\"", room.path)));
    assert!(room.page("?page=9").await.says("This page is behind the last one."));
}

#[tokio::test]
async fn what_a_form_sends_empty_is_not_in_the_address() {
    let room = Room::of(five()).await;
    let page = room
        .owner
        .get(&format!("{}?q=&side=listing&only=&p.Rarity=Rare&price_min=&other=1", room.path))
        .await;
    assert_eq!(
        (page.status, page.location()),
        (303, format!("{}?side=listing&p.Rarity=Rare", room.path).as_str())
    );
}

#[tokio::test]
async fn what_makes_no_sense_is_refused_and_kept() {
    let room = Room::of(five()).await;
    for (query, said, field, typed) in [
        ("owner=%3Cb%3E%22".to_owned(), "is not an address", "owner", "<b>\""),
        ("price_min=1".to_owned(), "choose the currency", "price_min", "1"),
        (format!("price_max=1e9&price_in={DOLLAR}"), "is not a number", "price_max", "1e9"),
        (
            format!("price_min=0.0000001&price_in={DOLLAR}"),
            "6 digits after the point",
            "price_min",
            "0.0000001",
        ),
        ("min.Power=ten".to_owned(), "Power: `ten` is not a whole number", "min.Power", "ten"),
        (format!("q={}", "x".repeat(300)), "256", "q", &"x".repeat(300)),
        ("after=abc&q=kept".to_owned(), "not the `after` of an earlier answer", "q", "kept"),
    ] {
        let page = room.owner.get(&format!("{}?{query}", room.path)).await;
        assert_eq!(page.status, 422, "{query}");
        assert!(page.says(said), "{query}: {}", page.html);
        assert_eq!(page.value(field), typed, "{query}");
        page.is_unharmed();
    }
}

#[tokio::test]
async fn what_tokens_say_stays_text() {
    let attributes = json!([{ HOSTILE: HOSTILE }, { "trait_type": "\" onclick=\"alert(1)", "value": "<b>" }]);
    let more = json!({ "attributes": attributes, "image": "https://a.example/\" onerror=\"alert(1)" });
    let largest = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
    let mut changes = vec![token(1, HOSTILE, more)];
    changes.push(token(2, &"very long ".repeat(200), json!({})));
    changes.push(crate::support::seed::token_of(json!({ "tokenId": largest, "name": "" })));
    let room = Room::of(changes).await;
    let page = room.page("").await;
    assert!(page.says(HOSTILE) && page.says("Without a name"));
    assert!(page.html.contains(&format!("<code title=\"{largest}\">115792…9935</code>")), "{}", page.html);
    page.is_unharmed();
    let query = form_urlencoded::Serializer::new(String::new())
        .append_pair(&format!("p.{HOSTILE}"), HOSTILE)
        .append_pair("p.\" onclick=\"alert(1)", "<b>")
        .finish();
    let page = room.page(&format!("?{query}")).await;
    assert_eq!(page.tokens(), ["1"], "it is found by what it says");
    assert!(page.html.contains(&format!("name=\"{}\"", escaped(&format!("p.{HOSTILE}")))));
    page.is_unharmed();
}

#[tokio::test]
async fn a_collection_with_very_many_values_has_a_page_of_bounded_size() {
    let value = |id: u64, name: u64| format!("{} value {id} of {name}", "long".repeat(40));
    let changes = (1..=300).map(|id| {
        let attributes: Vec<Value> =
            (1..=60).map(|name| json!({ format!("Property {name:02}"): value(id, name) })).collect();
        token(id, "Relic", json!({ "attributes": attributes }))
    });
    let room = Room::of(changes.collect()).await;
    let page = room.page("").await;
    assert!(page.says("292 more") && page.says("20 more properties are not shown here"), "{}", page.html);
    let page = room.page("?more=Property+07").await;
    let shown = page.html.matches("name=\"p.Property 07\" value=").count();
    assert!(shown > 50 && page.says("Another value"), "{shown}");
    // What is chosen has its place, however long the list.
    let last = form_urlencoded::Serializer::new(String::new())
        .append_pair("p.Property 40", &value(299, 40))
        .finish();
    let page = room.page(&format!("?{last}")).await;
    assert_eq!(page.tokens(), ["299"]);
    assert!(page.html.contains(&format!("value=\"{}\" checked", value(299, 40))), "{}", page.html);
}

#[tokio::test]
async fn viewers_look_and_change_nothing() {
    let room = Room::of(five()).await;
    let viewer = Browser::of_viewer(&room.app, room.app.project_a.id).await;
    let stranger = Browser::of_owner(&room.app, room.app.project_b.id).await;
    for rest in ["", "/1", "/1/image", "/1/json", "/logo"] {
        let path = format!("{}{rest}", room.path);
        assert_ne!(viewer.get(&path).await.status, 403, "{rest}");
        assert_eq!(stranger.get(&path).await.status, 404, "{rest}");
        let nobody = room.app.anonymous.get(&path).await;
        assert_eq!(
            (nobody.status, nobody.header("location").starts_with("/console/sign-in?")),
            (303, true),
            "{rest}"
        );
    }
    assert!(!viewer.get(&room.path).await.html.contains("/refresh\""));
    assert!(room.page("").await.html.contains("/refresh\""));
    for rest in ["/refresh", "/1/refresh"] {
        let path = format!("{}{rest}", room.path);
        assert_eq!(viewer.post(&path, &[("what", "tokens")]).await.status, 403);
        assert_eq!(stranger.post(&path, &[("what", "tokens")]).await.status, 404);
        // Nobody can be asked: it says so where it was asked for.
        let refused = room.owner.post(&path, &[("what", "tokens")]).await;
        assert_eq!(refused.status, 422);
        assert!(refused.says("has no node") && refused.says("Relics"), "{}", refused.html);
    }
    // What is open to one project is open to every other by way of its own pages: contracts belong to nobody.
    let own = format!("/console/projects/{}/collections/polygon/{RELICS}", room.app.project_b.id);
    assert_eq!(stranger.get(&own).await.tokens().len(), 5);
}
