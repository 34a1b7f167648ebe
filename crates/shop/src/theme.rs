//! The colours of a shop. Whatever colour a project chooses, what is written in it or on it can be read: its lightness is
//! moved until the contrast is that of level AA, on light and on dark ground.

use bourse_pictures::own_path;
use bourse_wire::Storefront;

/// The colour where none is chosen.
const USUAL: Rgb = Rgb([0x0a, 0x62, 0x59]);
/// The grounds of both schemes, as in `style/base.css`.
const LIGHT: Rgb = Rgb([0xf5, 0xf5, 0xf1]);
const DARK: Rgb = Rgb([0x1e, 0x26, 0x2a]);
const WHITE: Rgb = Rgb([0xff; 3]);
const BLACK: Rgb = Rgb([0x0c, 0x12, 0x12]);
/// The contrast of level AA, with something to spare for rounding.
const CONTRAST: f64 = 4.6;
/// Steps from a colour to black or white.
const STEPS: u8 = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rgb([u8; 3]);

impl Rgb {
    fn read(text: &str) -> Option<Self> {
        let mut bytes = [0; 3];
        const_hex::decode_to_slice(text.strip_prefix('#')?, &mut bytes).ok()?;
        Some(Self(bytes))
    }

    /// How light it is, as WCAG has it.
    fn luminance(self) -> f64 {
        let channel = |byte: u8| {
            let part = f64::from(byte) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        };
        let [red, green, blue] = self.0.map(channel);
        0.2126 * red + 0.7152 * green + 0.0722 * blue
    }

    fn contrast(self, other: Self) -> f64 {
        let (one, two) = (self.luminance(), other.luminance());
        (one.max(two) + 0.05) / (one.min(two) + 0.05)
    }

    /// This colour, moved towards another one by so many steps.
    fn moved(self, towards: Self, steps: u8) -> Self {
        let part = |from: u8, to: u8| {
            let sum = u32::from(from) * u32::from(STEPS - steps) + u32::from(to) * u32::from(steps);
            u8::try_from(sum / u32::from(STEPS)).unwrap_or(u8::MAX)
        };
        let ([red, green, blue], [to_red, to_green, to_blue]) = (self.0, towards.0);
        Self([part(red, to_red), part(green, to_green), part(blue, to_blue)])
    }

    /// The nearest that can be read on a ground.
    fn readable_on(self, ground: Self, towards: Self) -> Self {
        let mut tried = (0..=STEPS).map(|steps| self.moved(towards, steps));
        tried.find(|colour| colour.contrast(ground) >= CONTRAST).unwrap_or(towards)
    }

    fn css(self) -> String {
        format!("#{}", const_hex::encode(self.0))
    }
}

/// What can be read on a colour.
fn written_on(colour: Rgb) -> Rgb {
    if WHITE.contrast(colour) >= BLACK.contrast(colour) { WHITE } else { BLACK }
}

/// The style sheet of a shop: its colours, and its font where it is kept here.
pub(crate) fn css(storefront: &Storefront, public_url: &str) -> String {
    let accent = Rgb::read(storefront.site.accent.as_str()).unwrap_or(USUAL);
    let scheme = |ground: Rgb, towards: Rgb| {
        let accent = accent.readable_on(ground, towards);
        format!("--accent:{};--accent-text:{}", accent.css(), written_on(accent).css())
    };
    let (light, dark) = (scheme(LIGHT, BLACK), scheme(DARK, WHITE));
    let mut css = format!(":root{{{light}}}@media (prefers-color-scheme:dark){{:root{{{dark}}}}}");
    // Nothing is loaded from elsewhere.
    if let Some(path) = own_path(public_url, storefront.settings.font_url.as_str()) {
        css += "@font-face{font-family:Shop;src:url(\"";
        css += path;
        css += "\");font-display:swap}:root{--sans:Shop,system-ui,sans-serif}";
    }
    css
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(accent: &str, font: &str) -> String {
        let mut storefront = Storefront::default();
        storefront.site.accent = accent.parse().unwrap();
        storefront.settings.font_url = font.parse().unwrap();
        css(&storefront, "https://bourse.example")
    }

    #[test]
    fn every_colour_can_be_read() {
        for byte in (0..=255).step_by(15) {
            for other in [0, 127, 255] {
                let accent = Rgb([byte, other, 255 - byte]);
                for (ground, towards) in [(LIGHT, BLACK), (DARK, WHITE)] {
                    let colour = accent.readable_on(ground, towards);
                    assert!(colour.contrast(ground) >= 4.5, "{accent:?} {colour:?}");
                    assert!(written_on(colour).contrast(colour) >= 4.5, "{accent:?} {colour:?}");
                }
            }
        }
    }

    #[test]
    fn colours_follow_what_is_chosen() {
        assert!(of("#0a6259", "").starts_with(":root{--accent:#0a6259;--accent-text:#ffffff}"));
        assert!(of("", "").contains("--accent:#0a6259;"));
        assert_ne!(of("#ff0000", ""), of("", ""));
    }

    #[test]
    fn fonts_come_from_here_alone() {
        let font = "https://bourse.example/projects/1/collections/2/assets/3";
        assert!(of("", font).contains("url(\"/projects/1/collections/2/assets/3\")"));
        for other in [
            "https://elsewhere.example/projects/1",
            "https://bourse.example.evil/projects/1",
            "https://bourse.example/console",
            "https://bourse.example/projects/\"}*{color:red",
            "https://bourse.example/projects/../console",
        ] {
            assert!(!of("", other).contains("font-face"), "{other}");
        }
    }
}
