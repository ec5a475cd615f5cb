"""The operations that are tried, and what must hold after each, whatever happened."""

import errno
import os

import tree

DOCUMENTED_CODES = {0, 1, 64, 65, 73, 75, 77}
RECORD = {b"import-status.json"}
JOURNAL = b"import-journal.json"
NO_ROOM = os.strerror(errno.ENOSPC)
# A key pair that `age-keygen` made.
IDENTITY = b"AGE-SECRET-KEY-1EGTZVFFV20835NWYV6270LXYVK2VKNX2MMDKWYKLMGR48UAWX40Q2P2LM0"
RECIPIENT = "age1xmwwc06ly3ee5rytxm9mflaz2u56jjj36s0mypdrwsvlul66mv4q47ryef"


class Operation:
    """An operation of `migrate` and its promises."""

    without_exchange = False
    is_bound = False

    def __init__(self, name):
        self.name = name

    def problems(self, place, point, ended, faults):
        """What is not as promised, a sentence each; changes the place as the next command does."""
        found = list(self._problems_of_end(point, ended, faults))
        found += self.problems_of_outcome(place, point, ended)
        return found

    def _problems_of_end(self, point, ended, faults):
        if ended.code is None:
            yield "it hangs"
        elif ended.code == -9 and point.fault.kills and faults:
            return
        elif ended.code not in DOCUMENTED_CODES:
            yield f"it ends with {ended.code}: {ended.errors}"
        elif ended.code == 0 and point.fault.kills and faults:
            yield "it outlives its end"
        elif ended.code != 0 and (faults == 0 or point.must_succeed):
            yield f"it fails with {ended.code}: {ended.errors}"
        elif ended.code != 0 and not self._says_why(point, ended):
            yield f"it does not say why it fails: {ended.errors!r}"

    @staticmethod
    def _says_why(point, ended):
        # Without standard error nothing can be said.
        lines = ended.errors.splitlines()
        if not lines:
            return point.call in ("write", "writev")
        if len(lines) != 1 or not lines[0].startswith("migrate: error: "):
            return False
        return point.fault.reason is None or point.fault.reason in lines[0]


class Export(Operation):
    """An export to a new file, or over an older archive."""

    def __init__(self, name, replaces):
        super().__init__(name)
        self.replaces = replaces
        self.older = b"an older archive" if replaces else None

    def prepare(self, place):
        if self.replaces:
            with open(place.output, "wb") as file:
                file.write(self.older)

    def words(self, place):
        words = ["export", "--container", place.source, "--out", place.output]
        return words + (["--force"] if self.replaces else [])

    def problems_of_outcome(self, place, point, ended):
        output = self._output(place)
        if output not in (self.older, place.reference):
            yield "the output is neither as before nor a whole archive"
        if ended.code == 0 and output != place.reference:
            yield "it succeeds and there is no archive"
        if point.fault.leaves_nothing(ended, point) and self._left(place):
            yield f"it leaves {self._left(place)}"
        if tree.snapshot(place.source) != place.new:
            yield "it changes the container"
        words = ["export", "--container", place.source, "--out", place.output, "--force"]
        again = place.migrate(*words)
        if again.code != 0 or self._output(place) != place.reference:
            yield f"the next export fails with {again.code}: {again.errors}"
        elif self._left(place):
            yield f"the next export leaves {self._left(place)}"

    @staticmethod
    def _output(place):
        if not os.path.exists(place.output):
            return None
        with open(place.output, "rb") as file:
            return file.read()

    @staticmethod
    def _left(place):
        inside = {b".migration"} & set(os.listdir(place.source))
        return (place.names() | inside) - {b"source", b"archive", b"out", b"app"}


class Import(Operation):
    """An import into a new container, or in the place of the data that one holds."""

    succeeds_with = "success"

    def __init__(self, name, replaces, without_exchange=False, is_bound=False):
        super().__init__(name)
        self.replaces = replaces
        self.without_exchange, self.is_bound = without_exchange, is_bound

    def prepare(self, place):
        if self.replaces:
            place.make_container(self.is_bound)
        else:
            place.old = {}

    def words(self, place):
        return self._words(place) + (["--replace"] if self.replaces else [])

    @staticmethod
    def _words(place):
        options = ["--bundle-id", "source", "--container", place.container]
        return ["import", place.archive, *options]

    def problems_of_outcome(self, place, point, ended):
        exchanges = self.replaces and not self.without_exchange and not self.is_bound
        if exchanges and tree.snapshot(place.container) not in (place.old, place.new):
            yield "the container is neither the old one nor the new one"
        is_cut_off = JOURNAL in place.bookkeeping()
        status, answer = place.status()
        contents = tree.snapshot(place.container)
        # A container that was to be made may be missing, of which there is no status.
        if status is None and (contents is not None or self.replaces):
            yield f"its status can't be told: {answer.errors}"
        if (contents or {}) != (place.new if status == "success" else place.old):
            yield f"its status is {status}, and the container is another"
        yield from self._problems_of_status(point, ended, status, is_cut_off)
        if ended.code and ended.code > 0 and status == "none" and place.bookkeeping():
            yield "it fails, and there is no status of that"
        yield from self._problems_of_next(place, point, contents)

    def _problems_of_status(self, point, ended, status, is_cut_off):
        if ended.code == 0 and status != self.succeeds_with:
            yield f"it succeeds, and its status is {status}"
        # Where nothing can be said, that is what fails.
        is_mute = not ended.errors or "standard output" in ended.errors
        has_failed = ended.code and ended.code > 0 and not is_mute
        if has_failed and status == "success" and not is_cut_off:
            yield "it fails, and it has committed"

    def _problems_of_next(self, place, point, contents):
        if contents is None or point.number % 2:
            words, expected = self._words(place) + ["--replace"], place.new
        else:
            output = ["--out", place.output, "--force"]
            words, expected = ["export", "--container", place.container, *output], contents
        ended = place.migrate(*words)
        if ended.code != 0:
            yield f"the next {words[0]} fails with {ended.code}: {ended.errors}"
        if tree.snapshot(place.container) != expected:
            yield f"the next {words[0]} leaves another container"
        left = place.names() - {b"source", b"archive", b"sealed", b"key", b"app", b"out"}
        left |= place.bookkeeping() - RECORD
        if left:
            yield f"the next {words[0]} leaves {left}"


class EncryptedImport(Import):
    """An import of the same container out of an encrypted archive."""

    def prepare(self, place):
        super().prepare(place)
        with open(place.path("key"), "wb") as file:
            file.write(IDENTITY)
        output = ["--out", place.path("sealed"), "--recipient", RECIPIENT]
        place.migrate("export", "--container", place.source, *output)

    @staticmethod
    def _words(place):
        options = ["--bundle-id", "source", "--container", place.container]
        return ["import", place.path("sealed"), "--identity", place.path("key"), *options]


class Recovery(Import):
    """What brings an import to its end that was killed at a call."""

    def __init__(self, name, call, number, succeeds_with):
        super().__init__(name, replaces=True, without_exchange=True)
        self.call, self.number, self.succeeds_with = call, number, succeeds_with

    def prepare(self, place):
        super().prepare(place)
        words = super().words(place)
        place.inject("kill", self.call, self.number, self.number, words, self.without_exchange)

    def words(self, place):
        return ["status", "--container", place.container]

    def _problems_of_status(self, point, ended, status, is_cut_off):
        # A commit that finds no room goes back.
        if ended.code == 0 and status != self.succeeds_with and point.fault.reason != NO_ROOM:
            yield f"it succeeds, and its status is {status}"


OPERATIONS = [
    Export("export", replaces=False),
    Export("export --force", replaces=True),
    Import("import", replaces=False),
    Import("import --replace, exchange", replaces=True),
    Import("import --replace, journal", replaces=True, without_exchange=True),
    Import("import --replace, mount point", replaces=True, is_bound=True),
    EncryptedImport("import of an encrypted archive", replaces=True),
    Recovery("recovery from staging", "syncfs", 1, "interrupted"),
    # Of the renames the first two are of the staging directory, and four move the old data aside.
    Recovery("recovery from clearing", "renameat2", 5, "success"),
    Recovery("recovery from filling", "renameat2", 8, "success"),
]
