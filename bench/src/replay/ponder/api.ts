import { Hono } from "hono";
import { count, ne } from "ponder";
import { db } from "ponder:api";
import { activity, balance, order } from "ponder:schema";

const app = new Hono();

// Everything that can be compared, as lines.
app.get("/books", async (c) => {
  const balances = await db.select().from(balance).where(ne(balance.quantity, 0n));
  const orders = await db.select().from(order);
  const activities = await db
    .select({ action: activity.action, count: count() })
    .from(activity)
    .groupBy(activity.action);
  const lines = [
    ...balances.map((row) => `balance ${row.contract} ${row.tokenId} ${row.account} ${row.quantity}`),
    ...orders.map((row) => `order ${row.id} ${row.cancelled ? "cancelled" : "open"} ${row.remaining}`),
    ...activities.map((row) => `activities ${row.action} ${row.count}`),
  ];
  return c.text(lines.join("\n"));
});

export default app;
