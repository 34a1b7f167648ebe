use alloy_primitives::hex;
use alloy_sol_types::SolValue as _;

use super::*;

const CONTRACT: Address = Address::from_bytes([0x5a; 20]);

fn told(value: &impl alloy_sol_types::SolValue) -> Bytes {
    value.abi_encode().into()
}

fn head_answers(items: u64) -> Vec<Option<Bytes>> {
    let range = GlobalSaleDetails {
        minTokenId: U256::from(1),
        maxTokenId: U256::from(9),
        cost: U256::from(50),
        remainingSupply: U256::from(4),
        startTime: 100,
        endTime: 200,
        merkleRoot: B256::ZERO,
    };
    let collection = alloy_primitives::Address::from([0xc0; 20]);
    let native = alloy_primitives::Address::ZERO;
    let answers = [told(&range), told(&native), told(&collection), told(&true), told(&U256::from(items))];
    answers.into_iter().map(Some).collect()
}

#[test]
fn a_contract_is_asked_and_read_as_it_answers() {
    let asked: Vec<String> =
        SaleHead::inquiries(CONTRACT).iter().map(|inquiry| hex::encode(&inquiry.data)).collect();
    assert_eq!(asked, ["119cd50c", "3013ce29", "a971e842", "1bd0b616", "6bfb0d01"]);
    let head = SaleHead::read(&head_answers(3)).unwrap();
    assert_eq!((head.currency, head.is_erc1155, head.items), (Address::ZERO, true, 3));
    let range = head.range.unwrap();
    assert_eq!((range.min, range.max), (TokenId::from(1), TokenId::from(9)));
    let at = |seconds| Timestamp::from_unix_seconds(seconds);
    let allows = |quantity: u64, seconds| range.terms.allow(quantity.into(), at(seconds));
    assert!(allows(4, 100) && allows(4, 199));
    assert!(!allows(5, 100) && !allows(1, 99) && !allows(1, 200));
}

#[test]
fn what_is_no_sale_is_not_taken_for_one() {
    for missing in 0..5 {
        let mut answers = head_answers(0);
        answers[missing] = None;
        assert_eq!(SaleHead::read(&answers), None);
        answers[missing] = Some(Bytes::from_static(&[1]));
        assert_eq!(SaleHead::read(&answers), None);
    }
    assert_eq!(SaleHead::read(&head_answers(0)[..4]), None);
    assert_eq!(read_items(&[None]), None);
}

#[test]
fn terms_that_have_no_end_are_none() {
    let mut answers = head_answers(0);
    let none = GlobalSaleDetails {
        endTime: 0,
        ..GlobalSaleDetails::abi_decode(answers[0].as_ref().unwrap()).unwrap()
    };
    answers[0] = Some(told(&none));
    assert_eq!(SaleHead::read(&answers).unwrap().range, None);
}

#[test]
fn items_are_asked_in_parts_and_come_in_order() {
    let head = |items| SaleHead { items, ..SaleHead::read(&head_answers(0)).unwrap() };
    let counts = |items| head(items).item_inquiries(CONTRACT).len();
    assert_eq!((counts(0), counts(1), counts(200), counts(201)), (0, 1, 1, 2));
    assert_eq!(counts(u64::MAX), 50, "no contract has more read of it");
    let item = |token: u64, ends: u64| Item {
        tokenId: U256::from(token),
        details: SaleDetails {
            cost: U256::from(token),
            remainingSupply: U256::from(1),
            startTime: 0,
            endTime: ends,
            merkleRoot: B256::ZERO,
        },
        sold: U256::from(2),
        createdAt: 5,
        updatedAt: 6,
    };
    let items =
        read_items(&[Some(told(&vec![item(9, 1), item(3, 0)])), Some(told(&vec![item(4, 1)]))]).unwrap();
    let tokens: Vec<(TokenId, bool)> =
        items.iter().map(|item| (item.token_id, item.terms.is_some())).collect();
    assert_eq!(tokens, [(3.into(), false), (4.into(), true), (9.into(), true)]);
    assert_eq!(items[0].sold, 2.into());
}

#[test]
fn what_is_sold_without_a_chain_is_read_as_what_a_contract_says() {
    let terms = SaleTerms {
        cost: 50_u64.into(),
        remaining: 4_u64.into(),
        starts: Timestamp::from_unix_seconds(100),
        ends: Timestamp::from_unix_seconds(200),
    };
    let item = |token: u64, terms| SaleItem {
        token_id: token.into(),
        terms,
        sold: 2_u64.into(),
        created_at: Timestamp::from_unix_seconds(7),
        updated_at: Timestamp::from_unix_seconds(9),
    };
    let items: Vec<SaleItem> = (1..=450).map(|token| item(token, (token % 3 > 0).then_some(terms))).collect();
    let range = SaleRange { min: 1_u64.into(), max: 900_u64.into(), terms };
    for range in [Some(range), None] {
        let (collection, currency) = (Address::from_bytes([0xc0; 20]), Address::from_bytes([0xc1; 20]));
        let head = SaleHead { collection, is_erc1155: true, currency, range, items: 450 };
        let said = |inquiry: &Inquiry| head.answer(&items, inquiry);
        let answers: Vec<_> = SaleHead::inquiries(CONTRACT).iter().map(said).collect();
        assert_eq!(SaleHead::read(&answers), Some(head));
        let answers: Vec<_> = head.item_inquiries(CONTRACT).iter().map(said).collect();
        assert_eq!(read_items(&answers).as_deref(), Some(items.as_slice()));
        assert_eq!(head.answer(&items, &Inquiry::of(CONTRACT, Bytes::from_static(b"mint"))), None);
    }
}
