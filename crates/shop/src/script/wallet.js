// Wallets of the browser, as they announce themselves (EIP-6963) or as the only one there is (EIP-1193).

const wallets = new Map();
let wallet = null; // { name, id, provider, account }

window.addEventListener("eip6963:announceProvider", (event) => {
  const { info, provider } = event.detail ?? {};
  if (!info?.uuid || !provider?.request) return;
  wallets.set(info.uuid, { id: String(info.rdns ?? info.uuid), name: String(info.name ?? "Wallet").slice(0, 60), provider });
});

const known = () => {
  window.dispatchEvent(new Event("eip6963:requestProvider"));
  const found = [...wallets.values()];
  if (!found.length && window.ethereum?.request) found.push({ id: "injected", name: say("browser_wallet"), provider: window.ethereum });
  return found;
};

// Wallets are locked and disconnected in the middle of everything.
async function ask(method, params = []) {
  if (!wallet) throw trouble("no_account");
  return wallet.provider.request({ method, params });
}

// Takes a wallet up again that was chosen before, without asking anybody anything.
async function remember() {
  const id = keep("wallet");
  // Wallets announce themselves when they are asked, and some a moment later.
  for (let tries = 0; id && tries < 10; tries++) {
    const chosen = known().find((one) => one.id === id);
    if (chosen) {
      const [account] = (await chosen.provider.request({ method: "eth_accounts" }).catch(() => [])) ?? [];
      if (account) await use(chosen, account);
      return;
    }
    await pause(100);
  }
}

const heard = new Set();

async function use(chosen, account) {
  wallet = { ...chosen, account: account.toLowerCase() };
  keep("wallet", wallet.id);
  if (!heard.has(chosen.provider)) chosen.provider.on?.("accountsChanged", ([changed]) => {
    // What another wallet does than the one that was chosen is nobody's business.
    if (wallet?.provider !== chosen.provider) return;
    if (changed) wallet.account = changed.toLowerCase();
    else {
      wallet = null;
      keep("wallet", null);
    }
    show();
  });
  heard.add(chosen.provider);
  show();
}

// The account that the wallet is on right now.
async function accountNow() {
  const [account] = (await ask("eth_accounts")) ?? [];
  return account?.toLowerCase();
}

// The account of somebody's wallet; they choose where there are several.
async function connect() {
  const current = wallet && (await accountNow());
  if (current) {
    if (current !== wallet.account) await use(wallet, current);
    return current;
  }
  let found = known();
  if (!found.length) {
    await pause(300);
    found = known();
  }
  if (!found.length) throw trouble("no_wallet");
  const chosen = found.length === 1 ? found[0] : await choose(say("which_wallet"), found.map((one) => [one.name, one]));
  if (!chosen) throw trouble("refused");
  const [account] = await chosen.provider.request({ method: "eth_requestAccounts" });
  if (!account) throw trouble("refused");
  await use(chosen, account);
  return wallet.account;
}

const chainOf = (collection) => "0x" + BigInt(collection.chain).toString(16);
const isOn = async (collection) => BigInt(await ask("eth_chainId")) === BigInt(collection.chain);

// Has the wallet be on a chain.
async function onChain(collection) {
  if (await isOn(collection)) return;
  try {
    await ask("wallet_switchEthereumChain", [{ chainId: chainOf(collection) }]);
  } catch (error) {
    if (error?.code === 4001) throw error;
    throw trouble("wrong_chain", collection.network);
  }
  await stillOn(collection);
}

async function stillOn(collection) {
  if (!(await isOn(collection))) throw trouble("wrong_chain", collection.network);
}
