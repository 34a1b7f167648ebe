"""Prints the lines that a query gives, from the SQLite database that is named."""

import sqlite3
import sys

connection = sqlite3.connect(sys.argv[1])
for (line,) in connection.execute(sys.argv[2]):
    print(line)
connection.close()
