import { onchainTable, primaryKey } from "ponder";

export const token = onchainTable(
  "token",
  (t) => ({ contract: t.hex().notNull(), id: t.bigint().notNull() }),
  (table) => ({ key: primaryKey({ columns: [table.contract, table.id] }) }),
);

export const balance = onchainTable(
  "balance",
  (t) => ({
    contract: t.hex().notNull(),
    tokenId: t.bigint().notNull(),
    account: t.hex().notNull(),
    quantity: t.bigint().notNull(),
  }),
  (table) => ({ key: primaryKey({ columns: [table.contract, table.tokenId, table.account] }) }),
);

export const approval = onchainTable(
  "approval",
  (t) => ({
    contract: t.hex().notNull(),
    owner: t.hex().notNull(),
    operator: t.hex().notNull(),
    approved: t.boolean().notNull(),
  }),
  (table) => ({ key: primaryKey({ columns: [table.contract, table.owner, table.operator] }) }),
);

export const tokenApproval = onchainTable("token_approval", (t) => ({
  tokenId: t.bigint().primaryKey(),
  operator: t.hex().notNull(),
}));

export const order = onchainTable("order", (t) => ({
  id: t.bigint().primaryKey(),
  contract: t.hex().notNull(),
  tokenId: t.bigint().notNull(),
  maker: t.hex().notNull(),
  isListing: t.boolean().notNull(),
  cancelled: t.boolean().notNull(),
  quantity: t.bigint().notNull(),
  remaining: t.bigint().notNull(),
  currency: t.hex().notNull(),
  price: t.bigint().notNull(),
  validUntil: t.bigint().notNull(),
  createdAt: t.bigint().notNull(),
  blockNumber: t.bigint().notNull(),
}));

export const activity = onchainTable("activity", (t) => ({
  id: t.text().primaryKey(),
  action: t.integer().notNull(),
  contract: t.hex().notNull(),
  tokenId: t.bigint(),
  from: t.hex().notNull(),
  to: t.hex(),
  quantity: t.bigint().notNull(),
  price: t.bigint(),
  currency: t.hex(),
  txHash: t.hex().notNull(),
  logIndex: t.integer().notNull(),
  at: t.bigint().notNull(),
}));
