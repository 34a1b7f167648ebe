// 0x, fourth version, orders for tokens.
import { ZERO, ZERO_WORD, abis, addresses, artist, collection, dollar, ethers, log, maker, plain, shop, taker } from "./packages.mjs";

const shared = [
  { name: "direction", type: "uint8" },
  { name: "maker", type: "address" },
  { name: "taker", type: "address" },
  { name: "expiry", type: "uint256" },
  { name: "nonce", type: "uint256" },
  { name: "erc20Token", type: "address" },
  { name: "erc20TokenAmount", type: "uint256" },
  { name: "fees", type: "Fee[]" },
];
const parts = {
  Fee: [{ name: "recipient", type: "address" }, { name: "amount", type: "uint256" }, { name: "feeData", type: "bytes" }],
  Property: [{ name: "propertyValidator", type: "address" }, { name: "propertyData", type: "bytes" }],
};
const TYPES = {
  721: { ...parts, ERC721Order: [...shared, { name: "erc721Token", type: "address" }, { name: "erc721TokenId", type: "uint256" },
    { name: "erc721TokenProperties", type: "Property[]" }] },
  1155: { ...parts, ERC1155Order: [...shared, { name: "erc1155Token", type: "address" }, { name: "erc1155TokenId", type: "uint256" },
    { name: "erc1155TokenProperties", type: "Property[]" }, { name: "erc1155TokenAmount", type: "uint128" }] },
};
const contract = addresses.ZeroExV4.Exchange[1];
const COIN = addresses.ZeroExV4.Native[1];
const domain = { name: "ZeroEx", version: "1.0.0", chainId: 1, verifyingContract: contract };

const base = (nonce, members) => ({
  direction: 0, maker: maker.address, taker: ZERO, expiry: "1900000000", nonce: `${nonce}`, erc20Token: COIN,
  erc20TokenAmount: "1000", fees: [], ...members,
});
const single = (nonce, members) =>
  base(nonce, { erc721Token: collection, erc721TokenId: "5", erc721TokenProperties: [], ...members });
const multiple = (nonce, members) =>
  base(nonce, { erc1155Token: collection, erc1155TokenId: "7", erc1155TokenProperties: [], erc1155TokenAmount: "10", ...members });
const sign = (kind, native, how = (digest) => maker.signingKey.sign(digest)) => {
  const digest = ethers.TypedDataEncoder.hash(domain, TYPES[kind], native);
  const key = how(digest);
  return { kind, native, signature: key.serialized, id: digest, given: { signatureType: 2, v: key.v, r: key.r, s: key.s } };
};
const call = (name, args) => abis.zerox.encodeFunctionData(name, args);
const fill = (quantities, data, value, price, tokens = quantities.map(() => null)) =>
  ({ taker, quantities, tokens, fees: [], to: contract, data, value: `${value}`, price: `${price}` });
const fees = [{ recipient: shop, amount: "25", feeData: "0x" }, { recipient: artist, amount: "51", feeData: "0x" }];

const one = sign(721, single(1, { fees }));
const another = sign(721, single(2, { erc721TokenId: "6", erc20TokenAmount: "500" }));
const ten = sign(1155, multiple(3, { fees, erc20TokenAmount: "1001" }));
const dollars = sign(1155, multiple(4, { erc20Token: dollar, erc20TokenAmount: "5000" }));
const offer = sign(721, single(5, { direction: 1, erc20Token: dollar, fees }));
const anyToken = [{ propertyValidator: ZERO, propertyData: "0x" }];
const offerAny = sign(1155, multiple(6, { direction: 1, erc20Token: dollar, erc20TokenAmount: "1001", erc1155TokenId: "0",
  erc1155TokenProperties: anyToken, fees }));
const personal = (digest) =>
  maker.signingKey.sign(ethers.keccak256(ethers.concat([ethers.toUtf8Bytes("\x19Ethereum Signed Message:\n32"), digest])));
const byHand = (() => {
  const signed = sign(721, single(7), personal);
  return { ...signed, native: { ...signed.native, signatureType: 3 }, given: { ...signed.given, signatureType: 3 } };
})();

export const cases = () => {
  const of = (name, orders, filling) => ({
    name, marketplace: "zerox", chainId: 1, orders: orders.map(({ native, signature, id }) => ({ native, signature, id })), fill: filling,
  });
  const presigned = { signatureType: 4, v: 0, r: ZERO_WORD, s: ZERO_WORD };
  return [
    of("a token for the chain's own currency, fees on top", [one],
      fill(["1"], call("buyERC721", [one.native, one.given, "0x"]), 1076, 1076)),
    of("some units, rounded as the contract does", [ten],
      // 1001·3/10 rounded up, 25·3/10 and 51·3/10 rounded down
      fill(["3"], call("buyERC1155", [ten.native, ten.given, 3, "0x"]), 301 + 7 + 15, 301 + 7 + 15)),
    of("all units for a currency", [dollars],
      fill(["10"], call("buyERC1155", [dollars.native, dollars.given, 10, "0x"]), 0, 5000)),
    of("two tokens at once", [one, another],
      fill(["1", "1"], call("batchBuyERC721s", [[one.native, another.native], [one.given, another.given], ["0x", "0x"], true]), 1576, 1576)),
    of("an offer is taken", [offer],
      fill(["1"], call("sellERC721", [offer.native, offer.given, 5, false, "0x"]), 0, 1076)),
    of("an offer for any token is taken in part", [offerAny],
      fill(["3"], call("sellERC1155", [offerAny.native, offerAny.given, 77, 3, false, "0x"]), 0, 300 + 7 + 15, ["77"])),
    of("signed as a message", [byHand], fill(["1"], call("buyERC721", [byHand.native, byHand.given, "0x"]), 1000, 1000)),
    { ...of("signed on the chain", [another], fill(["1"], call("buyERC721", [another.native, presigned, "0x"]), 500, 500)),
      orders: [{ native: { ...another.native, signatureType: 4 }, signature: null, id: another.id }],
      question: call("validateERC721OrderSignature", [another.native, presigned]) },
    { name: "a token is cancelled", marketplace: "zerox", chainId: 1, orders: [{ ...one, kind: undefined, given: undefined }],
      cancel: { to: contract, data: call("cancelERC721Order", [1]) } },
    { name: "units are cancelled", marketplace: "zerox", chainId: 1, orders: [{ ...ten, kind: undefined, given: undefined }],
      cancel: { to: contract, data: call("cancelERC1155Order", [3]) } },
  ];
};

// The arguments of an event that tells all of an order.
const members = (abi, event, order) => abi.getEvent(event).inputs.map(({ name }) => order[name]);

export const logs = () => plain({
  listingFilled: log(abis.zerox, "ERC721OrderFilled", [0, maker.address, taker, 1, COIN, 1000, collection, 5, ZERO]),
  offerFilled: log(abis.zerox, "ERC1155OrderFilled", [1, maker.address, taker, 6, dollar, 300, collection, 77, 3, ZERO]),
  tokenSigned: log(abis.zerox, "ERC721OrderPreSigned", members(abis.zerox, "ERC721OrderPreSigned", one.native)),
  unitsSigned: log(abis.zerox, "ERC1155OrderPreSigned", members(abis.zerox, "ERC1155OrderPreSigned", ten.native)),
  tokenCancelled: log(abis.zerox, "ERC721OrderCancelled", [maker.address, 1]),
  unitsCancelled: log(abis.zerox, "ERC1155OrderCancelled", [maker.address, 3]),
});
