"""The faults, and the points of an operation at which each is made."""

import errno
import os

FOREVER = 1_000_000

# Calls that change a file system. What is on the disk is the same before all that come between two.
CHANGING = {
    "copy_file_range", "fallocate", "fchmod", "fchmodat", "fchmodat2", "fdatasync", "fsetxattr",
    "fsync", "ftruncate", "linkat", "lsetxattr", "mkdirat", "openat", "openat2", "pwrite64",
    "pwritev", "renameat", "renameat2", "symlinkat", "syncfs", "unlinkat", "utimensat", "write",
    "writev",
}
HALVED = {"read", "pread64", "write", "pwrite64", "writev"}
# Calls that a signal may interrupt, by their manual pages.
INTERRUPTIBLE = {
    "fallocate", "fcntl", "ftruncate", "openat", "openat2", "pread64", "pwrite64", "pwritev",
    "read", "readv", "write", "writev", "close",
}


class Fault:
    """Something that goes wrong at a call, once or from then on."""

    def __init__(self, name, code=None, calls=None, length=1, injected=None, kills=False):
        self.name, self.calls, self.length, self.kills = name, calls, length, kills
        self.injected = injected or f"error={code}"
        self.reason = os.strerror(code) if code else None

    def strikes(self, call):
        return self.calls is None or call in self.calls

    def must_be_survived(self, call):
        """Whether the operation must succeed as if nothing had happened."""
        if self.injected == "short":
            return True
        return self.reason == os.strerror(errno.EINTR) and call in INTERRUPTIBLE

    def leaves_nothing(self, ended, point):
        """Whether a run that ended so must have cleaned up, rather than the next one."""
        failed = ended.code is not None and ended.code > 0
        return failed and self.length == 1 and point.call != "unlinkat"

    def points_behind(self):
        """The points at which the operation has ended."""
        return []


class Point:
    """A fault at the call of a number among those of its kind."""

    def __init__(self, fault, call, number):
        self.fault, self.call, self.number = fault, call, number

    @property
    def last(self):
        return min(self.number + self.fault.length - 1, FOREVER)

    @property
    def must_succeed(self):
        return self.fault.must_be_survived(self.call)

    def __str__(self):
        return f"{self.fault.name} at {self.call} {self.number}"


FAULTS = [
    Fault("killed", injected="kill", kills=True),
    Fault("EIO once", errno.EIO),
    Fault("EIO for ever", errno.EIO, length=FOREVER),
    Fault("ENOSPC once", errno.ENOSPC, CHANGING),
    Fault("ENOSPC for ever", errno.ENOSPC, CHANGING, length=FOREVER),
    Fault("EINTR once", errno.EINTR),
    Fault("EINTR 4 times", errno.EINTR, length=4),
    Fault("short once", calls=HALVED, injected="short"),
    Fault("short for ever", calls=HALVED, injected="short", length=FOREVER),
]


def points(fault, counts, step):
    """Every `step`th point for `fault` at calls counted so, and those behind the end."""
    every = [
        Point(fault, call, number)
        for call, count in sorted(counts.items())
        if fault.strikes(call)
        for number in range(1, count + 1)
    ]
    return every[::step] + fault.points_behind()
