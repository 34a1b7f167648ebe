// Limit Break's Payment Processor, first version: sellers and buyers both sign.
import { ZERO, abis, addresses, artist, buyer, collection, dollar, ethers, log, maker, plain, shop } from "./packages.mjs";

const abi = abis.paymentProcessorV1;
const contract = addresses.PaymentProcessor.Exchange[1];
const domain = { name: "PaymentProcessor", version: "1", chainId: 1, verifyingContract: contract };

const member = (name, type) => ({ name, type });
const TYPES = {
  SaleApproval: [
    member("protocol", "uint8"), member("sellerAcceptedOffer", "bool"), member("marketplace", "address"),
    member("marketplaceFeeNumerator", "uint256"), member("maxRoyaltyFeeNumerator", "uint256"),
    member("privateBuyer", "address"), member("seller", "address"), member("tokenAddress", "address"),
    member("tokenId", "uint256"), member("amount", "uint256"), member("minPrice", "uint256"),
    member("expiration", "uint256"), member("nonce", "uint256"), member("masterNonce", "uint256"), member("coin", "address"),
  ],
  OfferApproval: [
    member("protocol", "uint8"), member("marketplace", "address"), member("marketplaceFeeNumerator", "uint256"),
    member("delegatedPurchaser", "address"), member("buyer", "address"), member("tokenAddress", "address"),
    member("tokenId", "uint256"), member("amount", "uint256"), member("price", "uint256"),
    member("expiration", "uint256"), member("nonce", "uint256"), member("masterNonce", "uint256"), member("coin", "address"),
  ],
};

const NOW = 1741953600;
const BUYER_MASTER_NONCE = "2";

const sign = (wallet, kind, native) => {
  const digest = ethers.TypedDataEncoder.hash(domain, { [kind]: TYPES[kind] }, native);
  return { native, id: digest, key: wallet.signingKey.sign(digest) };
};
const sale = (nonce, members) => sign(maker, "SaleApproval", {
  protocol: 0, sellerAcceptedOffer: false, marketplace: shop, marketplaceFeeNumerator: "250", maxRoyaltyFeeNumerator: "500",
  privateBuyer: ZERO, seller: maker.address, tokenAddress: collection, tokenId: "5", amount: "1", minPrice: "1000",
  expiration: "1900000000", nonce: `${nonce}`, masterNonce: "2", coin: ZERO, ...members,
});
// What the buyer signs for a listing: good for an hour, under the number that is the listing's hash.
const approval = ({ native, id }) => sign(buyer, "OfferApproval", {
  protocol: native.protocol, marketplace: native.marketplace, marketplaceFeeNumerator: native.marketplaceFeeNumerator,
  delegatedPurchaser: ZERO, buyer: buyer.address, tokenAddress: native.tokenAddress, tokenId: native.tokenId,
  amount: native.amount, price: native.minPrice, expiration: `${NOW + 3600}`,
  nonce: BigInt(id).toString(), masterNonce: BUYER_MASTER_NONCE, coin: native.coin,
});
const parts = ({ key }) => ({ v: key.v, r: key.r, s: key.s });
const matched = ({ native: listing }, { native: offer }) => ({
  sellerAcceptedOffer: false, collectionLevelOffer: false, protocol: listing.protocol, paymentCoin: listing.coin,
  tokenAddress: listing.tokenAddress, seller: listing.seller, privateBuyer: ZERO, buyer: offer.buyer,
  delegatedPurchaser: ZERO, marketplace: listing.marketplace, marketplaceFeeNumerator: listing.marketplaceFeeNumerator,
  maxRoyaltyFeeNumerator: listing.maxRoyaltyFeeNumerator, listingNonce: listing.nonce, offerNonce: offer.nonce,
  listingMinPrice: listing.minPrice, offerPrice: offer.price, listingExpiration: listing.expiration,
  offerExpiration: offer.expiration, tokenId: listing.tokenId, amount: listing.amount,
});

export const cases = () => {
  const of = (name, orders, rest) => ({
    name, marketplace: "payment_processor", chainId: 1, contract,
    orders: orders.map(({ native, id, key }) => ({ native, id, signature: key.serialized })), ...rest,
  });
  const fill = (orders, value, price) => {
    const offers = orders.map(approval);
    const details = orders.map((order, place) => matched(order, offers[place]));
    const data = orders.length === 1
      ? abi.encodeFunctionData("buySingleListing", [details[0], parts(orders[0]), parts(offers[0])])
      : abi.encodeFunctionData("buyBatchOfListings", [details, orders.map(parts), offers.map(parts)]);
    const typed = offers.map(({ native }) =>
      ({ domain, types: { OfferApproval: TYPES.OfferApproval }, primaryType: "OfferApproval", value: native }));
    return { fill: {
      taker: buyer.address.toLowerCase(), quantities: orders.map(({ native }) => native.amount), to: contract, data,
      value: `${value}`, price: `${price}`, now: NOW, masterNonce: BUYER_MASTER_NONCE, typed,
      consents: offers.map(({ native, key }) => ({ terms: native, signature: key.serialized })),
    } };
  };
  const one = sale(1);
  const ten = sale(2, { protocol: 1, tokenId: "7", amount: "10", minPrice: "5000", coin: dollar });
  const other = sale(3, { tokenId: "6", minPrice: "3000" });
  return [
    of("a token for the chain's own currency", [one], fill([one], 1000, 1000)),
    of("all units for a currency", [ten], fill([ten], 0, 5000)),
    of("two listings at once", [one, other], fill([one, other], 4000, 4000)),
    of("a number is taken back", [one],
      { cancel: { to: contract, data: abi.encodeFunctionData("revokeSingleNonce", [shop, 1]) } }),
  ];
};

export const logs = () => {
  const used = (nonce, who, marketplace = shop, wasCancellation = false) =>
    log(abi, "NonceInvalidated", [nonce, who, marketplace, wasCancellation]);
  const sweep = [shop, collection, ZERO, buyer.address, [false, true, false], [maker.address, maker.address, artist], [5, 6, 8]];
  return plain({
    used: used(1, maker.address),
    usedOther: used(2, maker.address),
    usedElsewhere: used(1, maker.address, artist),
    usedByArtist: used(1, artist),
    usedByBuyer: used(9, buyer.address),
    revoked: used(1, maker.address, shop, true),
    master: log(abi, "MasterNonceInvalidated", [2, maker.address]),
    bought: log(abi, "BuySingleListing", [shop, collection, ZERO, buyer.address, maker.address, 5, 1, 1000]),
    sweptTokens: log(abi, "SweepCollectionERC721", [...sweep, [1000, 2000, 3000]]),
    sweptUnits: log(abi, "SweepCollectionERC1155", [...sweep, [4, 5, 6], [1000, 2000, 3000]]),
  });
};
