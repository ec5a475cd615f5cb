"""What the proofs of stores share: files of SQLite, and an end that says why; see stores.py."""
import os, sqlite3, subprocess, sys


def fail(*words):
    print(*words, file=sys.stderr)
    sys.exit(1)


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def remove(store):
    for suffix in '', '-wal', '-shm', '-journal':
        if os.path.exists(store + suffix):
            os.remove(store + suffix)


def clear():
    """Empties the directory of the proof."""
    for name in os.listdir('.'):
        subprocess.call(['rm', '-rf', name])


def sound(store, versions=()):
    """Opens a store that SQLite finds in order, and that has one of the versions."""
    db = sqlite3.connect(store, isolation_level=None)
    db.text_factory = lambda text: text.decode('utf-8', 'surrogateescape')
    found = [row[0] for row in db.execute('PRAGMA integrity_check')]
    if found != ['ok']:
        fail(store, 'is damaged:', found)
    if versions and db.execute('PRAGMA user_version').fetchone()[0] not in versions:
        fail(store, 'has another version')
    return db
