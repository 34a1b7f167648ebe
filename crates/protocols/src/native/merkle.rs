//! Orders that are signed together: one signature for the root of a tree, and for each order the way to it.

use alloy_primitives::{B256, U256, keccak256};

/// The root that a proof leads to when the bits of the order's place tell on which side it stands at each height.
pub(crate) fn root_by_place(leaf: B256, place: U256, proof: &[B256]) -> B256 {
    let step = |(height, node): (usize, B256), beside: &B256| {
        let pair = if place.bit(height) { [*beside, node] } else { [node, *beside] };
        (height + 1, hash(pair))
    };
    proof.iter().fold((0, leaf), step).1
}

/// The root that a proof leads to when each entry tells on which side it stands.
pub(crate) fn root_by_side(leaf: B256, proof: impl Iterator<Item = (B256, Side)>) -> B256 {
    proof.fold(leaf, |node, (beside, side)| match side {
        Side::Left => hash([beside, node]),
        Side::Right => hash([node, beside]),
    })
}

/// The root that a proof leads to when the smaller of two always stands left.
pub(crate) fn root_sorted(leaf: B256, proof: &[B256]) -> B256 {
    proof.iter().fold(leaf, |node, beside| hash([node.min(*beside), node.max(*beside)]))
}

/// On which side of the way up something stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    Right,
}

fn hash(pair: [B256; 2]) -> B256 {
    keccak256(pair.concat())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The layers of a tree, the leaves first.
    fn layers(leaves: &[B256], pair: impl Fn(B256, B256) -> B256) -> Vec<Vec<B256>> {
        let mut layers = vec![leaves.to_vec()];
        while let Some(last) = layers.last().filter(|last| last.len() > 1) {
            layers.push(last.chunks(2).map(|two| pair(two[0], two[1])).collect());
        }
        layers
    }

    /// What stands beside the way of one leaf, from the bottom up.
    fn proof(layers: &[Vec<B256>], place: usize) -> Vec<B256> {
        (0..layers.len() - 1).map(|height| layers[height][(place >> height) ^ 1]).collect()
    }

    proptest! {
        #[test]
        fn each_leaf_leads_to_the_root(height in 0_usize..6, seed: [u8; 32], place in 0_usize..64) {
            let place = place % (1 << height);
            let leaf = |index: usize| keccak256([seed.as_slice(), &index.to_be_bytes()].concat());
            let leaves: Vec<B256> = (0..1 << height).map(leaf).collect();
            let plain = layers(&leaves, |left, right| hash([left, right]));
            let way = proof(&plain, place);
            let root = plain[height][0];
            prop_assert_eq!(root_by_place(leaves[place], U256::from(place), &way), root);
            let sides = way.iter().enumerate().map(|(height, beside)| {
                (*beside, if place >> height & 1 == 1 { Side::Left } else { Side::Right })
            });
            prop_assert_eq!(root_by_side(leaves[place], sides), root);
            let sorted = layers(&leaves, |left, right| hash([left.min(right), left.max(right)]));
            prop_assert_eq!(root_sorted(leaves[place], &proof(&sorted, place)), sorted[height][0]);
            if height > 0 {
                prop_assert_ne!(root_by_place(leaves[place], U256::from(place ^ 1), &way), root);
            }
        }
    }
}
