//! One of the servers that share collections, and what may be wrong with it.

use std::fmt;
use std::num::ParseIntError;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

/// A number that a server draws when it starts, by which others know it until it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ServerId(pub u64);

/// 16 hexadecimal digits.
impl fmt::Display for ServerId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:016x}", self.0)
    }
}

impl FromStr for ServerId {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, ParseIntError> {
        u64::from_str_radix(text, 16).map(Self)
    }
}

/// A server, and where others reach it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Which one.
    pub id: ServerId,
    /// Host and port.
    pub address: Arc<str>,
}

/// The program that a server runs, and what tells its signing secret: only servers that have all of it in common answer alike and
/// believe each other. As text it is in the table of servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Build {
    /// The version of the program.
    pub version: String,
    /// The newest schema that it knows; nothing of programs that did not tell.
    pub schema: String,
    /// What the secret is known by, which does not tell it.
    pub secret: String,
}

impl fmt::Display for Build {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { version, schema, secret } = self;
        write!(formatter, "{version}/{schema}/{secret}")
    }
}

impl Build {
    /// Reads what a server told of itself.
    pub fn read(text: &str) -> Self {
        let mut parts = text.splitn(3, '/').map(ToOwned::to_owned);
        let mut next = || parts.next().unwrap_or_default();
        Self { version: next(), schema: next(), secret: next() }
    }

    /// What keeps a server of another build from sharing with one of this.
    pub(crate) fn trouble_with(&self, other: &Self) -> Option<Trouble> {
        if self.version != other.version {
            Some(Trouble::OtherVersion)
        } else if self.schema != other.schema {
            Some(Trouble::OtherSchema)
        } else if self.secret != other.secret {
            Some(Trouble::OtherSecret)
        } else {
            None
        }
    }
}

/// Why a server that is known is not asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// Its counter stands still: it was killed, or cannot reach the database.
    Silent,
    /// Another server that is alive has the same address.
    SameAddress,
    /// It runs another version of the program.
    OtherVersion,
    /// It runs a program that knows another schema.
    OtherSchema,
    /// It has another signing secret.
    OtherSecret,
    /// It could not be reached from here.
    Unreachable,
}

impl Trouble {
    /// Everything that may be wrong.
    pub const ALL: [Self; 6] = [
        Self::Silent,
        Self::SameAddress,
        Self::OtherVersion,
        Self::OtherSchema,
        Self::OtherSecret,
        Self::Unreachable,
    ];

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Silent => "silent",
            Self::SameAddress => "same_address",
            Self::OtherVersion => "other_version",
            Self::OtherSchema => "other_schema",
            Self::OtherSecret => "other_secret",
            Self::Unreachable => "unreachable",
        }
    }

    /// What to do about it.
    pub fn advice(self) -> &'static str {
        match self {
            Self::Silent => "is not heard of: it was killed, or does not reach the database",
            Self::SameAddress => {
                "has the same server.peer_address as another server: give each the address at which the others reach it"
            }
            Self::OtherVersion => {
                "runs another version, and shares nothing with this one until both run the same"
            }
            Self::OtherSchema => {
                "knows another schema, and shares nothing with this one until both run the same build"
            }
            Self::OtherSecret => {
                "has another signing secret: set the same auth.jwt_secret on all servers, and start it again"
            }
            Self::Unreachable => {
                "cannot be reached from here: check its server.peer_address, and what is between the two"
            }
        }
    }

    /// Whether it stays as it is until somebody does something. Servers come and go, and are upgraded one after the other.
    pub fn is_lasting(self) -> bool {
        match self {
            Self::Silent | Self::OtherVersion | Self::OtherSchema => false,
            Self::SameAddress | Self::OtherSecret | Self::Unreachable => true,
        }
    }
}

/// What is known of another server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerState {
    /// Which one.
    pub server: Server,
    /// The version of its program.
    pub version: String,
    /// How long ago it was seen to be alive.
    pub seen: Duration,
    /// Why it is not asked, if it is not.
    pub trouble: Option<Trouble>,
}

impl PeerState {
    /// Whether this is the same server with the same trouble.
    pub(crate) fn is_in_the_trouble_of(&self, other: &Self) -> bool {
        self.server.id == other.server.id && self.trouble == other.trouble
    }
}
