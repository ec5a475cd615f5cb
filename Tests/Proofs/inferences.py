"""Brings SQLite stores to random schemas, and looks at them with another SQLite; see stores.py."""
import os, sqlite3, subprocess

from store_files import clear, quoted
from store_files import fail as end

STORE, SCHEMA = 'store.db', 'schema.sql'


def prove(*of):
    global part, count, dice, migrate
    part, count, dice, migrate = of
    {'permitted': permit, 'refused': refuse}[part]()


def fail(number, *words):
    end(part, number, *words)


def command(verb, hints):
    progress = ['--progress', 'none'] if verb == 'upgrade' else []
    return [migrate, 'store', verb, '--store', STORE, '--schema', SCHEMA, *progress, *hints]


def run(verb, hints=()):
    ended = subprocess.run(command(verb, hints), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return ended.returncode, ended.stdout.decode('utf-8', 'replace')


# A table is its columns, its rows (a dictionary each, with 'rowid'), and its other declarations.
KINDS = {
    'TEXT': [None, 'text', '', 'Grün ß', 'x' * 3000, b'\x00\xff', '007'],
    'INTEGER': [None, 0, 1, -5, 2**62, 'word', 1.5],
    'REAL': [None, 0.5, -1e300, 3.0, 'word'],
    'BLOB': [None, b'', b'\x01' * 700, 'text', 7, 2.5],
    '': [None, 1, '1', 1.5, b'1'],
    'NUMERIC': [None, 12, 'n', 0.25],
}


class Column:
    def __init__(self, name, kind):
        self.name, self.kind = name, kind
        self.notnull, self.default, self.check, self.collation, self.unique = False, None, '', '', False
        # Whether its NULLs were filled: then it keeps the value that fills them.
        self.filled = False

    def sql(self):
        words = [quoted(self.name), self.kind]
        if self.notnull: words.append('NOT NULL')
        if self.default is not None: words.append('DEFAULT ' + self.default)
        if self.collation: words.append('COLLATE ' + self.collation)
        if self.unique: words.append('UNIQUE')
        if self.check: words.append('CHECK (%s)' % self.check)
        return ' '.join(words)


class Table:
    def __init__(self, name):
        self.name, self.key = name, dice.choice(['rowid', 'alias', 'counter', 'without'])
        self.columns = [Column(column, dice.choice(list(KINDS)))
                        for column in dice.sample(['a', 'b', 'c', 'odd "name"', 'größe', 'select', "it's"],
                                                  dice.randint(1, 5))]
        self.rows = []
        for number in range(dice.choice([0, 1, 5, 60])):
            row = {column.name: dice.choice(KINDS[column.kind]) for column in self.columns}
            row['id'] = number * 3 + 1
            self.rows.append(row)
        self.indexes = []
        self.view = self.trigger = False

    def sql(self):
        key = {'rowid': [], 'alias': ['id INTEGER PRIMARY KEY'], 'without': ['id INTEGER PRIMARY KEY NOT NULL'],
               'counter': ['id INTEGER PRIMARY KEY AUTOINCREMENT']}[self.key]
        columns = key + [column.sql() for column in self.columns]
        text = ['CREATE TABLE %s (%s)%s;' % (quoted(self.name), dice.choice([', ', ' ,\n -- c\n ']).join(columns),
                                            ' WITHOUT ROWID' if self.key == 'without' else '')]
        for name, column in self.indexes:
            text.append('CREATE INDEX %s ON %s (%s);' % (quoted(name), quoted(self.name), quoted(column)))
        if self.view:
            text.append('CREATE VIEW %s AS SELECT %s FROM %s;' % (
                quoted('v ' + self.name), quoted(self.columns[0].name), quoted(self.name)))
        if self.trigger:
            text.append('CREATE TRIGGER %s AFTER INSERT ON %s BEGIN DELETE FROM %s; END;' % (
                quoted('t ' + self.name), quoted(self.name), quoted(self.name)))
        return '\n'.join(text)

    def insert(self, db):
        names = (['id'] if self.key != 'rowid' else ['rowid']) + [quoted(c.name) for c in self.columns]
        for row in self.rows:
            values = [row['id']] + [row[column.name] for column in self.columns]
            db.execute('INSERT INTO %s (%s) VALUES (%s)' % (
                quoted(self.name), ', '.join(names), ', '.join('?' * len(names))), values)

    def values(self, column):
        return [row[column.name] for row in self.rows]


def make(path, tables, version, journal=None):
    db = sqlite3.connect(path, isolation_level=None)
    if journal:
        db.execute("PRAGMA encoding = '%s'" % dice.choice(['UTF-8', 'UTF-8', 'UTF-16le', 'UTF-16be']))
        db.execute('PRAGMA page_size = %d' % dice.choice([512, 4096, 65536]))
        db.execute('PRAGMA auto_vacuum = %d' % dice.choice([0, 0, 1, 2]))
        db.execute('PRAGMA journal_mode = ' + journal)
    db.execute('BEGIN')
    for table in tables:
        trigger, table.trigger = table.trigger, False
        for statement in table.sql().split(';\n'):
            db.execute(statement)
        table.insert(db)
        table.trigger = trigger
        if trigger: db.execute(table.sql().split(';\n')[-1])
    db.execute('PRAGMA user_version = %d' % version)
    db.execute('COMMIT')
    db.close()


def contents(path, tables):
    db = sqlite3.connect(path)
    db.text_factory = lambda text: text.decode('utf-8', 'surrogateescape')
    if db.execute('PRAGMA integrity_check').fetchall() != [('ok',)]:
        return 'damaged: %s' % db.execute('PRAGMA integrity_check').fetchall()
    everything = {}
    for table in tables:
        key = ['rowid' if table.key == 'rowid' else 'id']
        names = key + [quoted(column.name) for column in table.columns]
        terms = ', '.join('typeof({0}), {0}'.format(name) for name in names)
        everything[table.name] = sorted(map(repr, db.execute('SELECT %s FROM %s' % (terms, quoted(table.name)))))
    everything['names'] = sorted(row[0] for row in db.execute(
        "SELECT type || ' ' || name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'"))
    db.close()
    return everything


def permitted(tables, hints):
    """Changes one thing that may change."""
    table = dice.choice(tables)
    column = dice.choice(table.columns)
    values = table.values(column)
    change = dice.choice(['add', 'addLast', 'notnull', 'fill', 'null', 'default', 'drop', 'dropEmpty', 'rename',
                          'table', 'dropTable', 'index', 'view', 'trigger', 'check', 'collation', 'counter',
                          'without', 'text', 'unique', 'renameTable'])
    if change in ('add', 'addLast'):
        new = Column('n%d' % dice.randint(0, 10**6), dice.choice(list(KINDS)))
        new.default = dice.choice([None, "'d'", '7', '-1.5', "x'00'"])
        value = {None: None, "'d'": 'd', '7': 7, '-1.5': -1.5, "x'00'": b'\x00'}[new.default]
        new.notnull = value is not None and dice.random() < 0.5
        place = len(table.columns) if change == 'addLast' else dice.randint(0, len(table.columns))
        table.columns.insert(place, new)
        for row in table.rows: row[new.name] = value
    elif change == 'notnull' and None not in values:
        column.notnull = True
    elif change == 'fill' and not column.unique and not column.check and column.name in table.first:
        column.notnull, column.default, column.filled = True, "'filled'", True
        for row in table.rows:
            if row[column.name] is None: row[column.name] = 'filled'
    elif change == 'null' and not column.filled:
        column.notnull = False
    elif change == 'default' and not column.filled and column.name in table.first:
        column.default = dice.choice([None, "'e'", '8'])
        if column.notnull and column.default is None: column.default = "'e'"
    elif change in ('drop', 'dropEmpty') and len(table.columns) > 1 and not table.view \
            and table.first.get(column.name, column.name) == column.name \
            and all(name != column.name for _, name in table.indexes):
        original = table.first.get(column.name)
        if change == 'drop' and original:
            hints += ['--drop', table.old + '.' + original]
        elif any(value is not None for value in values) or original and table.filled(original):
            return
        table.columns.remove(column)
    elif change == 'rename' and table.first.get(column.name) == column.name and '=' not in column.name:
        new = 'r%d' % dice.randint(0, 10**6)
        hints += ['--rename', '%s.%s=%s.%s' % (table.old, column.name, table.old, new)]
        table.first[new] = table.first.pop(column.name)
        for row in table.rows: row[new] = row.pop(column.name)
        table.indexes = [(name, new if of == column.name else of) for name, of in table.indexes]
        column.name = new
    elif change == 'renameTable' and table.old == table.name:
        new = 'm%d' % dice.randint(0, 10**6)
        hints += ['--rename', '%s=%s' % (table.name, new)]
        table.name = new
    elif change == 'table':
        new = Table('new%d' % dice.randint(0, 10**6))
        new.rows, new.first, new.old, new.start = [], {}, None, []
        tables.append(new)
    elif change == 'dropTable' and len(tables) > 1 and table.old in (None, table.name) \
            and all(new == old for new, old in table.first.items()):
        if table.start: hints += ['--drop', table.old]
        tables.remove(table)
    elif change == 'index':
        if table.indexes and dice.random() < 0.5: table.indexes.pop()
        else: table.indexes.append(('i%d' % dice.randint(0, 10**6), column.name))
    elif change == 'view':
        table.view = not table.view
    elif change == 'trigger':
        table.trigger = not table.trigger
    elif change == 'check' and not column.check:
        column.check = '%s IS NULL OR length(%s) < 4000' % (quoted(column.name), quoted(column.name))
    elif change == 'collation' and not column.unique:
        column.collation = dice.choice(['', 'NOCASE', 'RTRIM'])
    elif change == 'counter' and table.key in ('alias', 'counter'):
        table.key = 'counter' if table.key == 'alias' else 'alias'
    elif change == 'without' and table.key in ('alias', 'without') and not table.trigger and not table.view:
        table.key = 'without' if table.key == 'alias' else 'alias'
    elif change == 'text' and column.kind == 'INTEGER' and all(
            value is None or isinstance(value, int) for value in values) and not column.unique:
        column.kind = 'TEXT'
        for row in table.rows:
            if row[column.name] is not None: row[column.name] = str(row[column.name])
    elif change == 'unique' and len(table.rows) < 2:
        column.unique = True


def refused(tables, hints):
    """Changes one thing that may not change; returns whether it did."""
    full = [table for table in tables if len(table.rows) > 1 and table.start]
    if not full: return False
    table = dice.choice(full)
    column = dice.choice(table.columns)
    values = table.values(column)
    change = dice.choice(['drop', 'dropTable', 'notnull', 'add', 'check', 'unique', 'number', 'computed', 'parent'])
    isOld = column.name in table.first
    if change == 'drop' and isOld and len(table.columns) > 1 and not table.view and not table.indexes \
            and any(row[table.first[column.name]] is not None for row in table.start) \
            and not any('=' in hint and hint.split('=')[0].endswith('.' + table.first[column.name]) for hint in hints):
        table.columns.remove(column)
    elif change == 'dropTable' and len(tables) > 1 and table.old == table.name:
        tables.remove(table)
    elif change == 'notnull' and isOld and None in values:
        column.notnull, column.default = True, None
    elif change == 'add':
        table.columns.append(Column('z', 'TEXT'))
        table.columns[-1].notnull = True
    elif change == 'check':
        column.check = '0'
        return True
    elif change == 'unique' and len({repr(value) for value in values if value is not None}) < len(
            [value for value in values if value is not None]):
        column.unique = True
    elif change == 'number' and column.kind == 'TEXT' and '007' in values:
        column.kind = 'INTEGER'
    elif change == 'computed' and isOld and len(table.columns) > 1:
        column.kind, column.default, column.notnull, column.check = 'AS (1)', None, False, ''
        column.collation, column.unique = '', False
    elif change == 'parent' and any(value is not None for value in values) and not column.check:
        column.kind += ' REFERENCES missing(id)'
    else:
        return False
    return True


def start():
    clear()
    tables = [Table(name) for name in dice.sample(['t', 'T2', 'odd "table', 'größer', "it's"], dice.randint(1, 4))]
    for table in tables:
        # The store's name for it and for each column, and its contents.
        table.old, table.first = table.name, {column.name: column.name for column in table.columns}
        table.start = [dict(row) for row in table.rows]
        table.filled = lambda name, table=table: any(row[name] is not None for row in table.start)
        if dice.random() < 0.5: table.indexes.append(('i ' + table.name, table.columns[0].name))
    journal = dice.choice(['WAL', 'DELETE'])
    make(STORE, tables, 1, journal)
    # The values as SQLite converts them, by their columns' types.
    db = sqlite3.connect(STORE)
    for table in tables:
        for row in table.rows:
            key = 'rowid' if table.key == 'rowid' else 'id'
            names = ', '.join(quoted(column.name) for column in table.columns)
            found = db.execute('SELECT %s FROM %s WHERE %s = ?' % (names, quoted(table.name), key), (row['id'],))
            row.update(zip([column.name for column in table.columns], found.fetchone()))
        table.start = [dict(row) for row in table.rows]
    db.close()
    return tables, journal


def write(tables):
    with open(SCHEMA, 'w') as file:
        file.write('PRAGMA user_version = 2;\n' + '\n'.join(table.sql() for table in tables) + '\n')


def permit():
    for number in range(count):
        tables, journal = start()
        hints = []
        for _ in range(dice.randint(1, 8)): permitted(tables, hints)
        write(tables)
        code, text = run('check', hints)
        if code != 0: fail(number, 'is refused:', text)
        code, text = run('upgrade', hints)
        if code != 0: fail(number, 'fails:', text)
        make('fresh.db', tables, 2)
        ours, fresh = contents(STORE, tables), contents('fresh.db', tables)
        if ours != fresh:
            fail(number, 'differs:', [(name, ours[name], fresh[name]) for name in fresh if ours[name] != fresh[name]]
                 if isinstance(ours, dict) else ours)
        code, text = run('check')
        if code != 0 or 'current' not in text: fail(number, 'has another schema:', text)
        db = sqlite3.connect(STORE)
        if db.execute('PRAGMA journal_mode').fetchone()[0] != journal.lower(): fail(number, 'journal')
        db.close()
    print('%d permitted changes: every store as a new one with the same rows' % count)


def refuse():
    number = 0
    while number < count:
        tables, _ = start()
        hints = []
        for _ in range(dice.randint(0, 3)): permitted(tables, hints)
        if not refused(tables, hints): continue
        write(tables)
        before = open(STORE, 'rb').read()
        code, text = run('check', hints)
        if code != 1 or 'reason: ' not in text: fail(number, 'is not refused:', text)
        code, text = run('upgrade', hints)
        if code != 1: fail(number, 'is not refused by upgrade:', text)
        if open(STORE, 'rb').read() != before: fail(number, 'changed')
        if sorted(os.listdir('.')) != [SCHEMA, STORE]: fail(number, 'leaves', os.listdir('.'))
        number += 1
    print('%d refused changes: every store as it was' % count)
