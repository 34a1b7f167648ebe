//! Many lists of few slots each, linked through the slots themselves.

/// No slot.
const NONE: u32 = u32::MAX;

/// Lists by number. A slot is in one list at most.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chains {
    heads: Vec<u32>,
    /// Slot to the one before it and the one after it.
    links: Vec<(u32, u32)>,
}

impl Chains {
    /// Puts a slot, which must be in no list, at the front of one.
    pub(crate) fn link(&mut self, list: u32, slot: u32) {
        grow(&mut self.heads, list, NONE);
        grow(&mut self.links, slot, (NONE, NONE));
        let next = std::mem::replace(&mut self.heads[list as usize], slot);
        self.links[slot as usize] = (NONE, next);
        if next != NONE {
            self.links[next as usize].0 = slot;
        }
    }

    /// Takes a slot out of the list it is in.
    pub(crate) fn unlink(&mut self, list: u32, slot: u32) {
        let (previous, next) = self.links[slot as usize];
        match previous {
            NONE => self.heads[list as usize] = next,
            _ => self.links[previous as usize].1 = next,
        }
        if next != NONE {
            self.links[next as usize].0 = previous;
        }
    }

    /// The slots of a list, the latest first.
    pub(crate) fn iter(&self, list: u32) -> impl Iterator<Item = u32> + '_ {
        let head = self.heads.get(list as usize).copied();
        let known = |slot: u32| (slot != NONE).then_some(slot);
        std::iter::successors(head.and_then(known), move |slot| known(self.links[*slot as usize].1))
    }

    pub(crate) fn bytes(&self) -> usize {
        self.heads.capacity() * size_of::<u32>() + self.links.capacity() * size_of::<(u32, u32)>()
    }
}

/// Makes an index possible.
pub(crate) fn grow<T: Clone>(items: &mut Vec<T>, index: u32, filler: T) {
    if items.len() <= index as usize {
        items.resize(index as usize + 1, filler);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_apart() {
        let mut chains = Chains::default();
        for (list, slot) in [(0, 1), (0, 2), (5, 3), (0, 4)] {
            chains.link(list, slot);
        }
        let slots = |chains: &Chains, list| chains.iter(list).collect::<Vec<_>>();
        assert_eq!(
            (slots(&chains, 0), slots(&chains, 5), slots(&chains, 9)),
            (vec![4, 2, 1], vec![3], vec![])
        );
        chains.unlink(0, 2);
        chains.unlink(5, 3);
        chains.link(5, 2);
        assert_eq!((slots(&chains, 0), slots(&chains, 5)), (vec![4, 1], vec![2]));
        chains.unlink(0, 4);
        assert_eq!(slots(&chains, 0), [1]);
    }
}
