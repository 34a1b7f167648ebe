//! People: who may use the console, what each may do in which project, and how they prove who they are. The store sees
//! hashes of passwords, of sessions and of invitations, never those themselves.

mod accounts;
mod invites;
mod members;
mod second_factor;
mod sessions;

use std::fmt;

use bourse_wire::{ProjectId, RecordId, Timestamp};

pub use accounts::{Account, NewAccount};
pub use invites::{Invite, NewInvite, OpenInvite};
pub use members::Member;
pub use second_factor::{Confirmation, NewPendingSignIn, SecondFactor, ShownCode};
pub use sessions::NewSession;

/// What a member may do in a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Everything.
    Owner,
    /// Look.
    Viewer,
}

impl Role {
    pub(crate) fn number(self) -> u8 {
        match self {
            Self::Owner => 1,
            Self::Viewer => 2,
        }
    }

    pub(crate) fn from_number(number: u8) -> Option<Self> {
        match number {
            1 => Some(Self::Owner),
            2 => Some(Self::Viewer),
            _ => None,
        }
    }
}

/// What an invitation makes of who accepts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invited {
    /// An administrator of the service, who may do everything in every project.
    Administrator,
    /// Somebody with an account and no project yet.
    Person,
    /// A member of a project.
    Member(ProjectId, Role),
    /// Something that only a newer version of the program knows, and whether that is of a project. It cannot be accepted here.
    Unknown(Option<ProjectId>),
}

impl Invited {
    /// The project that it is about.
    pub fn project(self) -> Option<ProjectId> {
        match self {
            Self::Member(project, _) | Self::Unknown(Some(project)) => Some(project),
            Self::Administrator | Self::Person | Self::Unknown(None) => None,
        }
    }
}

impl fmt::Display for Invited {
    /// What somebody is invited as.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Administrator => f.write_str("administrator"),
            Self::Person => f.write_str("person"),
            Self::Member(project, Role::Owner) => write!(f, "owner of project {project}"),
            Self::Member(project, Role::Viewer) => write!(f, "viewer of project {project}"),
            Self::Unknown(None) => f.write_str("something that only a newer version knows"),
            Self::Unknown(Some(project)) => {
                write!(f, "something of project {project} that only a newer version knows")
            }
        }
    }
}

/// The hash of something only one person has: of a session's cookie, of an invitation's link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProofHash(pub String);

/// An instant as SQL compares it.
fn seconds(at: Timestamp) -> i64 {
    at.unix_seconds()
}

fn account_missing(id: RecordId) -> bourse_wire::Error {
    bourse_wire::Error::not_found(format_args!("account {id}"))
}
