// Marketplaces that keep signatures: what their services answer, and the calls that must come out of it.
import { ZERO, ZERO_WORD, abis, addresses, artist, collection, dollar, ethers, log, maker, plain, taker } from "./packages.mjs";
import { agreed as seaport } from "./seaport.mjs";
import { agreed as paymentProcessor } from "./payment_processor.mjs";

const coder = ethers.AbiCoder.defaultAbiCoder();

// Blur.
const BLUR_TYPES = {
  Order: [
    { name: "trader", type: "address" }, { name: "collection", type: "address" }, { name: "listingsRoot", type: "bytes32" },
    { name: "numberOfListings", type: "uint256" }, { name: "expirationTime", type: "uint256" }, { name: "assetType", type: "uint8" },
    { name: "makerFee", type: "FeeRate" }, { name: "salt", type: "uint256" }, { name: "orderType", type: "uint8" },
    { name: "nonce", type: "uint256" },
  ],
  FeeRate: [{ name: "recipient", type: "address" }, { name: "rate", type: "uint16" }],
};
const blurContract = addresses.BlurV2.Exchange[1];
const blurDomain = { name: "Blur Exchange", version: "1.0", chainId: 1, verifyingContract: blurContract };
const NO_FEE = { recipient: ZERO, rate: 0 };
const blurId = (order, index) => `${ethers.TypedDataEncoder.hashStruct("Order", BLUR_TYPES, order)}:${index}`;

// An order of Ethereum's main chain, from the data of a transaction there.
const real = () => {
  const order = {
    trader: "0xBA1BA61Ff159422bCb07F78017186624e94E6936", collection: "0x8Ce578bad214D59aEFAFB49bd20408E81271796F",
    listingsRoot: "0x06e4cad50d229454f4b02ab922adc62e9e015c1be42d1069d118073305a767d9", numberOfListings: "8",
    expirationTime: "1689648136", assetType: 0, makerFee: NO_FEE, salt: "336667801012517845541861528058746552855", orderType: 0, nonce: "0",
  };
  const proof = [
    "0x02d49884a23ece2d315710356a656d9718055aaf0705d983b90b52334da7ea64",
    "0x0b70b7fc9e28db7a44743d0fd195806ff239cc0df305a66bff3525747942d234",
    "0xd985684f1f1e2c767918e1d54771f47ce500dc718937119b27724044e1147adb",
  ];
  const listing = { index: "1", tokenId: "1752", amount: "1", price: "9999000000000000" };
  const signature =
    "0x8e71ad4d30ea456279c18f47df2bc0daf5b7ba7b9dc6798d90a3af4525c25a290bfbbf7c09daa35bbf7111ed4e1e15dd5c489f001ede54c34b762d6d0c5f9b5e1c";
  return { native: { ...order, listing, proof }, signature, id: blurId(order, 1) };
};

const blurOrder = () => {
  const listings = [
    { index: "0", tokenId: "5", amount: "1", price: "1000" }, { index: "1", tokenId: "6", amount: "1", price: "2500000000000000000" },
  ];
  const leaf = ({ index, tokenId, amount, price }) =>
    ethers.keccak256(coder.encode(["uint256", "uint256", "uint256", "uint256"], [index, tokenId, amount, price]));
  const leaves = listings.map(leaf);
  const sorted = [...leaves].sort();
  const order = {
    trader: maker.address, collection, listingsRoot: ethers.keccak256(ethers.concat(sorted)), numberOfListings: "2",
    expirationTime: "1900000000", assetType: 0, makerFee: { recipient: artist, rate: 50 }, salt: "9", orderType: 0, nonce: "3",
  };
  return { order, listings, leaves };
};

const blur = () => {
  const { order, listings, leaves } = blurOrder();
  const orders = listings.map((listing, place) =>
    ({ native: { ...order, listing, proof: [leaves[1 - place]] }, signature: null, id: blurId(order, place) }));
  const exchange = (place, index) => ({
    index, proof: [leaves[1 - place]], listing: listings[place], taker: { tokenId: listings[place].tokenId, amount: 1 },
  });
  const sent = (data, value) => ({ txnData: { to: blurContract, data, value: { type: "BigNumber", hex: ethers.toBeHex(value) } } });
  const single = abis.blur.encodeFunctionData("takeAskSingle", [
    { order, exchange: exchange(0, 0), takerFee: NO_FEE, signature: "0x1234", tokenRecipient: taker }, "0xabcd",
  ]);
  const both = abis.blur.encodeFunctionData("takeAsk", [
    { orders: [order], exchanges: [exchange(0, 0), exchange(1, 0)], takerFee: NO_FEE, signatures: "0x1234", tokenRecipient: taker }, "0xabcd",
  ]);
  const total = 2500000000000001000n;
  return {
    real: real(), orders,
    one: { answer: { success: true, buys: [sent(single, 1000)], cancelReasons: [] }, data: single, value: "1000" },
    two: { answer: { success: true, buys: [sent(both, total)], cancelReasons: [] }, data: both, value: `${total}` },
    cancel: abis.blur.encodeFunctionData("cancelTrades", [[{ hash: orders[1].id.split(":")[0], index: 1, amount: 1 }]]),
    logs: blurLogs(orders[1].id.split(":")[0]),
  };
};

const blurLogs = (hash) => {
  const token = (6n << 168n) | (1n << 160n) | BigInt(maker.address);
  const side = (bid) => (BigInt(bid) << 248n) | (2500000000000000000n << 160n) | BigInt(collection);
  return plain({
    hash,
    filled: log(abis.blur, "Execution721Packed", [hash, token, side(0)]),
    filledWithFee: log(abis.blur, "Execution721MakerFeePacked", [hash, token, side(0), 50n]),
    bidFilled: log(abis.blur, "Execution721Packed", [hash, token, side(1)]),
    unitsFilled: log(abis.blur, "Execution", [
      { trader: maker.address, id: 6, amount: 2, collection, assetType: 1 }, hash, 1, 1000, NO_FEE, { protocolFee: NO_FEE, takerFee: NO_FEE }, 0,
    ]),
    cancelled: log(abis.blur, "CancelTrade", [maker.address, hash, 1, 1]),
    counter: log(abis.blur, "NonceIncremented", [maker.address, 4]),
  });
};

// X2Y2.
const x2y2 = () => {
  const hash = ethers.id("item");
  const order = {
    id: 12345, type: "sell", currency: ZERO, price: "1000", amount: 1, maker: maker.address, taker: null, deadline: 1900000000,
    itemHash: hash, delegateType: 1, nft: { token: collection, tokenId: "5" }, royalty_fee: 5000,
  };
  const offer = { ...order, id: 12346, type: "buy", currency: dollar, nft: { token: collection, tokenId: null } };
  const tokens = (id) => coder.encode(["tuple(address token, uint256 tokenId)[]"], [[{ token: collection, tokenId: id }]]);
  // The maker of an offer for any token leaves its number open: the service tells it, and nothing else.
  const words = (word, at) => ethers.concat([0, 1, 2, 3].map((place) => (place === at ? word : ZERO_WORD)));
  const open = words(`0x${"ff".repeat(32)}`, 3);
  const told = words(ethers.toBeHex(77, 32), 3);
  const input = (currency, op, dataReplacement, item = op === 1 ? 5 : 0) => ({
    orders: [{
      salt: 1, user: maker.address, network: 1, intent: op === 1 ? 1 : 3, delegateType: 1, deadline: 1900000000, currency,
      dataMask: op === 1 ? "0x" : open, items: [{ price: 1000, data: tokens(item) }], r: ZERO_WORD, s: ZERO_WORD, v: 27, signVersion: 1,
    }],
    details: [{
      op, orderIdx: 0, itemIdx: 0, price: 1000, itemHash: hash, executionDelegate: addresses.X2Y2.Erc721Delegate[1], dataReplacement,
      bidIncentivePct: 0, aucMinIncrementPct: 0, aucIncDurationSecs: 0, fees: [{ percentage: 5000, to: artist }],
    }],
    shared: { salt: 2, deadline: 1900000000, amountToEth: 0, amountToWeth: 0, user: taker, canFail: false },
    r: ethers.id("r"), s: ethers.id("s"), v: 28,
  });
  const run = (given) => abis.x2y2.encodeFunctionData("run", [given]);
  const answer = (data) => ({ success: true, data: [{ order_id: 12345, input: `0x${data.slice(10)}` }] });
  const sell = run(input(ZERO, 1, "0x"));
  const buy = run(input(dollar, 2, told));
  // The contract has put in what was told.
  const event = (op, data, item) => {
    const { orders: [signed], details: [detail] } = input(ZERO, op, data, item);
    return log(abis.x2y2, "EvInventory", [
      hash, maker.address, taker, 1, 2, signed.intent, 1, signed.deadline, ZERO, signed.dataMask, signed.items[0], detail,
    ]);
  };
  return {
    hash, order, offer, contract: addresses.X2Y2.Exchange[1],
    listing: { answer: answer(sell), data: sell, value: "1000" }, taken: { answer: answer(buy), data: buy, value: "0" },
    logs: plain({ filled: event(1, "0x"), offerFilled: event(2, told, 77), cancelledItem: event(3, "0x"), cancelled: log(abis.x2y2, "EvCancel", [hash]) }),
  };
};

export const held = () => plain({ blur: blur(), x2y2: x2y2(), seaport: seaport(), payment_processor: paymentProcessor() });
