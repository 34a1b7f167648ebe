// Limit Break's Payment Processor, versions 2 and 2.1.
import { ZERO, ZERO_WORD, abis, addresses, artist, collection, dollar, ethers, log, maker, plain, shop, taker } from "./packages.mjs";

const versions = {
  2: { abi: abis.paymentProcessorV2, contract: addresses.PaymentProcessorV2.Exchange[1] },
  2.1: { abi: abis.paymentProcessorV21, contract: addresses.PaymentProcessorV21.Exchange[1] },
};
const domain = (version) =>
  ({ name: "PaymentProcessor", version, chainId: 1, verifyingContract: versions[version].contract });

const member = (name, type) => ({ name, type });
const address = (...names) => names.map((name) => member(name, "address"));
const number = (...names) => names.map((name) => member(name, "uint256"));
const TYPES = {
  SaleApproval: [
    member("protocol", "uint8"),
    ...address("cosigner", "seller", "marketplace", "fallbackRoyaltyRecipient", "paymentMethod", "tokenAddress"),
    ...number("tokenId", "amount", "itemPrice", "expiration", "marketplaceFeeNumerator", "maxRoyaltyFeeNumerator", "nonce", "masterNonce"),
  ],
  ItemOfferApproval: [
    member("protocol", "uint8"),
    ...address("cosigner", "buyer", "beneficiary", "marketplace", "fallbackRoyaltyRecipient", "paymentMethod", "tokenAddress"),
    ...number("tokenId", "amount", "itemPrice", "expiration", "marketplaceFeeNumerator", "nonce", "masterNonce"),
  ],
  CollectionOfferApproval: [
    member("protocol", "uint8"),
    ...address("cosigner", "buyer", "beneficiary", "marketplace", "fallbackRoyaltyRecipient", "paymentMethod", "tokenAddress"),
    ...number("amount", "itemPrice", "expiration", "marketplaceFeeNumerator", "nonce", "masterNonce"),
  ],
};
const ORDER = `(uint8 protocol, address maker, address beneficiary, address marketplace, address fallbackRoyaltyRecipient,
  address paymentMethod, address tokenAddress, uint256 tokenId, uint248 amount, uint256 itemPrice, uint256 nonce,
  uint256 expiration, uint256 marketplaceFeeNumerator, uint256 maxRoyaltyFeeNumerator, uint248 requestedFillAmount,
  uint248 minimumFillAmount)`;
const SIGNATURE = "(uint8 v, bytes32 r, bytes32 s)";
const COSIGNATURE = "(address signer, address taker, uint256 expiration, uint8 v, bytes32 r, bytes32 s)";
const FEE = "(address recipient, uint256 amount)";
const SET = "(bytes32 rootHash, bytes32[] proof)";
const NO_COSIGNATURE = { signer: ZERO, taker: ZERO, expiration: 0, v: 0, r: ZERO_WORD, s: ZERO_WORD };
const NO_FEE = { recipient: ZERO, amount: 0 };
const NO_SET = { rootHash: ZERO_WORD, proof: [] };

const shared = (nonce, members) => ({
  protocol: 0, cosigner: ZERO, marketplace: shop, fallbackRoyaltyRecipient: artist, paymentMethod: ZERO, tokenAddress: collection,
  tokenId: "5", amount: "1", itemPrice: "1000", expiration: "1900000000", marketplaceFeeNumerator: "250", nonce: `${nonce}`,
  masterNonce: "2", ...members,
});
const sale = (nonce, members) => shared(nonce, { seller: maker.address, maxRoyaltyFeeNumerator: "500", ...members });
const offer = (nonce, members) =>
  shared(nonce, { buyer: maker.address, beneficiary: maker.address, paymentMethod: dollar, ...members });
const sign = (version, kind, native) => {
  const types = { [kind]: TYPES[kind] };
  const digest = ethers.TypedDataEncoder.hash(domain(version), types, native);
  return { native, id: digest, key: maker.signingKey.sign(digest) };
};
const parts = ({ key }) => ({ v: key.v, r: key.r, s: key.s });
const executed = ({ native }, { quantity, token = native.tokenId, royalty = native.maxRoyaltyFeeNumerator }) => ({
  ...native, maker: maker.address, beneficiary: native.beneficiary ?? taker, tokenId: token, maxRoyaltyFeeNumerator: royalty,
  requestedFillAmount: quantity, minimumFillAmount: quantity,
});
const call = (version, name, types, values) => {
  const leading = version === "2" ? [["bytes32"], [ethers.TypedDataEncoder.hashDomain(domain(version))]] : [[], []];
  const data = ethers.AbiCoder.defaultAbiCoder().encode([...leading[0], ...types], [...leading[1], ...values]);
  return versions[version].abi.encodeFunctionData(name, [data]);
};

const casesOf = (version) => {
  const { abi, contract } = versions[version];
  const of = (name, orders, rest) => ({
    name: `${name}, version ${version}`, marketplace: "payment_processor", chainId: 1, contract,
    orders: orders.map(({ native, id, key }) => ({ native, id, signature: key.serialized })), ...rest,
  });
  const fill = (quantities, data, value, price, { fees = [], tokens = quantities.map(() => null) } = {}) =>
    ({ fill: { taker, quantities, tokens, fees, to: contract, data, value: `${value}`, price: `${price}` } });
  const one = sign(version, "SaleApproval", sale(1));
  const other = sign(version, "SaleApproval", sale(2, { tokenId: "6", itemPrice: "3000" }));
  const ten = sign(version, "SaleApproval", sale(3, { protocol: 2, tokenId: "7", amount: "10", paymentMethod: dollar }));
  const item = sign(version, "ItemOfferApproval", offer(4));
  const any = sign(version, "CollectionOfferApproval", offer(5, { tokenId: undefined }));
  const fee = (amount) => ({ recipient: artist, amount });
  const listing = (signed, quantity, feeOnTop) => call(version, "buyListing", [ORDER, SIGNATURE, COSIGNATURE, FEE],
    [executed(signed, { quantity }), parts(signed), NO_COSIGNATURE, feeOnTop]);
  const accept = (signed, isAny, how, feeOnTop) => call(version, "acceptOffer", ["bool", ORDER, SIGNATURE, SET, COSIGNATURE, FEE],
    [isAny, executed(signed, how), parts(signed), NO_SET, NO_COSIGNATURE, feeOnTop]);
  return [
    of("a token for the chain's own currency", [one], fill(["1"], listing(one, 1, NO_FEE), 1000, 1000)),
    of("the same with a fee on top", [one],
      fill(["1"], listing(one, 1, fee(100)), 1100, 1100, { fees: [{ amount: "1000", receiver: artist }] })),
    of("some units for a currency", [ten], fill(["4"], listing(ten, 4, NO_FEE), 0, 400)),
    of("two orders at once, the dearer one with the fee", [one, other],
      fill(["1", "1"], call(version, "bulkBuyListings", [`${ORDER}[]`, `${SIGNATURE}[]`, `${COSIGNATURE}[]`, `${FEE}[]`], [
        [executed(one, { quantity: 1 }), executed(other, { quantity: 1 })], [parts(one), parts(other)],
        [NO_COSIGNATURE, NO_COSIGNATURE], [NO_FEE, fee(400)],
      ]), 4400, 4400, { fees: [{ amount: "1000", receiver: artist }] })),
    of("an offer is taken", [item], fill(["1"], accept(item, false, { quantity: 1, royalty: 0 }, NO_FEE), 0, 1000)),
    of("an offer for any token is taken", [any],
      fill(["1"], accept(any, true, { quantity: 1, token: 77, royalty: 0 }, NO_FEE), 0, 1000, { tokens: ["77"] })),
    of("a number is taken back", [one],
      { cancel: { to: contract, data: abi.encodeFunctionData("revokeSingleNonce", [ethers.toBeHex(1, 32)]) } }),
    of("an order in parts is taken back", [ten],
      { cancel: { to: contract, data: abi.encodeFunctionData("revokeOrderDigest", [ten.id]) } }),
  ];
};

export const cases = () => ["2", "2.1"].flatMap(casesOf);

export const logs = () => {
  const { abi } = versions["2.1"];
  const digest = ethers.id("digest");
  const both = [collection, taker, ZERO];
  return plain({
    digest,
    used: log(abi, "NonceInvalidated", [1, maker.address, false]),
    usedOther: log(abi, "NonceInvalidated", [2, maker.address, false]),
    restored: log(abi, "NonceRestored", [2, maker.address]),
    revoked: log(abi, "NonceInvalidated", [1, maker.address, true]),
    master: log(abi, "MasterNonceInvalidated", [maker.address, 2]),
    bought: log(abi, "BuyListingERC721", [taker, maker.address, ...both, 5, 1000]),
    boughtUnits: log(abi, "BuyListingERC1155", [taker, maker.address, ...both, 7, 4, 400]),
    sold: log(abi, "AcceptOfferERC721", [taker, maker.address, collection, maker.address, dollar, 77, 1000]),
    part: log(abi, "OrderDigestItemsFilled", [digest, maker.address, 4]),
    lastPart: log(abi, "OrderDigestInvalidated", [digest, maker.address, false]),
    cancelledParts: log(abi, "OrderDigestInvalidated", [digest, maker.address, true]),
  });
};

// Orders that somebody must cosign, with the answers of a service that does.
const cosigner = new ethers.Wallet("0x" + "22".repeat(32));
const COSIGNED = { Cosignature: [member("v", "uint8"), member("r", "bytes32"), member("s", "bytes32"), ...number("expiration"), ...address("taker")] };
const cosign = (version, signed) => {
  const value = { ...parts(signed), expiration: 1800000000, taker };
  const key = cosigner.signingKey.sign(ethers.TypedDataEncoder.hash(domain(version), COSIGNED, value));
  return { signer: cosigner.address, taker, expiration: 1800000000, v: key.v, r: key.r, s: key.s };
};
const answered = (to, data, value) =>
  ({ steps: [{ id: "sale", kind: "transaction", items: [{ data: { from: taker, to, data, value } }] }] });

// An offer, and an answer whose call would pay others.
const agreedOffer = (version, kind, nonce, members) => {
  const { contract } = versions[version];
  const isAny = kind === "CollectionOfferApproval";
  const signed = sign(version, kind, offer(nonce, { cosigner: cosigner.address, ...members }));
  const accept = (royalty, fee) => call(version, "acceptOffer", ["bool", ORDER, SIGNATURE, SET, COSIGNATURE, FEE],
    [isAny, executed(signed, { quantity: 1, token: isAny ? 77 : signed.native.tokenId, royalty }), parts(signed), NO_SET, cosign(version, signed), fee]);
  const answer = answered(contract, accept(9000, { recipient: artist, amount: 1000 }), "0");
  return { native: signed.native, signature: signed.key.serialized, id: signed.id, contract, data: accept(0, NO_FEE), value: "0", answer };
};

export const agreed = () => {
  const version = "2.1";
  const { contract } = versions[version];
  const signed = sign(version, "SaleApproval", sale(9, { cosigner: cosigner.address }));
  const data = call(version, "buyListing", [ORDER, SIGNATURE, COSIGNATURE, FEE],
    [executed(signed, { quantity: 1 }), parts(signed), cosign(version, signed), NO_FEE]);
  const offers = ["2", "2.1"].flatMap((version) => [
    agreedOffer(version, "ItemOfferApproval", 11), agreedOffer(version, "CollectionOfferApproval", 12, { tokenId: undefined }),
  ]);
  return {
    native: signed.native, signature: signed.key.serialized, id: signed.id, contract, data, value: "1000",
    answer: answered(contract, data, "1000"), offers: plain(offers),
  };
};
