// What became of what was sent: by its receipt, and by what the service shows.

// How often a wallet and the service are asked again, in milliseconds.
const TURN = 700;
// How often one after another what was sent must be missing though something else was, as the nodes of a wallet may differ; and how often
// the service is asked for what became of it.
const PASSED_MAX = 5;
const LOOKS_MAX = 30;

const count = async (job, block) => Number(await ask("eth_getTransactionCount", [job.account, block]));

// The receipt of what was sent; nothing once something else was sent in its place, as wallets do that speed up or cancel.
async function mined(job) {
  let isAway = false;
  for (let passed = 0; passed < PASSED_MAX; ) {
    const isHere = await isOn(job.collection).catch(() => false);
    if (isHere === isAway) {
      job.state = isHere ? "chain" : "away";
      progress(job, isHere ? say("wait_chain") : say("wait_network", job.collection.network));
    }
    isAway = !isHere;
    // On another network, a wallet knows nothing of what was sent on this one.
    if (isHere) {
      const receipt = await ask("eth_getTransactionReceipt", [job.hash]).catch(() => null);
      if (receipt?.blockNumber) return receipt;
      const isPast = (await count(job, "latest").catch(() => 0)) > job.nonce;
      passed = isPast ? passed + 1 : 0;
    }
    await pause(TURN);
  }
  return null;
}

// Whether a step has had its effect, as our service tells it: for where no transaction is known that had it.
async function isDone(job, step) {
  if (step.id === "tokenApproval") return false;
  progress(job, say("wait_look"));
  let unknown = null;
  for (let tries = 0; tries < LOOKS_MAX; tries++) {
    try {
      if (await (job.orders ? areTaken(job, takenBy(job, step)) : isMade(job))) return true;
      unknown = null;
    } catch (error) {
      unknown = error;
    }
    await pause(TURN);
  }
  // Who cannot be asked has not said no.
  if (unknown) throw unknown;
  return false;
}

// Whether there is an order, or a token, since the job began.
async function isMade(job) {
  return job.act === "mint" ? happened(job, "mint", job.minted) : (await own(job)).some((id) => !job.before.includes(id));
}

async function areTaken(job, taken) {
  const now = await current(job);
  for (const one of taken) {
    if (!isLess(now[job.orders.indexOf(one)], one)) return false;
    // What is left is less by somebody else's purchases too.
    if (job.act !== "cancel" && !(await happened(job, "sale", one))) return false;
  }
  return true;
}

// Whether less is left of an order than when the visitor said yes.
const isLess = (found, one) => found?.status !== "active" || BigInt(found.quantityRemaining) < BigInt(one.remaining ?? 0);

// Whether something happened to a token, with the visitor, since the job began. Clocks differ a little.
async function happened(job, action, one) {
  const { collection, account } = job;
  const body = { chainId: String(collection.chain), contractAddress: collection.address, tokenId: String(job.token ?? one.token) };
  const { activities } = await api("Marketplace/ListCollectibleActivities", body);
  const party = job.act === "accept" ? "from" : "to";
  return activities.some((found) => found.action === action && isSame(found[party], account) && Date.parse(found.activityCreatedAt) > job.begun - 60000);
}

// Waits until our service shows what was done.
async function shown(job) {
  const is = {
    list: async () => (await own(job)).some((id) => !job.before.includes(id)),
    mint: async () => true,
  };
  is.offer = is.list;
  const filled = async () => (await current(job)).every((found, place) => isLess(found, job.orders[place]));
  for (let tries = 0; tries < 240; tries++) {
    if (await (is[job.act] ?? filled)().catch(() => false)) return;
    await pause(500);
  }
  throw trouble("not_shown");
}
