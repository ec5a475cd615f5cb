"""Migrates SQLite stores and looks at them with another SQLite; see Stores.swift.

Usage: stores.py <part> <count> <seed> <migrate> <plan>, in a directory of its own.
"""
import os, random, signal, sqlite3, subprocess, sys, time

sys.dont_write_bytecode = True
import inferences
from store_files import clear, fail, quoted, remove, sound

part, count, seed, migrate, plan = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:6]
dice = random.Random(seed)


def upgrade(store):
    command = [migrate, 'store', 'upgrade', '--store', store, '--plan', plan, '--progress', 'none']
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


APP = r'''
import os, random, sqlite3, sys, time
store, name, first, dies = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4] == 'dies'
db = sqlite3.connect(store, timeout=60, isolation_level=None)
for number in range(4):
    title = name + '-' + str(number)
    try:
        if first == 'read': db.execute('SELECT count(*) FROM note').fetchone()
        db.execute('BEGIN IMMEDIATE')
        db.execute('INSERT INTO note (title) VALUES (?)', (title,))
        if dies and number == 2: os.kill(os.getpid(), 9)
        db.execute('COMMIT')
        os.write(1, (title + '\n').encode())
    except sqlite3.Error as error:
        os.write(2, (str(error) + '\n').encode())
'''


def waiting_apps():
    """Apps wait for stores that are being migrated; no commit that one was told of is lost."""
    waited, committed, round_number = 0, 0, 0
    while waited < count:
        speed, journal = ('fast', 'slow')[round_number % 2], ('WAL', 'DELETE')[round_number // 2 % 2]
        store = speed + '-' + str(round_number) + '.db'
        db = sqlite3.connect(store, isolation_level=None)
        db.execute('PRAGMA journal_mode = ' + journal)
        db.execute('CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT)')
        db.executemany('INSERT INTO note (title) VALUES (?)', (('old' * 50,) for _ in range(2000)))
        db.execute('PRAGMA user_version = 1')
        db.close()
        apps = []
        for number in range(4):
            words = [sys.executable, '-c', APP, store, 'app%d' % number,
                     dice.choice(('read', 'write')), 'dies' if number == 3 else 'lives']
            apps.append(words)
        run = upgrade(store)
        if speed == 'fast':
            time.sleep(dice.random() * 0.1)
        else:
            time.sleep(0.15 + dice.random() * 0.1)
        apps = [subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for words in apps]
        told = set()
        for app in apps:
            told |= set(app.communicate()[0].decode().split())
        output = run.communicate()[0].decode()
        # An app that was faster than the migration keeps it away.
        if run.returncode not in (0, 75):
            fail(store, journal, 'ended with', run.returncode, output)
        again = upgrade(store)
        output = again.communicate()[0].decode()
        if again.returncode != 0:
            fail(store, journal, 'ended with', again.returncode, output)
        db = sound(store, (3,))
        titles = {row[0] for row in db.execute("SELECT title FROM note WHERE title <> ?", ('old' * 50,))}
        if not told <= titles:
            fail(store, journal, 'lost', sorted(told - titles))
        if db.execute('SELECT count(*) FROM note WHERE title = ?', ('old' * 50,)).fetchone()[0] != 2000:
            fail(store, journal, 'lost old rows')
        if db.execute('PRAGMA journal_mode').fetchone()[0] != journal.lower():
            fail(store, 'has another journal mode than', journal)
        db.close()
        # An app that died before its first commit leaves a journal, which the next one takes over.
        left = [name for name in os.listdir('.') if not name.endswith(('.db', '-journal'))]
        if left:
            fail(store, journal, 'leaves', left)
        remove(store)
        waited, committed, round_number = waited + 4, committed + len(told), round_number + 1
    print('%d waiting apps: %d commits, none lost' % (waited, committed))


# The columns of a store's notes once it is migrated.
COLUMNS = ['id', 'title', 'tags', 'folder']

# A schema to which a store is brought in place, or by a rebuild of its table.
SCHEMA = """CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT%s, tags TEXT, folder TEXT);
CREATE INDEX byTitle ON note(title); PRAGMA user_version = 3;"""


def kills(kinds):
    """Migrations are killed at random moments; the store is the old one or the new one."""
    old = new = 0
    longest = 0.5
    for number in range(count):
        kind = dice.choice(kinds)
        journal = dice.choice(('WAL', 'WAL', 'DELETE'))
        store = kind + '.db'
        clear()
        db = sqlite3.connect('live', isolation_level=None)
        db.execute('PRAGMA journal_mode = ' + journal)
        # The log holds most of the rows, as after a crash.
        db.execute('PRAGMA wal_autocheckpoint = 0')
        db.execute('CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT)')
        db.execute('PRAGMA user_version = 1')
        rows = [('row %d %s' % (row, 'x' * 200),) for row in range(5000)]
        db.execute('BEGIN')
        db.executemany('INSERT INTO note (title) VALUES (?)', rows)
        db.execute('CREATE INDEX byTitle ON note(title)')
        db.execute('COMMIT')
        for suffix in '', '-wal', '-shm':
            if os.path.exists('live' + suffix):
                subprocess.check_call(['cp', 'live' + suffix, store + suffix])
        db.close()
        remove('live')
        kept = [store]
        killed = again = [plan, '--store', os.path.abspath(store)]
        if kind.startswith('schema'):
            kept = ['notes.sql', store]
            with open('notes.sql', 'w') as file:
                file.write(SCHEMA % (' NOT NULL' if 'rebuilt' in kind else ''))
            killed = again = [migrate, 'store', 'upgrade', '--store', store, '--schema', 'notes.sql',
                              '--progress', 'none']
        began = time.time()
        run = subprocess.Popen(killed, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            run.wait(dice.random() * longest * 1.1)
            longest = 0.9 * longest + 0.1 * (time.time() - began)
        except subprocess.TimeoutExpired:
            run.send_signal(signal.SIGKILL)
            run.wait()
            longest *= 1.02

        def look(versions, moment):
            db = sound(store, versions)
            version = db.execute('PRAGMA user_version').fetchone()[0]
            if [(row[0],) for row in db.execute('SELECT title FROM note ORDER BY id')] != rows:
                fail('kill', number, kind, journal, 'rows differ', moment)
            columns = [row[1] for row in db.execute('PRAGMA table_info(note)')]
            if columns != COLUMNS[:2 if version == 1 else 4]:
                fail('kill', number, kind, journal, 'version', version, 'with', columns, moment)
            mode = db.execute('PRAGMA journal_mode').fetchone()[0]
            db.close()
            return version, mode

        version, _ = look((1, 3), 'after the kill')
        old, new = old + (version == 1), new + (version == 3)
        ended = subprocess.run(again, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if ended.returncode != 0:
            fail('kill', number, kind, journal, ended.stdout.decode())
        _, mode = look((3,), 'at the end')
        if mode != journal.lower():
            fail('kill', number, kind, journal, 'another journal mode')
        if sorted(os.listdir('.')) != kept:
            fail('kill', number, kind, journal, 'leaves', os.listdir('.'))
    print('%d kills (%s): %d left the old store, %d the new one, every row equal' % (
        count, ', '.join(kinds), old, new))


VALUES = [None, 0, 1, -1, 2**62, 1.5, 1e300, 'text', 'Grün ß', '', b'', b'\x00\xff', '007', 'x' * 9000]


def table(name):
    """SQL of a random table, and how many values a row of it takes."""
    kinds = ['', 'INTEGER', 'TEXT', 'REAL', 'BLOB', 'NUMERIC', 'VARCHAR(9)']
    strict = dice.random() < 0.2
    columns, width = [], dice.randint(1, 5)
    without = dice.random() < 0.2
    for number in range(width):
        kind = 'ANY' if strict else dice.choice(kinds)
        collation = dice.choice(['', '', ' COLLATE NOCASE', ' COLLATE RTRIM'])
        columns.append('c%d %s%s%s' % (number, kind, collation,
                                       dice.choice(['', '', " DEFAULT 'd'"])))
    if without:
        columns.insert(0, 'k INTEGER PRIMARY KEY NOT NULL')
    elif dice.random() < 0.5:
        columns.insert(0, 'k INTEGER PRIMARY KEY' + dice.choice(['', ' AUTOINCREMENT']))
    else:
        columns.insert(0, 'k INTEGER UNIQUE')
    if dice.random() < 0.3:
        columns.append('g %s AS (c0 || k) %s' % ('ANY' if strict else 'TEXT',
                                                 dice.choice(['VIRTUAL', 'STORED'])))
    options = [word for word, used in (('STRICT', strict), ('WITHOUT ROWID', without)) if used]
    return 'CREATE TABLE %s (%s) %s' % (quoted(name), ', '.join(columns), ', '.join(options)), width


def contents(db, tables):
    everything = {}
    for name in tables:
        columns = [row[1] for row in db.execute('PRAGMA table_xinfo(%s)' % quoted(name)) if row[6] != 1]
        terms = ', '.join('typeof({0}), CAST({0} AS BLOB), {0}'.format(quoted(column))
                          for column in columns)
        rows = db.execute('SELECT %s FROM %s' % (terms, quoted(name))).fetchall()
        everything[name] = sorted(map(repr, rows))
    # Only the version and the values that the steps add to 'note' may differ.
    everything['schema'] = sorted(map(repr, db.execute(
        "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name <> 'note'")))
    return everything


def schemas():
    """Stores of random schemas are upgraded by steps that touch one table; all others stay equal."""
    for number in range(count):
        store = dice.choice(('heavy', 'light', 'hooked')) + '.db'
        remove(store)
        db = sqlite3.connect(store, isolation_level=None)
        db.execute("PRAGMA encoding = '%s'" % dice.choice(['UTF-8', 'UTF-8', 'UTF-16le', 'UTF-16be']))
        db.execute('PRAGMA page_size = %d' % dice.choice([512, 1024, 4096, 8192, 65536]))
        db.execute('PRAGMA auto_vacuum = %d' % dice.choice([0, 0, 1, 2]))
        journal = dice.choice(['WAL', 'DELETE'])
        db.execute('PRAGMA journal_mode = ' + journal)
        db.execute('CREATE TABLE note (id INTEGER PRIMARY KEY, title TEXT)')
        db.execute("INSERT INTO note (title) VALUES ('a'), ('b')")
        names = dice.sample(['t', 'T2', 'odd "name"', 'größe', 'select', "it's", 'u', 'v'],
                            dice.randint(1, 5))
        tables = []
        for name in names:
            statement, width = table(name)
            db.execute(statement)
            tables.append(name)
            for key in range(dice.randint(0, 30)):
                values = [dice.choice(VALUES) for _ in range(width)]
                marks = ', '.join('?' * (width + 1))
                columns = ', '.join(['k'] + ['c%d' % column for column in range(width)])
                db.execute('INSERT INTO %s (%s) VALUES (%s)' % (quoted(name), columns, marks),
                           [key] + values)
            if dice.random() < 0.5:
                db.execute('CREATE INDEX %s ON %s (c0, k) %s' % (
                    quoted('i ' + name), quoted(name), dice.choice(['', 'WHERE c0 IS NOT NULL'])))
            if dice.random() < 0.3:
                db.execute('CREATE VIEW %s AS SELECT k, c0 FROM %s' % (
                    quoted('w ' + name), quoted(name)))
            if dice.random() < 0.3:
                db.execute('CREATE TRIGGER %s AFTER DELETE ON %s BEGIN DELETE FROM %s; END' % (
                    quoted('d ' + name), quoted(name), quoted(name)))
        for module in dice.sample(['fts5(x)', 'fts4(x)', 'rtree(id, a, b)'], dice.randint(0, 2)):
            name = module.split('(')[0]
            db.execute('CREATE VIRTUAL TABLE full_%s USING %s' % (name, module))
            if name == 'rtree':
                db.execute('INSERT INTO full_rtree VALUES (1, 2, 3), (4, -5, 6)')
            else:
                db.execute("INSERT INTO full_%s VALUES ('one two'), ('three größe')" % name)
            tables += [row[0] for row in db.execute(
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'full_%'")
                if row[0] not in tables]
        db.execute('PRAGMA application_id = %d' % dice.randint(-2**31, 2**31 - 1))
        db.execute('PRAGMA user_version = 1')
        kept = [db.execute('PRAGMA ' + name).fetchone() for name in (
            'application_id', 'encoding', 'page_size', 'auto_vacuum', 'journal_mode')]
        db.text_factory = lambda text: text.decode('utf-8', 'surrogateescape')
        before = contents(db, tables)
        db.close()
        run = upgrade(store)
        output = run.communicate()[0].decode()
        if run.returncode != 0:
            fail('schema', number, store, output)
        db = sound(store, (3,))
        after = contents(db, tables)
        if after != before:
            fail('schema', number, store, [name for name in before if before[name] != after.get(name)])
        now = [db.execute('PRAGMA ' + name).fetchone() for name in (
            'application_id', 'encoding', 'page_size', 'auto_vacuum', 'journal_mode')]
        if now != kept:
            fail('schema', number, store, kept, now)
        if db.execute('SELECT title, tags, folder FROM note').fetchall() != [('a', '', ''), ('b', '', '')]:
            fail('schema', number, store, 'the notes differ')
        db.close()
    print('%d random schemas: every other table equal' % count)


if part in ('permitted', 'refused'):
    inferences.prove(part, count, dice, migrate)
else:
    {'apps': waiting_apps, 'schemas': schemas,
     'kills': lambda: kills(('light', 'heavy', 'hooked', 'resized')),
     'inferenceKills': lambda: kills(('schema', 'schema-rebuilt', 'schema-rebuilt', 'inferred'))}[part]()
