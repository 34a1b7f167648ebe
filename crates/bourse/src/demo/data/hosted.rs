//! A small collection whose metadata and files the server itself hosts.

use serde_json::{Value, json};

use super::encode::{png, svg_uri};

/// A collection for the Collections service.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HostedCollection {
    /// Metadata of the collection itself.
    pub(crate) metadata: Value,
    /// Metadata of its tokens, in order of their ids.
    pub(crate) tokens: Vec<Value>,
    /// Files of some of the tokens; those have no image in their metadata.
    pub(crate) assets: Vec<HostedAsset>,
}

/// A file that belongs to a token of a [`HostedCollection`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HostedAsset {
    /// The token it belongs to.
    pub(crate) token_id: &'static str,
    /// Its name.
    pub(crate) filename: &'static str,
    /// The member of the token's metadata that it fills.
    pub(crate) metadata_field: &'static str,
    /// Its content.
    pub(crate) bytes: Vec<u8>,
}

/// A postcard: name, message on the back, hour of the day, colours of sky, sea and light.
type Card = (&'static str, &'static str, u64, [&'static str; 3]);

const CARDS: [Card; 12] = [
    (
        "First Light at the Quay",
        "The bakers are up. So am I, for once.",
        5,
        ["#f6c9a8", "#5b7fa6", "#fff1c9"],
    ),
    ("Morning Ferry", "Six crates of lemons and one very small dog.", 7, ["#bfe0f2", "#3f86b5", "#ffffff"]),
    ("Market Bell", "Bought a key. Now looking for the door.", 9, ["#d7ecf7", "#4b94a8", "#ffe28a"]),
    ("Noon, No Wind", "Nothing moves. It is wonderful.", 12, ["#8fd0f0", "#2a79b8", "#fff7d6"]),
    ("The Long Pier", "Counted 411 planks. Tomorrow I count back.", 14, ["#a9d9e8", "#2f7f8f", "#fdf3c4"]),
    (
        "Rain on Candle Quay",
        "They light the lamps early when it rains.",
        16,
        ["#9aa7b5", "#4a5a70", "#e8edf2"],
    ),
    ("Regatta Day", "We came last, and were cheered the loudest.", 15, ["#ffd9c0", "#d9705a", "#ffffff"]),
    ("Golden Hour", "Even the customs house looks kind.", 18, ["#ffc46b", "#b5552f", "#fff0b0"]),
    ("Night Market", "Everything is half price and twice as pretty.", 21, ["#3a2a6b", "#1c1640", "#ffb347"]),
    ("Lantern Night", "Four hundred lanterns. One of them is ours.", 22, ["#1f2a5c", "#0f1533", "#ffd76b"]),
    ("月夜の灯台", "静かな海、遠い灯り。また来年。", 23, ["#22335f", "#0c1a3a", "#e8f0ff"]),
    ("The Last Boat Home", "Save me a seat.", 0, ["#141a3c", "#070b1f", "#fbe6a2"]),
];

/// Pixels of the lantern, by palette index.
const LANTERN: [&str; 16] = [
    "0000000110000000",
    "0000001001000000",
    "0000001001000000",
    "0000011111100000",
    "0000111111110000",
    "0001132222311000",
    "0001322332231000",
    "0001323333231000",
    "0001323333231000",
    "0001322332231000",
    "0001132222311000",
    "0000111111110000",
    "0000011111100000",
    "0000111111110000",
    "0001111111111000",
    "0000000000000000",
];

/// The hosted collection of the demo.
pub(crate) fn hosted() -> HostedCollection {
    let assets = vec![
        HostedAsset {
            token_id: "1",
            filename: "first-light.svg",
            metadata_field: "image",
            bytes: postcard(&CARDS[0]).into_bytes(),
        },
        HostedAsset {
            token_id: "8",
            filename: "golden-hour.svg",
            metadata_field: "image",
            bytes: postcard(&CARDS[7]).into_bytes(),
        },
        HostedAsset {
            token_id: "10",
            filename: "lantern-night.png",
            metadata_field: "image",
            bytes: png(&LANTERN, [[15, 21, 51], [122, 82, 48], [255, 179, 71], [255, 236, 170]], 8),
        },
    ];
    let tokens = CARDS.iter().enumerate().map(|(index, card)| {
        let token_id = (index + 1).to_string();
        let has_file = assets.iter().any(|asset| asset.token_id == token_id);
        token(&token_id, card, has_file)
    });
    HostedCollection { metadata: metadata(), tokens: tokens.collect(), assets }
}

fn metadata() -> Value {
    json!({
        "name": "Postcards from Lantern Reach",
        "description": "Twelve views of one harbour, one for every other hour. Written in haste, sent with love.",
        "image": svg_uri(&postcard(&CARDS[9])),
        "external_link": "https://postcards.example",
        "properties": {"edition": 1, "printer": "Quay & Daughters", "paper": ["cotton", "uncoated"]},
        "attributes": [{"trait_type": "Season", "value": "Summer"}, {"trait_type": "Views", "value": CARDS.len()}],
    })
}

fn token(token_id: &str, card: &Card, has_file: bool) -> Value {
    let (name, message, hour, _) = card;
    let mut token = json!({
        "tokenId": token_id,
        "name": name,
        "description": message,
        "properties": {"hour": hour, "light": light(*hour), "tags": ["postcard", light(*hour)], "stamped": hour % 2 == 0},
        "attributes": [
            {"trait_type": "Hour", "value": hour, "display_type": "number"},
            {"trait_type": "Light", "value": light(*hour)},
        ],
    });
    if !has_file {
        token["image"] = json!(svg_uri(&postcard(card)));
    }
    token
}

fn light(hour: u64) -> &'static str {
    match hour {
        5..=8 => "dawn",
        9..=16 => "day",
        17..=19 => "dusk",
        _ => "night",
    }
}

fn postcard((_, _, hour, [sky, sea, light]): &Card) -> String {
    // The sun crosses the card from five in the morning on, the moon from seven in the evening.
    let position = if (5..19).contains(hour) { hour - 5 } else { (hour + 5) % 24 };
    let (x, y) = (16 + position * 5, 16 + position.abs_diff(6) * 3);
    format!(
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 100 100'>\
         <linearGradient id='s' x2='0' y2='1'><stop stop-color='{sky}'/><stop offset='1' stop-color='{light}'/>\
         </linearGradient><path d='M0 0h100v100H0z' fill='#fdf8ec'/><path d='M6 6h88v88H6z' fill='url(#s)'/>\
         <circle cx='{x}' cy='{y}' r='7' fill='{light}'/>\
         <path d='M6 60h10V50h8v10h6V44l6-6 6 6v16h52v34H6z' fill='{sea}'/>\
         <path d='M72 60l2-26h6l2 26zM73 32h8v-5l-4-4-4 4z' fill='#fdf8ec' opacity='.9'/>\
         <path d='M46 68h24l-5 8H51zM57 46v20H46zM59 50l9 16h-9z' fill='{light}'/>\
         <path d='M6 80q11-4 22 0t22 0 22 0 22 0v14H6z' fill='#0002'/></svg>"
    )
}
