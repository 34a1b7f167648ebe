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

const titled = (key, order) => `${say(key)}: ${order.name || (order.token == null ? "" : `#${order.token}`)}`;

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
    const total = BigInt(order.price) * BigInt(count);
    const bought = { ...order, quantity: count };
    await begin({ act: "mint", title, collection, minted: bought, facts: [], steps: mintSteps(collection, bought, total), total: String(total) });
  },
  list: (order, collection) => propose("list", order, collection),
  offer: (order, collection) => propose("offer", order, collection),
  async basket(order, collection) {
    const title = titled("act_basket", order);
    const count = await quantity(title, order);
    if (!count) return;
    const others = basket().filter((one) => one.order.id !== order.id || one.order.market !== order.market);
    keep("basket", [...others, { order: { ...order, quantity: count }, collection }].slice(-50));
    if (dialog.open) dialog.close();
    show();
  },
};

// A listing or an offer of the visitor's own.
async function propose(act, order, collection) {
  const title = titled(`act_${act}`, order);
  // Nobody's wallet gives the chain's own coin away later on: offers are in other currencies.
  const allowed = collection.currencies.filter((one) => act === "list" || !/^0x0+$/.test(one.address));
  if (!allowed.length) throw trouble("no_currency");
  const fields = [["price", say("price_of_one"), "", "decimal"], ["currency", say("currency"), "", allowed.map((one) => [one.address, one.symbol])]];
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
    symbol: money.symbol, decimals: money.decimals, expiry: String(Math.floor(Date.now() / 1000) + days * DAY),
  };
  await begin({ act, title, collection, order: made });
}

const basket = () => keep("basket") ?? [];
const dropped = (orders) => keep("basket", basket().filter((one) => !orders.some((bought) => bought.id === one.order.id)));

// Buys what is in the basket: what one contract can sell at once, at once.
async function checkout() {
  const groups = new Map();
  for (const { order, collection } of basket()) {
    const key = [collection.chain, collection.address, order.market, order.currency].join();
    const group = groups.get(key) ?? { act: "buy", title: say("act_checkout"), collection, orders: [] };
    group.orders.push(order);
    groups.set(key, group);
  }
  for (const group of groups.values()) {
    const bought = group.orders;
    if (!(await begin({ ...group, after: () => dropped(bought) }))) return;
  }
}

function showBasket(place) {
  const all = basket();
  const row = ({ order, collection }) => make("li", {},
    make("a", { href: `${collection.path}/${encodeURIComponent(order.token)}` }, order.name || `#${order.token}`),
    make("span", { class: "price" }, `${order.quantity > 1 ? `${order.quantity} × ` : ""}${money(order.price, order)}`),
    make("button", { type: "button", class: "plain", onclick: () => (dropped([order]), show()) }, say("leave_out")));
  const sums = new Map();
  for (const { order } of all) {
    const sum = sums.get(order.currency) ?? { value: 0n, order };
    sum.value += BigInt(order.price) * BigInt(order.quantity);
    sums.set(order.currency, sum);
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
    ? make("a", { href: `${shop.path}/a/${wallet.account}`, "data-account": wallet.account }, short(wallet.account))
    : make("button", { type: "button", class: "plain", "data-connect": true, onclick: () => connect().catch((error) => failed(say("connect"), error)) }, say("connect"));
  corner.replaceChildren(make("a", { href: `${shop.path}/basket`, "data-basket": count }, `${say("basket")} (${count})`), who);
  for (const button of document.querySelectorAll("button[data-act]")) {
    const mine = wallet && JSON.parse(button.dataset.order).maker?.toLowerCase() === wallet.account;
    const { act } = button.dataset;
    button.hidden = act === "cancel" ? !mine : Boolean(mine) && act !== "list" && act !== "offer";
  }
  const waiting = dialog.open ? [] : jobs();
  unfinished.replaceChildren(...waiting.map((job) => make("p", { class: "refused", role: "alert" }, say("unfinished", job.title), " ",
    make("button", { type: "button", "data-resume": true, onclick: () => run(job) }, say("go_on")), " ",
    make("button", { type: "button", class: "plain", onclick: () => (forget(job), show()) }, say("forget")))));
  const place = document.getElementById("basket");
  if (place) showBasket(place);
}

async function start() {
  if (!shop) return;
  words = await (await fetch(`/shop/words/${shop.language}.json`)).json();
  document.querySelector("header.bar")?.append(corner);
  document.querySelector("main")?.prepend(unfinished);
  // Before the buttons are shown, so that what the service sends again is compared with what it sent.
  live();
  dialog.addEventListener("close", show);
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("button[data-act]");
    const collection = button && JSON.parse(button.closest("[data-collection]")?.dataset.collection ?? "null") || shop.page?.collection;
    if (!button || !collection) return;
    const order = JSON.parse(button.dataset.order);
    acts[button.dataset.act](order, collection).catch((error) => failed(button.textContent, error));
  });
  show();
  await remember();
}

start();
