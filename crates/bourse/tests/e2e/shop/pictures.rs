//! A page of tokens with pictures as people make them: it is light, and nobody but this service is asked for any.

use alloy_primitives::U256;
use bourse_wire::Address;
use serde_json::json;

use super::looks::check_requests;
use super::person::{Person, open_shop};
use crate::anvil::{alloy_address, mintCall};
use crate::market::{Market, wait};

const TOKENS: u64 = 30;
/// What a page of them may take altogether, in bytes.
const LOADED_MAX: u64 = 500_000;
/// A picture with the edges, colours and grain of a photograph, as the browser itself writes it.
const DRAW: &str = "const place = document.createElement('canvas'); place.width = place.height = 700; \
    const pen = place.getContext('2d'); let state = NUMBER; \
    const drawn = () => (state = (state * 48271) % 2147483647) / 2147483647; \
    const colour = () => `hsl(${360 * drawn()} ${80 * drawn()}% ${20 + 60 * drawn()}%)`; \
    const sky = pen.createLinearGradient(0, 0, 700 * drawn(), 700); \
    sky.addColorStop(0, colour()); sky.addColorStop(1, colour()); pen.fillStyle = sky; pen.fillRect(0, 0, 700, 700); \
    for (let count = 0; count < 80; count++) { pen.fillStyle = colour(); pen.beginPath(); \
        pen.ellipse(700 * drawn(), 700 * drawn(), 90 * drawn(), 60 * drawn(), 3 * drawn(), 0, 7); pen.fill(); } \
    const all = pen.getImageData(0, 0, 700, 700); \
    for (let at = 0; at < all.data.length; at += 4) { const grain = 24 * drawn() - 12; \
        for (const part of [0, 1, 2]) all.data[at + part] += grain; } \
    pen.putImageData(all, 0, 0); return place.toDataURL('image/jpeg', 0.85)";

/// Gives every token a picture, which its metadata holds itself.
fn draw(market: &Market, person: &Person<'_>, collection: Address) {
    for number in 1..=TOKENS {
        let image = person.browser.run(&DRAW.replace("NUMBER", &(number * 7919).to_string()));
        let bytes = image.as_str().unwrap().len();
        assert!((60_000..400_000).contains(&bytes), "{bytes} bytes are no ordinary picture");
        let token = json!({ "chainId": 31337, "contractAddress": collection, "tokenId": number.to_string(),
            "name": format!("Relic {number}"), "image": image });
        let put =
            market.server().call("Ingest/PutTokens", market.secret(), &json!({ "tokens": [token] })).ok();
        assert_eq!(put["rejected"], json!([]));
    }
}

#[test]
fn a_page_of_pictures_is_light_and_asks_nobody_else() {
    let market = Market::open();
    let collection = market.singles(market.seller());
    for token in 2..=TOKENS {
        let call = mintCall { to: alloy_address(market.seller()), tokenId: U256::from(token) };
        market.anvil.send(market.seller(), collection, &call);
    }
    market.wait_followed(collection);
    open_shop(&market, &json!({}));
    let person = Person::new(&market, market.buyer());
    person.goes("");
    draw(&market, &person, collection);
    let (mut seen, mut shown) = (0, 0);
    for query in ["", "?page=2"] {
        person.opens(collection, query);
        person.until("[data-connect]");
        // Each is loaded when somebody comes to it.
        let left = || {
            person.browser.run(
                "const left = [...document.querySelectorAll('.picture img')].filter((one) => !(one.complete && one.naturalWidth > 1)); \
                 left[0]?.scrollIntoView(); return left.length",
            )
        };
        wait("all pictures are there", left, |count| *count == 0);
        assert_eq!(check_requests(&person.browser, "pictures"), Vec::<String>::new());
        let sizes = person.browser.run(
            "const page = performance.getEntriesByType('navigation')[0]; \
             const all = performance.getEntriesByType('resource'); \
             const sum = (some) => some.reduce((total, one) => total + one.encodedBodySize, 0); \
             return [sum([page, ...all]), sum(all.filter((one) => one.initiatorType === 'img'))]",
        );
        let (bytes, of_pictures) = (sizes[0].as_u64().unwrap(), sizes[1].as_u64().unwrap());
        let cards = person.browser.count(".picture img");
        println!("{cards} pictures: {of_pictures} of {bytes} bytes");
        assert!(of_pictures > 0 && bytes < LOADED_MAX, "{bytes}");
        (seen, shown) = (seen + bytes, shown + cards);
    }
    assert_eq!(u64::try_from(shown).unwrap(), TOKENS);
    assert!(seen < LOADED_MAX, "all thirty take {seen}");
}
