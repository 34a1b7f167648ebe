//! Proof of a right to a project's records.

use bourse_wire::ProjectId;

/// The right to read and change what one project owns. Every function of the store that touches a project's
/// records demands one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProjectScope(ProjectId);

impl ProjectScope {
    /// For the credential check of the server, and nothing else: the credential named this project.
    pub fn proven_by_credential(project: ProjectId) -> Self {
        Self(project)
    }

    /// For the plain public addresses, which name a project in their path and show only what it published.
    pub fn for_public_reads(project: ProjectId) -> Self {
        Self(project)
    }

    /// For counting what happened in a project's market, and what it used, which nobody asks for.
    pub fn for_counting(project: ProjectId) -> Self {
        Self(project)
    }

    /// For delivering what a project asked to be told, which nobody asks for again.
    pub fn for_delivery(project: ProjectId) -> Self {
        Self(project)
    }

    /// For the membership check of the console: the session is that of a member of this project.
    pub fn proven_by_membership(project: ProjectId) -> Self {
        Self(project)
    }

    /// For commands of the operator, who owns the whole database.
    pub fn of_operator(project: ProjectId) -> Self {
        Self(project)
    }

    /// The project.
    pub fn project(self) -> ProjectId {
        self.0
    }
}
