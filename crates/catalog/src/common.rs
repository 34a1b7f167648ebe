//! What the copies of a collection have in common.

use std::ops::Deref;
use std::sync::Arc;

/// Something that copies share until one of them changes it, which has its own from then on.
#[derive(Debug, Default)]
pub(crate) struct Common<T>(Arc<T>);

impl<T> Common<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(Arc::new(value))
    }

    /// Whether another copy has it, too.
    pub(crate) fn is_shared(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }
}

impl<T: Clone> Common<T> {
    /// It, to be changed: from now on no other copy has it.
    pub(crate) fn own(&mut self) -> &mut T {
        Arc::make_mut(&mut self.0)
    }
}

impl<T> Clone for Common<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Deref for Common<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}
