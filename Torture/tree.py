"""Trees of files: made from a description, and compared as a whole."""

import os
import shutil
import stat

BOOKKEEPING = b".migration"

# What an archive must keep: odd names, modes, times, links, attributes, holes, sizes around blocks.
NEW = [
    (b"Documents", "directory", 0o755),
    (b"Documents/empty", "file", b""),
    (b"Documents/note", "file", b"new\n"),
    (b"Documents/noise", "file", bytes((i * i * 31 + i // 7) % 251 for i in range(70_001))),
    (b"Documents/n" + b"n" * 199, "file", b"long"),
    (b"Documents/\xff\xfe", "file", b"odd"),
    (b"Documents/locked", "directory", 0o500),
    (b"Documents/locked/inside", "file", b"kept"),
    (b"Library", "directory", 0o700),
    (b"Library/hard", "hard link", b"Documents/note"),
    (b"Library/hole", "hole", 200_000),
    (b"link", "link", b"Documents/note"),
]

OLD = [
    (b"Documents", "directory", 0o755),
    (b"Documents/note", "file", b"old\n"),
    (b"Documents/only old", "file", b"old, and nowhere else"),
    (b"Library", "directory", 0o755),
    (b"Library/locked", "directory", 0o500),
    (b"Library/locked/file", "file", b"locked"),
    (b"link", "link", b"Library"),
    (b"older", "hard link", b"Documents/only old"),
]


def make(root, parts):
    """Makes the described tree in the directory `root`, which may be there."""
    os.makedirs(root, exist_ok=True)
    for name, kind, value in parts:
        _make_part(os.path.join(root, name), kind, value, root)
    # The deepest first, because making something changes the directory that it is in.
    for index, (name, kind, value) in reversed(list(enumerate(parts))):
        path = os.path.join(root, name)
        if kind == "directory":
            os.chmod(path, value)
        time = (1_600_000_000 + index) * 1_000_000_000 + 123_456_789
        os.utime(path, ns=(time, time), follow_symlinks=False)


def _make_part(path, kind, value, root):
    if kind == "directory":
        os.mkdir(path)
    elif kind == "link":
        os.symlink(value, path)
    elif kind == "hard link":
        os.link(os.path.join(root, value), path)
    else:
        with open(path, "wb") as file:
            file.write(value if kind == "file" else b"")
            if kind == "hole":
                file.truncate(value)
        os.chmod(path, 0o640)
        os.setxattr(path, b"user.torture", path[-3:])


def snapshot(root):
    """Everything below `root` but the bookkeeping; `None` where there is no such directory."""
    if not os.path.isdir(root):
        return None
    found, inodes = {}, {}
    for directory, directories, files in os.walk(root):
        if directory == root and BOOKKEEPING in directories:
            directories.remove(BOOKKEEPING)
        for name in directories + files:
            path = os.path.join(directory, name)
            found[os.path.relpath(path, root)] = _describe(path, inodes, root)
    return found


def _describe(path, inodes, root):
    status = os.lstat(path)
    if stat.S_ISLNK(status.st_mode):
        return ("link", status.st_mtime_ns, os.readlink(path))
    attributes = {name: os.getxattr(path, name) for name in os.listxattr(path)}
    if stat.S_ISDIR(status.st_mode):
        return ("directory", status.st_mode, status.st_mtime_ns, attributes)
    inodes.setdefault(status.st_ino, set()).add(os.path.relpath(path, root))
    with open(path, "rb") as file:
        content = file.read()
    # One set for all names of a file, so that two trees are equal only with the same links.
    names = inodes[status.st_ino]
    return ("file", status.st_mode, status.st_mtime_ns, attributes, content, names)


def remove(path, keeping_root=False):
    """Removes `path` with everything in it, also what may not be written."""
    if os.path.islink(path) or os.path.isfile(path):
        os.unlink(path)
    elif os.path.isdir(path):
        for directory, directories, _ in os.walk(path):
            for name in directories:
                if not os.path.islink(os.path.join(directory, name)):
                    os.chmod(os.path.join(directory, name), 0o700)
        for name in os.listdir(path):
            child = os.path.join(path, name)
            if os.path.isdir(child) and not os.path.islink(child):
                shutil.rmtree(child)
            else:
                os.unlink(child)
        if not keeping_root:
            os.rmdir(path)
