// LooksRare, second version.
import { ZERO, ZERO_WORD, abis, addresses, artist, collection, dollar, ethers, log, maker, plain, taker } from "./packages.mjs";

const TYPES = {
  Maker: [
    { name: "quoteType", type: "uint8" },
    { name: "globalNonce", type: "uint256" },
    { name: "subsetNonce", type: "uint256" },
    { name: "orderNonce", type: "uint256" },
    { name: "strategyId", type: "uint256" },
    { name: "collectionType", type: "uint8" },
    { name: "collection", type: "address" },
    { name: "currency", type: "address" },
    { name: "signer", type: "address" },
    { name: "startTime", type: "uint256" },
    { name: "endTime", type: "uint256" },
    { name: "price", type: "uint256" },
    { name: "itemIds", type: "uint256[]" },
    { name: "amounts", type: "uint256[]" },
    { name: "additionalParameters", type: "bytes" },
  ],
};
const contract = addresses.LooksRareV2.Exchange[1];
const domain = { name: "LooksRareProtocol", version: "2", chainId: 1, verifyingContract: contract };

const order = (orderNonce, members) => ({
  quoteType: 1, globalNonce: "3", subsetNonce: "4", orderNonce: `${orderNonce}`, strategyId: "0", collectionType: 0, collection,
  currency: ZERO, signer: maker.address, startTime: "1700000000", endTime: "1900000000", price: "1000", itemIds: ["5"],
  amounts: ["1"], additionalParameters: "0x", ...members,
});
const hash = (native) => ethers.TypedDataEncoder.hashStruct("Maker", TYPES, native);
const sign = (native) => ({
  native, signature: maker.signingKey.sign(ethers.TypedDataEncoder.hash(domain, TYPES, native)).serialized, id: hash(native),
});
const NO_TREE = { root: ZERO_WORD, proof: [] };
const call = (name, args) => abis.looksRare.encodeFunctionData(name, args);
const as = (additionalParameters = "0x") => ({ recipient: taker, additionalParameters });

const listing = sign(order(7));
const units = sign(order(8, { collectionType: 1, itemIds: ["6"], amounts: ["10"], currency: dollar, price: "12345" }));
const other = sign(order(9, { itemIds: ["6"], price: "500" }));
const offer = sign(order(10, { quoteType: 0, currency: dollar, price: "2000" }));
const offerAny = sign(order(11, { quoteType: 0, currency: dollar, price: "1500", strategyId: "1", itemIds: [] }));

const fill = (quantities, data, value, price, tokens = quantities.map(() => null)) =>
  ({ taker, quantities, tokens, fees: [], to: contract, data, value: `${value}`, price: `${price}` });

// Three orders and a filler with one signature, of which the second is put.
const tree = () => {
  const orders = [20, 21, 22, 23].map((nonce) => order(nonce));
  const types = { BatchOrder: [{ name: "tree", type: "Maker[2][2]" }], ...TYPES };
  const pair = (left, right) => ethers.keccak256(ethers.concat([left, right]));
  const right = pair(hash(orders[2]), hash(orders[3]));
  const root = pair(pair(hash(orders[0]), hash(orders[1])), right);
  const proof = [{ value: hash(orders[0]), position: 0 }, { value: right, position: 1 }];
  const digest = ethers.TypedDataEncoder.hash(domain, types, { tree: [[orders[0], orders[1]], [orders[2], orders[3]]] });
  const signature = maker.signingKey.sign(digest).compactSerialized;
  return {
    name: "several orders with one signature", marketplace: "looks_rare", chainId: 1,
    orders: [{ native: { ...orders[1], merkleRoot: root, merkleProof: proof }, signature, id: hash(orders[1]) }],
    fill: fill(["1"], call("executeTakerBid", [as(), orders[1], signature, { root, proof }, ZERO]), 1000, 1000),
  };
};

export const cases = () => {
  const of = (name, orders, filling) => ({ name, marketplace: "looks_rare", chainId: 1, orders, fill: filling });
  return [
    of("a token for the chain's own currency", [listing],
      fill(["1"], call("executeTakerBid", [as(), listing.native, listing.signature, NO_TREE, ZERO]), 1000, 1000)),
    of("units for a currency, as a whole", [units],
      fill(["10"], call("executeTakerBid", [as(), units.native, units.signature, NO_TREE, ZERO]), 0, 12345)),
    of("two orders at once", [listing, other],
      fill(["1", "1"], call("executeMultipleTakerBids", [
        [as(), as()], [listing.native, other.native], [listing.signature, other.signature], [NO_TREE, NO_TREE], ZERO, true,
      ]), 1500, 1500)),
    of("an offer is taken", [offer],
      fill(["1"], call("executeTakerAsk", [as(), offer.native, offer.signature, NO_TREE, ZERO]), 0, 2000)),
    of("an offer for any token is taken", [offerAny],
      fill(["1"], call("executeTakerAsk", [
        as(ethers.AbiCoder.defaultAbiCoder().encode(["uint256"], [77])), offerAny.native, offerAny.signature, NO_TREE, ZERO,
      ]), 0, 1500, ["77"])),
    tree(),
    { name: "an order is cancelled", marketplace: "looks_rare", chainId: 1, orders: [units],
      cancel: { to: contract, data: call("cancelOrderNonces", [[8]]) } },
  ];
};

export const logs = () => {
  const nonce = [listing.id, 7, true];
  const manager = new ethers.Interface([
    "event ApprovalsGranted(address user, address[] operators)", "event ApprovalsRemoved(address user, address[] operators)",
  ]);
  return plain({
    id: listing.id,
    bought: log(abis.looksRare, "TakerBid", [nonce, taker, artist, 0, ZERO, collection, [5], [1], [maker.address, ZERO], [995, 0, 5]]),
    sold: log(abis.looksRare, "TakerAsk", [nonce, taker, maker.address, 1, dollar, collection, [77], [1], [artist, ZERO], [995, 0, 5]]),
    bundle: log(abis.looksRare, "TakerBid", [nonce, taker, taker, 0, ZERO, collection, [5, 6], [1, 1], [maker.address, ZERO], [995, 0, 5]]),
    nonces: log(abis.looksRare, "OrderNoncesCancelled", [maker.address, [7, 8]]),
    groups: log(abis.looksRare, "SubsetNoncesCancelled", [maker.address, [4]]),
    counters: log(abis.looksRare, "NewBidAskNonces", [maker.address, 12, 34]),
    granted: log(manager, "ApprovalsGranted", [maker.address, [contract]]),
    removed: log(manager, "ApprovalsRemoved", [maker.address, [artist, contract]]),
    elsewhere: log(manager, "ApprovalsRemoved", [maker.address, [artist]]),
  });
};
