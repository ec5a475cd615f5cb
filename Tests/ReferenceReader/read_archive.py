"""Reads a migration archive by what the page "The archive format" says, and by nothing else.

    python3 read_archive.py archive     prints the fingerprint, then each entry with its time

Needs the program zstd. Refuses an archive with the reason and exit code 1.
"""
import hashlib
import json
import struct
import subprocess
import sys
from collections import namedtuple

PIECE, PAGE, BLOCK = 4194304, 4096, 512
LARGE, MARKS, ENTRIES = 0x184D2A5A, 0x184D2A5B, 0x184D2A5C
HASHES, TABLE = 0x184D2A5D, 0x184D2A5E
BEGINS = 1 << 31

Entry = namedtuple("Entry", "start path kind size time target mark mode attributes zeros")


class Refused(Exception):
    pass


def require(condition, reason):
    if not condition:
        raise Refused(reason)


def sha(data):
    return hashlib.sha256(data).digest()


def u32(data, at):
    return struct.unpack_from("<I", data, at)[0]


def walk(frame):
    """Where a data frame ends, by its header and its blocks, and the size of its content."""
    require(frame[:4] == b"\x28\xb5\x2f\xfd", "a data frame has another magic")
    descriptor = frame[4]
    require(descriptor & 0b11111 == 0b00100, "a data frame is of another form")
    single, code = descriptor >> 5 & 1, descriptor >> 6
    require(single or code, "a data frame does not say its size")
    at, width = 5 if single else 6, 1 << code
    size = int.from_bytes(frame[at:at + width], "little") + (256 if width == 2 else 0)
    at += width
    while True:
        block = int.from_bytes(frame[at:at + 3], "little")
        at += 3 + (1 if block >> 1 & 3 == 1 else block >> 3)
        require(at + 4 <= len(frame), "a data frame is cut short")
        if block & 1:
            return at + 4, size


def decompress(frame, size):
    done = subprocess.run(["zstd", "-dcq"], input=frame, capture_output=True)
    require(done.returncode == 0 and len(done.stdout) == size, "a frame can't be decompressed")
    return done.stdout


class Archive:
    """The parts of an archive, each checked against the others."""

    def __init__(self, data):
        self.data = data
        require(len(data) > 9 and u32(data, len(data) - 4) == 0x8F92EAB1, "the end is missing")
        count = u32(data, len(data) - 9)
        n, table = count - 3, len(data) - 17 - 8 * count
        hashes = table - (172 + 32 * (count - 3))
        require(n >= 1 and hashes > 0 and data[-5] == 0, "the seek table is wrong")
        require((u32(data, table), u32(data, table + 4)) == (TABLE, 8 * count + 9), "no seek table")
        listed = [struct.unpack_from("<II", data, table + 8 + 8 * i) for i in range(count)]
        require(sum(size for size, _ in listed) == table, "the sizes don't add up")
        require(listed[-1] == (table - hashes, 0) and listed[-2][1] == 0, "the listing is wrong")
        self.read_hashes(data[hashes:table], n)
        starts = [0]
        for size, _ in listed:
            starts.append(starts[-1] + size)
        frames = [data[a:b] for a, b in zip(starts, starts[1:])]
        self.header = self.open(frames[0], listed[0][1])[0]
        sizes = [size for _, size in listed[1:-2]]
        require(all(s == PIECE for s in sizes[:-1]) and 0 < sizes[-1] <= PIECE, "pieces are cut wrong")
        require(sum(sizes) == self.numbers[6], "the stream has another length")
        self.pieces = [self.open(f, s) for f, s in zip(frames[1:-2], sizes)]
        for (content, marks, _), digest in zip(self.pieces, self.digests):
            require(sha(content + marks) == digest, "a piece has another hash")
        self.index = frames[-2]
        require(sha(self.index) == self.index_digest, "the index has another hash")

    def read_hashes(self, frame, n):
        require((u32(frame, 0), u32(frame, 4)) == (HASHES, 164 + 32 * n), "no integrity frame")
        require(frame[8:12] == b"MIGR", "no integrity frame")
        require(frame[12:14] == b"\x02\0", "made by a newer version")
        require(frame[14:16] != b"\0\0", "made by a pre-release")
        require(frame[14:16] == b"\x01\0", "the integrity frame is damaged")
        require(u32(frame, 16) == n, "the number of pieces is wrong")
        self.numbers = struct.unpack_from("<7Q", frame, 20)
        self.description_digest = frame[76:108]
        self.digests = [frame[108 + 32 * i:140 + 32 * i] for i in range(n)]
        self.index_digest = frame[-64:-32]
        self.fingerprint = sha(frame[8:-32])
        require(frame[-32:] == self.fingerprint, "the fingerprint is wrong")

    @staticmethod
    def open(frame, size):
        """The content of a data frame, the marks behind it, and the frame of the table behind those."""
        end, claimed = walk(frame)
        require(claimed == size, "a frame has another size than listed")
        marks, table = b"", frame[end:]
        if table and u32(table, 0) == MARKS:
            count = u32(table, 4)
            require(0 < count <= len(table) - 8 and count % 4 == 0, "no marks")
            marks, table = table[8:8 + count], table[8 + count:]
        if table:
            head = (u32(table, 0), u32(table, 4)) if len(table) > 8 else None
            require(head == (LARGE, len(table) - 8), "no table of large files")
        return decompress(frame[:end], size), marks, table


def octal(field):
    require(field[-1:] == b"\0", "a number is not ended")
    return int(field[:-1], 8)


def records(data):
    found = []
    while data:
        length = int(data.split(b" ", 1)[0])
        require(data[length - 1:length] == b"\n", "a record is malformed")
        key, value = data[:length - 1].split(b" ", 1)[1].split(b"=", 1)
        found.append((key, value))
        data = data[length:]
    return found


def own_records(body, wanted):
    """The bytes of the records whose keys are wanted."""
    own = b""
    while body:
        length = int(body.split(b" ", 1)[0])
        whole, body = body[:length], body[length:]
        if wanted(whole.split(b" ", 1)[1].split(b"=", 1)[0]):
            own += whole
    return own


def record_of(key, value):
    """A record, whose length counts its own digits."""
    text = b" %s=%s\n" % (key, value)
    length = len(text)
    while len(b"%d" % length) + len(text) != length:
        length = len(b"%d" % length) + len(text)
    return b"%d" % length + text


def number_record(key, value):
    return record_of(key, b"%d" % value)


def header_block(block):
    total = sum(block) - sum(block[148:156]) + 8 * 32
    require(block[148:156] == b"%06o\0 " % total, "a checksum is wrong")
    require(block[257:265] == b"ustar\x0000", "a header is of another kind")
    return chr(block[156]), octal(block[124:136])


def check_path(path):
    parts = path.split(b"/")
    require(not any(p in (b"", b".", b"..") for p in parts), "a path leads out")


def check_attributes(found, required):
    for key in (key for key, _ in found if key.startswith(b"SCHILY.")):
        is_list = key in (b"SCHILY.acl.access", b"SCHILY.acl.default")
        is_user = key.startswith(b"SCHILY.xattr.user.")
        needed = "accessLists" if is_list else "attributes"
        require(is_user or needed in required, "an attribute is of another kind")


def check_owner(block, extended, required):
    """The records that the table of large files has of the owner."""
    numbers = [int(extended.get(key, octal(block[at:at + 8])))
               for key, at in ((b"uid", 108), (b"gid", 116))]
    require("owners" in required or numbers == [0, 0], "an entry has an owner")
    require(max(numbers) < 2 ** 32 - 1, "an owner is none")
    if "owners" not in required:
        return b""
    return number_record(b"uid", numbers[0]) + number_record(b"gid", numbers[1])


def zero_pages(stream, start, size):
    """The bytes of a content in pages of zeros, of those that lie in one piece."""
    pages = range(start, start + size - PAGE + 1, PAGE)
    return sum(PAGE for page in pages if page // PIECE == (page + PAGE - 1) // PIECE
               and stream[page:page + PAGE] == bytes(PAGE))


def entries(archive, required=()):
    """Each entry: its offset, what its header says, its time in nanoseconds and its mark."""
    stream, at = b"".join(content for content, _, _ in archive.pieces), 0
    marks = [list(struct.unpack("<%dI" % (len(m) // 4), m)) for _, m, _ in archive.pieces]
    seen = {}
    while stream[at:at + BLOCK].strip(b"\0"):
        start, extended, attributes = at, {}, b""
        kind, size = header_block(stream[at:at + BLOCK])
        if kind == "x":
            body = stream[at + BLOCK:at + BLOCK + size]
            extended = dict(records(body))
            check_attributes(extended.items(), required)
            attributes = own_records(body, lambda key: key.startswith(b"SCHILY."))
            at += BLOCK + (size + 511) // 512 * 512
            kind, size = header_block(stream[at:at + BLOCK])
        block = stream[at:at + BLOCK]
        attributes = check_owner(block, extended, required) + attributes
        name, prefix = (f.rstrip(b"\0") for f in (block[:100], block[345:500]))
        path = extended.get(b"path", prefix + b"/" + name if prefix else name)
        if kind == "5":
            require(path[-1:] == b"/", "a directory's path has no slash")
            path = path[:-1]
        target = extended.get(b"linkpath", block[157:257].rstrip(b"\0"))
        size = int(extended.get(b"size", size))
        require(kind in "0125" and (kind == "0" or size == 0), "an entry is of another kind")
        check_path(path)
        require(path not in seen, "a path comes twice")
        require(kind != "1" or seen.get(target, "5") != "5", "a hard link leads to no earlier file")
        seen[path] = kind
        require(marks[start // PIECE], "an entry has no mark")
        mark = marks[start // PIECE].pop(0)
        fraction = mark & 0x3FFFFFFF
        require(fraction < 10 ** 9 and not mark >> 30 & 1, "a mark is no time")
        require(kind != "1" or fraction == 0, "a hard link has a time of its own")
        seconds = int(extended.get(b"mtime", octal(block[136:148])))
        zeros = zero_pages(stream, at + BLOCK, size)
        at += BLOCK + size
        padding = -size % BLOCK
        require(not stream[at:at + padding].strip(b"\0"), "bytes are hidden behind a content")
        at += padding
        time, mode = seconds * 10 ** 9 + fraction, octal(block[100:108])
        yield Entry(start, path, kind, size, time, target, mark, mode, attributes, zeros)
    require(stream[at:] == bytes(2 * BLOCK), "the stream does not end where it should")
    require(not any(marks), "a mark belongs to no entry")
    parents = {path.rpartition(b"/")[0] for path in seen} - {b""}
    require(all(seen.get(path) == "5" for path in parents), "a directory has no entry")


def encode_json(value):
    """The only bytes that a value has."""
    if isinstance(value, dict):
        members = [encode_json(key) + b":" + encode_json(value[key])
                   for key in sorted(value, key=str.encode)]
        return b"{" + b",".join(members) + b"}"
    if isinstance(value, list):
        return b"[" + b",".join(map(encode_json, value)) + b"]"
    require(isinstance(value, (str, int)), "a value is of another kind")
    require(isinstance(value, str) or 0 <= value < 1 << 64, "a number is too large")
    return json.dumps(value, ensure_ascii=False).encode()


def json_object(data):
    value = json.loads(data)
    require(isinstance(value, dict) and encode_json(value) == data, "the header has other bytes")
    return value


def check_header(archive):
    kind, size = header_block(archive.header[:BLOCK])
    found = records(archive.header[BLOCK:BLOCK + size])
    require(kind == "g" and all(key == b"comment" for key, _ in found), "no global header")
    require(found[0][1].startswith(b"migration/2 "), "made by a newer version")
    require(sha(found[0][1]) == archive.description_digest, "the description has another hash")
    require(len(found) > 1 and found[1][1].startswith(b"export "), "nothing is said of the export")
    description = json_object(found[0][1][12:])
    export = json_object(found[1][1][7:])
    texts = [description.get("bundleIdentifier", ""), description.get("platform"),
             description.get("resourcesVersion"), export.get("creator")]
    require(all(isinstance(text, str) for text in texts), "the header lacks something")
    required = description.get("requires", [])
    known = [n for n in ("accessLists", "attributes", "owners") if n in required]
    require(required == known, "made by a newer version")
    require(required or "requires" not in description, "nothing is required")
    return description


def place_in_window(entry):
    """What the entries of a window are sorted by."""
    name = entry.path.rsplit(b"/", 1)[-1]
    dot = name.rfind(b".")
    depth = entry.path.count(b"/") if entry.kind == "5" else 0
    return "2015".index(entry.kind), -depth, name[dot + 1:] if dot > 0 else b"", name, entry.path


def place_in_tree(entry):
    """What a walk sorts by that leaves a directory after everything in it."""
    return entry.path.replace(b"/", b"\0") + b"\1"


def fits(window):
    content, paths = sum(e.size for e in window), sum(len(e.path + e.target) for e in window)
    return len(window) == 1 or len(window) <= 8192 and content <= 536870912 and paths <= 1048576


def windows(listed):
    """The windows, each a list of its entries."""
    found = []
    for entry in listed:
        if entry.mark & BEGINS:
            found.append([])
        require(found, "no window begins with the first entry")
        found[-1].append(entry)
    for window in found:
        places = [place_in_window(e) for e in window]
        require(all(a < b for a, b in zip(places, places[1:])), "a window is out of order")
        require(fits(window), "a window holds too much")
    return found


def is_in_tree_order(found):
    walked = [sorted(window, key=place_in_tree) for window in found]
    pairs = list(zip(walked, walked[1:]))
    ascending = all(place_in_tree(a[-1]) < place_in_tree(b[0]) for a, b in pairs)
    full = not any(fits(a + b[:1]) for a, b in pairs)
    return ascending and (full or all(len(window) == 1 for window in found))


def record(entry):
    """What the table of large files says of an entry; None if the table does not hold it."""
    numbers = entry.start, entry.size, entry.time // 10 ** 9, entry.mark, entry.mode
    sizes = len(entry.path), len(entry.attributes)
    if entry.size <= 65536 or 34 + sum(sizes) > 4096:
        return None
    return struct.pack("<QQqIHHH", *numbers, *sizes) + entry.path + entry.attributes


def tables(archive, listed):
    """The frame of the table that lies behind each piece, by what the entries say."""
    found, waiting = [], {}
    for entry in listed:
        piece = entry.start // PIECE
        waiting[piece] = waiting.get(piece, b"") + (record(entry) or b"")
    rest, last = b"", len(archive.pieces) - 1
    for piece in range(last + 1):
        rest += waiting.get(piece, b"")
        full = len(rest) >= 65536 or piece == last and rest
        found.append(struct.pack("<II", LARGE, len(rest)) + rest if full else b"")
        rest = b"" if full else rest
    return found


def within(room, path):
    """The path if it is listed, and the room that is left for others."""
    path = path if len(path) <= min(room, 1024) else b""
    return path, room - len(path)


def expected_index(archive, listed, found):
    """The index of entries: the first entry and the first window of each piece, and the table's frames."""
    first, needed, paths = {}, set(), {}
    for entry in listed:
        first.setdefault(entry.start // PIECE, entry)
        if record(entry) is None:
            needed.add(entry.start // PIECE)
    for window in found:
        paths.setdefault(window[0].start // PIECE, min(window, key=place_in_tree).path)
    index, room = bytes([is_in_tree_order(found), 0, 0, 0]), 8388608
    for piece in range(len(archive.pieces)):
        if piece not in first:
            index += bytes(6)
            continue
        entry = first[piece]
        flags = (piece in needed) + (2 if entry.mark & BEGINS else 0)
        path, room = within(room, entry.path)
        block, kind = entry.start % PIECE // BLOCK, "2015".index(entry.kind) + 1
        index += struct.pack("<HBBH", block, kind, flags, len(path)) + path
    windows, room, count = b"", 8388608, 0
    for piece, path in sorted(paths.items()):
        path, room = within(room, path)
        windows += struct.pack("<IH", piece, len(path)) + path if path else b""
        count += bool(path)
    frames = [(p, table) for p, table in enumerate(tables(archive, listed)) if table]
    index += struct.pack("<I", count) + windows + struct.pack("<I", len(frames))
    for piece, table in frames:
        index += struct.pack("<II", piece, len(table)) + sha(table)
    return struct.pack("<II", ENTRIES, len(index)) + index


def check_index(archive, listed, found):
    held = [table for _, _, table in archive.pieces]
    require(held == tables(archive, listed), "the table of large files is untrue")
    require(archive.index == expected_index(archive, listed, found), "the index is untrue")


def read(data):
    archive = Archive(data)
    required = check_header(archive).get("requires", [])
    listed = list(entries(archive, required))
    check_index(archive, listed, windows(listed))
    kinds = [sum(1 for e in listed if e.kind == kind) for kind in "0521"]
    content = sum(e.size for e in listed)
    totals = (*kinds, content, content - sum(e.zeros for e in listed))
    require(totals == archive.numbers[:6], "the totals are wrong")
    return archive, listed


if __name__ == "__main__":
    try:
        with open(sys.argv[1], "rb") as file:
            archive, listed = read(file.read())
    except (Refused, ValueError, struct.error, IndexError) as error:
        sys.exit("refused: %s" % error)
    print(archive.fingerprint.hex())
    for entry in listed:
        path = entry.path.decode("utf-8", "backslashreplace")
        print(entry.kind, entry.size, entry.time, path)
