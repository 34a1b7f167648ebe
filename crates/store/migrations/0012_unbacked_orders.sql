-- Signed orders whose makers are not known to have what they sell, or the money that they offer: so many are kept.
CREATE INDEX unbacked_orders ON orders (collection_id) WHERE status = 1 AND native IS NOT NULL AND backing = '0';
