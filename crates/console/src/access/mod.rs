//! Who comes in: cookies, passwords, sessions, and what somebody may do in a project.

mod member;
mod password;
mod proof;
mod second_factor;
mod visitor;

use std::net::IpAddr;

use bourse_server::limits::{Bucket, RateLimiter, network_of};
use bourse_store::{ProofHash, Store};
use bourse_wire::{Email, Timestamp};
use sha2::{Digest as _, Sha256};

use crate::refusal::Refusal;

pub(super) use member::{Member, Owner};
pub(super) use password::Password;
use password::Passwords;
pub(super) use proof::{Cookie, Proof};
pub(super) use second_factor::{RecoveryCode, Secret, picture, require_code, wrong_code};
pub(super) use visitor::{Administrator, Guest, Visitor};

/// Tries to sign in that one address has in a minute. An office may share one.
const TRIES_OF_ADDRESS: u32 = 30;
/// Tries to sign in that one account has in a minute from one address. Whoever tries from elsewhere locks nobody out.
const TRIES_OF_ACCOUNT: u32 = 8;

/// What is remembered of tries to sign in. Too many of them are refused from memory; those that are let through are counted in the
/// store, together with those that came to other servers.
pub(super) struct SignIn {
    pub(super) passwords: Passwords,
    addresses: RateLimiter,
    accounts: RateLimiter,
}

impl SignIn {
    pub(super) fn new() -> Self {
        Self {
            passwords: Passwords::new(),
            addresses: RateLimiter::new(TRIES_OF_ADDRESS),
            accounts: RateLimiter::new(TRIES_OF_ACCOUNT),
        }
    }

    /// Counts a try to prove who one is. Refused when there were too many.
    pub(super) async fn count_try(
        &self,
        store: &Store,
        peer: Option<IpAddr>,
        email: Option<&Email>,
        now: Timestamp,
    ) -> Result<(), Refusal> {
        let network = peer.map_or_else(String::new, |peer| network_of(peer).to_string());
        let of_address = peer.map(|_| (&self.addresses, format!("address {network}"), TRIES_OF_ADDRESS));
        let of_account = email.map(|email| {
            let name = format!("account {} {network}", email.to_string().to_lowercase());
            (&self.accounts, name, TRIES_OF_ACCOUNT)
        });
        let (mut tried_by, mut most, mut reset_seconds) = (Vec::new(), Vec::new(), 0);
        for (limiter, name, limit) in [of_address, of_account].into_iter().flatten() {
            let digest = Sha256::digest(name);
            let short = digest.first_chunk().copied().map(u64::from_be_bytes).unwrap_or_default();
            if let Some(here) = limiter.take(Bucket::Name(short), 1, now) {
                reset_seconds = here.reset_seconds;
                if here.refused {
                    return Err(Refusal::too_many_tries(reset_seconds));
                }
            }
            tried_by.push(ProofHash(const_hex::encode(digest)));
            most.push(u64::from(limit));
        }
        let tries = store.count_sign_in_try(tried_by).await?;
        if tries.into_iter().zip(most).any(|(tries, most)| tries > most) {
            return Err(Refusal::too_many_tries(reset_seconds));
        }
        Ok(())
    }
}
