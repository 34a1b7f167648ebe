// What others do while somebody looks: prices, sold marks and history change by themselves. The service says what changed, and the
// page is asked for again, at most every few seconds; of it only the parts that differ are put in the place of the old ones.

const RENEW_PAUSE = 3000;
// All who look at a page hear the same at once. They ask within so long, and not in the same moment.
const SPREAD = 2000;
// How often the page is asked for, and the service whether it speaks again, where it says nothing, as with too many who listen.
const ASK_PAUSE = 30000;
const seen = new Map();
let isRenewing = false;
let isDue = false;

const parts = (place) => [...place.querySelectorAll("[data-live]")];
const soon = (milliseconds) => milliseconds + Math.random() * SPREAD;

async function renew() {
  isDue = true;
  if (isRenewing) return;
  isRenewing = true;
  // What changes while the page is asked for is asked for once more.
  while (isDue) {
    await pause(soon(RENEW_PAUSE / 3));
    // Nobody is interrupted, and nobody who looks elsewhere costs anything.
    while (document.hidden || dialog.open) await pause(RENEW_PAUSE / 3);
    isDue = false;
    try {
      const response = await fetch(location.href);
      if (response.ok) put(new DOMParser().parseFromString(await response.text(), "text/html"));
    } catch {
      // What is not told now is told with the next change.
    }
    await pause(RENEW_PAUSE);
  }
  isRenewing = false;
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
  let source = null, later = null;
  const told = (event) => {
    const { tokenId } = JSON.parse(event.data || "{}");
    if (token || tokenId == null || document.querySelector(`[data-token="${CSS.escape(tokenId)}"]`)) renew();
  };
  const stop = () => {
    clearTimeout(later);
    source?.close();
  };
  const listen = () => {
    stop();
    if (document.hidden) return;
    source = new EventSource(`/live/${path}?key=${encodeURIComponent(shop.key)}`);
    for (const name of token ? ["token", "collection", "activity"] : ["token", "collection"]) source.addEventListener(name, told);
    source.onerror = ({ target }) => {
      // A stream that broke off comes back by itself; one that was refused does not.
      if (target.readyState === EventSource.CLOSED && target === source) later = setTimeout(catchUp, soon(ASK_PAUSE));
    };
  };
  const catchUp = () => {
    renew();
    listen();
  };
  document.addEventListener("visibilitychange", () => (document.hidden ? stop() : catchUp()));
  listen();
}
