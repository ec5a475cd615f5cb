"""Power loss: a file system in a file that forgets what was not made to last."""

import contextlib
import copy
import ctypes
import fcntl
import os
import queue
import shutil
import subprocess
import tempfile

import faults
import place
import tree

# EXT4_IOC_SHUTDOWN, XFS_IOC_GOINGDOWN: _IOR('X', 125, unsigned).
SHUT_DOWN = 0x8004587D
# The journal reaches the disk and file contents do not; or neither does.
JOURNAL_SURVIVES, NOTHING_SURVIVES = 1, 2

# How large a file system at least must be, and how it is made.
FILE_SYSTEMS = {
    "ext4": (64 << 20, ["mkfs.ext4", "-q", "-F"]),
    "xfs": (320 << 20, ["mkfs.xfs", "-q", "-f"]),
}


class PowerLoss(faults.Fault):
    """The power fails at a call that changes something, or right behind the last one."""

    def __init__(self, name, survivors):
        super().__init__(name, calls=faults.CHANGING, injected="powerloss", kills=True)
        self.survivors = survivors

    def points_behind(self):
        return [faults.Point(self, "its end", 1)]


FAULTS = [
    PowerLoss("journal survives", JOURNAL_SURVIVES),
    PowerLoss("nothing survives", NOTHING_SURVIVES),
]


def on(kind, operation):
    """The operation under a name that tells the file system."""
    named = copy.copy(operation)
    named.name = f"{operation.name}, {kind}".replace("import --replace, ", "replace, ")
    return named


def reason_to_skip(kind):
    program = FILE_SYSTEMS[kind][1][0]
    if not shutil.which(program) or not shutil.which("losetup"):
        return f"{program} or losetup is missing"
    try:
        with mounted_places(kind, 1, None) as places:
            shut_down(places.get().mount_point, NOTHING_SURVIVES)
    except (OSError, subprocess.CalledProcessError) as error:
        return f"this machine can't do it: {error}"
    return None


class MountedPlace(place.Place):
    """A place on a file system of its own, which can lose its power."""

    def __init__(self, device, kind, mount_point, tools):
        self.device, self.kind, self.mount_point = device, kind, mount_point
        self.mount()
        if tools:
            super().__init__(os.path.join(mount_point, b"place"), tools)

    def mount(self):
        kind = self.kind.encode()
        if place.SYSTEM.mount(self.device.encode(), self.mount_point, kind, 0, None) != 0:
            raise OSError(ctypes.get_errno(), "mount", self.device)

    def unmount(self):
        place.unmount(self.mount_point)

    def make_last(self):
        descriptor = os.open(self.mount_point, os.O_RDONLY | os.O_DIRECTORY)
        place.SYSTEM.syncfs(descriptor)
        os.close(descriptor)

    def restart(self):
        """Mounts the file system again, as after the power is back."""
        was_bound = self.is_bound
        self.unbind()
        self.unmount()
        self.mount()
        if was_bound:
            self.bind()


def shut_down(directory, survivors):
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.ioctl(descriptor, SHUT_DOWN, survivors.to_bytes(4, "little"))
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def mounted_places(kind, count, tools):
    """Gives `count` places on file systems of their own, and takes all of that away again."""
    size, command = FILE_SYSTEMS[kind]
    parent = tools.directory if tools else tempfile.gettempdir()
    directory = tempfile.mkdtemp(prefix=f"{kind}.", dir=parent)
    places, mounted, devices = queue.Queue(), [], []
    try:
        for number in range(count):
            image = os.path.join(directory, f"{number}.image")
            with open(image, "wb") as file:
                file.truncate(size)
            subprocess.run([*command, image], check=True, capture_output=True)
            device = subprocess.run(
                ["losetup", "--find", "--show", image], check=True, capture_output=True, text=True
            ).stdout.strip()
            devices.append(device)
            mount_point = os.path.join(directory, f"{number}").encode()
            os.mkdir(mount_point)
            where = MountedPlace(device, kind, mount_point, tools)
            mounted.append(where)
            places.put(where)
            if tools:
                where.build()
        yield places
    finally:
        for where in mounted:
            if tools:
                where.unbind()
            where.unmount()
        for device in devices:
            subprocess.run(["losetup", "--detach", device], check=True)
        shutil.rmtree(directory)


def attempt(operation, point, where):
    """Runs the operation until the power fails, and returns what is not as promised after it."""
    where.clean()
    operation.prepare(where)
    where.make_last()
    ended, count, _ = where.inject(
        f"powerloss={point.fault.survivors}:{os.fsdecode(where.mount_point)}",
        point.call,
        point.number,
        point.number,
        operation.words(where),
        operation.without_exchange,
    )
    if count == 0:
        # It came to its end: the power fails right behind it.
        shut_down(where.mount_point, point.fault.survivors)
    where.restart()
    return operation.problems(where, point, ended, count)
