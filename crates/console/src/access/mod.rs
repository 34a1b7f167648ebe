//! Who comes in: cookies, passwords, sessions, and what somebody may do in a project.

mod member;
mod password;
mod proof;
mod second_factor;
mod visitor;

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::net::IpAddr;

use bourse_server::limits::{Bucket, RateLimiter};
use bourse_wire::{Email, Timestamp};

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

/// What is remembered of tries to sign in.
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

    /// Counts a try to prove who one is. Seconds to wait when there were too many.
    pub(super) fn count_try(
        &self,
        peer: Option<IpAddr>,
        email: Option<&Email>,
        now: Timestamp,
    ) -> Result<(), u64> {
        let mut name = DefaultHasher::new();
        (email.map(|email| email.to_string().to_lowercase()), peer.map(Bucket::of_address)).hash(&mut name);
        let taken = [
            peer.and_then(|peer| self.addresses.take(Bucket::of_address(peer), 1, now)),
            email.and_then(|_| self.accounts.take(Bucket::Name(name.finish()), 1, now)),
        ];
        match taken.into_iter().flatten().find(|allowance| allowance.refused) {
            Some(allowance) => Err(allowance.reset_seconds),
            None => Ok(()),
        }
    }
}
