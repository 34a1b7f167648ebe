-- Orders that are signed and kept outside of chains: what was signed, from which trades are made, and the numbers by which
-- chains take orders back.
ALTER TABLE orders ADD COLUMN native TEXT;
ALTER TABLE orders ADD COLUMN nonces TEXT;
-- Chains fill such orders and take them back without naming a collection.
CREATE INDEX signed_orders_of_name ON orders (order_id, marketplace, collection_id)
    WHERE status = 1 AND native IS NOT NULL;

-- Signed orders of which the chain is to be asked what became of them before they were put.
CREATE TABLE standing_queue (
    collection_id BIGINT NOT NULL,
    marketplace BIGINT NOT NULL,
    order_id TEXT NOT NULL,
    PRIMARY KEY (collection_id, marketplace, order_id)
);
-- When blocks are taken back it is asked again of those that it was asked of in these blocks.
CREATE INDEX signed_orders_of_block ON orders (collection_id, block_number) WHERE native IS NOT NULL;
