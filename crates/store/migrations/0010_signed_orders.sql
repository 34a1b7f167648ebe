-- Orders that are signed and kept outside of chains: what was signed, from which trades are made, and the numbers by which
-- chains take orders back.
ALTER TABLE orders ADD COLUMN native TEXT;
ALTER TABLE orders ADD COLUMN nonces TEXT;
-- Chains fill such orders and take them back without naming a collection.
CREATE INDEX signed_orders_of_name ON orders (order_id, marketplace, collection_id)
    WHERE status = 1 AND native IS NOT NULL;
