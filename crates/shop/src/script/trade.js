// A trade: what is asked of our service, and what the wallet signs and sends.

const REQUESTS = {
  buy: ["Marketplace/GenerateBuyTransaction", "buyer"],
  accept: ["Marketplace/GenerateSellTransaction", "seller"],
  list: ["Marketplace/GenerateListingTransaction", "owner"],
  offer: ["Marketplace/GenerateOfferTransaction", "maker"],
  cancel: ["Marketplace/GenerateCancelTransaction", "maker"],
};
const DAY = 86400;
// How often other steps may come after a signature.
const ROUNDS_MAX = 2;

// The body of a request for steps.
function wanted(job) {
  const { collection, account, act, orders, order } = job;
  const body = { chainId: String(collection.chain), collectionAddress: collection.address, [REQUESTS[act][1]]: account };
  if (act === "cancel") return { ...body, marketplace: orders[0].market, orderId: orders[0].id };
  body.walletType = "unknown";
  if (act === "buy" || act === "accept") {
    const fee = collection.feeBps && shop.feeReceiver ? [{ amount: String(collection.feeBps), receiver: shop.feeReceiver }] : [];
    const data = (one) => ({ orderId: one.id, quantity: String(one.quantity), tokenId: job.token ?? one.token });
    return { ...body, marketplace: orders[0].market, ordersData: orders.map(data), additionalFees: fee };
  }
  const made = { tokenId: order.token, quantity: order.quantity, expiry: order.expiry, currencyAddress: order.currency, pricePerToken: order.price };
  const type = collection.type === "UNKNOWN" ? {} : { contractType: collection.type };
  return { ...body, ...type, orderbook: collection.market, [act === "list" ? "listing" : "offer"]: made };
}

// Has the service say what is to be done, and makes sure that it is what somebody would expect.
async function plan(job) {
  if (job.act === "mint") await payable(job);
  else job.steps = (await api(REQUESTS[job.act][0], wanted(job))).steps;
  if (!job.steps.length) throw trouble("gone");
  if (!job.steps.every((step) => isExpected(job, step))) throw trouble("unexpected");
  job.royalty = job.order ? await royaltyOf(job) : null;
  job.next = 0;
}

// Finishes the steps of a primary sale, if it still sells that.
async function payable(job) {
  const { collection, minted } = job;
  const { options } = await api("Marketplace/CheckoutOptionsSalesContract", {
    chainId: String(collection.chain), wallet: job.account, contractAddress: collection.sale, collectionAddress: collection.address,
    items: [{ tokenId: String(minted.token), quantity: minted.quantity }],
  });
  if (options.crypto !== "all") throw trouble("gone");
  job.steps.at(-1).data = mintCall(job.account, minted, job.total);
}

// The orders as they are now: in the order of what the page showed.
async function current(job) {
  const input = job.orders.map((one) => ({ contractAddress: job.collection.address, orderId: one.id, marketplace: one.market }));
  const { orders } = await api("Marketplace/GetOrders", { chainId: String(job.collection.chain), input });
  return job.orders.map((one) => orders.find((found) => found.orderId === one.id && found.marketplace === one.market));
}

// Whether an order can be filled as far as the visitor wants it.
const isOpen = (found, one) => found?.status === "active" && BigInt(found.quantityAvailable ?? found.quantityRemaining) >= BigInt(one.quantity);

// Whether what the page showed still holds; tells of another price.
async function check(job) {
  const now = await current(job);
  let changed = null;
  for (const [place, one] of job.orders.entries()) {
    const found = now[place];
    if (!isOpen(found, one)) throw await meanwhile(job, one, found);
    one.remaining = found.quantityRemaining;
    one.net = found.priceAmountNet;
    if (found.priceAmount !== String(one.price)) {
      changed = say("price_changed", `${money(one.price, one)} → ${money(found.priceAmount, one)}`);
      one.price = found.priceAmount;
    }
  }
  return changed;
}

// Makes sure that what the visitor said yes to still holds, right before their wallet is asked: they may have taken their time, and
// so may a wallet with the step before, which may be on another network or account by now.
async function holds(job) {
  if (job.minted) await payable(job);
  const now = job.orders ? await current(job) : [];
  for (const [place, found] of now.entries()) {
    const one = job.orders[place];
    // What an earlier step of the job has taken is as it should be.
    if (!one.done && !(isOpen(found, one) && found.priceAmount === String(one.price))) throw await meanwhile(job, one, found);
  }
  await stillOn(job.collection);
  if ((await accountNow()) !== job.account) throw trouble("other_account", short(job.account));
}

// What became of an order that is not as it was, and what to do about it.
async function meanwhile(job, one, found) {
  const ofOne = (error) => {
    if (job.orders.length > 1) error.message = `${nameOf(one)}: ${error.message}`;
    return error;
  };
  if (found?.status === "active") {
    if (found.priceAmount !== String(one.price)) return ofOne(trouble("costs_now", money(found.priceAmount, one)));
    return ofOne(trouble("left_now", found.quantityAvailable ?? found.quantityRemaining));
  }
  if (job.act !== "buy") return ofOne(trouble("gone"));
  if (found?.status === "filled") return ofOne(trouble("sold_now"));
  // Who takes a listing back often sells at another price.
  const [other] = await ordersOf(job, "Listings", one.token, { marketplace: shop.marketplaces ?? [] });
  if (!other) return ofOne(trouble("gone"));
  const currency = other.priceCurrencyAddress;
  const known = job.collection.currencies.find((one) => one.address === currency);
  const symbol = symbolOf(job.collection, known?.symbol, currency);
  return ofOne(trouble("costs_now", money(other.priceAmount, { ...known, symbol, currency })));
}

// Has a job be done from where it is.
async function go(job) {
  try {
    if ((await connect()) !== job.account) throw trouble("other_account", short(job.account));
    await onChain(job.collection);
  } catch (error) {
    // Nothing was done, and nothing is forgotten of what was done before.
    failed(job.title, error);
    return false;
  }
  try {
    if (job.nonce != null && !job.hash && !(await again(job))) return false;
    while (job.next < job.steps.length) {
      save(job);
      const step = job.steps[job.next];
      await perform(job, step);
      done(job, step);
      if (job.next === job.steps.length && job.steps.every((one) => one.executeType === "order") && !(await further(job))) return false;
    }
    job.state = "shown";
    progress(job, say("wait_shown"));
    await shown(job);
    forget(job);
    finished(job);
    return true;
  } catch (error) {
    // What may have been sent goes on; what was not can be begun again.
    if (job.nonce == null) forget(job);
    failed(job.title, error);
    return false;
  }
}

// Where something had to be signed first, there are other steps now, which nobody has seen yet.
async function further(job) {
  job.rounds = (job.rounds ?? 0) + 1;
  if (job.rounds > ROUNDS_MAX) throw trouble("too_often");
  await plan(job);
  if (await confirm(job)) return true;
  forget(job);
  return false;
}

// Goes on where the page went away before the wallet told what it did. Whatever was sent is waited for; only then the visitor is asked
// whether it is to be sent, with all that is left to be done as it is now.
async function again(job) {
  progress(job, say("wait_look"));
  while ((await count(job, "pending")) > job.nonce && (await count(job, "latest")) <= job.nonce) await pause(TURN);
  const step = job.steps[job.next];
  if ((await count(job, "latest")) > job.nonce && (await isDone(job, step))) {
    done(job, step);
    return true;
  }
  job.orders = job.orders?.filter((one) => !one.done);
  const changed = job.orders ? await check(job) : null;
  await plan(job);
  if (!(await confirm(job, say("maybe_sent"), changed))) return false;
  job.nonce = null;
  return true;
}

async function perform(job, step) {
  if (step.post) return sign(job, step);
  if (!job.hash) await send(job, step);
  job.state = "chain";
  progress(job, say("wait_chain"));
  const receipt = await mined(job);
  if (receipt ? BigInt(receipt.status) === 1n : await isDone(job, step)) return;
  job.hash = job.nonce = null;
  throw receipt ? trouble("reverted") : trouble("replaced");
}

async function send(job, step) {
  job.state = "sign";
  progress(job, say("wait_wallet"));
  await onChain(job.collection);
  const nonce = await count(job, "pending");
  await holds(job);
  job.nonce = nonce;
  save(job);
  const value = "0x" + BigInt(step.value || 0).toString(16);
  const transaction = { from: job.account, to: step.to, data: step.data, value, chainId: chainOf(job.collection) };
  try {
    job.hash = await ask("eth_sendTransaction", [transaction]);
  } catch (error) {
    if (isRefused(error)) job.nonce = null;
    throw error;
  }
  save(job);
}

// Counts a step as done, and what it took as taken.
function done(job, step) {
  const taken = takenBy(job, step);
  for (const one of taken) one.done = true;
  if (job.isBasket) dropped(job.collection, taken);
  job.next += 1;
  job.hash = job.nonce = null;
  save(job);
}

// The orders that a step takes: of several steps each takes one, and the last one the rest.
function takenBy(job, step) {
  if (!job.orders || step.post || step.id === "tokenApproval") return [];
  const left = job.orders.filter((one) => !one.done);
  return step === job.steps.at(-1) ? left : left.slice(0, 1);
}

async function sign(job, step) {
  job.state = "sign";
  progress(job, say("wait_signature"));
  await onChain(job.collection);
  await holds(job);
  let signature;
  if (step.signature) {
    const { domain, types, primaryType, value } = step.signature;
    const domainTypes = [["name", "string"], ["version", "string"], ["chainId", "uint256"], ["verifyingContract", "address"]];
    const EIP712Domain = domainTypes.map(([name, type]) => ({ name, type }));
    signature = await ask("eth_signTypedData_v4", [job.account, JSON.stringify({ domain, types: { EIP712Domain, ...types }, primaryType, message: value })]);
  } else {
    const hex = [...new TextEncoder().encode(step.data)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    signature = await ask("personal_sign", ["0x" + hex, job.account]);
  }
  await api("Marketplace/Execute", { chainId: String(job.collection.chain), signature, body: step.post.body });
}

// The orders for a token on one side, the best first.
async function ordersOf(job, side, token, filter) {
  const body = { chainId: String(job.collection.chain), contractAddress: job.collection.address, tokenId: String(token), filter };
  const answer = await api(`Marketplace/List${side}ForCollectible`, body);
  return answer[side.toLowerCase()] ?? answer.orders ?? [];
}

// The orders of the wallet for a token, by their names.
async function own(job) {
  const orders = await ordersOf(job, job.act === "list" ? "Listings" : "Offers", job.order.token, { createdBy: [job.account] });
  return orders.map((one) => one.orderId);
}

// Plans a job, shows it, and does it once the visitor says so.
async function begin(job) {
  try {
    // Whoever closed the dialog of a trade may have forgotten that their wallet asks for it.
    if (held.size) throw trouble("busy");
    job.account = await connect();
    await onChain(job.collection);
    open(job.title, make("p", { role: "status" }, say("wait_plan")));
    job.key = `${Date.now()}-${Math.random().toString(36).slice(2)}`;
    job.begun = Date.now();
    const changed = job.orders ? await check(job) : null;
    if (job.order) job.before = await own(job);
    await plan(job);
    return (await confirm(job, changed)) && (await alone(job, () => go(job)));
  } catch (error) {
    failed(job.title, error);
    return false;
  }
}
