CREATE EXTENSION pg_trgm;
CREATE UNLOGGED TABLE tokens (token bigint, name text, metadata text);
-- Every token that is for sale, with its cheapest listing and everything that a page shows.
CREATE UNLOGGED TABLE listed (
  token bigint, rank bigint, "Background" text, "Body" text, "Headwear" text, "Rarity" text,
  "Level" integer, "Power" integer, metadata text, listing text
);
-- The cheapest listing of every token in each currency.
CREATE UNLOGGED TABLE sold_in (owner text, currency text, rank bigint, metadata text, listing text);
CREATE UNLOGGED TABLE listings (token bigint, rank bigint, listing text);
