"""Computes charts with DuckDB, straight from a file of events.

Reads a JSON object with the settings from the file named first, and writes one with the results to the file named
second. Loading the events is not timed.
"""

import json
import sys
import time

import duckdb

LOAD = """
CREATE TYPE kind AS ENUM ('session', 'transaction', 'market');
CREATE TYPE action AS ENUM ('buy', 'sell');
CREATE TEMP TABLE read AS
    SELECT wallet, CAST("at" AS TIMESTAMP) AS "at", kind, properties.action AS action
    FROM read_json('{events}', format = 'newline_delimited', columns =
        {{'wallet': 'VARCHAR', 'at': 'VARCHAR', 'kind': 'VARCHAR', 'properties': 'STRUCT(action VARCHAR)'}});
CREATE TEMP TABLE numbers AS
    SELECT wallet, CAST(row_number() OVER () AS INTEGER) AS number FROM (SELECT DISTINCT wallet FROM read);
CREATE TABLE events AS
    SELECT wallet, number, CAST("at" AS DATE) AS day, CAST(kind AS kind) AS kind, CAST(action AS action) AS action
    FROM read JOIN numbers USING (wallet) ORDER BY "at";
CREATE TABLE usage AS
    SELECT CAST(day AS DATE) AS day, service, units
    FROM read_json('{usage}', format = 'newline_delimited', columns =
        {{'day': 'VARCHAR', 'service': 'VARCHAR', 'units': 'BIGINT'}});
DROP TABLE read;
DROP TABLE numbers;
CHECKPOINT;
"""


def timed(connection, sql, runs):
    """The rows of a query, and the seconds that each run took."""
    seconds = []
    for _ in range(runs):
        started = time.perf_counter()
        rows = connection.execute(sql).fetchall()
        seconds.append(time.perf_counter() - started)
    return rows, seconds


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        settings = json.load(file)
    connection = duckdb.connect(settings["database"], config={"threads": settings["threads"]})
    connection.execute(LOAD.format(events=settings["events"], usage=settings["usage"]))
    charts = []
    for chart in settings["charts"]:
        rows, seconds = timed(connection, chart["sql"].replace("{wallet}", "wallet"), settings["runs"])
        numbered, numbered_seconds = timed(
            connection, chart["sql"].replace("{wallet}", "number"), settings["runs"]
        )
        if sorted(rows) != sorted(numbered):
            sys.exit(f"{chart['name']}: addresses and numbers give different rows")
        charts.append(
            {"name": chart["name"], "rows": rows, "seconds": seconds, "numberedSeconds": numbered_seconds}
        )
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        json.dump({"version": duckdb.__version__, "charts": charts}, file)


main()
