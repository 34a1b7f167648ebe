import { type Context, ponder } from "ponder:registry";
import { activity, approval, balance, order, token, tokenApproval } from "ponder:schema";
import { type Hex, zeroAddress } from "viem";

// Numbered as Bourse numbers them.
const LISTING = 1, OFFER = 2, MINT = 3, SALE = 4, LISTING_CANCEL = 5, OFFER_CANCEL = 6, TRANSFER = 7;

type Origin = {
  block: { timestamp: bigint };
  transaction: { hash: Hex };
  log: { logIndex: number; address: Hex };
};

type Happened = {
  action: number;
  contract: Hex;
  tokenId: bigint;
  from: Hex;
  to?: Hex;
  quantity: bigint;
  price?: bigint;
  currency?: Hex;
};

async function record({ db }: Context, event: Origin, part: number, happened: Happened) {
  const { hash } = event.transaction;
  const { logIndex } = event.log;
  const id = `${hash}:${logIndex}:${part}:${happened.action}`;
  await db.insert(activity).values({ id, txHash: hash, logIndex, at: event.block.timestamp, ...happened });
}

async function move(
  context: Context,
  event: Origin,
  part: number,
  moved: { from: Hex; to: Hex; tokenId: bigint; quantity: bigint },
) {
  const { db } = context;
  const { from, to, tokenId, quantity } = moved;
  const contract = event.log.address;
  if (from === zeroAddress) {
    await db.insert(token).values({ contract, id: tokenId }).onConflictDoNothing();
  } else {
    await db
      .update(balance, { contract, tokenId, account: from })
      .set((row) => ({ quantity: row.quantity - quantity }));
  }
  await db
    .insert(balance)
    .values({ contract, tokenId, account: to, quantity })
    .onConflictDoUpdate((row) => ({ quantity: row.quantity + quantity }));
  const action = from === zeroAddress ? MINT : TRANSFER;
  await record(context, event, part, { action, contract, tokenId, from, to, quantity });
}

ponder.on("Relics:Transfer", async ({ event, context }) => {
  const { from, to, tokenId } = event.args;
  await move(context, event, 0, { from, to, tokenId, quantity: 1n });
  // Deleting it would be a query each time, while this is answered by what Ponder holds in memory.
  const approved = await context.db.find(tokenApproval, { tokenId });
  if (approved !== null && approved.operator !== zeroAddress) {
    await context.db.update(tokenApproval, { tokenId }).set({ operator: zeroAddress });
  }
});

ponder.on("Relics:Approval", async ({ event, context }) => {
  const { tokenId, operator } = event.args;
  await context.db.insert(tokenApproval).values({ tokenId, operator }).onConflictDoUpdate({ operator });
});

ponder.on("Potions:TransferSingle", async ({ event, context }) => {
  const { from, to, id, value } = event.args;
  await move(context, event, 0, { from, to, tokenId: id, quantity: value });
});

ponder.on("Potions:TransferBatch", async ({ event, context }) => {
  const { from, to, ids, amounts } = event.args;
  for (const [part, tokenId] of ids.entries()) {
    await move(context, event, part, { from, to, tokenId, quantity: amounts[part]! });
  }
});

async function approve(context: Context, event: Origin, args: { owner: Hex; operator: Hex; approved: boolean }) {
  const { approved } = args;
  const row = { contract: event.log.address, ...args };
  await context.db.insert(approval).values(row).onConflictDoUpdate({ approved });
}

ponder.on("Relics:ApprovalForAll", ({ event, context }) => approve(context, event, event.args));
ponder.on("Potions:ApprovalForAll", ({ event, context }) => approve(context, event, event.args));

ponder.on("Market:RequestCreated", async ({ event, context }) => {
  const { requestId, creator, tokenContract, tokenId, isListing, quantity, currency } = event.args;
  const price = event.args.pricePerToken;
  await context.db.insert(order).values({
    id: requestId,
    contract: tokenContract,
    tokenId,
    maker: creator,
    isListing,
    cancelled: false,
    quantity,
    remaining: quantity,
    currency,
    price,
    validUntil: event.args.expiry,
    createdAt: event.block.timestamp,
    blockNumber: event.block.number,
  });
  const action = isListing ? LISTING : OFFER;
  const happened = { action, contract: tokenContract, tokenId, from: creator, quantity, price, currency };
  await record(context, event, 0, happened);
});

ponder.on("Market:RequestAccepted", async ({ event, context }) => {
  const { requestId, buyer: taker, quantity, quantityRemaining } = event.args;
  const changed = { remaining: quantityRemaining, blockNumber: event.block.number };
  const row = await context.db.update(order, { id: requestId }).set(changed);
  const [from, to] = row.isListing ? [row.maker, taker] : [taker, row.maker];
  const { contract, tokenId, price, currency } = row;
  await record(context, event, 0, { action: SALE, contract, tokenId, from, to, quantity, price, currency });
});

ponder.on("Market:RequestCancelled", async ({ event, context }) => {
  const changed = { cancelled: true, blockNumber: event.block.number };
  const row = await context.db.update(order, { id: event.args.requestId }).set(changed);
  const action = row.isListing ? LISTING_CANCEL : OFFER_CANCEL;
  const { contract, tokenId, maker, remaining, price, currency } = row;
  const happened = { action, contract, tokenId, from: maker, quantity: remaining, price, currency };
  await record(context, event, 0, happened);
});
