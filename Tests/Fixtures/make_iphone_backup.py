#!/usr/bin/env python3
"""Makes a backup of an iPhone as the device writes it, and says what is in it.

usage: make_iphone_backup.py FORM DIRECTORY [FLAW...] [tree=CONTAINER]

FORM is plain, encrypted (iOS 10.2 and later), ios10.1 (a plain manifest, encrypted files), ios10.0 (the
objects of its rows are encrypted too), mbdb or mbdb-encrypted (iOS 4 to 9). The password is "secret". Each FLAW changes one thing.
With tree=CONTAINER the app's files are those of that directory, without what no backup holds.
Prints the entries of the app's container as JSON, from what was put in, not from what was read.

The layout follows public readers of backups: iphone_backup_decrypt, pyiosbackup, dunhamsteve/ios.
"""
import base64
import hashlib
import json
import os
import plistlib
import random
import sqlite3
import stat
import struct
import sys

from cryptography.hazmat.primitives import hashes, keywrap
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.kdf.pbkdf2 import PBKDF2HMAC

PASSWORD = b"secret"
APP = "com.example.notes"
UID = plistlib.UID
OWN = "/var/mobile/Containers/Data/Application/0B1E7B0C-52B5-4D5B-9C9B-0F3F0C7C5B11"
TIME = 1_700_000_000
random_bytes = random.Random(7).randbytes


class Entry:
    def __init__(self, path, content=None, mode=0o644, time=TIME, target=None, attributes=None,
                 size=None, inode=0, domain=None, flags=None, stored=True, digest=False, row_path=None,
                 identifier=None, protection=3):
        self.domain = domain or f"AppDomain-{APP}"
        self.path, self.content, self.target = path, content, target
        kind = 0o120000 if target is not None else 0o040000 if content is None else 0o100000
        self.mode = kind | mode
        self.time, self.attributes, self.inode = time, attributes or {}, inode
        self.size = size if size is not None else len(content or b"")
        self.flags = flags or (4 if target is not None else 2 if content is None else 1)
        self.stored, self.digest = stored and content is not None, digest
        self.row_path = path if row_path is None else row_path
        self.identifier = identifier
        self.protection = protection

    @property
    def file_id(self):
        return self.identifier or hashlib.sha1(f"{self.domain}-{self.path}".encode()).hexdigest()


def entries():
    text = b"# Plants\nwater the fern\n"
    yield Entry("", mode=0o755)
    yield Entry("Documents", mode=0o755, time=TIME + 1, attributes={"com.apple.note": b"\x00\x01"})
    yield Entry("Documents/plants.md", text, mode=0o600,
                attributes={"com.apple.TextEncoding": b"utf-8;134217984", "empty": b""})
    for size in (0, 1, 15, 16, 17, 4096, 300_001):
        yield Entry(f"Documents/{size}.bin", random_bytes(size))
    yield Entry("Documents/grown.db", b"x" * 5000, size=4096)
    yield Entry("Documents/shrunk.db", b"y" * 100, size=4096)
    yield Entry("Documents/mode-0", b"0", mode=0)
    yield Entry("Documents/mode-0555", b"5", mode=0o555)
    yield Entry("Documents/set-id", b"s", mode=0o6755)
    yield Entry("Documents/before-1970", b"b", time=-1)
    yield Entry("Documents/epoch", b"e", time=0)
    yield Entry("Documents/caf\u00e9.md", b"NFC")
    yield Entry("Documents/cafe\u0301.md", b"NFD")
    yield Entry("Documents/" + "n" * 255, b"long")
    yield Entry("Documents/same-1", b"same content", inode=77)
    yield Entry("Documents/same-2", b"same content", inode=77)
    yield Entry("Documents/reused", b"other content", inode=77)
    yield Entry("Library", mode=0o755)
    yield Entry("Library/WebKit", mode=0o755)
    yield Entry("Library/WebKit/v0", target=f"/private{OWN}/Library/WebKit")
    yield Entry("Library/WebKit/root", target=OWN)
    yield Entry("Library/WebKit/elsewhere", target="/usr/share/zoneinfo/Europe/Berlin")
    yield Entry("Library/WebKit/near", target="../Preferences")
    yield Entry("Library/no-parent/row/a", b"parent rows are missing")
    yield Entry("Library/cache.db-shm", b"shm")
    other = "AppDomain-com.example.notes.widget"
    yield Entry("", mode=0o755, domain=other)
    yield Entry("Documents/plants.md", b"another app's", domain=other)
    group = f"AppDomainGroup-group.{APP}"
    yield Entry("", mode=0o755, domain=group)
    yield Entry("shared.txt", b"shared", domain=group)
    plugin = f"AppDomainPlugin-{APP}.share"
    yield Entry("", mode=0o755, domain=plugin)
    yield Entry("Library/Preferences/data.plist", b"plugin", domain=plugin)
    yield Entry("Library/hello.txt", b"system", domain="HomeDomain", digest=True)


def entries_of_tree(root):
    """The files of a container on this machine, as a device puts them into a backup."""
    left = {"tmp", "SystemData", "Library/Caches", ".migration",
            ".com.apple.mobile_container_manager.metadata.plist"}
    for directory, directories, files in os.walk(root):
        place = os.path.relpath(directory, root)
        inside = lambda name: name if place == "." else f"{place}/{name}"
        directories[:] = [name for name in directories if inside(name) not in left]
        for name in [None] + [name for name in directories + files if inside(name) not in left]:
            path = directory if name is None else os.path.join(directory, name)
            if name in directories and not os.path.islink(path): continue
            status = os.lstat(path)
            entry = Entry("" if path == root else os.path.relpath(path, root),
                          mode=status.st_mode & 0o7777, time=int(status.st_mtime),
                          content=open(path, "rb").read() if stat.S_ISREG(status.st_mode) else None,
                          target=os.readlink(path) if os.path.islink(path) else None)
            yield entry


def many_entries():
    """Files whose names are longer in sum than the part that a conversion sorts at once."""
    for number in range(6_000):
        yield Entry(f"Documents/{'d' * 200}/{'e' * 200}/{'f' * 200}/{number:05}{'n' * 240}", b"%d" % number)


# Changes of one entry, by name: the path is the one that must be named.
def flawed(flaw):
    if flaw == "missing": return [Entry("Documents/missing", b"gone", stored=False)]
    if flaw == "other-identifier":
        other = hashlib.sha1(f"AppDomain-com.example.notes.widget-Documents/plants.md".encode())
        return [Entry("Documents/other-identifier", b"x", identifier=other.hexdigest())]
    if flaw == "climbing-identifier":
        return [Entry("Documents/climbing-identifier", b"x", identifier="../../etc/passwd",
                      stored=False)]
    if flaw == "two-paths": return [Entry("Documents/two-paths", b"x", row_path="Documents/other")]
    if flaw == "kind": return [Entry("Documents/kind", b"x", flags=2)]
    if flaw == "unknown-kind": return [Entry("Documents/unknown-kind", b"x", flags=16)]
    if flaw == "climbing": return [Entry("Documents/../../climbing", b"x")]
    if flaw == "absolute": return [Entry("/etc/absolute", b"x")]
    if flaw == "zero-byte": return [Entry("Documents/zero\0byte", b"x")]
    if flaw == "long-name": return [Entry("Documents/" + "l" * 256, b"x")]
    if flaw == "below-a-file": return [Entry("Documents/plants.md/below-a-file", b"x")]
    if flaw == "below-a-link": return [Entry("Library/WebKit/v0/below-a-link", b"x")]
    if flaw == "far-links":
        other = "/var/mobile/Containers/Data/Application/other/Library/WebKit"
        return [Entry("Library/WebKit/other", target=other),
                Entry("deep" + "/d" * 1_370 + "/link", target=f"{OWN}/Library/WebKit")]
    if flaw == "time": return [Entry("Documents/time", b"x", time=2**62)]
    if flaw == "class": return [Entry("Documents/class", b"x", protection=99)]
    if flaw == "device-class": return [Entry("Documents/device-class", b"x", protection=9)]
    if flaw == "attribute": return [Entry("Documents/attribute", b"x", attributes={"a" * 300: b""})]
    if flaw == "other-object": return [Entry("Documents/other-object", b"x")]
    if flaw == "huge-size": return [Entry("Documents/huge-size", b"x", size=2**62)]
    return []


class Keys:
    """The keybag, and the keys of files."""

    def __init__(self, is_new):
        salt, first_salt = random_bytes(20), random_bytes(20)
        key = PASSWORD
        if is_new:
            key = PBKDF2HMAC(hashes.SHA256(), 32, first_salt, 10_000).derive(key)
        key = PBKDF2HMAC(hashes.SHA1(), 32, salt, 10_000).derive(key)

        def record(tag, value):
            value = value if isinstance(value, bytes) else struct.pack(">I", value)
            return tag.encode() + struct.pack(">I", len(value)) + value

        bag = record("VERS", 3) + record("TYPE", 1) + record("UUID", random_bytes(16))
        bag += record("HMCK", random_bytes(40)) + record("WRAP", 1) + record("SALT", salt)
        bag += record("ITER", 10_000)
        if is_new:
            bag += record("DPWT", 0) + record("DPIC", 10_000) + record("DPSL", first_salt)
        self.classes = {}
        for number in range(1, 12):
            # The classes of this device are also wrapped with a key that never leaves it.
            wrapping = 3 if number in (5, 9, 10, 11) else 2
            self.classes[number] = random_bytes(32)
            inner = random_bytes(32) if wrapping == 3 else self.classes[number]
            bag += record("UUID", random_bytes(16)) + record("CLAS", number)
            bag += record("WRAP", wrapping) + record("KTYP", 0)
            bag += record("WPKY", keywrap.aes_key_wrap(key, inner))
        self.bag = bag

    def wrap(self, number, key):
        wrapped = keywrap.aes_key_wrap(self.classes.get(number, bytes(32)), key)
        return struct.pack("<I", number) + wrapped


def encrypt(content, key, is_padded=True):
    if is_padded:
        count = 16 - len(content) % 16
        content += bytes([count]) * count
    encryptor = Cipher(algorithms.AES(key), modes.CBC(bytes(16))).encryptor()
    return encryptor.update(content) + encryptor.finalize()


def encrypt_object(data, salt):
    """An object of a row as iOS 10.0 stores it: see the README of dunhamsteve/ios."""
    key = hashlib.sha1(PASSWORD + salt).digest()[:16]
    count = 16 - len(data) % 16
    encryptor = Cipher(algorithms.AES(key), modes.CBC(bytes(range(16)))).encryptor()
    stored = encryptor.update(data + bytes([count]) * count) + encryptor.finalize()
    return base64.b64encode(stored).decode()


def mbfile(entry, key, is_odd=False):
    """The object of a row; an odd one as older devices and other tools write it."""
    objects = ["$null", None, entry.row_path]
    # References of two bytes.
    if is_odd: objects += [f"unused {number}" for number in range(300)]

    def add(value):
        objects.append(value)
        return UID(len(objects) - 1)

    file = {
        "RelativePath": UID(2), "Mode": entry.mode, "Size": entry.size,
        "LastModified": entry.time, "LastStatusChange": entry.time, "Birth": entry.time,
        "UserID": 501, "GroupID": 501, "InodeNumber": entry.inode, "Flags": 0,
        "ProtectionClass": entry.protection if entry.flags == 1 else 0,
    }
    if key:
        data = add({"$classname": "NSMutableData", "$classes": ["NSMutableData", "NSData", "NSObject"]})
        file["EncryptionKey"] = key if is_odd else add({"NS.data": key, "$class": data})
    if entry.digest_value:
        file["Digest"] = {"NS.data": entry.digest_value} if is_odd else add(entry.digest_value)
    if entry.target is not None:
        file["Target"] = add({"NS.string": entry.target} if is_odd else entry.target)
    if entry.attributes:
        file["ExtendedAttributes"] = add(plistlib.dumps(entry.attributes, fmt=plistlib.FMT_BINARY))
    file["$class"] = add({"$classname": "MBFile", "$classes": ["MBFile", "NSObject"]})
    if is_odd:
        del file["Flags"]
        if not entry.inode: del file["InodeNumber"]
        if entry.target is not None or entry.content is None: del file["Size"]
    objects[1] = "not the root" if is_odd else file
    archive = {"$version": 100000, "$archiver": "NSKeyedArchiver",
               "$top": {"root": add(file) if is_odd else UID(1)}, "$objects": objects}
    return plistlib.dumps(archive, fmt=plistlib.FMT_BINARY)


def database(path, rows, properties, flaws):
    db = sqlite3.connect(path)
    db.execute("PRAGMA page_size=4096")
    db.execute("PRAGMA auto_vacuum=2")
    db.execute("PRAGMA journal_mode=wal")
    table = "Files" if "view" not in flaws else "Rows"
    db.execute(f"CREATE TABLE {table} (fileID TEXT PRIMARY KEY, domain TEXT, relativePath TEXT, "
               "flags INTEGER, file BLOB)")
    for column in ("domain", "relativePath", "flags"):
        db.execute(f"CREATE INDEX Files{column}Idx ON {table}({column})")
    db.execute("CREATE TABLE Properties (key TEXT PRIMARY KEY, value BLOB)")
    db.executemany("INSERT INTO Properties VALUES (?, ?)", properties.items())
    db.executemany(f"INSERT OR REPLACE INTO {table} VALUES (?, ?, ?, ?, ?)", rows)
    if "view" in flaws:
        db.execute("CREATE VIEW Files AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 "
                   "FROM n) SELECT fileID, domain, relativePath, flags, file FROM Rows, n")
    if "huge-row" in flaws:
        db.execute(f"INSERT INTO {table} VALUES ('x', 'AppDomain-{APP}', 'huge', 1, zeroblob(3000000))")
    if "tables" in flaws:
        for number in range(2_000): db.execute(f"CREATE TABLE t{number} (a)")
    db.execute("PRAGMA user_version=2")
    db.commit()
    root = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,)).fetchone()[0]
    db.close()
    if "circle" in flaws:
        # The last child of the table's root is its first one again.
        with open(path, "r+b") as file:
            start = (root - 1) * 4096
            file.seek(start)
            page = file.read(4096)
            assert page[0] == 5, "the table takes several pages"
            cell = struct.unpack(">H", page[12:14])[0]
            file.seek(start + 8)
            file.write(page[cell:cell + 4])


def mbdb(rows):
    def text(value):
        if value is None: return b"\xff\xff"
        value = value if isinstance(value, bytes) else value.encode()
        return struct.pack(">H", len(value)) + value

    data = b"mbdb\x05\x00"
    for entry, key in rows:
        data += text(entry.domain) + text(entry.path) + text(entry.target)
        data += text(entry.digest_value) + text(key)
        data += struct.pack(">HQIIiIIQBB", entry.mode, entry.inode, 501, 501, entry.time,
                            max(entry.time, 0), max(entry.time, 0), entry.size, entry.protection,
                            len(entry.attributes))
        for name, value in entry.attributes.items(): data += text(name) + text(value)
    return data


def metadata_bomb():
    """A list of 160 bytes with a name, and with arrays in arrays that hold half a million values."""
    def text(word): return bytes([0x50 | len(word)]) + word.encode() if len(word) < 15 else (
        bytes([0x5F, 0x10, len(word)]) + word.encode())
    arrays = [bytes([0xAE] + [6 + level] * 14) for level in range(5)]
    objects = [bytes([0xD2, 1, 2, 3, 5]), text("itemName"), text("bomb"), text("Notes"),
               text("unused"), *arrays, b"\x09"]
    body, offsets = b"bplist00", b""
    for item in objects:
        offsets += bytes([len(body)])
        body += item
    sizes = [len(objects), 0, len(body)]
    return body + offsets + bytes([0] * 6 + [1, 1]) + b"".join(n.to_bytes(8, "big") for n in sizes)


def main(form, directory, flaws):
    os.makedirs(directory)
    is_encrypted = form in ("encrypted", "ios10.1", "ios10.0", "mbdb-encrypted")
    is_list = form.startswith("mbdb")
    keys = Keys(is_new=form == "encrypted")
    tree = next((word[5:] for word in flaws if word.startswith("tree=")), None)
    sound = list(entries() if tree is None else entries_of_tree(tree))
    all_entries = list(sound)
    for flaw in flaws: all_entries += flawed(flaw)
    if "one-number" in flaws:
        all_entries += [Entry(f"Documents/one-number-{number:02}", b"%d" % number, inode=99) for number in range(12)]
    if "many-names" in flaws: all_entries += many_entries()
    random.Random(3).shuffle(all_entries)
    rows, list_rows, properties = [], [], {}
    if form == "ios10.0":
        salt = random_bytes(20)
        password = b"another" if "other-password" in flaws else PASSWORD
        properties = {"salt": salt, "passwordHash": hashlib.sha256(password + salt).digest()}
    for entry in all_entries:
        file_key = wrapped = None
        entry.digest_value = None
        stored = entry.content
        has_key = entry.content or "odd-rows" not in flaws
        if entry.content is not None and is_encrypted and has_key:
            file_key = random_bytes(32)
            wrapped = keys.wrap(entry.protection, file_key)
            if "decrypted" not in flaws: stored = encrypt(entry.content, file_key)
        if entry.path == "Documents/plants.md" and entry.domain == f"AppDomain-{APP}":
            if "cut" in flaws: stored = stored[:-1]
            if "padding" in flaws: stored = stored[:-1] + bytes([stored[-1] ^ 1])
            if "digest" in flaws: entry.digest_value = bytes(20)
        if entry.digest: entry.digest_value = hashlib.sha1(stored).digest()
        if entry.stored:
            name = entry.file_id
            place = os.path.join(directory, name if is_list else os.path.join(name[:2], name))
            os.makedirs(os.path.dirname(place), exist_ok=True)
            if entry.path == "Documents/plants.md" and "link" in flaws:
                os.symlink("/etc/passwd", place)
            elif entry.path == "Documents/plants.md" and "fifo" in flaws:
                os.mkfifo(place)
            else:
                with open(place, "wb") as file: file.write(stored)
        row = mbfile(entry, wrapped, is_odd="odd-rows" in flaws)
        if form == "ios10.0":
            row = encrypt_object(row, bytes(20) if entry.path == "Documents/other-object" else salt)
        rows.append((entry.file_id, entry.domain, entry.path, entry.flags, row))
        if entry.time >= -2**31 and entry.time < 2**31: list_rows.append((entry, wrapped))
    if "cycle" in flaws:
        cycle = bytes.fromhex("62706c6973743030a100") + bytes([8] + [0] * 6 + [1, 1] + [0] * 7 + [1]
                                                              + [0] * 8 + [0] * 7 + [10])
        rows.append((hashlib.sha1(f"AppDomain-{APP}-cycle".encode()).hexdigest(), f"AppDomain-{APP}",
                     "cycle", 1, cycle))
    manifest = {
        "IsEncrypted": is_encrypted, "BackupKeyBag": keys.bag, "Version": "10.0",
        "Applications": {APP: {"CFBundleIdentifier": APP, "CFBundleVersion": "42"},
                         "com.example.empty": {"CFBundleIdentifier": "com.example.empty"}},
        "Lockdown": {"ProductVersion": "17.0", "SerialNumber": "F2LPRIVATE1"},
    }
    if "rounds" in flaws:
        manifest["BackupKeyBag"] = keys.bag.replace(b"DPIC\0\0\0\4\0\0\x27\x10",
                                                    b"DPIC\0\0\0\4\x05\xf5\xe1\x00")
    if "one-class" in flaws:
        # The last byte of the first class's key.
        end = keys.bag.index(b"WPKY") + 47
        manifest["BackupKeyBag"] = keys.bag[:end] + bytes([keys.bag[end] ^ 1]) + keys.bag[end + 1:]
    if "keybag" in flaws: manifest["BackupKeyBag"] = keys.bag[:-4]
    if is_list:
        data = mbdb(list_rows)
        if "cut-list" in flaws: data = data[:-3]
        with open(os.path.join(directory, "Manifest.mbdb"), "wb") as file: file.write(data)
    else:
        path = os.path.join(directory, "Manifest.db")
        database(path, rows, properties, flaws)
        if form == "encrypted":
            key = random_bytes(32)
            manifest["ManifestKey"] = keys.wrap(4, key)
            with open(path, "rb") as file: plain = file.read()
            with open(path, "wb") as file:
                file.write(plain if "decrypted" in flaws else
                           encrypt(plain, key, is_padded="unpadded" not in flaws))
            if "not-encrypted" in flaws:
                manifest["IsEncrypted"] = False
                del manifest["ManifestKey"]
    with open(os.path.join(directory, "Manifest.plist"), "wb") as file:
        plistlib.dump(manifest, file, fmt=plistlib.FMT_BINARY)
    store = plistlib.dumps({"itemName": "Notes", "bundleShortVersionString": "4.2"})
    if "bomb" in flaws: store = metadata_bomb()
    info = {"Installed Applications": [APP, "com.example.installed"], "IMEI": "35PRIVATE2",
            "Applications": {APP: {"iTunesMetadata": store, "PlaceholderIcon": b"PNG"}},
            "Product Version": "17.0"}
    if "icons" in flaws:
        for number in range(150):
            info["Applications"][f"com.example.app{number}"] = {"PlaceholderIcon": bytes(75_000)}
    status = {"SnapshotState": "uploading" if "unfinished" in flaws else "finished",
              "IsFullBackup": False, "Version": "3.3"}
    for name, value in (("Info.plist", info), ("Status.plist", status)):
        if "no-info" in flaws: continue
        with open(os.path.join(directory, name), "wb") as file:
            if "empty-info" in flaws: continue
            form = plistlib.FMT_BINARY if "binary-lists" in flaws else plistlib.FMT_XML
            plistlib.dump(value, file, fmt=form)
    expected = []
    for entry in sound:
        if entry.domain != f"AppDomain-{APP}" or not entry.path: continue
        kind = "link" if entry.target is not None else "directory" if entry.content is None else "file"
        expected.append({
            "path": entry.path, "kind": kind, "mode": entry.mode & 0o1777, "time": entry.time,
            "target": entry.target,
            "content": base64.b64encode(entry.content or b"").decode(),
            "attributes": {name: base64.b64encode(value).decode()
                           for name, value in entry.attributes.items()},
        })
    return expected


if __name__ == "__main__":
    json.dump(main(sys.argv[1], sys.argv[2], set(sys.argv[3:])), sys.stdout)
