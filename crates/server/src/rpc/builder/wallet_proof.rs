//! That a wallet says something of its own entry in an audience: a text that it signed.

use bourse_protocols::native::{Inquiry, Proof, prove_text};
use bourse_wire::{Address, ChainRef, Code, Error, RecordId, Text, Timestamp};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::call::Call;
use crate::failure::Failure;
use crate::limits::{Allowance, Bucket};

/// How old a proof may be.
const AGE_SECONDS_MAX: i64 = 600;
/// How far the clock of a wallet may be ahead of ours.
const AHEAD_SECONDS_MAX: i64 = 120;

/// A text that a wallet signed.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "WalletProofInput")]
#[serde(rename_all = "camelCase")]
pub(super) struct WalletProof {
    /// The wallet.
    pub(super) address: Address,
    /// What it signed: the lines that `docs/audiences.md` shows, with a time of the last ten minutes in the last one.
    message: Text<2048>,
    /// Its signature of the message as wallets sign texts (EIP-191), or what its contract takes for one (EIP-1271).
    signature: Text<8192>,
    /// The chain that a wallet is on which is a contract, by number or by name. For others it means nothing.
    #[serde(rename = "chainId")]
    chain_id: Option<ChainRef>,
}

/// What a wallet wants, as it says in what it signs.
pub(super) enum Purpose<'a> {
    /// Signing itself up, with what it says of itself.
    SignUp {
        /// Name.
        name: Option<&'a str>,
        /// E-mail address.
        email: Option<&'a str>,
    },
    /// Reading its own entry.
    ReadOwnEntry,
}

impl WalletProof {
    /// Refuses whoever did not sign that this wallet wants this of this audience, and lately. Whatever is asked for is in
    /// the text, so that who sends it again asks for the same again.
    pub(super) async fn check(
        &self,
        call: &Call,
        audience: RecordId,
        purpose: &Purpose<'_>,
    ) -> Result<(), Failure> {
        limit_rate(call)?;
        // Before a node is asked anything for an audience that nobody can sign up to.
        call.app.store.check_registration(call.scope(), audience).await?;
        let expected = self.expected(call, audience, purpose);
        let Some(time) = time_behind(&expected, self.message.as_str()) else {
            let message = format!("walletProof.message: must be these lines: {expected}Time: the time now");
            return Err(Error::new(Code::InvalidArgument, message).into());
        };
        check_age(time, call.now)?;
        let invalid = |error| Error::invalid("walletProof.signature", error);
        match prove_text(self.address, self.message.as_str(), self.signature.as_str()).map_err(invalid)? {
            Proof::Ask(question) => {
                let asked = Inquiry::of(question.to, question.data.clone());
                let chain = self.chain_id.as_ref().map(|chain| call.chain(Some(chain))).transpose()?;
                let answers = match chain {
                    Some(chain) => call.app.chains.ask_some(chain, vec![asked]).await,
                    None => Vec::new(),
                };
                let answer = answers.first().and_then(Option::as_ref);
                if question.is_yes(answer.map(AsRef::as_ref)) { Ok(()) } else { Err(self.refused().into()) }
            }
            Proof::Signed => Ok(()),
            Proof::Held => Err(self.refused().into()),
        }
    }

    fn refused(&self) -> Error {
        let message = format!(
            "walletProof.signature: was not made with the key of {}, nor does a contract there take it for its own on the \
             chain that chainId names",
            self.address
        );
        Error::new(Code::PermissionDenied, message)
    }

    /// The lines of the text before the last.
    fn expected(&self, call: &Call, audience: RecordId, purpose: &Purpose<'_>) -> String {
        let (service, project) = (&call.app.settings.service.name, call.caller.project());
        let (wanted, name, email) = match *purpose {
            Purpose::SignUp { name, email } => ("sign up", name, email),
            Purpose::ReadOwnEntry => ("read my entry", None, None),
        };
        let mut text = format!(
            "Audience registration\n\nService: {service}\nProject: {project}\nAudience: {audience}\nWallet: {}\n\
             Purpose: {wanted}\n",
            self.address
        );
        for (label, said) in [("Name", name), ("E-mail", email)] {
            if let Some(said) = said.filter(|said| !said.is_empty()) {
                text.push_str(&[label, ": ", said, "\n"].concat());
            }
        }
        text
    }
}

/// The time that comes behind the expected lines. The letter case of the wallet's address is its checksum.
fn time_behind(expected: &str, message: &str) -> Option<Timestamp> {
    let (head, time) = message.split_at_checked(expected.len())?;
    if !head.eq_ignore_ascii_case(expected) {
        return None;
    }
    time.strip_prefix("Time: ")?.parse().ok()
}

fn check_age(time: Timestamp, now: Timestamp) -> Result<(), Error> {
    let age = now.unix_seconds().saturating_sub(time.unix_seconds());
    if (-AHEAD_SECONDS_MAX..=AGE_SECONDS_MAX).contains(&age) {
        return Ok(());
    }
    let reason = format!(
        "was signed at {time}, and it is {now}: a proof is good for {} minutes",
        AGE_SECONDS_MAX / 60
    );
    Err(Error::invalid("walletProof.message", reason))
}

/// Bounds how many proofs are looked at of whoever comes from one address: each may be asked of a node. A secret token is the
/// project itself, which may add anybody.
fn limit_rate(call: &Call) -> Result<(), Error> {
    if call.caller.is_secret() {
        return Ok(());
    }
    let bucket = call.peer.map_or_else(|| call.caller.bucket(), Bucket::of_address);
    let taken = call.app.wallet_proofs.take(bucket, 1, call.app.clock.steady());
    let Some(Allowance { limit, reset_seconds, .. }) = taken.filter(|allowance| allowance.refused) else {
        return Ok(());
    };
    let message = format!(
        "{limit} proofs of wallets a minute are looked at from one address: try again in {reset_seconds} s"
    );
    Err(Error::new(Code::RateLimited, message))
}

#[cfg(test)]
mod tests {
    use super::{check_age, time_behind};
    use bourse_wire::Timestamp;

    #[test]
    fn a_text_is_the_expected_one_and_a_time() {
        let now = "2025-03-14T12:00:00Z";
        assert_eq!(time_behind("Wallet: 0xab\n", &format!("Wallet: 0xAB\nTime: {now}")), now.parse().ok());
        for text in [
            format!("Wallet: 0xab\nTime: {now}\n"),
            format!("Wallet: 0xab\nTime:{now}"),
            format!("Wallet: 0xac\nTime: {now}"),
            "Wallet: 0xab\nTime: ".to_owned(),
            "Wallet: 0xab\n".to_owned(),
            "Wallet: 0xa".to_owned(),
            "é".repeat(9),
            String::new(),
        ] {
            assert_eq!(time_behind("Wallet: 0xab\n", &text), None, "{text}");
        }
    }

    #[test]
    fn a_proof_is_good_for_minutes() {
        let at = |seconds: i128| Timestamp::from_unix_nanos((1_700_000_000 + seconds) * 1_000_000_000);
        for (seconds, is_good) in [(-601, false), (-600, true), (0, true), (120, true), (121, false)] {
            assert_eq!(check_age(at(seconds), at(0)).is_ok(), is_good, "{seconds}");
        }
        assert!(check_age(Timestamp::from_unix_nanos(i128::MIN), at(0)).is_err());
    }
}
