//! The second factor: codes that follow from a secret and the time (RFC 6238, as authenticator apps compute them), and codes
//! for whoever lost the app.

use std::fmt::Write as _;
use std::net::IpAddr;

use base64::Engine as _;
use bourse_server::entropy;
use bourse_store::{Account, ProofHash, ShownCode};
use bourse_wire::{Email, Error, Timestamp};
use hmac::{Hmac, KeyInit as _, Mac as _};
use maud::{Markup, PreEscaped, html};
use qrcode::{Color, EcLevel, QrCode};
use sha1::Sha1;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::Console;
use crate::refusal::Refusal;

/// Seconds for which a code is shown.
const STEP_SECONDS: u64 = 30;
/// Digits of a code.
const DIGITS: usize = 6;
/// Steps before and after this one whose codes are taken as well: clocks differ, and people type slowly.
const STEPS_AROUND: u64 = 1;
/// The letters of base 32, of which none is mistaken for a digit.
const LETTERS: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
/// Recovery codes that somebody gets.
const RECOVERY_CODES: usize = 10;
/// Modules of light around a picture of a secret, without which it is not found.
const QUIET_ZONE: usize = 4;

/// What codes are computed from. `Debug` is left out on purpose: it is in no log.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret(Vec<u8>);

impl Secret {
    pub(crate) fn fresh() -> Self {
        Self(entropy::bytes::<20>().to_vec())
    }

    /// Reads one that is stored.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        const_hex::decode(text).ok().map(Self)
    }

    /// What is stored of it. A hash would not do: the codes are computed here as well.
    pub(crate) fn stored(&self) -> String {
        const_hex::encode(&self.0)
    }

    /// As people type it into an app.
    pub(crate) fn text(&self) -> String {
        base32(&self.0)
    }

    /// As an app reads it from a link or a picture.
    pub(crate) fn link(&self, issuer: &str, email: &str) -> String {
        let encoded = |text: &str| {
            // Apps take `+` for itself where a form would take it for a space.
            form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20")
        };
        let (issuer, email) = (encoded(issuer), encoded(email));
        let secret = self.text();
        format!(
            "otpauth://totp/{issuer}:{email}?secret={secret}&issuer={issuer}&algorithm=SHA1&digits={DIGITS}&period={STEP_SECONDS}"
        )
    }

    /// The step of time whose code this is, around a time; of several the latest.
    pub(crate) fn step_of(&self, code: &str, now: Timestamp) -> Option<u64> {
        let code: String = code.chars().filter(|c| !c.is_whitespace()).collect();
        let now = u64::try_from(now.unix_seconds()).unwrap_or_default() / STEP_SECONDS;
        let mut found = None;
        // All are compared whatever comes of it, so that the time it takes tells nothing.
        for step in now.saturating_sub(STEPS_AROUND)..=now + STEPS_AROUND {
            if self.code(step, DIGITS).as_bytes().ct_eq(code.as_bytes()).into() {
                found = Some(step);
            }
        }
        found
    }

    /// The code of a step of time.
    fn code(&self, step: u64, digits: usize) -> String {
        // A key of any length is taken.
        let Ok(mut mac) = Hmac::<Sha1>::new_from_slice(&self.0) else { return String::new() };
        mac.update(&step.to_be_bytes());
        let hash = mac.finalize().into_bytes();
        let start = usize::from(hash[hash.len() - 1] & 0xf);
        let four: [u8; 4] = std::array::from_fn(|index| hash[start + index]);
        let number = u32::from_be_bytes(four) & 0x7fff_ffff;
        let text = format!("{number:010}");
        text[text.len() - digits..].to_owned()
    }
}

/// A code that lets somebody in once without the app.
pub(crate) struct RecoveryCode(String);

impl RecoveryCode {
    /// As many as somebody gets.
    pub(crate) fn fresh() -> Vec<Self> {
        (0..RECOVERY_CODES).map(|_| Self(base32(&entropy::bytes::<10>()))).collect()
    }

    /// Reads what somebody typed, with or without dashes and in letters of any case; `None` for what cannot be one.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let plain: String = text
            .chars()
            .filter(|c| !c.is_whitespace() && *c != '-')
            .map(|c| c.to_ascii_uppercase())
            .collect();
        let is_code = plain.len() == 16 && plain.bytes().all(|byte| LETTERS.contains(&byte));
        is_code.then_some(Self(plain))
    }

    /// As it is shown.
    pub(crate) fn text(&self) -> String {
        let groups: Vec<&str> = (0..4).filter_map(|group| self.0.get(group * 4..group * 4 + 4)).collect();
        groups.join("-")
    }

    /// What is stored of it. There are so many that nobody finds one by trying, so that a quick hash does.
    pub(crate) fn hash(&self) -> ProofHash {
        let mut digest = Sha256::new();
        digest.update(b"bourse recovery code ");
        digest.update(&self.0);
        ProofHash(const_hex::encode(digest.finalize()))
    }
}

/// Bytes in letters and digits, without padding.
fn base32(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 8 / 5 + 1);
    let (mut bits, mut count) = (0_u32, 0);
    for byte in bytes {
        bits = (bits << 8) | u32::from(*byte);
        count += 8;
        while count >= 5 {
            count -= 5;
            text.push(char::from(LETTERS[(bits >> count) as usize & 31]));
        }
    }
    if count > 0 {
        text.push(char::from(LETTERS[(bits << (5 - count)) as usize & 31]));
    }
    text
}

/// A link as a picture that an app reads. Dark on light in either scheme: many apps read nothing else.
pub(crate) fn picture(link: &str) -> Option<Markup> {
    let code = QrCode::with_error_correction_level(link, EcLevel::M).ok()?;
    let width = code.width();
    let dark = code.to_colors().into_iter().enumerate().filter(|(_, color)| *color == Color::Dark);
    let mut path = String::new();
    for (index, _) in dark {
        // Writing to a string cannot fail.
        let _ = write!(path, "M{} {}h1v1h-1z", index % width + QUIET_ZONE, index / width + QUIET_ZONE);
    }
    let side = width + 2 * QUIET_ZONE;
    let drawing = format!(
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {side} {side}' shape-rendering='crispEdges'>\
        <path fill='#fff' d='M0 0h{side}v{side}H0z'/><path d='{path}'/></svg>"
    );
    let source = base64::engine::general_purpose::STANDARD.encode(drawing);
    Some(html! {
        img src={ "data:image/svg+xml;base64," (PreEscaped(source)) } width="240" height="240"
            alt="The secret as a picture for an authenticator app";
    })
}

/// Lets somebody show a code, of the app or for recovery, which is then used up. Tries are counted by account and address as
/// those of passwords are, and by account from wherever: only who knows the password gets here.
pub(crate) async fn require_code(
    console: &Console,
    account: &Account,
    peer: Option<IpAddr>,
    text: &str,
) -> Result<(), Refusal> {
    let (store, now) = (console.store(), console.now());
    let email: Email = account.email.parse().map_err(|error| Error::invalid("email", error))?;
    console.sign_in.count_try(store, peer, Some(&email), now).await?;
    if !store.count_code_try(account.id, now).await? {
        return Err(Refusal::too_many_codes());
    }
    let factor = store.second_factor(account.id).await?.filter(|factor| factor.confirmed_at.is_some());
    let factor = factor.ok_or_else(|| Error::conflict("the second factor is off"))?;
    let step = Secret::parse(&factor.secret).and_then(|secret| secret.step_of(text, now));
    let recovery = || RecoveryCode::parse(text).map(|code| ShownCode::Recovery(code.hash()));
    let is_good = match step.map(ShownCode::Step).or_else(recovery) {
        Some(shown) => store.use_code(account.id, shown).await?,
        None => false,
    };
    if is_good { Ok(()) } else { Err(wrong_code().into()) }
}

/// That a code is not right.
pub(crate) fn wrong_code() -> Error {
    Error::invalid("code", "is not right, or was used already: wait for the next one")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Timestamp {
        Timestamp::from_unix_seconds(seconds)
    }

    /// The vectors of RFC 6238, appendix B, for SHA-1.
    #[test]
    fn codes_are_those_of_the_standard() {
        let secret = Secret(b"12345678901234567890".to_vec());
        for (seconds, code) in [
            (59_u64, "94287082"),
            (1_111_111_109, "07081804"),
            (1_111_111_111, "14050471"),
            (1_234_567_890, "89005924"),
            (2_000_000_000, "69279037"),
            (20_000_000_000, "65353130"),
        ] {
            assert_eq!(secret.code(seconds / STEP_SECONDS, 8), code);
            assert_eq!(secret.step_of(&code[2..], at(seconds)), Some(seconds / STEP_SECONDS));
        }
        // And of RFC 4226, appendix D, where the step is a counter.
        let codes =
            ["755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871"];
        for (counter, code) in codes.into_iter().enumerate() {
            assert_eq!(secret.code(counter as u64, DIGITS), code);
        }
    }

    #[test]
    fn a_code_is_good_for_one_step_more_or_less() {
        let secret = Secret(b"12345678901234567890".to_vec());
        let code = secret.code(1000, DIGITS);
        let spaced = format!(" {} {} ", &code[..3], &code[3..]);
        assert_eq!(secret.step_of(&spaced, at(30_000)), Some(1000));
        for (seconds, step) in [(29_969, None), (29_970, Some(1000)), (30_059, Some(1000)), (30_060, None)] {
            assert_eq!(secret.step_of(&code, at(seconds)), step, "{seconds}");
        }
        for wrong in ["", "0", "12345", "1234567", "abcdef", "１２３４５６"] {
            assert_eq!(secret.step_of(wrong, at(30_000)), None, "{wrong}");
        }
        assert_eq!(secret.step_of(&code, Timestamp::ZERO), None);
    }

    /// The vectors of RFC 4648.
    #[test]
    fn secrets_are_written_as_apps_read_them() {
        let texts = [
            ("", ""),
            ("f", "MY"),
            ("fo", "MZXQ"),
            ("foo", "MZXW6"),
            ("foob", "MZXW6YQ"),
            ("fooba", "MZXW6YTB"),
        ];
        for (bytes, text) in texts {
            assert_eq!(base32(bytes.as_bytes()), text);
        }
        let secret = Secret(b"12345678901234567890".to_vec());
        assert!(Secret::parse(&secret.stored()) == Some(secret.clone()) && Secret::parse("xyz").is_none());
        assert_eq!(
            secret.link("Bourse a.example", "a+b@mail.example"),
            "otpauth://totp/Bourse%20a.example:a%2Bb%40mail.example?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ\
            &issuer=Bourse%20a.example&algorithm=SHA1&digits=6&period=30"
        );
        let drawn = picture(&secret.link("Bourse", "a@mail.example")).unwrap().into_string();
        assert!(drawn.starts_with("<img src=\"data:image/svg+xml;base64,") && !drawn.contains("otpauth"));
    }

    #[test]
    fn recovery_codes_are_read_as_people_type_them() {
        let codes = RecoveryCode::fresh();
        assert_eq!(codes.len(), RECOVERY_CODES);
        for code in &codes {
            let text = code.text();
            assert_eq!((text.len(), text.matches('-').count()), (19, 3), "{text}");
            for typed in [text.clone(), text.to_lowercase(), text.replace('-', ""), format!(" {text} ")] {
                assert!(RecoveryCode::parse(&typed).unwrap().hash() == code.hash(), "{typed}");
            }
        }
        assert!(codes[0].hash() != codes[1].hash());
        for wrong in ["", "123456", "AAAA-AAAA-AAAA-AAA", "AAAA-AAAA-AAAA-AAA1", "ÄÄÄÄ-ÄÄÄÄ"] {
            assert!(RecoveryCode::parse(wrong).is_none(), "{wrong}");
        }
    }
}
