-- Offers are looked for by the block that changed them, not all of them for each block.
DROP INDEX chain_offers;
CREATE INDEX chain_offers_of_block ON orders (collection_id, block_number)
    WHERE status = 1 AND operator IS NOT NULL AND side = 2;
