//! Passwords: Argon2id, a few at a time, since each takes time and memory on purpose.

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use bourse_server::Failure;
use bourse_wire::Error;
use tokio::sync::Semaphore;

use bourse_server::entropy;
const CHARACTERS_MIN: usize = 12;
const BYTES_MAX: usize = 1024;
/// Passwords that are hashed at once.
const AT_ONCE: usize = 2;

/// A password somebody typed. It is in no log.
#[derive(Clone)]
pub(crate) struct Password(String);

impl Password {
    /// One to be kept: long enough. What it is made of is its owner's business.
    pub(crate) fn new(text: &str) -> Result<Self, Error> {
        if text.chars().count() < CHARACTERS_MIN {
            let message = format!("must have {CHARACTERS_MIN} characters or more: several words are best");
            return Err(Error::invalid("password", message));
        }
        Self::typed(text)
    }

    /// One to be compared.
    pub(crate) fn typed(text: &str) -> Result<Self, Error> {
        if text.len() > BYTES_MAX {
            return Err(Error::invalid("password", format!("must have at most {BYTES_MAX} bytes")));
        }
        Ok(Self(text.to_owned()))
    }
}

/// Hashes passwords and compares them.
pub(crate) struct Passwords {
    turns: Semaphore,
}

impl Passwords {
    pub(super) fn new() -> Self {
        Self { turns: Semaphore::new(AT_ONCE) }
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
        assert!(Password::new("eleven char").is_err());
        assert!(Password::new("十二文字あればいいです。").is_ok());
        assert!(Password::new(&"a long passphrase ".repeat(50)).is_ok());
        assert!(Password::new(&"x".repeat(1025)).is_err());
    }
}
