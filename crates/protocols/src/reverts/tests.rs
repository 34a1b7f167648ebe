use alloy_sol_types::{SolValue as _, sol};

use super::*;

sol! {
    error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed);
    error ERC1155MissingApprovalForAll(address operator, address owner);
    error InvalidTokenApproval(address tokenContract, uint256 tokenId, uint256 quantity, address owner);
    error OrderIsCancelled(bytes32 orderHash);
    error UnsupportedContractInterface(address contractAddress, bytes4 interfaceId);
    error EnforcedPause();
    error NobodyKnowsThis(uint256 number, address account);
}

const ANA: Address = Address::from_bytes([0xa1; 20]);
const BEN: Address = Address::from_bytes([0xb2; 20]);

fn encoded(error: &impl alloy_sol_types::SolError) -> String {
    in_words(&error.abi_encode())
}

fn texted(text: &str) -> String {
    in_words(&[&ERROR[..], &(text,).abi_encode_params()].concat())
}

#[test]
fn errors_with_members_name_them() {
    let (ana, ben) = (ANA.bytes().into(), BEN.bytes().into());
    let (balance, needed) = (U256::from(3), U256::from(10));
    assert_eq!(
        encoded(&ERC20InsufficientBalance { sender: ana, balance, needed }),
        format!("{ANA} has 3 of the currency where it takes 10 (ERC20InsufficientBalance)")
    );
    assert_eq!(
        encoded(&ERC1155MissingApprovalForAll { operator: ana, owner: ben }),
        format!(
            "{BEN} does not let {ANA} move their tokens: they must approve it first (ERC1155MissingApprovalForAll)"
        )
    );
    let (token, quantity) = (U256::from(7), U256::from(2));
    let lacking = InvalidTokenApproval { tokenContract: ana, tokenId: token, quantity, owner: ben };
    assert_eq!(
        encoded(&lacking),
        format!(
            "{BEN} has fewer than 2 of token 7 of collection {ANA}, or does not let the marketplace move them \
             (InvalidTokenApproval)"
        )
    );
    let hash = format!("0x{}", "5a".repeat(32));
    let cancelled = encoded(&OrderIsCancelled { orderHash: [0x5a; 32].into() });
    assert_eq!(cancelled, format!("order {hash} was cancelled by its maker (OrderIsCancelled)"));
    let other = UnsupportedContractInterface { contractAddress: ana, interfaceId: [1, 2, 3, 4].into() };
    assert!(encoded(&other).starts_with(&format!("{ANA} is no collection of")), "{}", encoded(&other));
    assert!(encoded(&EnforcedPause {}).contains("is paused"), "{}", encoded(&EnforcedPause {}));
}

/// Selectors as others have them: of our own contracts in what they are compiled to, of others as they are known.
#[test]
fn errors_are_found_by_the_selectors_of_their_contracts() {
    for (selector, name) in [
        ("30fd3c31", "InvalidAdditionalFees"),
        ("ab940f6e", "InvalidBatchRequest"),
        ("f5993428", "InvalidCurrency"),
        ("8c200c98", "InvalidCurrencyApproval"),
        ("d36c8500", "InvalidExpiry"),
        ("00bfc921", "InvalidPrice"),
        ("524f409b", "InvalidQuantity"),
        ("c969e0f2", "InvalidRequestId"),
        ("e0e54ced", "InvalidRoyalty"),
        ("7c581b36", "InvalidTokenApproval"),
        ("05d18590", "UnsupportedContractInterface"),
        ("19f6cea5", "Invalidated"),
        ("e450d38c", "ERC20InsufficientBalance"),
        ("fb8f41b2", "ERC20InsufficientAllowance"),
        ("64a0ae92", "ERC721InvalidReceiver"),
        ("7e273289", "ERC721NonexistentToken"),
        ("10fda3e1", "OrderAlreadyFilled"),
        ("1a515574", "OrderIsCancelled"),
        ("815e1d64", "InvalidSigner"),
    ] {
        let selector: [u8; 4] = hex::decode(selector).unwrap().try_into().unwrap();
        let found = known(selector).unwrap_or_else(|| panic!("{name} has another selector"));
        assert_eq!(found.0.split_once('(').unwrap().0, name);
    }
}

#[test]
fn every_line_of_the_table_can_be_filled() {
    let mut selectors = std::collections::BTreeMap::new();
    for (signature, words) in KNOWN.iter().flat_map(|family| family.iter()) {
        let types: Vec<&str> =
            signature.split_once('(').unwrap().1.trim_end_matches(')').split(',').collect();
        for place in 0..10 {
            if words.contains(&format!("{{{place}}}")) {
                let simple = ["address", "uint256", "uint128", "uint8", "bytes4", "bytes32"];
                assert!(types.get(place).is_some_and(|kind| simple.contains(kind)), "{signature}: {words}");
            }
        }
        let selector = keccak256(signature)[..4].to_vec();
        assert_eq!(selectors.insert(selector, signature), None, "{signature} comes twice");
        let data = [&keccak256(signature)[..4], &[1; 32 * 10]].concat();
        let told = in_words(&data);
        assert!(told.ends_with(&format!("({})", signature.split_once('(').unwrap().0)), "{told}");
        assert!(!told.contains(['{', '}']), "{told}");
    }
    for (words, _) in table::TEXTS {
        assert_eq!(words.to_lowercase(), *words);
    }
}

#[test]
fn texts_of_older_contracts_are_quoted_with_what_they_mean() {
    assert_eq!(
        texted("ERC20: transfer amount exceeds balance"),
        "whoever pays has less of the currency than it takes (the contract says \"ERC20: transfer amount exceeds \
         balance\")"
    );
    assert!(texted("Pausable: paused").starts_with("the contract is paused"));
    assert!(texted("Blacklistable: account is blacklisted").contains("shuts somebody out"));
    assert_eq!(texted("no sale on Sundays"), "the contract says \"no sale on Sundays\"");
    assert_eq!(texted(""), in_words(&[]));
    let panic = |code: u64| in_words(&[&PANIC[..], &U256::from(code).abi_encode()].concat());
    assert!(panic(0x11).contains("too large or negative (Panic 0x11)"), "{}", panic(0x11));
    assert!(panic(0x99).contains("Panic 0x99"), "{}", panic(0x99));
}

#[test]
fn what_contracts_say_is_not_believed() {
    let hostile = "a\u{202e}b\u{0}c\nd\u{200b}e\u{1b}[31m\u{feff}f";
    assert_eq!(texted(hostile), "the contract says \"abcde[31mf\"");
    let long = texted(&"x".repeat(100_000));
    assert_eq!(long, format!("the contract says \"{}…\"", "x".repeat(TEXT_MAX)));
    // Bytes that are no text, lengths and places that lie, and data that ends too soon.
    for members in [
        vec![0xff; 3],
        vec![0xff; 64],
        vec![0xff; 200],
        [U256::from(32).abi_encode(), U256::MAX.abi_encode(), vec![0xc3; 40]].concat(),
        [U256::MAX.abi_encode(), U256::from(5).abi_encode()].concat(),
        [U256::from(32).abi_encode(), U256::from(5).abi_encode()].concat(),
    ] {
        let told = in_words(&[&ERROR[..], &members].concat());
        assert!(told.chars().count() < 400 && told.chars().all(is_visible), "{told}");
        let told = in_words(&[&PANIC[..], &members[..members.len().min(31)]].concat());
        assert!(told.contains("not known here"), "{told}");
    }
    let unknown = encoded(&NobodyKnowsThis { number: U256::MAX, account: ANA.bytes().into() });
    let selector = hex::encode_prefixed(&keccak256("NobodyKnowsThis(uint256,address)")[..4]);
    assert!(unknown.contains(&selector) && unknown.ends_with('…') && unknown.len() < 200, "{unknown}");
    let short = in_words(&[0xe4, 0x50, 0xd3, 0x8c, 1]);
    assert!(short.contains("0xe450d38c01"), "members are missing: {short}");
    assert_eq!(in_words(&[1, 2]), "the contract refused with 0x0102");
}
