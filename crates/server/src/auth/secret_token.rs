//! Secret tokens: HS256 JSON Web Tokens scoped to a project.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bourse_wire::{Code, Error, ProjectId, Timestamp};
use hmac::Mac as _;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use secrecy::{ExposeSecret as _, SecretString};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::hs256;
use crate::entropy;

/// Difference between two machines' clocks that is put up with, in seconds.
const SKEW_SECONDS: i64 = 120;
/// Where the signing secret is kept in a data directory when none is configured.
pub const SECRET_FILE: &str = "jwt.secret";

/// Bytes of a seal.
pub(crate) const SEAL_BYTES: usize = 16;

/// Signs and verifies secret tokens.
pub struct TokenSigner {
    encoding: EncodingKey,
    decoding: DecodingKey,
}

/// What a token says.
#[derive(Debug, Serialize, Deserialize)]
struct Claims {
    project: ProjectId,
    jti: String,
    iat: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    exp: Option<i64>,
}

/// What a token of the operator's own commands says. It names no project, so that it is no secret token, and a secret
/// token is none of these.
#[derive(Debug, Serialize, Deserialize)]
struct OperatorClaims {
    operator: bool,
    exp: i64,
}

/// How long a token of a command is believed: it is used at once.
const OPERATOR_SECONDS: i64 = 60;

/// A token just made.
pub struct IssuedToken {
    /// The token's own id, by which it is revoked.
    pub id: String,
    /// The token.
    pub token: String,
}

/// A token that can be believed.
pub(crate) struct VerifiedToken {
    pub(crate) id: String,
    pub(crate) project: ProjectId,
}

impl TokenSigner {
    /// A signer with this secret.
    pub fn new(secret: &[u8]) -> Self {
        hs256::install();
        Self { encoding: EncodingKey::from_secret(secret), decoding: DecodingKey::from_secret(secret) }
    }

    /// A signer with the configured secret, or with the one in the data directory, made at first use and readable by
    /// its owner only.
    pub fn open(configured: &SecretString, data: &Path) -> io::Result<Self> {
        let configured = configured.expose_secret();
        if !configured.is_empty() {
            return Ok(Self::new(configured.as_bytes()));
        }
        let path = data.join(SECRET_FILE);
        match read_secret(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                make_secret(data, &path)?;
                read_secret(&path).map(|secret| Self::new(secret.as_bytes()))
            }
            other => other.map(|secret| Self::new(secret.as_bytes())),
        }
    }

    /// Makes a token.
    pub fn issue(
        &self,
        project: ProjectId,
        now: Timestamp,
        expires: Option<Timestamp>,
    ) -> Result<IssuedToken, Error> {
        let id = new_id();
        let claims = Claims {
            project,
            jti: id.clone(),
            iat: now.unix_seconds(),
            exp: expires.map(Timestamp::unix_seconds),
        };
        Ok(IssuedToken { id, token: self.sign(&claims)? })
    }

    /// Makes a token for a command of the operator, who has the signing secret.
    pub fn issue_operator(&self, now: Timestamp) -> Result<String, Error> {
        self.sign(&OperatorClaims { operator: true, exp: now.unix_seconds() + OPERATOR_SECONDS })
    }

    /// Believes a token of a command of the operator.
    pub(crate) fn verify_operator(&self, token: &str, now: Timestamp) -> Result<(), Error> {
        let claims: OperatorClaims = self.read(token)?;
        let is_over = claims.exp.saturating_add(SKEW_SECONDS) < now.unix_seconds();
        if !claims.operator || is_over {
            let message = "the token of this command is over: are the clocks of both machines right?";
            return Err(Error::new(Code::Unauthorized, message));
        }
        Ok(())
    }

    /// Seals what the servers of an installation tell each other through their callers.
    pub(crate) fn seal(&self, message: &[u8]) -> [u8; SEAL_BYTES] {
        let sealed = hs256::sealing(self.encoding.as_bytes(), message).map(|mac| mac.finalize().into_bytes());
        sealed.and_then(|sealed| sealed.first_chunk().copied()).unwrap_or_default()
    }

    /// Whether one of them sealed it. Told in constant time.
    pub(crate) fn is_sealed(&self, message: &[u8], seal: &[u8; SEAL_BYTES]) -> bool {
        hs256::sealing(self.encoding.as_bytes(), message)
            .is_some_and(|mac| mac.verify_truncated_left(seal).is_ok())
    }

    /// A key for what the servers of an installation tell each other, another for each purpose.
    pub(crate) fn derive(&self, purpose: &str) -> Option<[u8; 32]> {
        hs256::derived(self.encoding.as_bytes(), purpose)
    }

    fn sign(&self, claims: &impl Serialize) -> Result<String, Error> {
        jsonwebtoken::encode(&Header::new(Algorithm::HS256), claims, &self.encoding).map_err(|error| {
            Error::new(Code::Internal, "signing the token failed").with_cause(error.to_string())
        })
    }

    /// Believes a token whose signature is ours and whose time is not over.
    pub(crate) fn verify(&self, token: &str, now: Timestamp) -> Result<VerifiedToken, Error> {
        let claims: Claims = self.read(token)?;
        if claims.exp.is_some_and(|expires| expires.saturating_add(SKEW_SECONDS) < now.unix_seconds()) {
            let message = "the secret token has expired: make a new one with `bourse token create`";
            return Err(Error::new(Code::SessionExpired, message));
        }
        Ok(VerifiedToken { id: claims.jti, project: claims.project })
    }

    /// What a token says that we signed.
    fn read<C: DeserializeOwned>(&self, token: &str) -> Result<C, Error> {
        let mut validation = Validation::new(Algorithm::HS256);
        validation.required_spec_claims.clear();
        // The library would ask the machine's clock; ours comes in as an argument.
        validation.validate_exp = false;
        validation.validate_aud = false;
        let decoded = jsonwebtoken::decode::<C>(token, &self.decoding, &validation).map_err(|error| {
            let message = "the secret token is malformed or was not signed by this service";
            Error::new(Code::Unauthorized, message).with_cause(error.to_string())
        })?;
        Ok(decoded.claims)
    }
}

/// An id that nobody has yet. It begins with no hyphen, so that commands do not take it for a flag.
fn new_id() -> String {
    loop {
        let id = URL_SAFE_NO_PAD.encode(entropy::bytes::<12>());
        if !id.starts_with('-') {
            return id;
        }
    }
}

fn read_secret(path: &Path) -> io::Result<String> {
    let secret = fs::read_to_string(path)?.trim().to_owned();
    if secret.len() < 32 {
        let reason = format!("{} is not a signing secret: it is shorter than 32 bytes", path.display());
        return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
    }
    Ok(secret)
}

/// Writes a new secret aside and links it into place, so that of two processes one wins and neither reads half.
fn make_secret(data: &Path, path: &Path) -> io::Result<()> {
    fs::create_dir_all(data)?;
    let aside = data.join(format!("{SECRET_FILE}.{}", entropy::word()));
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&aside)?;
    file.write_all(URL_SAFE_NO_PAD.encode(entropy::bytes::<32>()).as_bytes())?;
    file.sync_all()?;
    let linked = fs::hard_link(&aside, path);
    fs::remove_file(&aside)?;
    match linked {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn a_token_is_believed_until_its_time_is_over() {
        let signer = TokenSigner::new(&[7; 32]);
        let project = ProjectId::try_from(3).unwrap();
        let (noon, one) = (at("2025-01-01T12:00:00Z"), at("2025-01-01T13:00:00Z"));
        let issued = signer.issue(project, noon, Some(one)).unwrap();
        let verified = signer.verify(&issued.token, one).ok().unwrap();
        assert_eq!((verified.id, verified.project), (issued.id, project));
        let late = signer.verify(&issued.token, at("2025-01-01T13:02:01Z")).err().unwrap();
        assert_eq!(late.code, Code::SessionExpired);
        let forever = signer.issue(project, noon, None).unwrap();
        assert!(signer.verify(&forever.token, at("9999-01-01T00:00:00Z")).is_ok());
    }

    #[test]
    fn a_token_of_a_command_is_no_secret_token_and_the_other_way_round() {
        let (signer, noon) = (TokenSigner::new(&[7; 32]), at("2025-01-01T12:00:00Z"));
        let operator = signer.issue_operator(noon).unwrap();
        assert!(signer.verify_operator(&operator, noon).is_ok());
        assert!(signer.verify(&operator, noon).is_err());
        assert!(signer.verify_operator(&operator, at("2025-01-01T12:03:01Z")).is_err());
        assert!(TokenSigner::new(&[8; 32]).verify_operator(&operator, noon).is_err());
        let secret = signer.issue(ProjectId::try_from(3).unwrap(), noon, None).unwrap().token;
        assert!(signer.verify_operator(&secret, noon).is_err());
        assert!(signer.verify_operator("", noon).is_err());
    }

    #[test]
    fn an_id_is_no_flag_of_a_command() {
        let ids: Vec<String> = (0..3_000).map(|_| new_id()).collect();
        assert!(ids.iter().all(|id| id.len() == 16 && !id.starts_with('-')), "{ids:?}");
        assert!(ids.iter().any(|id| id.contains('-')), "only the first character is special");
    }

    #[test]
    fn other_signatures_and_algorithms_are_not_believed() {
        let project = ProjectId::try_from(3).unwrap();
        let foreign = TokenSigner::new(&[8; 32]).issue(project, Timestamp::ZERO, None).unwrap().token;
        let none = format!(
            "{}.{}.",
            URL_SAFE_NO_PAD.encode(r#"{"alg":"none"}"#),
            foreign.split('.').nth(1).unwrap()
        );
        for token in [foreign.as_str(), none.as_str(), "", "a.b.c", "…"] {
            let error = TokenSigner::new(&[7; 32]).verify(token, Timestamp::ZERO).err().unwrap();
            assert_eq!(error.code, Code::Unauthorized, "{token}");
        }
    }

    #[test]
    fn tokens_of_earlier_versions_are_believed() {
        // Made by version 0.1.0, with 32 bytes of 7 as the secret.
        let (header, claims, signature) = (
            "eyJ0eXAiOiJKV1QiLCJhbGciOiJIUzI1NiJ9",
            "eyJwcm9qZWN0IjozLCJqdGkiOiJBQUVDQXdRRkJnY0lDUW9MIiwiaWF0IjoxNzM1NzMyODAwLCJleHAiOjE3MzU3MzY0MDB9",
            "6J98hvWlDRwL1hy0DyC6niHmYsX1LGYSAuN5Rk9d7aI",
        );
        let signer = TokenSigner::new(&[7; 32]);
        let token = format!("{header}.{claims}.{signature}");
        let verified = signer.verify(&token, at("2025-01-01T13:02:00Z")).ok().unwrap();
        assert_eq!((verified.id.as_str(), verified.project.get()), ("AAECAwQFBgcICQoL", 3));
        let late = signer.verify(&token, at("2025-01-01T13:02:01Z")).err().unwrap();
        assert_eq!(late.code, Code::SessionExpired);
        // What is made today has the same form, so that earlier versions believe it as well.
        let claims = Claims {
            project: verified.project,
            jti: verified.id,
            iat: 1_735_732_800,
            exp: Some(1_735_736_400),
        };
        assert_eq!(signer.sign(&claims).unwrap(), token);
    }

    #[test]
    fn the_made_secret_stays_and_is_private() {
        use std::os::unix::fs::PermissionsExt as _;
        let (none, data) = (SecretString::default(), tempfile::tempdir().unwrap());
        let project = ProjectId::try_from(3).unwrap();
        let token = TokenSigner::open(&none, data.path())
            .unwrap()
            .issue(project, Timestamp::ZERO, None)
            .unwrap()
            .token;
        assert!(TokenSigner::open(&none, data.path()).unwrap().verify(&token, Timestamp::ZERO).is_ok());
        let mode = fs::metadata(data.path().join(SECRET_FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        fs::write(data.path().join(SECRET_FILE), "short").unwrap();
        assert!(TokenSigner::open(&none, data.path()).is_err());
    }
}
