// What others do while somebody looks: prices, sold marks and history change by themselves. The service says what changed, and the
// page is asked for again, at most every few seconds; of it only the parts that differ are put in the place of the old ones.

const RENEW_PAUSE = 3000;
// How often the page is asked for where the service says nothing, as with too many who listen.
const ASK_PAUSE = 30000;
const seen = new Map();
let isRenewing = false;

const parts = (place) => [...place.querySelectorAll("[data-live]")];

async function renew() {
  if (isRenewing) return;
  isRenewing = true;
  await pause(RENEW_PAUSE / 3);
  // Nobody is interrupted, and nobody who looks elsewhere costs anything.
  while (document.hidden || dialog.open) await pause(RENEW_PAUSE);
  try {
    const response = await fetch(location.href);
    if (response.ok) put(new DOMParser().parseFromString(await response.text(), "text/html"));
  } catch {
    // What is not told now is told with the next change.
  }
  await pause(RENEW_PAUSE);
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

function live() {
  const { collection, token } = shop.page ?? {};
  if (!collection?.path || collection.sale || !parts(document).length) return;
  for (const part of parts(document)) seen.set(part.dataset.live, part.outerHTML);
  const path = [collection.chain, collection.address, token?.id].filter((part) => part != null).join("/");
  const source = new EventSource(`/live/${path}?key=${encodeURIComponent(shop.key)}`);
  const told = (event) => {
    const { tokenId } = JSON.parse(event.data || "{}");
    if (token || tokenId == null || document.querySelector(`[data-token="${CSS.escape(tokenId)}"]`)) renew();
  };
  for (const name of token ? ["token", "collection", "activity"] : ["token", "collection"]) source.addEventListener(name, told);
  source.onerror = () => {
    // A stream that broke off comes back by itself; one that was refused does not.
    if (source.readyState === EventSource.CLOSED) setInterval(renew, ASK_PAUSE);
  };
}
