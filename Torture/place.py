"""The place where one operation is tried: a directory with all that it reads and makes."""

import ctypes
import errno
import os
import subprocess
import time

import tree

TIME_LIMIT = 30
BIND = 4096
SYSTEM = ctypes.CDLL(None, use_errno=True)


def unmount(mount_point):
    """Unmounts what a process that was killed may yet hold for a moment."""
    for _ in range(100):
        if SYSTEM.umount2(mount_point, 0) == 0:
            return
        if ctypes.get_errno() != errno.EBUSY:
            break
        time.sleep(0.05)
    raise OSError(ctypes.get_errno(), "umount", mount_point)


class Ended:
    """How a run of `migrate` ended, and what it said."""

    def __init__(self, code, output, errors):
        self.code, self.output, self.errors = code, output, errors


class Place:
    """A directory with a container to export, its archive, and a container to import into."""

    def __init__(self, directory, tools):
        self.directory, self.tools = directory, tools
        self.report = tools.scratch(directory)
        self.source = self.path("source")
        self.container = self.path("app")
        self.archive = self.path("archive")
        self.output = self.path("out")
        self.is_bound = False

    def path(self, name):
        return os.path.join(self.directory, name.encode())

    def build(self):
        """Makes what every operation starts from, once."""
        os.makedirs(self.directory, exist_ok=True)
        tree.make(self.source, tree.NEW)
        exported = self.migrate("export", "--container", self.source, "--out", self.archive)
        verified = self.migrate("verify", self.archive)
        if exported.code or verified.code:
            raise SystemExit(f"torture: error: {exported.errors}{verified.errors}")
        with open(self.archive, "rb") as file:
            self.reference = file.read()
        self.new = tree.snapshot(self.source)

    def make_container(self, bound=False):
        """Makes the container that holds the old data; `bound`, it is a mount point."""
        tree.remove(self.container)
        tree.make(self.container, tree.OLD)
        self.old = tree.snapshot(self.container)
        if bound:
            self.bind()

    def bind(self):
        if SYSTEM.mount(self.container, self.container, None, BIND, None) != 0:
            raise OSError(ctypes.get_errno(), "mount", self.container)
        self.is_bound = True

    def unbind(self):
        if self.is_bound:
            unmount(self.container)
            self.is_bound = False

    def clean(self):
        """Removes everything that an operation and what came after it made."""
        self.unbind()
        for name in self.names() - {b"source", b"archive"}:
            tree.remove(os.path.join(self.directory, name))

    def names(self):
        return set(os.listdir(self.directory))

    def bookkeeping(self):
        path = os.path.join(self.container, tree.BOOKKEEPING)
        return set(os.listdir(path)) if os.path.isdir(path) else set()

    def migrate(self, *words):
        """Runs `migrate` undisturbed."""
        return self.run([self.tools.migrate, *words, *self.tools.options(words[0])])

    def run(self, command):
        """Runs a command; one that does not end in time is killed and has no code."""
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        try:
            output, errors = process.communicate(timeout=TIME_LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            output, errors = process.communicate()
            return Ended(None, output, errors.decode(errors="replace"))
        return Ended(process.returncode, output, errors.decode(errors="replace"))

    def inject(self, fault, call, first, last, words, without_exchange):
        """Runs `migrate` with a fault; returns how it ended, how often, and the calls counted."""
        command = [self.tools.injector, self.report, self.directory]
        command += ["-x"] if without_exchange else []
        command += [fault, call, str(first), str(last), self.tools.migrate, *words]
        ended = self.run(command + self.tools.options(words[0]))
        with open(self.report) as file:
            counts = {name: int(count) for name, count in map(str.split, file)}
        os.unlink(self.report)
        return ended, counts.pop("faults"), counts

    def status(self):
        """What `migrate status` says of the container: its word and how the command ended."""
        ended = self.migrate("status", "--container", self.container)
        if ended.code != 0:
            return None, ended
        return ended.output.decode().split("\n")[0].split(":")[0], ended
