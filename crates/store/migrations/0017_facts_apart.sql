-- What a chain states of an order and what others say of it, as JSON, kept apart: what blocks stated that no longer count
-- is taken back without what others said. Where both are null the order is what others say of it. Of orders of before
-- this was kept apart: those of the service's own contracts are what the chain states, and of signed ones the chain
-- states what remains.
ALTER TABLE orders ADD COLUMN said TEXT;
ALTER TABLE orders ADD COLUMN stated TEXT;

-- Whether somebody told of a token after a block made it: then it stays when that block is undone.
ALTER TABLE tokens ADD COLUMN said BOOLEAN NOT NULL DEFAULT FALSE;

-- The block at which a signed order was queued, or last asked about in vain: whoever waits longest comes first.
ALTER TABLE standing_queue ADD COLUMN queued_block BIGINT NOT NULL DEFAULT 0;
CREATE INDEX standing_queue_waiting ON standing_queue (queued_block, collection_id, marketplace, order_id);
-- When the chain first had not come to the number that an order has of its maker.
ALTER TABLE standing_queue ADD COLUMN ahead_since TEXT;
