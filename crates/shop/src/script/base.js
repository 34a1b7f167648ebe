// A shop's script: it trades with the visitor's own wallet. Everything else works without it. What others wrote is only ever put
// into pages as text.

const shop = JSON.parse(document.body.dataset.shop || "null");
let words = {};

const say = (key, what) => (words[key] ?? key).replace("{}", () => what ?? "");
const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

// Something that went wrong, in words that the visitor can do something with.
const trouble = (key, what) => Object.assign(new Error(say(key, what)), { told: true, key });

// What is kept in this browser alone, for this shop.
function keep(name, value) {
  const key = `shop:${shop.project}:${name}`;
  try {
    if (value === undefined) return JSON.parse(localStorage.getItem(key));
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // A browser that keeps nothing, or somebody else's text: then there is nothing.
  }
  return null;
}

// Asks an operation as the shop does, with its public key.
async function api(operation, body) {
  let response, answer;
  try {
    response = await fetch(`/rpc/${operation}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Access-Key": shop.key },
      body: JSON.stringify(body),
    });
    answer = await response.json();
  } catch {
    throw trouble("offline");
  }
  if (response.ok) return answer;
  if (response.status === 429) throw trouble("too_many");
  if (response.status === 404) throw trouble("gone");
  throw Object.assign(trouble("not_possible", String(answer.cause || answer.msg || answer.message || "")), { answer });
}

// An element with texts and others in it.
function make(name, attributes, ...content) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value != null) element.setAttribute(key, value);
  }
  element.append(...content.filter((part) => part != null));
  return element;
}

// Base units as people read them, and back.
function amount(units, decimals) {
  const text = BigInt(units).toString().padStart((decimals ?? 0) + 1, "0");
  const place = text.length - (decimals ?? 0);
  const rest = text.slice(place).replace(/0+$/, "");
  return rest ? `${text.slice(0, place)}.${rest}` : text.slice(0, place);
}

function units(text, decimals) {
  // Some write a comma for the point, and others between thousands: one of them would be a thousand times wrong.
  if (text.includes(",")) throw trouble("no_comma");
  const found = /^([0-9]*)(?:\.([0-9]*))?$/.exec(text.replace(/[\s_\u202f]/g, ""));
  const rest = (found?.[2] ?? "").replace(/0+$/, "");
  if (!found || !(found[1] || found[2]) || rest.length > decimals) throw trouble("no_amount");
  return BigInt((found[1] || "0") + rest.padEnd(decimals, "0"));
}

const short = (text) => (text.length > 13 ? `${text.slice(0, 6)}…${text.slice(-4)}` : text);
const address = (whole) => make("span", { title: whole }, short(whole));
const isCoin = (currency) => /^0x0+$/.test(currency);
const isSame = (one, other) => one?.toLowerCase() === other?.toLowerCase();
const money = (value, order) => `${amount(value, order.decimals)} ${order.symbol || short(order.currency)}`;

// What a currency is called; with its address where another one calls itself the same.
function symbolOf(collection, symbol, currency) {
  const all = [...collection.currencies, { symbol: collection.coin, address: "0x0000000000000000000000000000000000000000" }];
  const isShared = all.some((other) => other.symbol === symbol && !isSame(other.address, currency));
  return symbol && isShared && !isCoin(currency) ? `${symbol} (${short(currency)})` : symbol;
}

// What a token is called, in a line of text: what turns the direction of writing would turn all that follows.
const plain = (name) => String(name ?? "").replace(/[\u202a-\u202e\u2066-\u2069]/g, "");
const nameOf = (one) => [plain(one.name), one.token == null ? "" : `#${short(String(one.token))}`].filter(Boolean).join(" ");

// The same as parts of an element: what somebody calls a token is told apart from its number, which nobody chooses.
const named = (one) => [one.name ? make("bdi", {}, plain(one.name)) : null, one.token == null ? null : make("span", { title: one.token }, ` #${short(String(one.token))}`)];

// A text with an element in the place of `{}`.
const sayWith = (key, ...parts) => (words[key] ?? key).split("{}").flatMap((text, place) => (place ? [...parts, text] : [text]));

const codeOf = (error) => error?.code ?? error?.data?.originalError?.code;
const textOf = (error) => String(error?.data?.message ?? error?.message ?? error);

// Whether somebody said no in their wallet: then nothing was sent, which no other error says for sure.
const isRefused = (error) => codeOf(error) === 4001 || /user (rejected|denied)/i.test(textOf(error));

// What a wallet, a node or our service says went wrong, in words.
function inWords(error) {
  if (error?.told) return error.message;
  const [code, text] = [codeOf(error), textOf(error)];
  if (isRefused(error)) return say("refused");
  if (/insufficient funds|exceeds balance|gas required exceeds/i.test(text)) return say("too_little");
  if (code === 4902 || /unrecognized chain/i.test(text)) return say("wrong_chain", "");
  if (/revert/i.test(text)) return say("reverted");
  return say("wallet_said", text.slice(0, 200));
}
