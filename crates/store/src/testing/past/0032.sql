-- A listener of project 2 to which a delivery failed, and one that was given up.
INSERT INTO webhook_listeners (project_id, listener_id, chain_id, url, filters, name, secret, active, pause, created_at, updated_at,
    holder)
VALUES (2, 32, 137, 'https://hooks.example/told', '{"events":["transfer"],"contractAddresses":["0x00000000000000000000000000000000000000c2"],"accounts":[],"tokenIDs":[]}',
    'Told', '3232323232323232323232323232323232323232323232323232323232323232', TRUE, '', '2025-03-03T00:00:00Z',
    '2025-03-03T00:00:00Z', '0000000000000020');
INSERT INTO webhook_cursors (project_id, listener_id, collection_id, contract_address, retractions, activity, told, failures, due_at,
    failure, failed_at)
VALUES (2, 32, 2, '0x00000000000000000000000000000000000000c2', 1, 29, 0, 2, 1740960004000, 'the host answers with status 500',
    1740960000000);
INSERT INTO webhook_letters (project_id, letter_id, listener_id, message, body, failure, failed_at)
VALUES (2, 33, 32, '32-2-1.28', '{}', 'the host answers with status 500', 1740960000000);
INSERT INTO webhook_servers (name, beat) VALUES ('0000000000000020', 32);
