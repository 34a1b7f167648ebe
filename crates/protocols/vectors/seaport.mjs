// Seaport and its forks.
import { ZERO, ZERO_WORD, abis, addresses, artist, collection, dollar, ethers, log, maker, plain, shop, taker } from "./packages.mjs";

const TYPES = {
  OrderComponents: [
    { name: "offerer", type: "address" },
    { name: "zone", type: "address" },
    { name: "offer", type: "OfferItem[]" },
    { name: "consideration", type: "ConsiderationItem[]" },
    { name: "orderType", type: "uint8" },
    { name: "startTime", type: "uint256" },
    { name: "endTime", type: "uint256" },
    { name: "zoneHash", type: "bytes32" },
    { name: "salt", type: "uint256" },
    { name: "conduitKey", type: "bytes32" },
    { name: "counter", type: "uint256" },
  ],
  OfferItem: [
    { name: "itemType", type: "uint8" },
    { name: "token", type: "address" },
    { name: "identifierOrCriteria", type: "uint256" },
    { name: "startAmount", type: "uint256" },
    { name: "endAmount", type: "uint256" },
  ],
  ConsiderationItem: [
    { name: "itemType", type: "uint8" },
    { name: "token", type: "address" },
    { name: "identifierOrCriteria", type: "uint256" },
    { name: "startAmount", type: "uint256" },
    { name: "endAmount", type: "uint256" },
    { name: "recipient", type: "address" },
  ],
};
const seaport = addresses.SeaportV16.Exchange[1];
const venues = {
  opensea: { name: "Seaport", version: "1.6", chainId: 1, verifyingContract: seaport },
  mintify: { name: "MintifyExchange", version: "1.6", chainId: 8453, verifyingContract: addresses.Mintify.Exchange[8453] },
  alienswap: { name: "Alienswap", version: "1.4", chainId: 1, verifyingContract: addresses.Alienswap.Exchange[1] },
};
const CONDUIT_KEY = addresses.SeaportBase.OpenseaConduitKey[1];
const OPENSEA_FEES = "0x0000a26b00c1f0df003000390027140000faa719";

const item = (itemType, token, identifierOrCriteria, amount) => ({
  itemType, token, identifierOrCriteria: `${identifierOrCriteria}`, startAmount: `${amount}`, endAmount: `${amount}`,
});
const asked = (recipient, ...rest) => ({ ...item(...rest), recipient });
const order = (salt, members) => ({
  offerer: maker.address, zone: ZERO, orderType: 0, startTime: "1700000000", endTime: "1900000000", zoneHash: ZERO_WORD,
  salt: `${salt}`, conduitKey: ZERO_WORD, counter: "0", ...members,
});

const sign = (domain, components) => ({
  native: components,
  signature: maker.signingKey.sign(ethers.TypedDataEncoder.hash(domain, TYPES, components)).serialized,
  id: ethers.TypedDataEncoder.hashStruct("OrderComponents", TYPES, components),
});

// Orders.
const native721 = order(1, {
  offer: [item(2, collection, 5, 1)],
  consideration: [asked(maker.address, 0, ZERO, 0, 925), asked(OPENSEA_FEES, 0, ZERO, 0, 25), asked(artist, 0, ZERO, 0, 50)],
});
const erc20721 = order("0x360c6ebe", {
  conduitKey: CONDUIT_KEY, counter: "7",
  offer: [item(2, collection, 6, 1)],
  consideration: [asked(maker.address, 1, dollar, 0, 9750), asked(OPENSEA_FEES, 1, dollar, 0, 250)],
});
const partial1155 = order(3, {
  orderType: 1, conduitKey: CONDUIT_KEY,
  offer: [item(3, collection, 7, 10)],
  consideration: [asked(maker.address, 0, ZERO, 0, 9000), asked(artist, 0, ZERO, 0, 1000)],
});
const offer721 = order(4, {
  conduitKey: CONDUIT_KEY,
  offer: [item(1, dollar, 0, 2000)],
  consideration: [asked(maker.address, 2, collection, 5, 1), asked(OPENSEA_FEES, 1, dollar, 0, 50)],
});
const offerAny1155 = order(5, {
  orderType: 1, conduitKey: CONDUIT_KEY,
  offer: [item(1, dollar, 0, 3000)],
  consideration: [asked(maker.address, 5, collection, 0, 3), asked(artist, 1, dollar, 0, 300)],
});

// Calls.
const parameters = (components, tips = []) => {
  const { counter, ...rest } = components;
  const consideration = [...components.consideration, ...tips];
  return { ...rest, consideration, totalOriginalConsiderationItems: components.consideration.length };
};
const advanced = (signed, numerator, denominator, tips) => ({
  parameters: parameters(signed.native, tips), numerator, denominator, signature: signed.signature, extraData: "0x",
});
const call = (name, args) => abis.seaport.encodeFunctionData(name, args);
const basic = (signed, route, fulfillerConduitKey, tips = []) => {
  const { native } = signed;
  const [offered] = native.offer;
  const [first, ...others] = native.consideration;
  return call("fulfillBasicOrder", [{
    considerationToken: first.token, considerationIdentifier: first.identifierOrCriteria, considerationAmount: first.startAmount,
    offerer: native.offerer, zone: native.zone, offerToken: offered.token, offerIdentifier: offered.identifierOrCriteria,
    offerAmount: offered.startAmount, basicOrderType: native.orderType + 4 * route, startTime: native.startTime,
    endTime: native.endTime, zoneHash: native.zoneHash, salt: native.salt, offererConduitKey: native.conduitKey,
    fulfillerConduitKey, totalOriginalAdditionalRecipients: others.length,
    additionalRecipients: [...others.map((other) => ({ amount: other.startAmount, recipient: other.recipient })), ...tips],
    signature: signed.signature,
  }]);
};
const fill = (orders, { quantities, tokens = orders.map(() => null), fees = [], data, value, price }) => ({
  taker, quantities, tokens, fees, to: seaport, data, value: `${value}`, price: `${price}`,
});
const each = (counts) => counts.flatMap((count, orderIndex) =>
  Array.from({ length: count }, (_, itemIndex) => [{ orderIndex, itemIndex }]));

export const cases = () => {
  const of = (name, orders, filling) => {
    const signed = orders.map((components) => sign(venues.opensea, components));
    return { name, marketplace: "opensea", chainId: 1, orders: signed, fill: fill(signed, filling(signed)) };
  };
  const fee = (amount) => ({ amount: `${amount}`, receiver: shop });
  const plainFills = [
    of("a token for the chain's own currency", [native721], ([signed]) => ({
      quantities: ["1"], data: basic(signed, 0, ZERO_WORD), value: 1000, price: 1000,
    })),
    of("the same with a fee on top", [native721], ([signed]) => ({
      quantities: ["1"], fees: [fee(500)], data: basic(signed, 0, ZERO_WORD, [{ amount: 50, recipient: shop }]), value: 1050, price: 1050,
    })),
    of("a token for a currency, through the conduit", [erc20721], ([signed]) => ({
      quantities: ["1"], fees: [fee(20000)], data: basic(signed, 2, CONDUIT_KEY, [{ amount: 20000, recipient: shop }]), value: 0, price: 30000,
    })),
    of("four of ten units, with a fee that is scaled", [partial1155], ([signed]) => ({
      quantities: ["4"], fees: [fee(20000)],
      data: call("fulfillAdvancedOrder", [advanced(signed, 2, 5, [asked(shop, 0, ZERO, 0, 50000)]), [], ZERO_WORD, taker]),
      value: 24000, price: 24000,
    })),
    of("two orders at once", [native721, partial1155], ([first, second]) => ({
      quantities: ["1", "10"], fees: [fee(1000)],
      data: call("fulfillAvailableAdvancedOrders", [
        [advanced(first, 1, 1, [asked(shop, 0, ZERO, 0, 1100)]), advanced(second, 1, 1)], [], each([1, 1]), each([4, 2]), ZERO_WORD, taker, 2,
      ]),
      value: 12100, price: 12100,
    })),
    of("an offer is taken", [offer721], ([signed]) => ({
      quantities: ["1"], fees: [fee(100)], data: basic(signed, 4, CONDUIT_KEY, [{ amount: 20, recipient: shop }]), value: 0, price: 2000,
    })),
    of("an offer for any token is taken in part", [offerAny1155], ([signed]) => ({
      quantities: ["1"], tokens: ["77"],
      data: call("fulfillAdvancedOrder", [
        advanced(signed, 1, 3),
        [{ orderIndex: 0, side: 1, index: 0, identifier: 77, criteriaProof: [] }], CONDUIT_KEY, taker,
      ]),
      value: 0, price: 1000,
    })),
  ];
  const forks = ["mintify", "alienswap"].map((marketplace) => ({
    name: `signed for ${marketplace}`, marketplace, chainId: venues[marketplace].chainId,
    orders: [sign(venues[marketplace], native721)], contract: venues[marketplace].verifyingContract,
  }));
  return [...plainFills, ...forks, bulk(), cancelled()];
};

// Four orders with one signature, of which the third is put.
const bulk = () => {
  const orders = [0, 1, 2, 3].map((salt) => order(100 + salt, { offer: native721.offer, consideration: native721.consideration }));
  const types = { BulkOrder: [{ name: "tree", type: "OrderComponents[2][2]" }], ...TYPES };
  const tree = [[orders[0], orders[1]], [orders[2], orders[3]]];
  const hash = (components) => ethers.TypedDataEncoder.hashStruct("OrderComponents", TYPES, components);
  const pair = (left, right) => ethers.keccak256(ethers.concat([left, right]));
  const key = maker.signingKey.sign(ethers.TypedDataEncoder.hash(venues.opensea, types, { tree }));
  const tail = ethers.concat(["0x000002", hash(orders[3]), pair(hash(orders[0]), hash(orders[1]))]);
  return {
    name: "four orders with one signature", marketplace: "opensea", chainId: 1,
    orders: [key.serialized, key.compactSerialized].map((signature) => ({
      native: orders[2], signature: ethers.concat([signature, tail]), id: hash(orders[2]),
    })),
  };
};

const cancelled = () => ({
  name: "an order is cancelled", marketplace: "opensea", chainId: 1, orders: [sign(venues.opensea, erc20721)],
  cancel: { to: seaport, data: call("cancel", [[erc20721]]) },
});

export const logs = () => {
  const { id } = sign(venues.opensea, partial1155);
  const spent = [[3, collection, 7, 4]];
  const received = [[0, ZERO, 0, 3600, maker.address], [0, ZERO, 0, 400, artist]];
  const bought = [[1, dollar, 0, 1000]];
  const sold = [[3, collection, 77, 1, maker.address], [1, dollar, 0, 100, artist]];
  const bundle = [[2, collection, 1, 1], [2, collection, 2, 1]];
  return plain({
    id,
    listingFilled: log(abis.seaport, "OrderFulfilled", [id, maker.address, ZERO, taker, spent, received]),
    offerFilled: log(abis.seaport, "OrderFulfilled", [id, maker.address, ZERO, taker, bought, sold]),
    bundleFilled: log(abis.seaport, "OrderFulfilled", [id, maker.address, ZERO, taker, bundle, received]),
    validated: log(abis.seaport, "OrderValidated", [id, parameters(partial1155)]),
    validatedLater: log(abis.seaport, "OrderValidated", [sign(venues.opensea, erc20721).id, parameters(erc20721)]),
    cancelled: log(abis.seaport, "OrderCancelled", [id, maker.address, ZERO]),
    counter: log(abis.seaport, "CounterIncremented", [ethers.MaxUint256 - 5n, maker.address]),
  });
};

// An order that needs its marketplace, with the answers of two services that agree.
export const agreed = () => {
  const of = (zone) => ({ ...order(50, { offer: native721.offer, consideration: native721.consideration }), orderType: 2, zone });
  const extraData = "0x0011223344";
  const parts = (zone, members) => {
    const signed = sign(venues.opensea, of(zone));
    const order = { ...advanced(signed, 1, 1, []), extraData };
    const data = call("fulfillAdvancedOrder", [order, [], ZERO_WORD, taker]);
    return { native: signed.native, id: signed.id, data, value: "1000", answer: members(signed, order, data) };
  };
  return {
    opensea: parts("0x000056F7000000EcE9003ca63978907a00FFD100", (signed, order) => ({
      protocol: "seaport1.6",
      fulfillment_data: {
        transaction: { function: "fulfillAdvancedOrder(...)", chain: 1, to: seaport, value: 1000, input_data: { advancedOrder: order } },
        orders: [{ parameters: { ...signed.native, counter: 0 }, signature: signed.signature }],
      },
    })),
    magic_eden: parts("0x2d1a340cd83434243d090931afabf95b7d3078b0", (signed, order, data) => ({
      steps: [
        { id: "currency-approval", kind: "transaction", items: [] },
        { id: "sale", kind: "transaction", items: [{ status: "incomplete", data: { from: taker, to: seaport, data, value: "0x3e8" } }] },
      ],
    })),
  };
};
