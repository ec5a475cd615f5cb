#!/usr/bin/env python3
"""Measures migrate store upgrade against the same SQL in SQLite itself.

usage: stores.py MIGRATE [--megabytes N] [--rounds N]

Two changes of a store of N (110) megabytes: a table is rebuilt, and a column comes at its end. Each is made
by `migrate store upgrade --schema` and by its SQL in the shell `sqlite3`, or in Python's SQLite where there is
no shell, in turn, on a RAM disk where there is one. Shows the medians. A rebuild should take at most twice as
long as its SQL, a light step at most 50 ms more. Exits with 1 where either took longer.
"""
import argparse
import os
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

OLD = "CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT, body TEXT);"
INDEX = "CREATE INDEX noteByTitle ON note(title);"
CHANGES = {
    "rebuild": (
        "CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT NOT NULL, body TEXT);",
        "PRAGMA foreign_keys = OFF; BEGIN; ALTER TABLE note RENAME TO old;"
        "CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT NOT NULL, body TEXT);"
        "INSERT INTO note (id, title, body) SELECT id, title, body FROM old; DROP TABLE old;"
        + INDEX + "PRAGMA user_version = 2; COMMIT;"),
    "light step": (
        "CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT, body TEXT, due TEXT);",
        "BEGIN; ALTER TABLE note ADD COLUMN due TEXT; PRAGMA user_version = 2; COMMIT;"),
}


def make(path, megabytes):
    db = sqlite3.connect(path)
    db.executescript(OLD + INDEX + "PRAGMA user_version = 1;")
    words = ["fern", "water", "Sunday", "plants", "garden", "seed", "leaf", "\u82b1"]
    number = 0
    while os.path.getsize(path) < megabytes * 1_000_000:
        db.executemany("INSERT INTO note (title, body) VALUES (?, ?)", (
            (f"note {number + row}", " ".join(words[(number + row) * place % 8] for place in range(160)))
            for row in range(2_000)))
        db.commit()
        number += 2_000
    db.close()
    return number


def timed(command):
    began = time.monotonic()
    ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if ended.returncode != 0: sys.exit("stores: %s: %s" % (command[0], ended.stdout.decode()))
    return time.monotonic() - began


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("migrate")
    parser.add_argument("--megabytes", type=int, default=110)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    migrate = os.path.abspath(options.migrate)
    in_python = [sys.executable, "-c", "import sqlite3, sys\n"
                 "sqlite3.connect(sys.argv[1], isolation_level=None).executescript(sys.argv[2])"]
    shell = shutil.which("sqlite3")
    ground = "/dev/shm" if os.path.isdir("/dev/shm") else None
    missed = False
    with tempfile.TemporaryDirectory(dir=ground) as place:
        os.chdir(place)
        rows = make("made.db", options.megabytes)
        print("store of %.0f MB, %d rows; %d rounds; against %s" % (
            os.path.getsize("made.db") / 1e6, rows, options.rounds, shell or "Python's SQLite"))
        for name, (schema, sql) in CHANGES.items():
            with open("new.sql", "w") as file:
                file.write(schema + INDEX + "PRAGMA user_version = 2;")
            upgrade = [migrate, "store", "upgrade", "--store", "store.db", "--schema", "new.sql",
                       "--progress", "none"]
            peer = [shell, "store.db", sql] if shell else [*in_python, "store.db", sql]
            times = {"migrate": [], "sql": []}
            for _ in range(options.rounds):
                for who, command in (("migrate", upgrade), ("sql", peer)):
                    shutil.copyfile("made.db", "store.db")
                    times[who].append(timed(command))
            ours, theirs = (statistics.median(times[who]) for who in ("migrate", "sql"))
            is_light = name == "light step"
            fails = ours - theirs > 0.05 if is_light else ours > 2 * theirs
            missed = missed or fails
            figure = "%+.0f ms" % (1000 * (ours - theirs)) if is_light else "%.2f times" % (ours / theirs)
            print("%-10s  migrate %.3f s, SQL %.3f s: %s%s" % (
                name, ours, theirs, figure, "  MISSED" if fails else ""))
    sys.exit(1 if missed else 0)


main()
