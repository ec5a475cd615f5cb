#!/usr/bin/env python3
"""Writes backups as Android does, by nothing of this project: hashlib, zlib, tarfile and openssl.

usage: make-backup.py OUT [--form stream|ab] [--version N] [--plain] [--password P]
       [--password-encoding utf8|low] [--key-encoding utf8|low] [--no-end] [--shrink PATH=BYTES]
       ENTRY...

ENTRY is PATH=TEXT for a file, PATH=@BYTES for one of so many bytes, PATH/ for a directory,
PATH->TARGET for a link, HARD:PATH, DEVICE:PATH and FIFO:PATH for what their names say, and
MANIFEST:PACKAGE for the manifests of a package.
"""
import argparse, hashlib, io, os, random, subprocess, sys, tarfile, zlib

parser = argparse.ArgumentParser()
parser.add_argument("out")
parser.add_argument("entries", nargs="*")
parser.add_argument("--form", default="stream")
parser.add_argument("--version", type=int, default=5)
parser.add_argument("--plain", action="store_true")
parser.add_argument("--password")
parser.add_argument("--password-encoding", default="utf8")
parser.add_argument("--key-encoding", default="utf8")
parser.add_argument("--no-end", action="store_true")
parser.add_argument("--shrink", action="append", default=[])
parser.add_argument("--rounds", type=int, default=1000)
options = parser.parse_intermixed_args()
shrunk = dict(item.rsplit("=", 1) for item in options.shrink)


def header(path, size, kind, target="", mode=0o600, mtime=1700000000):
    info = tarfile.TarInfo(path)
    info.size, info.type, info.linkname, info.mode, info.mtime = size, kind, target, mode, mtime
    raw = path.encode("utf-8", "surrogateescape")
    if len(raw) > 100 or any(byte >= 0x80 for byte in raw):
        records = b""
        for key, value in ((b"size", str(size).encode()), (b"path", raw)):
            rest, length = len(key) + len(value) + 3, 0
            while length != rest + len(str(length)):
                length = rest + len(str(length))
            records += str(length).encode() + b" " + key + b"=" + value + b"\n"
        extended = tarfile.TarInfo("PaxHeader/" + os.path.basename(path)[:50].encode("ascii", "replace").decode())
        extended.size, extended.type = len(records), b"x"
        start = extended.tobuf(tarfile.USTAR_FORMAT) + records + bytes(-len(records) % 512)
        info.name = path[:60].encode("ascii", "replace").decode()
        return start + info.tobuf(tarfile.USTAR_FORMAT)
    return info.tobuf(tarfile.USTAR_FORMAT)


def file(path, content):
    kept = content[: int(shrunk[path])] if path in shrunk else content
    return header(path, len(content), b"0") + kept + bytes(-len(kept) % 512)


def entry(text):
    if text.startswith("MANIFEST:"):
        package = text[9:]
        own = f"1\n{package}\n7\n36\ncom.android.vending\n0\n1\n00ff\n"
        cross = f"1\n{package}\nios\n1\ncom.example.app\nABCDE12345\n3\n1\n{'ab' * 32}\n"
        return file(f"apps/{package}/_manifest", own.encode()) + file(
            f"apps/{package}/_cross_platform_manifest", cross.encode())
    for word, kind in (("HARD:", b"1"), ("DEVICE:", b"3"), ("FIFO:", b"6")):
        if text.startswith(word):
            return header(text[len(word):], 0, kind, "apps/a/f/good" if kind == b"1" else "")
    if "->" in text:
        path, target = text.split("->", 1)
        return header(path, 0, b"2", target)
    if text.endswith("/"):
        return header(text, 0, b"5", mode=0o700)
    path, content = text.split("=", 1)
    if content.startswith("@"):
        return file(path, random.Random(path).randbytes(int(content[1:])))
    return file(path, content.encode())


stream = b"".join(entry(text) for text in options.entries)
if not options.no_end:
    stream += bytes(1024)
if options.form == "ab":
    def aes(data, key, vector):
        command = ["openssl", "enc", "-aes-256-cbc", "-K", key.hex(), "-iv", vector.hex()]
        return subprocess.run(command, input=data, stdout=subprocess.PIPE, check=True).stdout

    def letters(text, encoding):
        return text.encode() if encoding == "utf8" else bytes(ord(c) & 0xFF for c in text)

    body = stream if options.plain else zlib.compress(stream, 9)
    lines = ["ANDROID BACKUP", str(options.version), "0" if options.plain else "1"]
    if options.password is None:
        lines.append("none")
    else:
        source = random.Random(options.password)
        salt, check_salt = source.randbytes(64), source.randbytes(64)
        vector, key, key_vector = source.randbytes(16), source.randbytes(32), source.randbytes(16)
        secret = letters(options.password, options.password_encoding)
        user_key = hashlib.pbkdf2_hmac("sha1", secret, salt, options.rounds, 32)
        chars = "".join(chr(b if b < 128 else 0xFF00 | b) for b in key)
        checksum = hashlib.pbkdf2_hmac(
            "sha1", letters(chars, options.key_encoding), check_salt, options.rounds, 32)
        blob = bytes([16]) + key_vector + bytes([32]) + key + bytes([32]) + checksum
        lines += ["AES-256", salt.hex().upper(), check_salt.hex().upper(), str(options.rounds),
                  vector.hex().upper(), aes(blob, user_key, vector).hex().upper()]
        body = aes(body, key, key_vector)
    stream = "".join(line + "\n" for line in lines).encode() + body
with open(options.out, "wb") as out:
    out.write(stream)
