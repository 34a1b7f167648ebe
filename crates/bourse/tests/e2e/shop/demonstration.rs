//! The demo on a chain, as somebody finds it who was only told of it: they open its shop, and buy with a wallet of one of its people.

use alloy_primitives::U256;

use super::person::{Person, Place};
use crate::anvil::{Anvil, alloy_address, ownerOfCall};
use crate::demo_on_chain::{Visit, start};
use crate::instance::Instance;

/// What of the chain's coin everybody has at least, in its base units: a thousand.
const COINS_MIN: u128 = 1_000_000_000_000_000_000_000;

#[test]
fn whoever_opens_its_shop_buys_with_the_wallet_of_one_of_its_people() {
    let instance = Instance::new();
    let anvil = Anvil::start(instance.directory());
    let visit = Visit::wait(&instance, &anvil, start(&instance, &anvil, &[]));
    for number in 1..=6 {
        let account = anvil.account(number);
        let money = (anvil.native_balance(account), anvil.balance(visit.contract(5), account));
        assert!(money.0 > U256::from(COINS_MIN) && money.1 > U256::ZERO, "{number} has {money:?}");
    }
    let place = Place { port: visit.server.port, project: 1, anvil: &anvil };
    let mut person = Person::at(place, anvil.account(6));
    for (symbol, number) in [("ETH", 6), ("CROWN", 5)] {
        person.becomes(anvil.account(number));
        person.goes("");
        let href = "const link = [...document.querySelectorAll('.collections a')].find((one) => one.innerText.includes('Relics')); \
            return link.pathname";
        let path = person.browser.run(href).as_str().unwrap().replacen("/shop/1", "", 1);
        person.goes(&path);
        person.connects();
        // The cheapest for that money that is not theirs.
        let first = format!(
            "const cards = [...document.querySelectorAll('.token')]; const found = cards.find((one) => \
             one.querySelector('.price').innerText.includes('{symbol}') && !one.querySelector('[data-act=buy]').hidden); \
             return found.dataset.token"
        );
        let token = person.browser.run(&first).as_str().unwrap().to_owned();
        person.goes(&format!("{path}/{token}"));
        person.clicks("[data-act=buy]");
        person.confirms();
        person.clicks("[data-reload]");
        let owner = format!("main .owners a[href$='/a/{}']", person.account);
        person.until(&owner);
        let call = ownerOfCall { tokenId: token.parse().unwrap() };
        assert_eq!(anvil.ask(visit.relics(), &call), alloy_address(person.account));
    }
}
