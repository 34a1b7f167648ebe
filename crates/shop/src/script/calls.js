// What the steps of a trade would have a wallet do, as their data says it, whatever they are called.

const APPROVALS = { "0x095ea7b3": "money", "0xa22cb465": "tokens", "0xe8f9f1dc": "grant" };
// Calls that give away what the wallet has: no trade needs them. transfer, transferFrom, three times safeTransferFrom,
// safeBatchTransferFrom, increaseAllowance, and permit.
const GIFTS = ["0xa9059cbb", "0x23b872dd", "0x42842e0e", "0xb88d4fde", "0xf242432a", "0x2eb2c2d6", "0x39509351", "0xd505accf"];

const selectorOf = (step) => (step.data ?? "").slice(0, 10).toLowerCase();
const wordAt = (data, place) => BigInt(`0x${data.slice(10 + 64 * place, 74 + 64 * place) || 0}`);

// Who may take what by a step; nothing of a step that is no approval.
function approvalOf(step) {
  const kind = step.post ? null : APPROVALS[selectorOf(step)];
  if (!kind) return null;
  const [first, second, third] = [0, 1, 2].map((place) => wordAt(step.data, place));
  // Those who may are a list in a grant: where it begins, how long it is, and the first of it.
  const account = "0x" + (kind === "grant" ? third : first).toString(16).padStart(40, "0");
  return { kind, account, amount: second, isGiven: kind === "money" || second === 1n };
}

// Whether a step is what somebody who wants such a trade would expect: nothing is approved but what is traded, no more of the chain's
// own coin is sent than is paid, and nothing is signed for another chain.
function isExpected(job, step) {
  const { act, collection } = job;
  if (step.post) return !step.signature || BigInt(step.signature.domain.chainId) === BigInt(collection.chain);
  const paid = (job.minted ?? job.order ?? job.orders[0]).currency;
  const approval = approvalOf(step);
  const sells = act === "list" || act === "accept";
  const coins = (act === "buy" || act === "mint") && isCoin(paid) ? BigInt(step.price || 0) : 0n;
  if (BigInt(step.value || 0) > coins || GIFTS.includes(selectorOf(step)) || Boolean(approval) !== (step.id === "tokenApproval")) return false;
  if (!approval) return true;
  if (approval.kind === "money") return act !== "list" && act !== "cancel" && isSame(step.to, paid);
  return sells && approval.isGiven && (approval.kind === "grant" || isSame(step.to, collection.address));
}

const word = (value) => BigInt(value).toString(16).padStart(64, "0");

// What the makers of a token get of a price, as the contract of our marketplaces charges it: steps do not tell.
async function royaltyOf(job) {
  const { collection, order } = job;
  const making = job.steps.find((step) => !step.post && (step.id === "createListing" || step.id === "createOffer"));
  if (!making || !isOwn(collection.market)) return null;
  const price = BigInt(order.price) * BigInt(order.quantity);
  // getRoyaltyInfo(address tokenContract, uint256 tokenId, uint256 cost) returns (address, uint256)
  const call = { to: making.to, data: "0x36de9742" + word(collection.address) + word(order.token) + word(price) };
  const answer = await ask("eth_call", [call, "latest"]).catch(() => null);
  if (!/^0x[0-9a-f]{128}$/i.test(answer)) throw trouble("no_royalty");
  return String(BigInt("0x" + answer.slice(66)));
}
