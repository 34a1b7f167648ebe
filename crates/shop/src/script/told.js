// What is shown of a trade before anybody says yes: what moves, to whom, who else gets a share, and what each step allows.

// Our own marketplaces, where whoever made the order pays the royalty: of an offer, that is on top of the price.
const isOwn = (market) => /_marketplace_v[12]$/.test(market);

const totalOf = (one) => BigInt(one.price) * BigInt(one.quantity);
const sumOf = (all, value) => all.reduce((sum, one) => sum + value(one), 0n);

function told(job) {
  const { act, collection, order, minted } = job;
  const all = job.orders ?? [minted ?? order];
  return [
    ...all.flatMap((one) => toldOfOne(job, one)),
    ...(act === "buy" || act === "accept" ? toldOfFees(job, all) : []),
    ...(act === "list" || act === "offer" ? toldOfMaking(job) : []),
    [say("network"), collection.network],
  ];
}

function toldOfOne({ act, collection }, one) {
  // What is taken back is all that is left of it.
  const quantity = BigInt(act === "cancel" ? one.remaining ?? 1 : one.quantity);
  const rows = [[say("token"), ...named(one), " · ", address(collection.address)]];
  if (quantity !== 1n) rows.push([say("units"), String(quantity)], [say("price_of_one"), money(one.price, one)]);
  rows.push([say("price"), money(BigInt(one.price) * quantity, one)]);
  if (act === "buy") rows.push([say("seller"), address(one.maker)]);
  if (act === "accept") rows.push([say("buyer"), address(one.maker)]);
  return rows;
}

function toldOfFees({ act, collection, steps }, all) {
  const rows = [];
  const price = sumOf(all, totalOf);
  const fee = collection.feeBps && shop.feeReceiver ? price * BigInt(collection.feeBps) / 10000n : 0n;
  if (fee > 0n) rows.push([say("fee"), `${amount(collection.feeBps, 2)} % → `, address(shop.feeReceiver)]);
  const paid = sumOf(steps.filter((step) => step.id === "buy"), (step) => BigInt(step.price || 0));
  if (act === "buy" && paid > 0n) rows.push([say("altogether"), money(paid, all[0])]);
  // What others get is inside the price of an offer, but for our own marketplaces.
  const net = (one) => (isOwn(one.market) ? totalOf(one) : BigInt(one.net ?? one.price) * BigInt(one.quantity));
  if (act === "accept") rows.push([say("you_get"), money(sumOf(all, net) - fee, all[0])]);
  return rows;
}

function toldOfMaking({ act, order, royalty, steps, account }) {
  const rows = [], price = totalOf(order);
  if (royalty != null) {
    const share = BigInt(royalty);
    if (share > 0n) rows.push([say("royalty"), money(share, order)]);
    rows.push(act === "list" ? [say("you_get"), money(price - share, order)] : [say("you_pay"), money(price + share, order)]);
  }
  // A signed listing says who gets how much of what is paid for it.
  const parts = steps.find((step) => step.signature)?.signature.value.consideration;
  if (act === "list" && Array.isArray(parts))
    rows.push([say("you_get"), money(sumOf(parts.filter((part) => isSame(part.recipient, account)), (part) => BigInt(part.startAmount)), order)]);
  return [...rows, [say("ends"), new Date(order.expiry * 1000).toLocaleDateString(shop.language)]];
}

// What a step is, where it goes, and what comes of it.
function toldOf(job, step) {
  const approval = approvalOf(step);
  if (!approval) return [say(`step_${step.id}`), " ", make("span", { class: "soft" }, ...toldOfStep(job, step))];
  const order = job.minted ?? job.order ?? job.orders[0];
  const what = { money: () => say("up_to", money(approval.amount, order)), tokens: () => say("all_tokens"), grant: () => say("all_granted") };
  return [say({ money: "step_approveMoney", tokens: "step_tokenApproval", grant: "step_grantApproval" }[approval.kind]), ": ",
    make("span", { class: "soft", "data-approval": approval.kind }, what[approval.kind](), " → ", address(approval.account), step.note ? ` · ${step.note}` : "")];
}

function toldOfStep(job, step) {
  if (step.post) return [say("only_signed"), step.signature ? null : make("q", {}, plain(step.data).slice(0, 300))].filter(Boolean);
  const value = BigInt(step.value || 0);
  return [`${say("sent_to")} `, address(step.to), value > 0n ? ` · ${amount(value, 18)} ${job.collection.coin || ""}` : "", step.note ? ` · ${step.note}` : ""];
}
