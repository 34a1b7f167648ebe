CREATE SEQUENCE account_ids;
