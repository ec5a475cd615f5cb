"""Makes forgeries of an archive, with right hashes wherever a forger can make them.

    python3 forge_archive.py archive name forgery
"""
import struct
import subprocess
import sys

from read_archive import (BEGINS, BLOCK, ENTRIES, HASHES, LARGE, MARKS, PAGE, PIECE, TABLE, Archive, entries,
                          expected_index, sha, u32, windows)

TARGET = 157


def compress(content):
    size = "--stream-size=%d" % len(content)
    return subprocess.run(["zstd", "-qc", size], input=content, capture_output=True).stdout


def frame(magic, content):
    return struct.pack("<II", magic, len(content)) + content


class Forge:
    """An archive taken apart, put together again with the hashes of what it is made of."""

    def __init__(self, archive):
        size = 12 + len(archive.header) + 4
        self.header = archive.data[:size]
        self.header_size = len(archive.header)
        self.description = archive.description_digest
        self.pieces = [list(piece) for piece in archive.pieces]
        self.numbers, self.index = list(archive.numbers), archive.index
        self.hashes, self.version, self.format_mark = {}, 2, 1

    def bytes(self):
        out, listed, digests = self.header, [(len(self.header), self.header_size)], b""
        for number, (content, marks, table) in enumerate(self.pieces):
            data = compress(content) + (frame(MARKS, marks) if marks else b"") + table
            out += data
            listed.append((len(data), len(content)))
            digests += self.hashes.get(number, sha(content + marks))
        hashes = b"MIGR" + struct.pack("<HHI7Q", self.version, self.format_mark, len(self.pieces), *self.numbers)
        hashes += self.description + digests + sha(self.index)
        hashes = frame(HASHES, hashes + sha(hashes))
        listed += [(len(self.index), 0), (len(hashes), 0)]
        table = b"".join(struct.pack("<II", *sizes) for sizes in listed)
        table += struct.pack("<IBI", len(listed), 0, 0x8F92EAB1)
        return out + self.index + hashes + frame(TABLE, table)

    def change(self, offset, new):
        number, at = divmod(offset, PIECE)
        content = self.pieces[number][0]
        self.pieces[number][0] = content[:at] + new + content[at + len(new):]

    def mark(self, listed, entry, value):
        number = entry.start // PIECE
        at = 4 * [e for e in listed if e.start // PIECE == number].index(entry)
        marks = self.pieces[number][1]
        self.pieces[number][1] = marks[:at] + struct.pack("<I", value) + marks[at + 4:]


def replace_table(forge, table):
    """Puts `table` behind the last piece, and its hash into the index."""
    assert forge.pieces[-1][2] and u32(forge.index, len(forge.index) - 40) == len(forge.pieces) - 1
    forge.pieces[-1][2] = table
    forge.index = forge.index[:-36] + struct.pack("<I", len(table)) + sha(table)


def rename(forge, entry, path, field=0):
    number, at = divmod(entry.start, PIECE)
    block = bytearray(forge.pieces[number][0][at:at + BLOCK])
    block[field:field + 100] = path.ljust(100, b"\0")
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    forge.change(entry.start, bytes(block))


def forgery(name, data):
    archive = Archive(data)
    listed, forge = list(entries(archive)), Forge(archive)
    files = [e for e in listed if e.kind == "0" and 0 < e.size < 1000 and len(e.path) < 90]
    small = files[0]
    number = small.start // PIECE
    if name == "nothing forged":
        pass
    elif name == "another content":
        forge.hashes[number] = sha(b"".join(forge.pieces[number][:2]))
        forge.change(small.start + BLOCK, b"forged")
    elif name == "another fingerprint":
        end = len(data) - 17 - 8 * (len(archive.pieces) + 3)
        return data[:end - 1] + bytes([data[end - 1] ^ 1]) + data[end:]
    elif name == "a time of a second":
        forge.mark(listed, small, small.mark & BEGINS | 10 ** 9)
    elif name == "a mark too many":
        forge.pieces[0][1] += bytes(4)
    elif name == "a mark too few":
        forge.pieces[0][1] = forge.pieces[0][1][:-4]
    elif name == "a hard link with a time":
        forge.mark(listed, next(e for e in listed if e.kind == "1"), 5)
    elif name == "a file more":
        forge.numbers[0] += 1
    elif name == "another index":
        forge.index = frame(ENTRIES, bytes([forge.index[8] ^ 1]) + forge.index[9:])
    elif name == "a large file of another name":
        table = forge.pieces[-1][2]
        replace_table(forge, table[:42] + b"F" + table[43:])
    elif name == "a large file of another size":
        table = forge.pieces[-1][2]
        replace_table(forge, table[:17] + bytes([table[17] ^ 1]) + table[18:])
    elif name == "a large file too few":
        table = forge.pieces[-1][2]
        first = 34 + sum(struct.unpack_from("<HH", table, 38))
        replace_table(forge, frame(LARGE, table[8 + first:]))
    elif name == "another table":
        forge.pieces[-1][2] = forge.pieces[-1][2][:-1] + b"?"
    elif name == "no table":
        forge.pieces[-1][2] = b""
    elif name == "an index of other pieces":
        others = [e._replace(path=e.path + b"?") if e.start >= PIECE else e for e in listed]
        forge.index = expected_index(archive, others, windows(listed))
    elif name == "a path that leads out":
        rename(forge, small, b"../outside")
    elif name == "a path that comes twice":
        rename(forge, next(e for e in listed if e.kind == "2"), small.path)
    elif name == "a file that lies too early":
        rename(forge, small, files[-1].path + b".zip")
    elif name == "a directory without an entry":
        rename(forge, files[-1], b"elsewhere/" + files[-1].path.rsplit(b"/", 1)[-1])
    elif name == "a hard link to nothing":
        rename(forge, next(e for e in listed if e.kind == "1"), b"nothing", TARGET)
    elif name == "no first window":
        forge.mark(listed, listed[0], listed[0].mark ^ BEGINS)
    elif name == "a window cut too early":
        forge.mark(listed, files[-1], files[-1].mark ^ BEGINS)
    elif name == "two windows as one":
        second = [e for e in listed if e.mark & BEGINS][1]
        forge.mark(listed, second, second.mark ^ BEGINS)
    elif name == "a newer version":
        forge.version = 3
    elif name == "a pre-release":
        forge.format_mark = 0
    elif name == "pages of zeros that are none":
        forge.numbers[5] -= PAGE
    elif name == "hidden bytes":
        forge.change(small.start + BLOCK + small.size, b"hidden")
    elif name == "bytes behind the end":
        return forge.bytes() + b"more"
    return forge.bytes()


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        forged = forgery(sys.argv[2], file.read())
    with open(sys.argv[3], "wb") as file:
        file.write(forged)
