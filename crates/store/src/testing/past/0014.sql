-- Who said the first version of the first collection, and who made the project.
INSERT INTO attributions (collection_id, version, said_at, author, block_number, wallet, sender_project, sender_credential,
    contract, tokens, balances, orders, activities, order_keys)
VALUES (1, 1, 1740787200000, 2, NULL, NULL, NULL, NULL, TRUE, 2, 2, 3, 1, '[]');
INSERT INTO audit (audit_id, done_at, actor, actor_account, actor_email, actor_project, actor_credential, address, act,
    project_id, subject, detail)
VALUES (1, 1740787200000, 1, NULL, NULL, NULL, NULL, NULL, 'project-created', 1, 'Long here', '');
