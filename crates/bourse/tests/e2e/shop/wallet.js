// A wallet as browsers have them, of which the test is the inside: what a page asks waits here until the test answers it.
window.__asked ??= [];
window.__waiting ??= new Map();
window.__answer = (id, result, error) => {
  const { done, fail } = window.__waiting.get(id);
  window.__waiting.delete(id);
  error ? fail(error) : done(result);
};
const provider = (wallet) => ({
  request: ({ method, params }) =>
    new Promise((done, fail) => {
      const id = window.__waiting.size + window.__asked.length + Math.random();
      window.__waiting.set(id, { done, fail });
      window.__asked.push({ id, wallet, method, params: params ?? [] });
    }),
  on() {},
});
// Wallets that announce themselves, by their names; or one that is simply there.
window.__bring = (names) => {
  if (!names.length) window.ethereum = provider("injected");
  for (const name of names) {
    const info = { uuid: name, name, rdns: `test.${name}` };
    const detail = Object.freeze({ info, provider: provider(name) });
    const announce = () => window.dispatchEvent(new CustomEvent("eip6963:announceProvider", { detail }));
    window.addEventListener("eip6963:requestProvider", announce);
    announce();
  }
};
