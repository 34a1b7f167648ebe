CREATE SEQUENCE webhook_ids;
