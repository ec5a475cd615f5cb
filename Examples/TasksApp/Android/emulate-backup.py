#!/usr/bin/env python3
"""Writes the stream that LocalTransport on an emulator keeps of an app, without any code of migrate.

usage: emulate-backup.py DATA RULES PACKAGE OUT

DATA is a copy of /data/data/PACKAGE, with the app's files on the shared storage in '_external' and its
device-protected storage in '_device'. What the section 'cross-platform-transfer' of the rules sends is written
to OUT/1/_full/PACKAGE, as the emulator does below /data/data/com.android.localtransport/files.
"""
import os, struct, sys, xml.etree.ElementTree as xml

# In Android's order: the token in the stream, and the directory.
DOMAINS = {
    "root": ("r", ""), "device_root": ("d_r", "_device"),
    "file": ("f", "files"), "device_file": ("d_f", "_device/files"),
    "database": ("db", "databases"), "device_database": ("d_db", "_device/databases"),
    "sharedpref": ("sp", "shared_prefs"), "device_sharedpref": ("d_sp", "_device/shared_prefs"),
    "external": ("ef", "_external"),
}
APART = ["files", "databases", "shared_prefs", "cache", "code_cache", "no_backup", "lib"]


def directory(domain):
    return os.path.normpath(os.path.join(data, DOMAINS[domain][1]))


def paths(action):
    """The paths that the rules of one kind name, and the files that go with them, by domain."""
    named = {}
    for rule in section.findall(action):
        domain, path = rule.get("domain"), rule.get("path") or "."
        if domain not in DOMAINS or ".." in path or "//" in path:
            continue
        found = [os.path.normpath(os.path.join(directory(domain), path.lstrip("/")))]
        if not os.path.isdir(found[0]):
            if domain == "database":
                found += [found[0] + "-journal", found[0] + "-wal"]
            if domain == "sharedpref" and not path.endswith(".xml"):
                found.append(found[0] + ".xml")
        named.setdefault(domain, []).extend(found)
    return named


def walk(path, top):
    """What is sent at and below a path; the top directory of a domain is not an entry."""
    if path in excluded or (path != top and path in pruned) or os.path.islink(path):
        return
    if path != top:
        yield path
    if os.path.isdir(path):
        for name in sorted(os.listdir(path)):
            yield from walk(os.path.join(path, name), top)


def octal(value, digits):
    return b"%0*o " % (digits, value)


def header(prefix, path, kind, size, mode, mtime):
    name, leading = path.encode(), prefix.encode()
    start = b""
    if len(name) >= 100 or any(byte >= 0x80 for byte in name):
        records = record("size", size) + record("path", f"{prefix}/{path}")
        start = block(b"PaxHeader/" + os.path.basename(path).encode()[:80], b"", b"x", len(records), 0o600, mtime)
        start += padded(records)
        name = name[:99]
    return start + block(name, leading, kind, size, mode, mtime)


def record(key, value):
    text = f" {key}={value}\n".encode()
    length = len(text)
    while length != len(text) + len(str(length)):
        length = len(text) + len(str(length))
    return str(length).encode() + text


def block(name, prefix, kind, size, mode, mtime):
    if len(prefix + name) < 100 and prefix:
        name, prefix = prefix + b"/" + name, b""
    fields = [name, octal(mode, 6), octal(10001, 6), octal(10001, 6), octal(size, 11), octal(mtime, 11),
              b" " * 8, kind, b"", b"ustar\0", b"00", b"", b"", b"", b"", prefix]
    form = "100s8s8s8s12s12s8s1s100s6s2s32s32s8s8s155s12x"
    fields[6] = b"%06o\0 " % sum(struct.pack(form, *fields))
    return struct.pack(form, *fields)


def padded(content):
    return content + bytes(-len(content) % 512)


def manifest(name, lines):
    content = "".join(f"{line}\n" for line in lines).encode()
    return header(f"apps/{package}", name, b"0", len(content), 0o600, 0) + padded(content)


data, rules, package, out = sys.argv[1:]
section = next((found for found in xml.parse(rules).getroot().findall("cross-platform-transfer")
                if found.get("platform") == "ios"), None)
apps = section.findall("platform-specific-params") if section is not None else []
if not apps:
    sys.exit(f"Package {package} with result: Backup is not allowed")

included, pruned = paths("include"), set()
excluded = {path for named in paths("exclude").values() for path in named}
for root in ("root", "device_root"):
    pruned |= {os.path.join(directory(root), name) for name in APART}
pruned |= {directory("device_root"), directory("external")}

stream = [manifest("_manifest", [1, package, 7, 36, "com.android.vending", 0, 1, "3082" + "0f" * 30])]
fields = [app.get(key, "") for app in apps for key in ("bundleId", "teamId", "contentVersion")]
stream.append(manifest(
    "_cross_platform_manifest", [1, package, "ios", len(apps), *fields, 1, "ab" * 32]))
for domain, (token, _) in DOMAINS.items():
    top = directory(domain)
    starts = included.get(domain, []) if included else [top]
    for path in (path for start in starts if os.path.lexists(start) for path in walk(start, top)):
        status, relative = os.stat(path), os.path.relpath(path, top)
        is_file = os.path.isfile(path)
        stream.append(header(
            f"apps/{package}/{token}", relative, b"0" if is_file else b"5",
            status.st_size if is_file else 0, 0o600 if is_file else 0o700, int(status.st_mtime)))
        if is_file:
            with open(path, "rb") as file:
                stream.append(padded(file.read()))

place = os.path.join(out, "1", "_full")
os.makedirs(place, exist_ok=True)
with open(os.path.join(place, package), "wb") as file:
    file.write(b"".join(stream))
print(f"Package {package} with result: Success")
