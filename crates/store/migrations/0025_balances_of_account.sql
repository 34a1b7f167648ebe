-- What an account holds, whatever collection it is of. Most rows that are nothing by now are of accounts that sold, and whoever
-- asks what is held passes over none of them.
CREATE INDEX balances_of_account ON balances (account, collection_id, token_id) WHERE balance <> '0';
