//! Passwords: Argon2id, a few at a time, since each takes time and memory on purpose. New ones must not be easily guessed.

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use bourse_server::{Failure, entropy};
use bourse_wire::Error;
use tokio::sync::Semaphore;
use zxcvbn::Score;

const CHARACTERS_MIN: usize = 12;
const BYTES_MAX: usize = 1024;
/// Passwords that are hashed at once.
const AT_ONCE: usize = 2;
/// Characters that are looked at to tell how easily a password is guessed: looking takes longer than characters become
/// more, and what begins well is good.
const GUESSED_CHARACTERS_MAX: usize = 100;
/// How hard a password must be to guess: some hundred million tries for somebody who knows what people choose.
const SCORE_MIN: Score = Score::Three;
/// Letters and digits that a password has beside what everybody knows of the account and the service.
const OWN_CHARACTERS_MIN: usize = 6;
/// Words that stand on every page, and so are the first to be tried.
const OWN_WORDS: [&str; 3] = ["bourse", "console", "marketplace"];

/// A password somebody typed. It is in no log.
#[derive(Clone)]
pub(crate) struct Password(String);

impl Password {
    /// One to be kept, of the account of this address: long enough, and not what somebody would try first. What else it is
    /// made of is its owner's business.
    fn new(text: &str, email: &str) -> Result<Self, Error> {
        if text.chars().count() < CHARACTERS_MIN {
            let message = format!("must have {CHARACTERS_MIN} characters or more: several words are best");
            return Err(Error::invalid("password", message));
        }
        let password = Self::typed(text)?;
        match weakness(text, email) {
            None => Ok(password),
            Some(reason) => Err(Error::invalid("password", reason)),
        }
    }

    /// One to be compared.
    pub(crate) fn typed(text: &str) -> Result<Self, Error> {
        if text.len() > BYTES_MAX {
            return Err(Error::invalid("password", format!("must have at most {BYTES_MAX} bytes")));
        }
        Ok(Self(text.to_owned()))
    }
}

/// Why a password is guessed easily, if it is.
fn weakness(text: &str, email: &str) -> Option<String> {
    const ADVICE: &str = "take several words that have nothing to do with each other or with you";
    let looked_at: String = text.chars().take(GUESSED_CHARACTERS_MAX).collect();
    let email = email.to_lowercase();
    let mut known: Vec<&str> = email.split(|c: char| !c.is_alphanumeric()).collect();
    known.retain(|word| word.chars().count() > 2);
    known.extend(OWN_WORDS);
    // Longer ones first, so that none is cut in pieces by another.
    known.sort_by_key(|word| std::cmp::Reverse(word.len()));
    let own = known.iter().fold(looked_at.to_lowercase(), |text, word| text.replace(word, ""));
    if own.chars().filter(|c| c.is_alphanumeric()).count() < OWN_CHARACTERS_MIN {
        return Some(format!(
            "is easily guessed (it is mostly your address or a name of this service): {ADVICE}"
        ));
    }
    known.push(&email);
    let estimate = zxcvbn::zxcvbn(&looked_at, &known);
    if estimate.score() >= SCORE_MIN {
        return None;
    }
    let warning = estimate.feedback().and_then(zxcvbn::feedback::Feedback::warning);
    let warning = warning.map(|warning| format!(" ({})", warning.to_string().trim_end_matches('.')));
    Some(format!("is easily guessed{}: {ADVICE}", warning.unwrap_or_default()))
}

/// Hashes passwords and compares them.
pub(crate) struct Passwords {
    turns: Semaphore,
}

impl Passwords {
    pub(super) fn new() -> Self {
        Self { turns: Semaphore::new(AT_ONCE) }
    }

    /// A password to be kept, of the account of this address.
    pub(crate) async fn choose(&self, text: &str, email: &str) -> Result<Password, Failure> {
        let (text, email) = (text.to_owned(), email.to_owned());
        Ok(self.work(move || Password::new(&text, &email)).await??)
    }

    /// What is stored of a password.
    pub(crate) async fn hash(&self, password: Password) -> Result<String, Failure> {
        self.work(move || {
            let salt: [u8; 16] = entropy::bytes();
            let hash = Argon2::default().hash_password_with_salt(password.0.as_bytes(), &salt);
            hash.map(|hash| hash.to_string()).map_err(internal)
        })
        .await?
    }

    /// Whether a password is the stored one. Without one stored it takes as long, and never is.
    pub(crate) async fn verify(&self, password: Password, stored: Option<String>) -> Result<bool, Failure> {
        self.work(move || {
            let Some(stored) = stored else {
                let salt: [u8; 16] = entropy::bytes();
                drop(Argon2::default().hash_password_with_salt(password.0.as_bytes(), &salt));
                return Ok(false);
            };
            let stored = PasswordHash::new(&stored).map_err(internal)?;
            Ok(Argon2::default().verify_password(password.0.as_bytes(), &stored).is_ok())
        })
        .await?
    }

    async fn work<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, Failure> {
        let _turn = self.turns.acquire().await.map_err(internal)?;
        tokio::task::spawn_blocking(work).await.map_err(internal)
    }
}

fn internal(error: impl std::error::Error + Send + Sync + 'static) -> Failure {
    Failure::Internal(Box::new(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_password_itself_is_right() {
        let passwords = Passwords::new();
        let typed = |text: &str| Password::typed(text).unwrap();
        let stored = passwords.hash(typed("correct horse battery")).await.unwrap();
        assert!(stored.starts_with("$argon2id$"), "{stored}");
        assert_ne!(stored, passwords.hash(typed("correct horse battery")).await.unwrap());
        assert!(passwords.verify(typed("correct horse battery"), Some(stored.clone())).await.unwrap());
        assert!(!passwords.verify(typed("correct horse batterz"), Some(stored)).await.unwrap());
        assert!(!passwords.verify(typed("correct horse battery"), None).await.unwrap());
    }

    #[test]
    fn short_ones_are_refused_and_long_ones_welcome() {
        let new = |text: &str| Password::new(text, "ada.lovelace@engine.example");
        assert!(new("eleven char").is_err());
        assert!(new("十二文字あればいいです。").is_ok());
        assert!(new(&"a long passphrase of mine, ".repeat(30)).is_ok());
        assert!(new(&"x9!".repeat(400)).is_err());
    }

    #[test]
    fn what_is_tried_first_is_refused() {
        let new = |text: &str| Password::new(text, "ada.lovelace@engine.example");
        for weak in [
            "passwordpassword",
            "Password1234!",
            "123456789012",
            "qwertyuiop[]",
            "aaaaaaaaaaaaaaaa",
            "abcdefghijkl",
            "abcabcabcabcabc",
            "iloveyou1234",
            "adalovelace1",
            "ada.lovelace@engine.example",
            "Lovelace2024",
            "bourseconsole",
            "bourse-bourse",
            "1q2w3e4r5t6y",
            "letmeinletmein",
        ] {
            let Err(error) = new(weak) else { panic!("{weak} is taken") };
            assert!(error.message.contains("is easily guessed"), "{weak}: {}", error.message);
            assert!(!error.message.contains(weak), "{}", error.message);
        }
        for good in ["correct horse battery staple", "lantern quietly grows 7 figs", "vK3#qz!9pWx2"] {
            assert!(new(good).is_ok(), "{good}");
        }
    }

    /// However long and however made, looking at one takes no time to speak of.
    #[test]
    fn hostile_ones_are_looked_at_quickly() {
        for text in ["p4ssw0rd".repeat(128), "@".repeat(1024), "1a".repeat(512), "áé".repeat(256)] {
            assert!(Password::new(&text, &"x".repeat(250)).is_err(), "{text:.20}");
        }
    }
}
