//! Prices in several currencies on one page: told right, in the order of their worth, and paid in the right one.

use alloy_primitives::U256;
use alloy_sol_types::{SolValue as _, sol};
use bourse_wire::Address;
use serde_json::{Value, json};

use super::meanwhile::sent;
use super::person::{Person, open_shop};
use super::{ETHER, is_owner};
use crate::anvil::{alloy_address, mintCall};
use crate::market::{Market, order};

sol! {
    function allowance(address owner, address spender) returns (uint256);
}

/// What the tokens cost, each with how that is written: in coins of the chain (2000 dollars), in the tests' currency with its six
/// digits (a dollar), and in pearls with two, of which nobody says what they are worth.
const SHOWN: [(&str, &str); 6] = [
    ("1", "1 ETH ≈ $2 000.00"),
    ("2", "500 COIN ≈ $500.00"),
    ("3", "3.25 PEARL"),
    ("4", "0.5 ETH ≈ $1 000.00"),
    ("5", "1 500.5 COIN ≈ $1 500.50"),
    ("6", "20 000 PEARL"),
];
/// Their numbers, the least worth first; what has no known worth comes last, by its amount.
const CHEAPEST_FIRST: [&str; 6] = ["2", "4", "5", "1", "3", "6"];
const DEAREST_FIRST: [&str; 6] = ["1", "5", "4", "2", "6", "3"];

/// A shop whose tokens cost that.
struct Shop {
    market: Market,
    collection: Address,
    pearl: Address,
}

impl Shop {
    fn open() -> Self {
        let market = Market::open();
        let seller = market.seller();
        let arguments = ("Pearl", "PEARL", U256::from(2)).abi_encode_params();
        let pearl = market.anvil.deploy("TestERC20", &arguments);
        let known = json!({ "chainId": 31337, "currencies": [
            { "chainId": 31337, "contractAddress": pearl, "name": "Pearl", "symbol": "PEARL", "decimals": 2 },
        ] });
        market.server().call("Ingest/PutCurrencies", market.secret(), &known).ok();
        let collection = market.singles(seller);
        for token in 2..=6_u64 {
            let call = mintCall { to: alloy_address(seller), tokenId: U256::from(token) };
            market.anvil.send(seller, collection, &call);
        }
        market.wait_followed(collection);
        let half = "500000000000000000";
        let (coin, dollars) = (Address::ZERO, market.currency);
        let prices = [
            (coin, ETHER),
            (dollars, "500000000"),
            (pearl, "325"),
            (coin, half),
            (dollars, "1500500000"),
            (pearl, "2000000"),
        ];
        for ((token, _), (currency, price)) in SHOWN.iter().zip(prices) {
            market.list(seller, collection, "ERC721", &order(token, "1", currency, price));
            market.wait_listings(collection, token, 1);
        }
        open_shop(&market, &json!({}));
        Self { market, collection, pearl }
    }

    /// How much of the currencies an account has: of the chain's, the tests' and pearls.
    fn held(&self, account: Address) -> [U256; 3] {
        let Self { market, pearl, .. } = self;
        let held = |currency| market.anvil.balance(currency, account);
        [market.anvil.native_balance(account), held(market.currency), held(*pearl)]
    }

    /// How much of a currency the marketplace may take from an account.
    fn allowed(&self, currency: Address, account: Address) -> U256 {
        let (owner, spender) = (alloy_address(account), alloy_address(self.market.contract));
        self.market.anvil.ask(currency, &allowanceCall { owner, spender })
    }

    /// The numbers of the tokens of a page, in its order.
    fn tokens(&self, person: &Person<'_>, query: &str) -> Value {
        person.opens(self.collection, query);
        let all =
            "return [...document.querySelectorAll('.results [data-token]')].map((one) => one.dataset.token)";
        person.browser.run(all)
    }
}

#[test]
fn prices_are_told_in_their_currency_and_sorted_by_their_worth() {
    let shop = Shop::open();
    let person = Person::new(&shop.market, shop.market.buyer());
    assert_eq!(shop.tokens(&person, ""), json!(CHEAPEST_FIRST));
    for (token, expected) in SHOWN {
        let price = person.browser.text_of(&format!("[data-token='{token}'] .price"));
        // Between groups of digits there is a narrow space.
        assert_eq!(price.replace('\u{202f}', " "), expected);
    }
    assert_eq!(shop.tokens(&person, "?sort=-price"), json!(DEAREST_FIRST));
    let within = |min: &str, max: &str, currency: Address| {
        format!("?only=1&price_min={min}&price_max={max}&price_in={currency}")
    };
    assert_eq!(shop.tokens(&person, &within("500", "1500", shop.market.currency)), json!(["2"]));
    assert_eq!(shop.tokens(&person, &within("3.25", "", shop.pearl)), json!(["3", "6"]));
    assert_eq!(shop.tokens(&person, &within("", "0.5", Address::ZERO)), json!(["4"]));
    // The floor is the least worth, and not the smallest number.
    person.goes("");
    let home = person.browser.text_of(".collection");
    assert!(home.contains("500 COIN ≈ $500.00"), "{home}");
    person.opens(shop.collection, "/3");
    let listings = person.browser.text_of("#listings");
    assert!(listings.contains("3.25 PEARL") && !listings.contains('≈'), "{listings}");
}

#[test]
fn each_is_bought_in_its_currency_and_nothing_else_is_allowed() {
    let shop = Shop::open();
    let (market, buyer) = (&shop.market, shop.market.buyer());
    for currency in [market.currency, shop.pearl] {
        let call = mintCall { to: alloy_address(buyer), tokenId: U256::from(1_000_000_000_u64) };
        market.anvil.send(buyer, currency, &call);
    }
    let person = Person::new(market, buyer);
    let buys = |token: &str, approval: Option<(Address, &str)>| {
        person.opens(shop.collection, "");
        person.clicks(&format!("[data-token='{token}'] [data-act=buy]"));
        person.until("[data-confirm]");
        let plan = person.browser.text_of("dialog");
        assert_eq!(person.browser.count("[data-approval]"), usize::from(approval.is_some()), "{plan}");
        if let Some((_, amount)) = approval {
            assert!(plan.contains(&format!("take the money: up to {amount} → ")), "{plan}");
        }
        let (before, number) = (shop.held(buyer), sent(market, buyer));
        person.clicks("[data-confirm]");
        person.until("[data-status=done]");
        if let Some((currency, _)) = approval {
            let first = json!([buyer, number]);
            let sent = market.anvil.rpc("eth_getTransactionBySenderAndNonce", &first);
            assert_eq!(sent["to"], json!(currency), "what is allowed is of that currency");
        }
        let after = shop.held(buyer);
        is_owner(market, shop.collection, token.parse().unwrap(), buyer);
        for currency in [market.currency, shop.pearl] {
            assert_eq!(shop.allowed(currency, buyer), U256::ZERO, "nothing is left that may be taken");
        }
        // Beside what it costs, a purchase costs the network's fee.
        let in_coins = before[0] - after[0] > U256::from(900_000_000_000_000_000_u64);
        (in_coins, before[1] - after[1], before[2] - after[2])
    };
    let nothing = U256::ZERO;
    let paid = buys("2", Some((market.currency, "500 COIN")));
    assert_eq!(paid, (false, U256::from(500_000_000), nothing));
    let paid = buys("3", Some((shop.pearl, "3.25 PEARL")));
    assert_eq!(paid, (false, nothing, U256::from(325)));
    assert_eq!(buys("1", None), (true, nothing, nothing));
}
