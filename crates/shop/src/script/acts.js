// What the buttons of the pages do.

async function quantity(title, order, lead) {
  const most = BigInt(order.available ?? 1);
  if (most <= 1n) return "1";
  const typed = await form(title, [["quantity", say("how_many", String(most)), "1", "numeric"]], lead);
  if (!typed) return null;
  const count = units(typed.quantity, 0);
  if (count < 1n || count > most) throw trouble("no_quantity", String(most));
  return String(count);
}

const titled = (key, order) => ({ key, name: order.name, token: order.token });

const acts = {
  async buy(order, collection) {
    const title = titled("act_buy", order);
    const count = await quantity(title, order);
    if (count) await begin({ act: "buy", title, collection, orders: [{ ...order, quantity: count }] });
  },
  async accept(order, collection) {
    const title = titled("act_accept", order);
    const count = await quantity(title, order);
    const token = order.token ?? shop.page?.token?.id;
    if (count) await begin({ act: "accept", title, collection, token, orders: [{ ...order, quantity: count }] });
  },
  async cancel(order, collection) {
    await begin({ act: "cancel", title: titled("act_cancel", order), collection, orders: [{ ...order, quantity: "0" }] });
  },
  async mint(order, collection) {
    const title = titled("act_mint", order);
    const count = await quantity(title, order);
    if (!count) return;
    const bought = { ...order, quantity: count };
    const total = totalOf(bought);
    await begin({ act: "mint", title, collection, minted: bought, steps: mintSteps(collection, bought, total), total: String(total) });
  },
  list: (order, collection) => propose("list", order, collection),
  offer: (order, collection) => propose("offer", order, collection),
  async basket(order, collection) {
    const title = titled("act_basket", order);
    const count = await quantity(title, order);
    if (!count) return;
    keep("basket", [...without(collection, [order]), { order: { ...order, quantity: count }, collection }].slice(-50));
    if (dialog.open) dialog.close();
    show();
  },
};

// A listing or an offer of the visitor's own.
async function propose(act, order, collection) {
  const title = titled(`act_${act}`, order);
  // Nobody's wallet gives the chain's own coin away later on: offers are in other currencies.
  const allowed = collection.currencies.filter((one) => act === "list" || !isCoin(one.address));
  if (!allowed.length) throw trouble("no_currency");
  const fields = [["price", say("price_of_one"), "", "decimal"], ["currency", say("currency"), "", allowed.map((one) => [one.address, symbolOf(collection, one.symbol, one.address) || short(one.address)])]];
  if (collection.type !== "ERC721") fields.push(["quantity", say("how_many_units"), "1", "numeric"]);
  fields.push(["days", say("days"), "30", "numeric"]);
  const typed = await form(title, fields);
  if (!typed) return;
  const money = allowed.find((one) => one.address === typed.currency);
  const price = units(typed.price, money.decimals);
  const count = units(typed.quantity ?? "1", 0);
  const days = Number(units(typed.days, 0));
  if (price < 1n || count < 1n || days < 1 || days > 180) throw trouble("no_amount");
  const made = {
    token: String(order.token), name: order.name, quantity: String(count), price: String(price), currency: money.address,
    symbol: symbolOf(collection, money.symbol, money.address), decimals: money.decimals, expiry: String(Math.floor(Date.now() / 1000) + days * DAY),
  };
  await begin({ act, title, collection, order: made });
}

const basket = () => keep("basket") ?? [];
// The names of orders are those of their marketplace, on its chain.
const isOrder = (collection, order) => (one) => one.collection.chain === collection.chain && one.order.market === order.market && one.order.id === order.id;
const without = (collection, orders) => basket().filter((one) => !orders.some((order) => isOrder(collection, order)(one)));
const dropped = (collection, orders) => keep("basket", without(collection, orders));

// Buys what is in the basket: what one contract can sell at once, at once.
async function checkout() {
  const groups = new Map();
  for (const { order, collection } of basket()) {
    const key = [collection.chain, collection.address, order.market, order.currency].join();
    const group = groups.get(key) ?? { act: "buy", title: { key: "act_checkout" }, collection, orders: [], isBasket: true };
    group.orders.push(order);
    groups.set(key, group);
  }
  for (const group of groups.values()) if (!(await begin(group))) return;
}

function showBasket(place) {
  const all = basket();
  const row = ({ order, collection }) => make("li", {},
    make("a", { href: `${collection.path}/${encodeURIComponent(order.token)}` }, ...named(order)),
    make("span", { class: "price" }, `${BigInt(order.quantity) > 1n ? `${order.quantity} × ` : ""}${money(order.price, order)}`),
    make("button", { type: "button", class: "plain", onclick: () => (dropped(collection, [order]), show()) }, say("leave_out")));
  const sums = new Map();
  for (const { order, collection } of all) {
    // Every chain has a coin of its own at the same address.
    const key = [collection.chain, order.currency].join();
    const sum = sums.get(key) ?? { value: 0n, order };
    sum.value += totalOf(order);
    sums.set(key, sum);
  }
  const total = [...sums.values()].map(({ value, order }) => money(value, order)).join(" + ");
  place.replaceChildren(...(all.length
    ? [make("ul", { class: "orders" }, ...all.map(row)), make("p", { class: "price", "data-total": true }, `${say("altogether")}: ${total}`),
      make("button", { type: "button", "data-checkout": true, onclick: () => checkout() }, say("act_checkout"))]
    : [make("p", { class: "empty" }, say("basket_empty"))]));
}

// What the page shows of the wallet, the basket, and what is not finished.
const corner = make("div", { class: "corner" });
const unfinished = make("div", { class: "unfinished" });

function show() {
  const count = basket().length;
  const who = wallet
    ? make("a", { href: `${shop.path}/a/${wallet.account}`, "data-account": wallet.account, title: wallet.account }, short(wallet.account))
    : make("button", { type: "button", class: "plain", "data-connect": true, onclick: () => connect().catch((error) => failed(say("connect"), error)) }, say("connect"));
  corner.replaceChildren(make("a", { href: `${shop.path}/basket`, "data-basket": count }, `${say("basket")} (${count})`), who);
  for (const button of document.querySelectorAll("button[data-act]")) {
    const { maker, holder } = JSON.parse(button.dataset.order);
    const mine = Boolean(wallet) && isSame(maker, wallet.account);
    const isOthers = holder != null && !isSame(holder, wallet?.account);
    const { act } = button.dataset;
    button.hidden = isOthers || (act === "cancel" ? !mine : mine && act !== "list" && act !== "offer");
  }
  showUnfinished();
  const place = document.getElementById("basket");
  if (place) showBasket(place);
}

async function showUnfinished() {
  const left = dialog.open ? [] : await waiting();
  unfinished.replaceChildren(...left.map((job) => make("p", { class: "refused", role: "alert" },
    ...sayWith("unfinished", ...heading(job.title)), " ",
    make("button", { type: "button", "data-resume": true, onclick: () => resume(job) }, say("go_on")), " ",
    make("button", { type: "button", class: "plain", "data-forget": true, onclick: () => alone(job, () => forget(job)) }, say("forget")))));
}

async function start() {
  if (!shop) return;
  words = await (await fetch(`/shop/words/${shop.language}.json`)).json();
  document.querySelector("header.bar")?.append(corner);
  document.querySelector("main")?.prepend(unfinished);
  // Before the buttons are shown, so that what the service sends again is compared with what it sent.
  live();
  dialog.addEventListener("close", show);
  // Another tab goes on with what is not finished, or fills the basket.
  window.addEventListener("storage", show);
  document.addEventListener("visibilitychange", show);
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("button[data-act]");
    const collection = button && JSON.parse(button.closest("[data-collection]")?.dataset.collection ?? "null") || shop.page?.collection;
    if (!button || !collection) return;
    const given = JSON.parse(button.dataset.order);
    const order = { ...given, symbol: symbolOf(collection, given.symbol, given.currency) };
    acts[button.dataset.act](order, collection).catch((error) => failed(button.textContent, error));
  });
  show();
  await remember();
}

start();
