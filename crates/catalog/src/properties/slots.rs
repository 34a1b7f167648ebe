//! Which slots of a list are of which token.

/// The slots that tokens have in a list: none, one or several.
#[derive(Debug)]
pub(crate) struct SlotsOfTokens {
    /// Where those of each token begin, and after the last one where they end.
    begins: Vec<u32>,
    slots: Vec<u32>,
    /// How many one token has, at most.
    pub(super) most: usize,
}

impl SlotsOfTokens {
    /// Of so many tokens, from all slots with the token of each.
    pub(crate) fn new(tokens: usize, pairs: &[(u32, u32)]) -> Self {
        let mut begins = vec![0_u32; tokens + 1];
        for (token, _) in pairs {
            begins[*token as usize] += 1;
        }
        let most = begins.iter().max().map_or(0, |most| *most as usize);
        let mut end = 0;
        for begin in &mut begins {
            end += *begin;
            *begin = end;
        }
        let mut slots = vec![0; pairs.len()];
        // What begins as the end of a token's slots goes down to where the first of them is.
        for (token, slot) in pairs.iter().rev() {
            let begin = &mut begins[*token as usize];
            *begin -= 1;
            slots[*begin as usize] = *slot;
        }
        Self { begins, slots, most }
    }

    /// Those of a token, in the order in which they were told.
    pub(super) fn of(&self, token: u32) -> &[u32] {
        let token = token as usize;
        let ends = self.begins.get(token).zip(self.begins.get(token + 1));
        ends.and_then(|(begin, end)| self.slots.get(*begin as usize..*end as usize)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_token_has_its_slots() {
        let slots = SlotsOfTokens::new(5, &[(3, 10), (0, 11), (3, 12), (4, 13), (3, 14)]);
        let of: Vec<&[u32]> = (0..6).map(|token| slots.of(token)).collect();
        assert_eq!(of, [&[11][..], &[], &[], &[10, 12, 14], &[13], &[]]);
        assert_eq!(slots.most, 3);
        assert_eq!(SlotsOfTokens::new(0, &[]).most, 0);
    }
}
