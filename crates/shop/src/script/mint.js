// Calls of contracts that mint tokens for whoever pays: ISale in our contracts, as published storefronts call it.

const listOf = (...values) => word(values.length) + values.map(word).join("");

// mint(address to, uint256[] tokenIds, uint256[] amounts, bytes data, address paymentToken, uint256 maxTotal, bytes32[] proof)
function mintCall(account, order, total) {
  // Seven words, of which four say where a list is.
  const lists = [listOf(order.token), listOf(order.quantity), word(0), word(0)];
  const offsets = [];
  let place = 7 * 32;
  for (const list of lists) {
    offsets.push(word(place));
    place += list.length / 2;
  }
  const [ids, amounts, data, proof] = offsets;
  return "0x60e606f6" + word(account) + ids + amounts + data + word(order.currency) + word(total) + proof + lists.join("");
}

// The steps of a purchase; those that need the account are finished once there is one.
function mintSteps(collection, order, total) {
  const inCoin = isCoin(order.currency);
  const mint = { id: "mint", to: collection.sale, value: inCoin ? String(total) : "0", price: String(total) };
  if (inCoin || total === 0n) return [mint];
  const data = "0x095ea7b3" + word(collection.sale) + word(total);
  return [{ id: "tokenApproval", to: order.currency, value: "0", price: "0", data }, mint];
}
