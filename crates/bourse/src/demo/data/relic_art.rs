//! Pictures of relics: an object of some material, above a harbour whose light tells the rarity.

use super::rarity::Rarity;
use super::relic::Relic;
use super::relic_kinds::Kind;

/// Emblems struck on coins and printed on stamps, all around the point (50, 48).
const EMBLEMS: [&str; 6] = [
    "M50 30l5 13h14l-11 8 4 14-12-8-12 8 4-14-11-8h14z",
    "M36 54h28l-5 9H41zM49 30v21H37zM52 34l11 17H52z",
    "M35 60V40l8 8 7-13 7 13 8-8v20z",
    "M32 48q14-15 28 0l8-8v16l-8-8q-14 15-28 0z",
    "M48 40a5 5 0 1 1 4 0v4h8v4h-8v13q8-1 10-8l4 4q-4 10-16 10t-16-10l4-4q2 7 10 8V48h-8v-4h8z",
    "M50 30q3 15 18 18-15 3-18 18-3-15-18-18 15-3 18-18z",
];

/// The picture of a relic as SVG.
pub(super) fn draw(relic: &Relic) -> String {
    picture(relic, "")
}

/// The same picture with a glint that pulses.
pub(super) fn draw_animated(relic: &Relic) -> String {
    picture(
        relic,
        "<circle cx='36' cy='32' r='4' fill='#fff'><animate attributeName='opacity' values='0;1;0' dur='2s' \
         repeatCount='indefinite'/></circle>",
    )
}

fn picture(relic: &Relic, extra: &str) -> String {
    let (centre, edge) = relic.rarity.backdrop();
    let [light, middle, dark] = relic.material.colours();
    let sea = 62 + relic.look / 7 % 14;
    format!(
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 100 100'>\
         <radialGradient id='b'><stop stop-color='{centre}'/><stop offset='1' stop-color='{edge}'/></radialGradient>\
         <linearGradient id='m' x2='1' y2='1'><stop stop-color='{light}'/><stop offset='.5' stop-color='{middle}'/>\
         <stop offset='1' stop-color='{dark}'/></linearGradient>\
         <path fill='url(#b)' stroke='{rim}' stroke-width='6' d='M0 0h100v100H0z'/>{sky}\
         <path d='M3 {sea}q12-6 24 0t24 0 24 0 22 0V97H3z' fill='#0023'/>\
         <ellipse cx='50' cy='86' rx='24' ry='4' fill='#0004'/>{object}{extra}</svg>",
        rim = relic.rarity.rim(),
        sky = sky(relic),
        object = object(relic),
    )
}

/// A moon, stars, a halo or rays behind the piece: the rarer, the brighter.
fn sky(relic: &Relic) -> &'static str {
    match (relic.rarity, relic.look % 3) {
        (Rarity::Legendary | Rarity::Mythic, _) => {
            "<circle cx='50' cy='48' r='23.87' fill='none' stroke='#fff4' stroke-width='42' stroke-dasharray='5'/>"
        }
        (Rarity::Common | Rarity::Uncommon, 0) => "",
        (Rarity::Common | Rarity::Uncommon, 1) => {
            "<path d='M20 10a9 9 0 1 0 9 11 8 8 0 0 1-9-11z' fill='#fff8'/>"
        }
        (Rarity::Rare | Rarity::Epic, 0) => "<circle cx='50' cy='48' r='38' fill='#fff2'/>",
        (Rarity::Rare | Rarity::Epic, 1) => "<path d='M12 62a38 38 0 0 1 76 0z' fill='#fff3'/>",
        (_, _) => "<path d='M16 42h2M82 50h2M24 20h2M76 18h2M88 34h1M12 58h1' stroke='#fff'/>",
    }
}

fn object(relic: &Relic) -> String {
    let emblem = EMBLEMS[usize::try_from(relic.look / 11).unwrap_or(0) % EMBLEMS.len()];
    let [light, _, dark] = relic.material.colours();
    // Between -9 and 9 degrees: things on a stall never stand quite straight.
    let tilt = i64::try_from(relic.look % 19).unwrap_or(0) - 9;
    match relic.kind {
        Kind::Coin => format!(
            "<circle cx='50' cy='50' r='31' fill='{dark}'/><circle cx='50' cy='48' r='31' fill='url(#m)'/>\
             <g transform='rotate({tilt} 50 48)'><circle cx='50' cy='48' r='27' fill='none' stroke='{dark}' \
             stroke-dasharray='1 1.83' stroke-width='2'/><path d='{emblem}' fill='{light}' stroke='{dark}'/></g>"
        ),
        Kind::Stamp => format!(
            "<g transform='rotate({tilt} 50 50)'><path d='M25 16h50v64H25z' fill='#fdf6e3' stroke='#fdf6e3' \
             stroke-width='4' stroke-dasharray='3.8 1.9'/><path d='M30 21h40v54H30z' fill='url(#m)'/>\
             <path d='{emblem}' fill='#fdf6e3'/><path d='M34 26h9M57 70h9' stroke='#fdf6e3' stroke-width='3'/></g>"
        ),
        Kind::Amphora => format!(
            "<path d='M44 30q-17-3-14 20M56 30q17-3 14 20' fill='none' stroke='{dark}' stroke-width='4'/>\
             <path d='M39 18h22l-1 5q-5 3-5 10 17 6 16 21-1 15-12 26l2 4H39l2-4Q30 69 29 54q-1-15 16-21 0-7-5-10z' \
             fill='url(#m)'/><path d='M29 52q21 7 42 0v8q-21 7-42 0z' fill='{dark}' opacity='.7'/>\
             <path d='M33 58l5-3 5 4 7-3 7 3 5-4 5 3' fill='none' stroke='{light}'/>"
        ),
        Kind::Compass => compass(relic.look * 7 % 360, dark),
        Kind::Lantern => format!(
            "<circle cx='50' cy='52' r='28' fill='#fd64'/>\
             <path d='M37 30q13-30 26 0' fill='none' stroke='{dark}' stroke-width='3'/>\
             <path d='M37 34h26v36H37z' fill='#ffb'/><path d='M50 42q10 12 6 19-6 5-12 0-4-7 6-19z' fill='#f80'/>\
             <path d='M50 50l4 11h-8z' fill='#fe8'/>\
             <path d='M33 35l9-10h16l9 10zM33 69h34l4 14H29zM36 34h3v36h-3zM61 34h3v36h-3z' fill='url(#m)'/>"
        ),
        Kind::Key => format!(
            "<g transform='rotate({} 50 50)'><path d='M47 40h7v44h-7zM54 64h12v6h-6v4h6v7H54z' fill='{dark}'/>\
             <circle cx='50' cy='29' r='13' fill='none' stroke='url(#m)' stroke-width='7'/>\
             <path d='M46 41h7v42h-7zM53 63h12v5h-6v5h6v6H53zM42 44h15v5H42z' fill='url(#m)'/>\
             <circle cx='50' cy='29' r='4' fill='{light}'/></g>",
            tilt * 4
        ),
        Kind::Bell => format!(
            "<g transform='rotate({tilt} 50 18)'><circle cx='50' cy='18' r='5' fill='none' stroke='{dark}' \
             stroke-width='3'/><circle cx='50' cy='74' r='6' fill='{dark}'/>\
             <path d='M50 21q17 2 18 27 1 15 9 24H23q8-9 9-24 1-25 18-27z' fill='url(#m)'/>\
             <path d='M31 56h38l1 4H30z' fill='{dark}'/><path d='M41 29q-5 8-4 22' fill='none' stroke='#fff9' \
             stroke-width='3'/></g>"
        ),
        Kind::Hourglass => hourglass(relic.look % 9, dark),
    }
}

fn compass(bearing: u64, dark: &str) -> String {
    format!(
        "<path d='M46 11h8v9h-8z' fill='{dark}'/>\
         <circle cx='50' cy='50' r='28' fill='#fff6e0' stroke='url(#m)' stroke-width='6'/>\
         <circle cx='50' cy='50' r='21' fill='none' stroke='#654' stroke-width='3' stroke-dasharray='1 7.25'/>\
         <g transform='rotate({bearing} 50 50)'><path d='M50 30l5 20H45z' fill='#c43'/>\
         <path d='M50 70l5-20H45z' fill='#345'/></g>"
    )
}

fn hourglass(run: u64, dark: &str) -> String {
    let (upper, mound) = (28 + run, 14 + 2 * run);
    format!(
        "<path d='M34 22h32q2 16-12 28 14 12 12 28H34q-2-16 12-28-14-12-12-28z' fill='#eef8ff' opacity='.75'/>\
         <path d='M38 {upper}h24q-3 12-12 22-9-10-12-22zM36 78q14-{mound} 28 0z' fill='#e2b45c'/>\
         <path d='M50 50v24' stroke='#e2b45c'/><path d='M31 22h3v56h-3zM66 22h3v56h-3z' fill='{dark}'/>\
         <path d='M27 16h46v7H27zM27 77h46v7H27z' fill='url(#m)'/>"
    )
}
