-- Whether an order is filled whole or not at all. Of orders that are there: all of LooksRare and X2Y2, and of others what was signed
-- tells it, by the kind of an order of Seaport and by that of Payment Processor.
ALTER TABLE orders ADD COLUMN is_whole BOOLEAN NOT NULL DEFAULT FALSE;
UPDATE orders SET is_whole = TRUE
WHERE marketplace IN (6, 7)
    OR (marketplace IN (5, 8, 10, 11) AND (native LIKE '%"orderType":0,%' OR native LIKE '%"orderType":2,%'))
    OR (marketplace IN (9, 11) AND (native LIKE '%"protocol":0,%' OR native LIKE '%"protocol":1,%'));
