// What others do while somebody looks: prices, sold marks and history change by themselves. The service says what changed, and the
// page is asked for again; of it only the parts that differ are put in the place of the old ones.

// All who look at a page hear the same at once. They ask within so long, in milliseconds, and not in the same moment: not so soon that
// they get a page from before that was made for others (`renewals.rs`), and soon enough to be shown within two seconds.
const LEAST = 500;
const SPREAD = 1200;
// How long after that nobody asks again, however much happens.
const RENEW_PAUSE = 1000;
// How often the page asks by itself where the service says nothing, as with too many who listen; up to how many times as long it waits
// where that is refused as well, as a power of two; and how many times it asks before it tries to listen again.
const ASK_PAUSE = 1500;
const PATIENCE_MAX = 4;
const ASKED_MAX = 20;
const seen = new Map();
let isRenewing = false;
let isDue = false;
let toldAt = 0;
let refusals = 0;

const parts = (place) => [...place.querySelectorAll("[data-live]")];
const soon = () => LEAST + Math.random() * SPREAD;

async function renew(wait = soon()) {
  isDue = true;
  toldAt = performance.now();
  if (isRenewing) return;
  isRenewing = true;
  for (let next = wait; isDue; next = LEAST) {
    await pause(next);
    // Nobody is interrupted, and nobody who looks elsewhere costs anything.
    while (document.hidden || dialog.open) await pause(RENEW_PAUSE);
    // What was told in the last moment may be newer than the page that is given.
    isDue = performance.now() - toldAt < LEAST;
    // Where asking was too much, one answer does not make it less: patience is lost little by little.
    refusals = (await isPut()) ? Math.max(0, refusals - 1 / 8) : Math.min(PATIENCE_MAX, Math.floor(refusals) + 1);
    await pause(RENEW_PAUSE);
  }
  isRenewing = false;
}

// Asks for the page and shows what is new of it; tells whether there was an answer.
async function isPut() {
  try {
    const response = await fetch(location.href);
    if (response.ok) put(new DOMParser().parseFromString(await response.text(), "text/html"));
    return response.ok;
  } catch {
    // What is not told now is told with the next change.
    return false;
  }
}

function put(page) {
  const fresh = new Map(parts(page).map((part) => [part.dataset.live, part]));
  for (const old of parts(document)) {
    const part = fresh.get(old.dataset.live);
    const text = part?.outerHTML;
    if (!part || seen.get(old.dataset.live) === text || old.contains(document.activeElement)) continue;
    seen.set(old.dataset.live, text);
    old.replaceWith(document.importNode(part, true));
  }
  show();
}

// Listens while somebody looks: a browser has few connections to a service, and other pages need them.
function live() {
  const { collection, token } = shop.page ?? {};
  if (!collection?.path || collection.sale || !parts(document).length) return;
  for (const part of parts(document)) seen.set(part.dataset.live, part.outerHTML);
  const path = [collection.chain, collection.address, token?.id].filter((part) => part != null).join("/");
  let source = null, asking = null, asked = 0;
  const told = (event) => {
    const { tokenId } = JSON.parse(event.data || "{}");
    if (token || tokenId == null || document.querySelector(`[data-token="${CSS.escape(tokenId)}"]`)) renew();
  };
  const asksNoMore = () => {
    clearTimeout(asking);
    asking = null;
  };
  const stop = () => {
    asksNoMore();
    source?.close();
  };
  const asks = () => {
    asking = setTimeout(asks, ASK_PAUSE);
    asked += 1;
    if (asked % 2 ** Math.ceil(refusals) === 0) renew(LEAST);
    // A stream that broke off comes back by itself; one that was refused does not.
    if (asked % ASKED_MAX === 0 && source.readyState === EventSource.CLOSED) listen();
  };
  const listen = () => {
    if (document.hidden) return;
    source = new EventSource(`/live/${path}?key=${encodeURIComponent(shop.key)}`);
    for (const name of token ? ["token", "collection", "activity"] : ["token", "collection"]) source.addEventListener(name, told);
    source.onopen = () => {
      // What changed while nobody listened was told to nobody.
      if (asking) renew();
      asksNoMore();
    };
    source.onerror = ({ target }) => {
      if (target !== source || asking) return;
      renew();
      asking = setTimeout(asks, soon());
    };
  };
  document.addEventListener("visibilitychange", () => {
    stop();
    if (document.hidden) return;
    renew();
    listen();
  });
  listen();
}
