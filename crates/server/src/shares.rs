//! Something of which there is only so much, shared between projects so that none takes the others' part.

use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use bourse_wire::ProjectId;
use hashbrown::HashMap;

/// Something of which there is only so much: requests at work, memory for bodies.
pub struct Shares<O: Copy + Eq + Hash = Option<ProjectId>> {
    total_max: usize,
    /// The most that one owner may have: a project, or all who are of no project together.
    owner_max: usize,
    taken: Mutex<Taken<O>>,
}

struct Taken<O> {
    total: usize,
    owners: HashMap<O, usize>,
}

/// Why nothing more can be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exhausted {
    /// There is no more.
    Total,
    /// The project has as much as it may have.
    Owner,
}

/// What somebody has taken, given back when dropped.
pub struct Share<O: Copy + Eq + Hash = Option<ProjectId>> {
    shares: Arc<Shares<O>>,
    owner: O,
    amount: usize,
}

impl<O: Copy + Eq + Hash> Shares<O> {
    /// So much in all, and so much for each owner.
    pub fn new(total_max: usize, owner_max: usize) -> Arc<Self> {
        let taken = Mutex::new(Taken { total: 0, owners: HashMap::new() });
        Arc::new(Self { total_max, owner_max, taken })
    }

    /// Takes so much for an owner.
    pub fn take(self: &Arc<Self>, owner: O, amount: usize) -> Result<Share<O>, Exhausted> {
        let mut share = Share { shares: Arc::clone(self), owner, amount: 0 };
        share.grow_to(amount)?;
        Ok(share)
    }
}

impl<O: Copy + Eq + Hash> Share<O> {
    /// Takes more, until it is so much.
    pub fn grow_to(&mut self, amount: usize) -> Result<(), Exhausted> {
        let more = amount.saturating_sub(self.amount);
        if more == 0 {
            return Ok(());
        }
        let mut taken = self.shares.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let of_owner = taken.owners.get(&self.owner).copied().unwrap_or_default();
        if taken.total.saturating_add(more) > self.shares.total_max {
            return Err(Exhausted::Total);
        }
        if of_owner.saturating_add(more) > self.shares.owner_max {
            return Err(Exhausted::Owner);
        }
        taken.total += more;
        taken.owners.insert(self.owner, of_owner + more);
        self.amount = amount;
        Ok(())
    }
}

impl<O: Copy + Eq + Hash> Drop for Share<O> {
    fn drop(&mut self) {
        if self.amount == 0 {
            return;
        }
        let mut taken = self.shares.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.total -= self.amount;
        if let Some(of_owner) = taken.owners.get_mut(&self.owner) {
            *of_owner -= self.amount;
            // Who has nothing takes no memory either.
            if *of_owner == 0 {
                taken.owners.remove(&self.owner);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_project_takes_the_part_of_others() {
        let shares: Arc<Shares> = Shares::new(3, 2);
        let (one, other) = (Some(1.try_into().unwrap()), Some(2.try_into().unwrap()));
        let refused = |owner| shares.take(owner, 1).err();
        let first = shares.take(one, 1).ok().unwrap();
        let _second = shares.take(one, 1).ok().unwrap();
        assert_eq!(refused(one), Some(Exhausted::Owner));
        let third = shares.take(other, 1).ok().unwrap();
        assert_eq!((refused(other), refused(None)), (Some(Exhausted::Total), Some(Exhausted::Total)));
        drop(third);
        assert_eq!(refused(one), Some(Exhausted::Owner));
        drop(first);
        assert_eq!((refused(one), refused(None)), (None, None));
        assert_eq!(shares.taken.lock().unwrap().owners.len(), 1);
    }

    #[test]
    fn what_cannot_grow_keeps_what_it_has() {
        let shares: Arc<Shares> = Shares::new(10, 8);
        let mut share = shares.take(None, 3).ok().unwrap();
        assert_eq!(
            (share.grow_to(2), share.grow_to(8), share.grow_to(9)),
            (Ok(()), Ok(()), Err(Exhausted::Owner))
        );
        assert_eq!(shares.take(Some(1.try_into().unwrap()), 3).err(), Some(Exhausted::Total));
        drop(share);
        assert_eq!(shares.taken.lock().unwrap().total, 0);
    }
}
