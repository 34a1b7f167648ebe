//! Whether one project is meant, or everything.

use crate::ProjectScope;

/// How much of what belongs to projects is meant.
#[derive(Clone, Copy, Debug)]
pub enum Extent {
    /// What belongs to one project.
    Project(ProjectScope),
    /// What belongs to any or none, for administrators and the operator.
    Everything,
}

impl Extent {
    /// The number of the project; 0, which no project has, for everything. As a missing value it would have no type that
    /// PostgreSQL knows.
    pub(crate) fn project_number(self) -> u64 {
        match self {
            Self::Project(scope) => scope.project().get(),
            Self::Everything => 0,
        }
    }
}
