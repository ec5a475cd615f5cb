"""Makes every call of every operation fail in every way, and checks what is promised."""

import argparse
import collections
import concurrent.futures
import contextlib
import os
import queue
import shutil
import sys
import tempfile

import faults
import operations
import place
import powerloss


class Tools:
    """The programs, and how they are called."""

    def __init__(self, migrate, injector, threads, scratch):
        self.migrate, self.injector, self.threads = migrate, injector, threads
        self.directory = scratch

    def options(self, command):
        if command not in ("export", "import"):
            return []
        return ["--threads", str(self.threads), "--progress", "none"]

    def scratch(self, directory):
        """A file for the report of what runs in `directory`, outside of what is looked at."""
        return os.path.join(self.directory, f"report-{hash(directory)}")


class Torture:
    """What is tried, by workers that have a place each, and how much of it failed."""

    def __init__(self, step):
        self.step = step
        self.tried = collections.OrderedDict()
        self.failures = []

    def run(self, operation, kinds, places, attempt):
        """Tries every point of `operation` that `kinds` has, and adds a row to the table a kind."""
        counts = self._count(operation, places)
        for fault in kinds:
            points = faults.points(fault, counts, self.step)
            executor = concurrent.futures.ThreadPoolExecutor(places.qsize())
            try:
                results = list(
                    executor.map(lambda point: self._try(operation, point, places, attempt), points)
                )
            finally:
                executor.shutdown(cancel_futures=True)
            bad = sum(1 for problems in results if problems)
            self.tried[operation.name, fault.name] = (len(points), bad)
            print(f"{operation.name:31} {fault.name:17} {len(points):6} {bad:6}", flush=True)

    def _count(self, operation, places):
        with borrowed(places) as where:
            where.clean()
            operation.prepare(where)
            words = operation.words(where)
            ended, _, counts = where.inject(
                "none", "-", 0, 0, words, operation.without_exchange
            )
            where.clean()
        if ended.code != 0:
            raise SystemExit(f"torture: error: {operation.name} fails by itself: {ended.errors}")
        return counts

    def _try(self, operation, point, places, attempt):
        with borrowed(places) as where:
            try:
                problems = attempt(operation, point, where)
            except OSError as error:
                problems = [f"the place can't be looked at: {error}"]
        for problem in problems:
            self.failures.append(f"{operation.name}: {point}: {problem}")
            print(f"  {self.failures[-1]}", flush=True)
        return problems

    def print_totals(self):
        total = sum(count for count, _ in self.tried.values())
        bad = sum(bad for _, bad in self.tried.values())
        print(f"{'all':49} {total:6} {bad:6}")
        return 1 if bad else 0


@contextlib.contextmanager
def borrowed(places):
    """A place of those that are free, given back at the end."""
    where = places.get()
    try:
        yield where
    finally:
        places.put(where)


def attempt_fault(operation, point, where):
    """Runs the operation with a fault in the middle, and returns what is not as promised."""
    where.clean()
    operation.prepare(where)
    ended, count, _ = where.inject(
        point.fault.injected,
        point.call,
        point.number,
        point.last,
        operation.words(where),
        operation.without_exchange,
    )
    return operation.problems(where, point, ended, count)


def chosen_operations(pattern, may_mount):
    for operation in operations.OPERATIONS:
        if pattern not in operation.name:
            continue
        if operation.is_bound and not may_mount:
            print(f"{operation.name:31} skipped: only root may mount")
            continue
        yield operation


def try_faults(torture, tools, options, may_mount):
    places = queue.Queue()
    for number in range(options.jobs):
        directory = os.path.join(tools.directory, f"place-{number}").encode()
        places.put(place.Place(directory, tools))
    everywhere = list(places.queue)
    for where in everywhere:
        where.build()
    try:
        for operation in chosen_operations(options.operation, may_mount):
            torture.run(operation, faults.FAULTS, places, attempt_fault)
    finally:
        for where in everywhere:
            where.unbind()


def try_power_losses(torture, tools, options, may_mount):
    for kind in powerloss.FILE_SYSTEMS:
        reason = None if may_mount else "only root may mount, in a mount namespace"
        reason = reason or powerloss.reason_to_skip(kind)
        if reason:
            print(f"power loss on {kind}: skipped: {reason}")
            continue
        with powerloss.mounted_places(kind, options.jobs, tools) as places:
            for operation in chosen_operations(options.operation, may_mount):
                torture.run(
                    powerloss.on(kind, operation), powerloss.FAULTS, places, powerloss.attempt
                )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--migrate", required=True)
    parser.add_argument("--injector", required=True)
    parser.add_argument("--may-mount", action="store_true")
    parser.add_argument("--scratch", required=True)
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", choices=["faults", "power-loss"])
    parser.add_argument("--operation", default="")
    options = parser.parse_args()
    scratch = tempfile.mkdtemp(prefix="migration-torture.", dir=options.scratch)
    tools = Tools(options.migrate, options.injector, options.threads, scratch)
    torture = Torture(options.step)
    print(f"{'operation':31} {'fault':17} {'points':>6} {'failed':>6}")
    try:
        if options.only != "power-loss":
            try_faults(torture, tools, options, options.may_mount)
        if options.only != "faults":
            try_power_losses(torture, tools, options, options.may_mount)
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    sys.exit(torture.print_totals())


if __name__ == "__main__":
    main()
