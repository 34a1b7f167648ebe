//! What somebody is asked to allow, in the light of what they allowed before and of what else that must do.

use alloy_primitives::{Bytes, U256};
use bourse_market::OpenOffers;
use bourse_wire::{Address, Amount, ChainId};

use super::native::{Answers, Inquiry};
use super::venues::at;
use super::{Call, Permission, approve_currency, read_amount};

/// Currencies that let nobody replace one allowance by another: what is left must be taken back first. Others that do so
/// are found by trying.
const RESET_FIRST: [(ChainId, Address); 2] = [
    // Tether.
    (ChainId(1), at("0xdac17f958d2ee523a2206206994597c13d831ec7")),
    // Kyber Network Crystal, the first.
    (ChainId(1), at("0xdd974d5c2e2928dea5f71b9825b8b646686bd200")),
];

/// A permission that a trade, or a new order, needs. An allowance replaces the one of before, so that it is asked for with
/// what open offers of the same maker need of it: without, one of them would be filled and the others could not be any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Approval {
    needed: Permission,
    open: OpenOffers,
    asked: Permission,
}

impl Approval {
    /// What is needed, together with offers that the same money stands behind.
    pub fn new(needed: Permission, open: OpenOffers) -> Self {
        let asked = match needed {
            Permission::Spend { currency, spender, amount } => {
                let amount = amount.value().saturating_add(open.cost).into();
                Permission::Spend { currency, spender, amount }
            }
            Permission::Move { .. } | Permission::Grant { .. } => needed,
        };
        Self { needed, open, asked }
    }

    /// Asks what somebody has allowed.
    pub fn inquiry(&self, owner: Address) -> Inquiry {
        self.asked.inquiry(owner)
    }

    /// Whether all that is needed is allowed, by what was answered.
    pub fn is_given(&self, answer: Option<&Bytes>) -> bool {
        self.asked.is_given(answer)
    }

    /// What to try as the owner before they are asked: whether the currency lets what is left of an allowance be replaced,
    /// and whether it lets it be taken back. Nothing where there is nothing left, or where that is known.
    pub fn trial(&self, chain: ChainId, owner: Address, answer: Option<&Bytes>) -> Vec<Inquiry> {
        let Permission::Spend { currency, spender, .. } = self.asked else { return Vec::new() };
        let is_left = read_amount(answer).is_some_and(|left| left != Amount::ZERO);
        if !is_left || RESET_FIRST.contains(&(chain, currency)) {
            return Vec::new();
        }
        let tried = [self.asked.call(), approve_currency(currency, spender, Amount::ZERO)];
        tried.map(|call| Inquiry { from: Some(owner), ..Inquiry::of(call.to, call.data) }).into()
    }

    /// The calls that allow it, with what was answered to [`Approval::inquiry`] and to [`Approval::trial`].
    pub fn calls(&self, chain: ChainId, answer: Option<&Bytes>, tried: Answers<'_>) -> Vec<Call> {
        let Permission::Spend { currency, spender, .. } = self.asked else { return vec![self.asked.call()] };
        let is_none_left = read_amount(answer) == Some(Amount::ZERO);
        let must_reset = match tried {
            [replaced, taken_back] => replaced.is_none() && taken_back.is_some(),
            _ => !is_none_left && RESET_FIRST.contains(&(chain, currency)),
        };
        let reset = must_reset.then(|| approve_currency(currency, spender, Amount::ZERO));
        reset.into_iter().chain([self.asked.call()]).collect()
    }

    /// What is assumed, in words, where more is asked for than this trade or order needs.
    pub fn note(&self) -> Option<String> {
        let OpenOffers { count, cost } = self.open;
        let Permission::Spend { currency, spender, amount } = self.needed else { return None };
        let offers = if count == 1 { "an open offer".to_owned() } else { format!("{count} open offers") };
        (cost != U256::ZERO).then(|| {
            format!(
                "lets {spender} take {amount} of currency {currency} for this, and {cost} for {offers} of the same wallet, \
                 which could not be filled any more without"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use alloy_sol_types::SolValue as _;

    use super::*;

    const OWNER: Address = Address::from_bytes([1; 20]);
    const SPENDER: Address = Address::from_bytes([2; 20]);
    const POLYGON: ChainId = ChainId(137);
    const MAINNET: ChainId = ChainId(1);

    fn spending(currency: Address, open: u64) -> Approval {
        let needed = Permission::Spend { currency, spender: SPENDER, amount: 10.into() };
        Approval::new(needed, OpenOffers { count: usize::from(open > 0), cost: U256::from(open) })
    }

    fn number(amount: u64) -> Bytes {
        U256::from(amount).abi_encode().into()
    }

    /// The amounts that calls allow.
    fn amounts(calls: &[Call]) -> Vec<u64> {
        calls.iter().map(|call| U256::from_be_slice(&call.data[36..]).to()).collect()
    }

    #[test]
    fn what_open_offers_need_is_asked_for_too() {
        let dollar = Address::from_bytes([3; 20]);
        let approval = spending(dollar, 7);
        for (allowed, is_given) in [(10, false), (16, false), (17, true)] {
            assert_eq!(approval.is_given(Some(&number(allowed))), is_given, "{allowed}");
        }
        assert_eq!(amounts(&approval.calls(POLYGON, None, &[])), [17]);
        assert!(approval.note().unwrap().contains("take 10 of"), "{approval:?}");
        assert_eq!(spending(dollar, 0).note(), None);
        let most = Approval::new(approval.needed, OpenOffers { count: 2, cost: U256::MAX });
        assert!(
            most.is_given(Some(&U256::MAX.abi_encode().into())),
            "whoever allowed everything is asked nothing"
        );
    }

    #[test]
    fn a_leftover_is_taken_back_only_where_it_must() {
        let dollar = Address::from_bytes([3; 20]);
        let approval = spending(dollar, 0);
        assert_eq!(approval.trial(POLYGON, OWNER, Some(&number(0))), []);
        assert_eq!(approval.trial(POLYGON, OWNER, None), [], "nobody can be asked");
        let trial = approval.trial(POLYGON, OWNER, Some(&number(4)));
        assert_eq!(trial.iter().map(|tried| tried.from).collect::<Vec<_>>(), [Some(OWNER); 2]);
        let done = || Some(Bytes::new());
        for (tried, expected) in [
            ([done(), done()], vec![10]),
            ([None, done()], vec![0, 10]),
            // It refuses everything: taking back would be of no use.
            ([None, None], vec![10]),
        ] {
            assert_eq!(amounts(&approval.calls(POLYGON, Some(&number(4)), &tried)), expected);
        }
        let tether = spending(RESET_FIRST[0].1, 0);
        assert_eq!(tether.trial(MAINNET, OWNER, Some(&number(4))), [], "it is known");
        assert_eq!(amounts(&tether.calls(MAINNET, Some(&number(4)), &[])), [0, 10]);
        assert_eq!(amounts(&tether.calls(MAINNET, Some(&number(0)), &[])), [10]);
        assert_eq!(amounts(&tether.calls(MAINNET, None, &[])), [0, 10], "there may be something left");
        assert_eq!(
            amounts(&tether.calls(POLYGON, None, &[])),
            [10],
            "another currency has that address there"
        );
    }

    #[test]
    fn tokens_are_allowed_all_at_once() {
        let needed = Permission::Move { collection: OWNER, operator: SPENDER };
        let approval = Approval::new(needed, OpenOffers { count: 1, cost: U256::from(5) });
        assert_eq!(approval.calls(MAINNET, None, &[]), [needed.call()]);
        assert_eq!((approval.trial(MAINNET, OWNER, None), approval.note()), (Vec::new(), None));
    }
}
