"""Prints, as a JSON object, the bytes of each kind of what is counted, from the SQLite database that is named."""

import json
import sqlite3
import sys

connection = sqlite3.connect(sys.argv[1])
connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
rows = connection.execute("SELECT kind, sum(length(body)) FROM analytics_chunks GROUP BY kind").fetchall()
connection.close()
print(json.dumps({str(kind): size for kind, size in rows}))
