#!/usr/bin/env python3
"""Measures migrate ios on encrypted backups of an iPhone.

usage: iphone-backups.py MIGRATE [--megabytes N] [--rows N] [--rounds N]

An app of N (500) megabytes is taken out of a backup by `migrate ios convert`, in turn with what does the same by
hand: `openssl enc -d -aes-256-cbc` of each of its files, and `migrate export` of the plain tree. It should reach 0.7
of their speed. Then `migrate ios apps` reads a backup of N (600000) rows, and `migrate ios convert` takes a container
of a sixth of them out of it: the list in under 10 s, and both in 32 MiB and 10 MiB a thread. Everything lies on a RAM
disk where there is one. Exits with 1 where a figure is missed. Needs Python's `cryptography` and openssl.
"""
import argparse
import hashlib
import os
import plistlib
import random
import shutil
import sqlite3
import statistics
import struct
import subprocess
import sys
import tempfile
import time

root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(root, "Tests", "Fixtures"))
import make_iphone_backup as backup

DOMAIN = f"AppDomain-{backup.APP}"
THREADS = 2
LIMIT = 32 + 10 * THREADS


class Figures:
    missed = False

    @classmethod
    def show(cls, text, holds):
        cls.missed = cls.missed or not holds
        print(text + ("" if holds else "  MISSED"), flush=True)


# A process counts the memory of the one that started it, so a small one starts those that are measured.
STARTER = """import os, sys, time
began = time.monotonic()
child = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=[
    (os.POSIX_SPAWN_OPEN, 1, "answer", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)])
_, status, usage = os.wait4(child, 0)
print(time.monotonic() - began, usage.ru_maxrss)
sys.exit(status != 0)"""


def run(*command):
    """Runs a command; returns its seconds, and its peak of memory in MiB."""
    ended = subprocess.run([sys.executable, "-I", "-S", "-c", STARTER, *command], stdout=subprocess.PIPE)
    if ended.returncode != 0: sys.exit(f"iphone-backups: error: failed: {' '.join(command)}")
    seconds, kilobytes = ended.stdout.split()
    return float(seconds), int(kilobytes) / 1024


def rows(count):
    """Rows of files in ten apps, made from one object: names of one length, an inode each."""
    key = b"K" * 44
    names = ["Documents/%07d.txt", "Library/Application Support/messages/attachments/%07d-picture.jpeg"]
    made = {}
    for form in range(2):
        entry = backup.Entry(names[form] % 1234567, b"", inode=2**40)
        entry.digest_value = None
        made[form] = backup.mbfile(entry, key), names[form] % 1234567
    for number in range(count):
        app = backup.APP if number % 6 == 0 else f"com.example.app{number % 10}"
        domain, form = f"AppDomain-{app}", number // 6 % 2
        path = names[form] % number
        blob, name = made[form]
        blob = blob.replace(name.encode(), path.encode())
        blob = blob.replace(struct.pack(">Q", 2**40), struct.pack(">Q", 2**40 + number))
        yield hashlib.sha1(f"{domain}-{path}".encode()).hexdigest(), domain, path, 1, blob, key


def write_lists(directory, keys, manifest_key):
    manifest = {"IsEncrypted": True, "BackupKeyBag": keys.bag, "ManifestKey": keys.wrap(4, manifest_key),
                "Version": "10.0", "Applications": {backup.APP: {"CFBundleVersion": "1"}}}
    for name, value in (("Manifest", manifest), ("Info", {"Installed Applications": [backup.APP]}),
                        ("Status", {"SnapshotState": "finished"})):
        with open(os.path.join(directory, name + ".plist"), "wb") as file: plistlib.dump(value, file)


def store(directory, identifier, content):
    place = os.path.join(directory, identifier[:2])
    os.makedirs(place, exist_ok=True)
    with open(os.path.join(place, identifier), "wb") as file: file.write(content)
    return os.path.join(place, identifier)


def seal(path, key):
    with open(path, "rb") as file: plain = file.read()
    with open(path, "wb") as file: file.write(backup.encrypt(plain, key))


def measure_conversion(migrate, megabytes, rounds):
    os.makedirs("large")
    keys, key, dice = backup.Keys(is_new=True), os.urandom(32), random.Random(1)
    text = b"".join(b"%d water the fern; the moss wants none\n" % dice.randrange(10**6) for _ in range(40_000))
    files, listed, total = [], [], 0
    while total < megabytes * 1_000_000:
        number = len(files)
        size = dice.choice([40_000, 400_000, 3_000_000, 6_000_000, 12_000_000])
        # Photos and texts.
        content = dice.randbytes(size) if number % 2 else (text * (size // len(text) + 1))[:size]
        entry = backup.Entry(f"Documents/{number:05}.{'jpg' if number % 2 else 'txt'}", content)
        entry.digest_value, file_key = None, os.urandom(32)
        stored = store("large", entry.file_id, backup.encrypt(content, file_key))
        blob = backup.mbfile(entry, keys.wrap(3, file_key))
        listed.append((entry.file_id, DOMAIN, entry.path, 1, blob))
        files.append((stored, entry.path, file_key.hex()))
        total += size
    backup.database("large/Manifest.db", listed, {}, set())
    seal("large/Manifest.db", key)
    write_lists("large", keys, key)
    convert = [migrate, "ios", "convert", "large", "--app", backup.APP, "--password-file", "password",
               "--out", "large.tar.zst", "--force", "--threads", str(THREADS)]
    export = [migrate, "export", "--container", "plain", "--out", "plain.tar.zst", "--force",
              "--level", "1", "--threads", str(THREADS), "--progress", "none"]
    times = {"ours": [], "by hand": []}
    peak = 0
    for _ in range(rounds):
        seconds, memory = run(*convert)
        times["ours"].append(seconds)
        peak = max(peak, memory)
        shutil.rmtree("plain", ignore_errors=True)
        os.makedirs("plain/Documents")
        began = time.monotonic()
        for stored, path, file_key in files:
            subprocess.run(["openssl", "enc", "-d", "-aes-256-cbc", "-K", file_key, "-iv", "0" * 32,
                            "-in", stored, "-out", "plain/" + path], check=True)
        run(*export)
        times["by hand"].append(time.monotonic() - began)
    ours, hand = (statistics.median(times[name]) for name in ("ours", "by hand"))
    Figures.show("app of %d MB in %d files: convert %.2f s, openssl and export %.2f s: %.2f of its speed" % (
        total / 1e6, len(files), ours, hand, hand / ours), hand / ours >= 0.7)
    Figures.show("  memory %.1f MiB" % peak, peak <= LIMIT)
    shutil.rmtree("large")
    shutil.rmtree("plain")


def measure_rows(migrate, count):
    os.makedirs("many")
    keys, key, file_key = backup.Keys(is_new=True), os.urandom(32), os.urandom(32)
    wrapped, content = keys.wrap(3, file_key), backup.encrypt(b"", file_key)
    listed = ((*row[:4], row[4].replace(row[5], wrapped)) for row in rows(count))
    backup.database("many/Manifest.db", listed, {}, set())
    size = os.path.getsize("many/Manifest.db") / 1e6
    seal("many/Manifest.db", key)
    write_lists("many", keys, key)
    seconds, memory = run(migrate, "ios", "apps", "many", "--password-file", "password")
    Figures.show("apps of %d rows, Manifest.db of %.0f MB: %.2f s" % (count, size, seconds), seconds < 10)
    Figures.show("  memory %.1f MiB" % memory, memory <= LIMIT)
    for row in rows(count):
        if row[1] == DOMAIN: store("many", row[0], content)
    seconds, memory = run(migrate, "ios", "convert", "many", "--app", backup.APP, "--password-file", "password",
                          "--out", "many.tar.zst", "--threads", str(THREADS))
    Figures.show("convert of %d of them: %.2f s, memory %.1f MiB" % (-(-count // 6), seconds, memory), memory <= LIMIT)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("migrate")
    parser.add_argument("--megabytes", type=int, default=500)
    parser.add_argument("--rows", type=int, default=600_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    migrate = os.path.abspath(options.migrate)
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as place:
        os.chdir(place)
        with open("password", "wb") as file: file.write(backup.PASSWORD)
        if options.megabytes: measure_conversion(migrate, options.megabytes, options.rounds)
        if options.rows: measure_rows(migrate, options.rows)
    sys.exit(1 if Figures.missed else 0)


main()
