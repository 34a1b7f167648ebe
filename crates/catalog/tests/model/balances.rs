//! What is held and how much there is, against adding up everything that was said.

use bourse_catalog::{Collection, IdRanges, Position, Start};
use bourse_wire::{Address, Amount, TokenId};

use crate::generate::Generator;
use crate::model::Model;

/// Checks everything that sums and ranges say, of one account and of some tokens.
pub(crate) fn check(model: &Model, collection: &Collection, generator: &mut Generator) {
    let account = generator.account();
    let held: Vec<(TokenId, Amount)> = held_of(model, &account).collect();
    assert_eq!(collection.held_together(&account), (held.len(), sum(held.iter().map(|(_, held)| *held))));
    let limit = 1 + generator.random.index(40);
    let mut start = Start::Skip(0);
    for expected in held.chunks(limit).take(3) {
        let page = collection.held_page(&account, start, limit);
        assert_eq!(page.held, expected, "what {account} holds");
        let Some((last, _)) = page.held.last().filter(|_| page.more) else { break };
        start = Start::After(Position::of_token(*last));
    }
    let skip = generator.random.index(held.len() + 2);
    let page = collection.held_page(&account, Start::Skip(skip as u64), limit);
    let rest = held.get(skip..).unwrap_or_default();
    assert_eq!(page.held, &rest[..limit.min(rest.len())], "what {account} holds after {skip}");
    assert_eq!(page.more, rest.len() > limit);
    for _ in 0..8 {
        let token = generator.token_id();
        let of_token = model.balances.range((token, Address::from_bytes([0; 20]))..);
        let of_token = of_token.take_while(|((id, _), _)| *id == token).map(|(_, balance)| *balance);
        let expected = model.tokens.contains_key(&token).then(|| sum(of_token));
        assert_eq!(collection.supply(token), expected, "how much there is of {token}");
    }
    let after = (!generator.random.one_in(3)).then(|| generator.token_id());
    assert_eq!(collection.id_ranges(after, limit), ranges(model, after, limit), "ids after {after:?}");
}

fn held_of<'m>(model: &'m Model, account: &'m Address) -> impl Iterator<Item = (TokenId, Amount)> + 'm {
    let held =
        model.balances.iter().filter(move |((_, holder), held)| holder == account && **held != Amount::ZERO);
    held.map(|((token, _), held)| (*token, *held))
}

fn sum(amounts: impl Iterator<Item = Amount>) -> Amount {
    amounts.fold(Amount::ZERO, |sum, amount| sum.value().saturating_add(amount.value()).into())
}

fn ranges(model: &Model, after: Option<TokenId>, limit: usize) -> IdRanges {
    let mut found = IdRanges::default();
    for id in model.tokens.keys().copied().filter(|id| after.is_none_or(|after| *id > after)) {
        let before = found.ranges.last_mut().map(|(_, last)| last);
        match before.filter(|last| id.value() - last.value() == TokenId::from(1).value()) {
            Some(last) => *last = id,
            None => found.ranges.push((id, id)),
        }
    }
    found.more = found.ranges.len() > limit;
    found.ranges.truncate(limit);
    found
}
