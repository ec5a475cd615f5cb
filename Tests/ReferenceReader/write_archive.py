"""Writes a migration archive of a directory by what the page "The archive format" says, and by nothing else.

    python3 write_archive.py directory archive [key=value ...]     prints the fingerprint

The keys are bundleIdentifier, platform, resourcesVersion, creator and sizeEstimate. Everything in the
directory is archived. Needs the program zstd.
"""
import os
import stat
import struct
import subprocess
import sys

from read_archive import (BEGINS, BLOCK, HASHES, MARKS, PIECE, TABLE, Entry, encode_json,
                          expected_index, fits, number_record, place_in_tree, place_in_window, record_of,
                          sha, tables, windows, zero_pages)

LARGEST = 8 ** 11 - 1


def compress(content):
    size = "--stream-size=%d" % len(content)
    return subprocess.run(["zstd", "-qc", size], input=content, capture_output=True, check=True).stdout


def store(content):
    """A frame of raw blocks. Its checksum is that of any frame of this content."""
    out = b"\x28\xb5\x2f\xfd\xa4" + struct.pack("<I", len(content))
    for at in range(0, len(content), 131072):
        block = content[at:at + 131072]
        last = at + len(block) == len(content)
        out += struct.pack("<I", len(block) << 3 | last)[:3] + block
    return out + compress(content)[-4:]


def frame(magic, content):
    return struct.pack("<II", magic, len(content)) + content


def padded(content):
    return content + bytes(-len(content) % BLOCK)


def is_utf8(data):
    try:
        data.decode()
        return True
    except UnicodeDecodeError:
        return False


def stands_plain(data):
    """Whether the fields of a block may hold the bytes."""
    return data.isascii() or not is_utf8(data)


def placeholder(data):
    return bytes(byte if byte < 128 else ord("_") for byte in data[:100])


def split(path):
    """The prefix and the name of a path; None where it does not fit."""
    if not stands_plain(path):
        return None
    if len(path) <= 100:
        return b"", path
    for at, byte in enumerate(path):
        if byte == ord("/") and 0 < at <= 155 and 1 <= len(path) - at - 1 <= 100:
            return path[:at], path[at + 1:]
    return None


def block(kind, name, prefix, mode, size, time, target=b""):
    out = name.ljust(100, b"\0") + b"%07o\0" % mode + b"0000000\0" * 2 + b"%011o\0" % size
    out += b"%011o\0" % time + b" " * 8 + kind + target.ljust(100, b"\0") + b"ustar\x0000" + bytes(64)
    out = (out + b"0000000\0" * 2 + prefix.ljust(155, b"\0")).ljust(BLOCK, b"\0")
    return out[:148] + b"%06o\0 " % sum(out) + out[156:]


def extended(kind, name, records):
    return block(kind, name, b"", 0o644, len(records), 0) + padded(records) if records else b""


def headers(entry):
    """The blocks before the content of an entry."""
    stored = entry.path + (b"/" if entry.kind == "5" else b"")
    place, seconds = split(stored), entry.time // 10 ** 9
    target_fits = len(entry.target) <= 100 and stands_plain(entry.target)
    records = b""
    if place is None and not is_utf8(stored) or not target_fits and not is_utf8(entry.target):
        records += record_of(b"hdrcharset", b"BINARY")
    if place is None:
        records += record_of(b"path", stored)
    if not target_fits:
        records += record_of(b"linkpath", entry.target)
    if entry.size > LARGEST:
        records += number_record(b"size", entry.size)
    if not 0 <= seconds <= LARGEST:
        records += number_record(b"mtime", seconds)
    records += entry.attributes
    prefix, name = place or (b"", placeholder(stored))
    target = entry.target if target_fits else placeholder(entry.target)
    size, time = entry.size if entry.size <= LARGEST else 0, min(max(0, seconds), LARGEST)
    own = block(entry.kind.encode(), name, prefix, entry.mode, size, time, target)
    return extended(b"x", b"PaxHeader", records) + own


def attributes(path):
    names = sorted(os.fsencode(name) for name in os.listxattr(path, follow_symlinks=False))
    return b"".join(
        record_of(b"SCHILY.xattr." + name.replace(b"%", b"%25").replace(b"=", b"%3D"), os.getxattr(path, name))
        for name in names if name.startswith(b"user."))


def walk(root, path=b""):
    """Each entry as a walk leaves it, with the place of its content."""
    for name in sorted(os.listdir(os.path.join(root, path))):
        inner = os.path.join(path, name)
        place = os.path.join(root, inner)
        status = os.lstat(place)
        kind, target, size = "0", b"", 0
        if stat.S_ISDIR(status.st_mode):
            yield from walk(root, inner)
            kind = "5"
        elif stat.S_ISLNK(status.st_mode):
            kind, target = "2", os.readlink(place)
        else:
            size = status.st_size
        own = attributes(place) if kind in "05" else b""
        mode = stat.S_IMODE(status.st_mode)
        entry = Entry(0, inner, kind, size, status.st_mtime_ns, target, 0, mode, own, 0)
        yield entry, (status.st_dev, status.st_ino), place


def with_hard_links(walked):
    """The first of the names in the walk carries the content; the others are links to it."""
    first = {}
    for entry, identity, place in walked:
        if entry.kind != "5" and identity in first:
            entry = entry._replace(kind="1", size=0, target=first[identity], attributes=b"")
        elif entry.kind != "5":
            first[identity] = entry.path
        yield entry, place


def in_windows(entries):
    """The entries in the order of the stream, the first of each window with its mark."""
    window = []
    for item in entries:
        if window and not fits([entry for entry, _ in window] + [item[0]]):
            yield from arranged(window)
            window = []
        window.append(item)
    if window:
        yield from arranged(window)


def arranged(window):
    for number, (entry, place) in enumerate(sorted(window, key=lambda item: place_in_window(item[0]))):
        nanoseconds = 0 if entry.kind == "1" else entry.time % 10 ** 9
        yield entry._replace(mark=nanoseconds | (BEGINS if number == 0 else 0)), place


class Pieces:
    """What the index is made of: the pieces and the marks in them."""

    def __init__(self, stream, listed):
        self.pieces = []
        for at in range(0, len(stream), PIECE):
            marks = b"".join(struct.pack("<I", e.mark) for e in listed if at <= e.start < at + PIECE)
            self.pieces.append((stream[at:at + PIECE], marks, b""))


def tree(directory):
    """The stream behind the global header, and the entries with their places in it."""
    stream, listed = bytearray(), []
    for entry, place in in_windows(with_hard_links(walk(os.fsencode(directory)))):
        start = len(stream)
        stream += headers(entry)
        if entry.size:
            with open(place, "rb") as file:
                content = file.read()
            content_start = len(stream)
            stream += padded(content)
            entry = entry._replace(zeros=zero_pages(stream, content_start, entry.size))
        listed.append(entry._replace(start=start))
    return bytes(stream) + bytes(2 * BLOCK), listed


def global_header(given):
    description = {"platform": given.get("platform", "linux"),
                   "resourcesVersion": given.get("resourcesVersion", "1.0")}
    if "bundleIdentifier" in given:
        description["bundleIdentifier"] = given["bundleIdentifier"]
    export = {"compressible": True, "creator": given.get("creator", "reference writer"),
              "sizeEstimate": int(given.get("sizeEstimate", 0))}
    described = b"migration/2 " + encode_json(description)
    records = record_of(b"comment", described) + record_of(b"comment", b"export " + encode_json(export))
    return extended(b"g", b"pax_global_header", records), sha(described)


def archive(directory, given):
    header, description = global_header(given)
    stream, listed = tree(directory)
    parts = Pieces(stream, listed)
    index = expected_index(parts, listed, windows(listed))
    out, digests = store(header), b""
    seek = [(len(out), len(header))]
    for (content, marks, _), table in zip(parts.pieces, tables(parts, listed)):
        data = min(compress(content), store(content), key=len)
        data += (frame(MARKS, marks) if marks else b"") + table
        seek.append((len(data), len(content)))
        digests += sha(content + marks)
        out += data
    totals = [sum(1 for e in listed if e.kind == kind) for kind in "0521"]
    content = sum(e.size for e in listed)
    hashes = b"MIGR" + struct.pack("<HHI", 2, 1, len(parts.pieces))
    hashes += struct.pack("<7Q", *totals, content, content - sum(e.zeros for e in listed), len(stream))
    hashes += description + digests + sha(index)
    fingerprint = sha(hashes)
    hashes = frame(HASHES, hashes + fingerprint)
    seek += [(len(index), 0), (len(hashes), 0)]
    table = b"".join(struct.pack("<II", *sizes) for sizes in seek)
    table += struct.pack("<IBI", len(seek), 0, 0x8F92EAB1)
    return out + index + hashes + frame(TABLE, table), fingerprint


if __name__ == "__main__":
    made, identity = archive(sys.argv[1], dict(word.split("=", 1) for word in sys.argv[3:]))
    with open(sys.argv[2], "wb") as file:
        file.write(made)
    print(identity.hex())
