-- Whether a storefront has pages that the service itself serves to buyers.
ALTER TABLE storefronts ADD COLUMN site BOOLEAN NOT NULL DEFAULT FALSE;
CREATE INDEX storefronts_of_sites ON storefronts (project_id) WHERE site;
