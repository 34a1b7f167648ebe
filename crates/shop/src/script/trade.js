// A trade: what is asked of our service, what the wallet signs and sends, and how one learns that it is done. It is kept in this
// browser from the first signature on, so that a reload in the middle goes on where it was.

const REQUESTS = {
  buy: ["Marketplace/GenerateBuyTransaction", "buyer"],
  accept: ["Marketplace/GenerateSellTransaction", "seller"],
  list: ["Marketplace/GenerateListingTransaction", "owner"],
  offer: ["Marketplace/GenerateOfferTransaction", "maker"],
  cancel: ["Marketplace/GenerateCancelTransaction", "maker"],
};
const DAY = 86400;

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

const plan = async (job) => {
  if (job.act === "mint") await payable(job);
  else job.steps = (await api(REQUESTS[job.act][0], wanted(job))).steps;
  job.next = 0;
};

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
    if (found.priceAmount !== String(one.price)) {
      changed = say("price_changed", `${money(one.price, one)} → ${money(found.priceAmount, one)}`);
      one.price = found.priceAmount;
    }
  }
  return changed;
}

// Gives a step to the wallet, if what the visitor said yes to still holds: they may have taken their time, and so may a wallet
// with the step before.
async function hand(job, method, params) {
  if (job.minted) await payable(job);
  const now = job.orders ? await current(job) : [];
  for (const [place, found] of now.entries()) {
    const one = job.orders[place];
    if (isOpen(found, one) && found.priceAmount === String(one.price)) continue;
    if (!(await isBought(job, one))) throw await meanwhile(job, one, found);
  }
  return ask(method, params);
}

// Whether an earlier step of the job has bought from an order: the orders of a basket can take several.
async function isBought(job, one) {
  if (!job.sent?.length) return false;
  const body = { chainId: String(job.collection.chain), contractAddress: job.collection.address, tokenId: String(job.token ?? one.token) };
  const { activities } = await api("Marketplace/ListCollectibleActivities", body);
  return activities.some((activity) => activity.action === "sale" && job.sent.includes(activity.txHash));
}

// What became of an order that is not as it was, and what to do about it.
async function meanwhile(job, one, found) {
  const named = (error) => {
    if (job.orders.length > 1) error.message = `${one.name || `#${one.token}`}: ${error.message}`;
    return error;
  };
  if (found?.status === "active") {
    if (found.priceAmount !== String(one.price)) return named(trouble("costs_now", money(found.priceAmount, one)));
    return named(trouble("left_now", found.quantityAvailable ?? found.quantityRemaining));
  }
  if (job.act !== "buy") return named(trouble("gone"));
  if (found?.status === "filled") return named(trouble("sold_now"));
  // Who takes a listing back often sells at another price.
  const [other] = await ordersOf(job, "Listings", one.token);
  if (!other) return named(trouble("gone"));
  const coin = job.collection.currencies.find((known) => known.address === other.priceCurrencyAddress);
  return named(trouble("costs_now", money(other.priceAmount, { ...coin, currency: other.priceCurrencyAddress })));
}

// Has a job be done from where it is.
async function run(job) {
  try {
    await connect();
    if (job.account !== wallet.account) throw trouble("other_account", short(job.account));
    await onChain(job.collection);
    job.running = true;
    while (job.next < job.steps.length) {
      save(job);
      await perform(job, job.steps[job.next]);
      job.next += 1;
      if (job.hash) job.sent = [...(job.sent ?? []), job.hash];
      job.hash = job.nonce = null;
      save(job);
      // Where something had to be signed first, there are other steps now.
      if (job.next === job.steps.length && job.steps.every((step) => step.executeType === "order")) await plan(job);
    }
    job.state = "shown";
    progress(job, say("wait_shown"));
    await shown(job);
    forget(job);
    job.after?.();
    finished(job);
    return true;
  } catch (error) {
    // What was sent goes on; what was not can be begun again.
    if (!job.hash) forget(job);
    failed(job.title, error);
    return false;
  } finally {
    job.running = false;
    show();
  }
}

async function perform(job, step) {
  if (step.post) return sign(job, step);
  if (!job.hash && job.nonce != null && (await count(job)) > job.nonce) {
    // The page went away before the wallet answered, and something was sent since: what came of it shows by itself.
    return;
  }
  if (!job.hash) {
    job.state = "sign";
    progress(job, say("wait_wallet"));
    job.nonce = await count(job);
    save(job);
    const value = "0x" + BigInt(step.value || 0).toString(16);
    job.hash = await hand(job, "eth_sendTransaction", [{ from: job.account, to: step.to, data: step.data, value }]);
    save(job);
  }
  job.state = "chain";
  progress(job, say("wait_chain"));
  const receipt = await mined(job.hash);
  if (BigInt(receipt.status) !== 1n) {
    job.hash = null;
    throw trouble("reverted");
  }
}

const count = async (job) => Number(await ask("eth_getTransactionCount", [job.account, "pending"]));

async function mined(hash) {
  for (;;) {
    const receipt = await ask("eth_getTransactionReceipt", [hash]).catch(() => null);
    if (receipt?.blockNumber) return receipt;
    await pause(700);
  }
}

async function sign(job, step) {
  job.state = "sign";
  progress(job, say("wait_signature"));
  let signature;
  if (step.signature) {
    const { domain, types, primaryType, value } = step.signature;
    const domainTypes = [["name", "string"], ["version", "string"], ["chainId", "uint256"], ["verifyingContract", "address"]];
    const EIP712Domain = domainTypes.map(([name, type]) => ({ name, type }));
    signature = await hand(job, "eth_signTypedData_v4", [job.account, JSON.stringify({ domain, types: { EIP712Domain, ...types }, primaryType, message: value })]);
  } else {
    const hex = [...new TextEncoder().encode(step.data)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    signature = await hand(job, "personal_sign", ["0x" + hex, job.account]);
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

// Waits until our service shows what was done.
async function shown(job) {
  const is = {
    list: async () => (await own(job)).some((id) => !job.before.includes(id)),
    mint: async () => true,
  };
  is.offer = is.list;
  const filled = async () => (await current(job)).every((found, place) =>
    !found || found.status !== "active" || BigInt(found.quantityRemaining) < BigInt(job.orders[place].remaining ?? 0));
  for (let tries = 0; tries < 240; tries++) {
    if (await (is[job.act] ?? filled)().catch(() => false)) return;
    await pause(500);
  }
  throw trouble("not_shown");
}

// What is not finished yet.
const jobs = () => keep("jobs") ?? [];
const save = (job) => keep("jobs", [...jobs().filter((one) => one.key !== job.key), { ...job, after: undefined, running: false }]);
const forget = (job) => keep("jobs", jobs().filter((one) => one.key !== job.key));

// Plans a job, shows it, and does it once the visitor says so.
async function begin(job) {
  try {
    job.account = await connect();
    await onChain(job.collection);
    open(job.title, make("p", { role: "status" }, say("wait_plan")));
    job.key = `${Date.now()}-${Math.random().toString(36).slice(2)}`;
    job.coin = job.collection.currencies.find((one) => /^0x0+$/.test(one.address))?.symbol ?? "";
    const changed = job.orders ? await check(job) : null;
    if (job.act === "list" || job.act === "offer") job.before = await own(job);
    await plan(job);
    job.facts = told(job);
    return (await confirm(job, changed)) && (await run(job));
  } catch (error) {
    failed(job.title, error);
    return false;
  }
}

// What moves, to whom, and which fees.
function told(job) {
  const lines = [];
  for (const one of job.orders ?? []) {
    const name = `${BigInt(one.quantity) > 1n ? `${one.quantity} × ` : ""}${one.name || `#${one.token}`}`;
    lines.push([name, money(BigInt(one.price) * BigInt(one.quantity), one)], [job.act === "buy" ? say("seller") : say("buyer"), short(one.maker)]);
  }
  const { order, collection, minted } = job;
  if (minted) lines.push([`${minted.quantity > 1 ? `${minted.quantity} × ` : ""}${minted.name}`, money(job.total, minted)]);
  if (order) lines.push([order.name, `${order.quantity > 1 ? `${order.quantity} × ` : ""}${money(order.price, order)}`], [say("ends"), new Date(order.expiry * 1000).toLocaleDateString(shop.language)]);
  if ((job.act === "buy" || job.act === "accept") && collection.feeBps && shop.feeReceiver)
    lines.push([say("fee"), `${collection.feeBps / 100} % → ${short(shop.feeReceiver)}`]);
  const paid = job.steps?.find((step) => step.id === "buy" && BigInt(step.price || 0) > 0n);
  if (paid && job.orders) {
    const all = job.steps.filter((step) => step.id === "buy").reduce((sum, step) => sum + BigInt(step.price), 0n);
    lines.push([say("altogether"), money(all, job.orders[0])]);
  }
  return [...lines, [say("network"), collection.network]];
}
