//! Relics entered by clerks who wrote in other scripts: search, sorting and layout must cope with them.
//!
//! Every pattern is "thing from place", which needs no agreement of gender or case between the parts.

use super::relic_kinds::Kind;
use super::rng::Rng;

/// Things in the order of [`thing`], places, and stories of one language.
struct Ledger {
    things: [&'static str; 8],
    places: [&'static str; 4],
    stories: [&'static str; 3],
    thing_first: bool,
}

const LEDGERS: [Ledger; 5] = [
    Ledger {
        things: ["古銭", "切手", "壺", "羅針盤", "灯籠", "鍵", "鐘", "砂時計"],
        places: ["霧の港の", "灯台岬の", "潮見町の", "月夜の桟橋の"],
        stories: [
            "嵐の翌朝、浜辺で見つかった品。持ち主の名は誰も覚えていない。",
            "祖父から孫へ、三代にわたって受け継がれてきた。",
            "夜市で一枚の硬貨と交換された。今ではその百倍の値がつく。",
        ],
        thing_first: false,
    },
    Ledger {
        things: ["عملة", "طابع", "جرّة", "بوصلة", "فانوس", "مفتاح", "جرس", "ساعة رملية"],
        places: [" من ميناء الضباب", " من المنارة القديمة", " من سوق الليل", " من جزيرة اللؤلؤ"],
        stories: [
            "قطعة نادرة وصلت مع سفينة بلا اسم، وبقيت في الميناء.",
            "وُجدت في قاع البحر بعد العاصفة الكبرى.",
            "يقول البحّارة إنها تجلب الحظ لمن يحفظ السر.",
        ],
        thing_first: true,
    },
    Ledger {
        things: ["Νόμισμα", "Γραμματόσημο", "Αμφορέας", "Πυξίδα", "Φανάρι", "Κλειδί", "Καμπάνα", "Κλεψύδρα"],
        places: [
            " από το παλιό λιμάνι",
            " από τον φάρο",
            " από το νησί των γλάρων",
            " από τη νυχτερινή αγορά",
        ],
        stories: [
            "Βρέθηκε στα δίχτυα ενός ψαρά και έγινε το καμάρι του χωριού.",
            "Ταξίδεψε σε εφτά θάλασσες πριν γυρίσει στο ράφι του.",
            "Κανείς δεν θυμάται ποιος το έφερε· όλοι θυμούνται τη μέρα.",
        ],
        thing_first: true,
    },
    Ledger {
        things: ["Монета", "Марка", "Амфора", "Компас", "Фонарь", "Ключ", "Колокол", "Песочные часы"],
        places: [" из Туманной гавани", " со старого маяка", " с острова чаек", " с ночного рынка"],
        stories: [
            "Находка ныряльщика, поднятая со дна после большого шторма.",
            "Эта вещь долго лежала в ящике портового писаря, пока не пришла весна.",
            "Говорят, приносит удачу тому, кто не торгуется.",
        ],
        thing_first: true,
    },
    Ledger {
        things: [
            "🪙 Coin",
            "💌 Stamp",
            "🏺 Jar",
            "🧭 Compass",
            "🏮 Lantern",
            "🗝️ Key",
            "🔔 Bell",
            "⏳ Glass",
        ],
        places: [" of the 🌊 Tide", " of the 🌙 Watch", " of the 🐚 Shore", " of the ⚓ Roads"],
        stories: [
            "Catalogued by the youngest clerk, who was told to be brief. ⭐⭐⭐⭐",
            "🧜‍♀️ says it is hers. 🦀 disagrees. The court has adjourned.",
            "Found 🐟 → sold 💰 → regretted 😢 → bought back 🎉.",
        ],
        thing_first: true,
    },
];

/// A name and a story in one of the other scripts.
pub(super) fn name_and_story(kind: Kind, rng: &mut Rng) -> (String, String) {
    let ledger = &LEDGERS[rng.index(LEDGERS.len())];
    let (thing, place) = (ledger.things[thing(kind)], rng.pick(&ledger.places));
    let name = if ledger.thing_first { format!("{thing}{place}") } else { format!("{place}{thing}") };
    (name, rng.pick(&ledger.stories).to_owned())
}

fn thing(kind: Kind) -> usize {
    match kind {
        Kind::Coin => 0,
        Kind::Stamp => 1,
        Kind::Amphora => 2,
        Kind::Compass => 3,
        Kind::Lantern => 4,
        Kind::Key => 5,
        Kind::Bell => 6,
        Kind::Hourglass => 7,
    }
}
