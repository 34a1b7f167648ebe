//! Pictures of provisions: something good on a plate, on a chequered cloth.

use super::provision::{Category, Provision};

/// Tablecloths: ground colour.
const CLOTHS: [&str; 10] = [
    "#d9756b", "#6ba3d6", "#7dbb8a", "#e0a458", "#a58bd0", "#5fb3b3", "#d98aa8", "#8d99ae", "#c9b458",
    "#b0786a",
];

/// The picture of a provision as SVG.
pub(super) fn draw(provision: &Provision) -> String {
    let cloth = CLOTHS[usize::try_from(provision.look / 13).unwrap_or(0) % CLOTHS.len()];
    let [light, dark] = provision.category.tones(provision.look);
    let shift = 6 + provision.look % 12;
    // Between -12 and 12 degrees, as a hasty cook would serve it.
    let tilt = i64::try_from(provision.look % 25).unwrap_or(0) - 12;
    let upright = matches!(provision.category, Category::Candle | Category::Spirit | Category::Honey);
    format!(
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 100 100'>\
         <linearGradient id='m' x2='.6' y2='1'><stop stop-color='{light}'/><stop offset='1' stop-color='{dark}'/>\
         </linearGradient><path fill='{cloth}' d='M0 0h100v100H0z'/>\
         <path d='M{shift} 0v100m32-100v100m32-100v100M0 {shift}h100M0 {second}h100M0 {third}h100' stroke='#fff4' \
         stroke-width='16'/><circle cx='51' cy='53' r='42' fill='#0003'/>\
         <circle cx='50' cy='50' r='41' fill='#fffdf7' stroke='{rim}' stroke-width='3'/>\
         <circle cx='50' cy='50' r='32' fill='#f3ecdd'/><g transform='rotate({tilt} 50 50)'>{object}</g></svg>",
        second = shift + 32,
        third = shift + 64,
        rim = provision.rarity.rim(),
        tilt = if upright { 0 } else { tilt },
        object = object(provision.category, dark),
    )
}

fn object(category: Category, dark: &str) -> String {
    match category {
        Category::Bread => format!(
            "<path d='M22 58q-5-24 28-24t28 24q1 9-8 10H30q-9-1-8-10z' fill='url(#m)'/>\
             <path d='M36 43l5 14M48 40l5 14M60 42l5 14' stroke='{dark}' stroke-width='3' stroke-linecap='round'/>"
        ),
        Category::Cheese => format!(
            "<path d='M22 56l36-22q16 5 20 22z' fill='url(#m)'/><path d='M22 56h56v14H22z' fill='{dark}'/>\
             <g fill='#fff5'><circle cx='36' cy='63' r='4'/><circle cx='62' cy='64' r='3'/>\
             <ellipse cx='58' cy='48' rx='5' ry='3'/></g>"
        ),
        Category::Fish => format!(
            "<path d='M20 50q20-24 42-4l16-11q-5 15 0 30L62 54q-22 20-42-4z' fill='url(#m)'/>\
             <circle cx='30' cy='47' r='2.5' fill='#123'/><path d='M38 41q6 8 0 17M46 40q6 9 0 20M54 43q5 7 0 14' \
             fill='none' stroke='{dark}' stroke-width='2'/>"
        ),
        Category::Fruit => String::from(
            "<path d='M50 40q-9-8-18-2-9 8-4 22 6 15 22 11 16 4 22-11 5-14-4-22-9-6-18 2z' fill='url(#m)'/>\
             <path d='M50 41q0-10 4-15' fill='none' stroke='#6b4a2b' stroke-width='3'/>\
             <path d='M53 33q6-10 18-8-4 11-18 8z' fill='#6aa84f'/><ellipse cx='37' cy='48' rx='4' ry='6' fill='#fff6'/>",
        ),
        Category::Tea => format!(
            "<path d='M68 46q14-4 11 9-3 10-14 10' fill='none' stroke='{dark}' stroke-width='4'/>\
             <path d='M32 50l-14-10-2 4 14 20z' fill='{dark}'/><ellipse cx='50' cy='56' rx='22' ry='18' fill='url(#m)'/>\
             <path d='M36 42q14-12 28 0z' fill='{dark}'/><circle cx='50' cy='34' r='3' fill='{dark}'/>\
             <path d='M36 52q2-6 8-8' fill='none' stroke='#fff8' stroke-width='3'/>"
        ),
        Category::Spirit => format!(
            "<path d='M45 24h10v14q10 5 10 15v24H35V53q0-10 10-15z' fill='url(#m)'/>\
             <path d='M45 19h10v7H45z' fill='#a87b4f'/><path d='M35 54h30v14H35z' fill='#fdf3d8'/>\
             <path d='M50 56l5 5-5 5-5-5z' fill='{dark}'/><path d='M39 53q0-6 6-9' fill='none' stroke='#fff8' stroke-width='2'/>"
        ),
        Category::Honey => format!(
            "<rect x='31' y='36' width='38' height='40' rx='8' fill='url(#m)'/>\
             <rect x='33' y='27' width='34' height='10' rx='3' fill='#a5713c'/>\
             <path d='M50 45l10 6v11l-10 6-10-6V51z' fill='#fff3cf' stroke='{dark}' stroke-width='2'/>\
             <path d='M46 57h8M50 53v8' stroke='{dark}' stroke-width='2'/>"
        ),
        Category::Candle => format!(
            "<circle cx='50' cy='30' r='15' fill='#fd66'/><path d='M43 40h14v32H43z' fill='url(#m)'/>\
             <path d='M43 40h14v5q-3 8-5 0-3 12-9 3z' fill='{dark}'/>\
             <path d='M50 20q8 10 4 16h-8q-4-6 4-16z' fill='#f90'/><path d='M50 28l3 8h-6z' fill='#fff3a6'/>\
             <path d='M32 72h36l-6 7H38z' fill='#8a6d3b'/>"
        ),
        Category::Rope => format!(
            "<g fill='none'><ellipse cx='50' cy='64' rx='24' ry='10' stroke='{dark}' stroke-width='9'/>\
             <ellipse cx='50' cy='55' rx='23' ry='10' stroke='url(#m)' stroke-width='9'/>\
             <ellipse cx='50' cy='46' rx='21' ry='9' stroke='url(#m)' stroke-width='9'/>\
             <g stroke='{dark}' stroke-width='9' stroke-dasharray='1 5'><ellipse cx='50' cy='46' rx='21' ry='9'/>\
             <ellipse cx='50' cy='55' rx='23' ry='10'/></g></g>"
        ),
        Category::Spice => format!(
            "<path d='M39 40q-16 16-13 37h48q3-21-13-37z' fill='#c9a878'/>\
             <path d='M39 40q-7-8-6-13 8-3 17 1 9-4 17-1 1 5-6 13z' fill='#b08d5b'/>\
             <path d='M38 38h24v4H38z' fill='#7a5a30'/><circle cx='50' cy='58' r='11' fill='url(#m)'/>\
             <path d='M50 51q8 7 0 14-8-7 0-14z' fill='{dark}'/>"
        ),
    }
}
