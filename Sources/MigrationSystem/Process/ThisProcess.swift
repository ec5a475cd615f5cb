internal import CMigrationShims
package import Foundation
internal import Glibc

/// Properties of this process, and its exit.
package enum ThisProcess {
    /// The user for whom it works.
    package static var user: UInt32 { geteuid() }

    /// The name of this machine, without a query to another machine.
    package static var hostName: String {
        var name = [CChar](repeating: 0, count: 256)
        guard unsafe gethostname(&name, name.count - 1) == 0 else { return "" }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Ends it with `code`.
    package static func exit(_ code: Int32) -> Never { Glibc.exit(code) }
}

/// Replaces this process by another program.
package enum ProcessReplacement {
    /// Runs `command`, found by `PATH`, in place of this process with a variable set.
    ///
    /// - Throws: ``SystemError`` if the program can't be run; it returns only by throwing.
    package static func execute(
        _ command: [[UInt8]],
        settingVariable assignment: [UInt8]
    ) throws(SystemError) -> Never {
        guard let program = command.first else { throw SystemError("execvp", code: ENOENT) }
        try setVariable(assignment)
        let arguments = CStringList(command)
        _ = program.withPath { program in
            arguments.withPointer { unsafe execvp(program, $0) }
        }
        throw SystemError("execvp")
    }

    /// Sets an environment variable, whose value need not be text.
    static func setVariable(_ assignment: [UInt8]) throws(SystemError) {
        guard let variable = assignment.withPath({ unsafe strdup($0) }) else {
            throw SystemError("strdup")
        }
        guard unsafe putenv(variable) == 0 else { throw SystemError("putenv") }
    }
}

extension FileDescriptor {
    /// Keeps the file open in the program that replaces this process.
    package borrowing func passToSuccessor() throws(SystemError) {
        guard fcntl(rawValue, F_SETFD, 0) == 0 else { throw SystemError("fcntl") }
    }
}

/// The standard output of this process.
package enum StandardOutput {
    /// Makes standard output unbuffered from now on.
    ///
    /// The C library would buffer output to a pipe, and a crashing process would lose it.
    package static func stopBuffering() { migration_stop_buffering_output() }
}

/// The memory that this process has freed.
package enum FreedMemory {
    /// Returns blocks of 128 KiB and more to the system when they are freed, from now on.
    ///
    /// By default the C library may keep blocks of up to 32 MiB, in each of several arenas.
    package static func returnAtOnce() { migration_return_freed_memory() }
}

/// The address space of this process, which `ulimit -v` limits.
package enum AddressSpace {
    /// The limit of the address space in bytes; `nil` without a limit.
    package static var limit: UInt64? {
        var limit = rlimit()
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0 else {
            return nil
        }
        return limit.rlim_cur == rlim_t.max ? nil : UInt64(limit.rlim_cur)
    }

    /// The bytes that are reserved for everything except the working threads.
    private static let reserve: UInt64 = 48 << 20

    /// The bytes of each working thread: its stack, and buffers of 10 MiB.
    private static let bytesOfThread: UInt64 = {
        var attributes = pthread_attr_t()
        guard unsafe pthread_attr_init(&attributes) == 0 else { return 18 << 20 }
        defer { unsafe pthread_attr_destroy(&attributes) }
        var stack = 0
        unsafe pthread_attr_getstacksize(&attributes, &stack)
        return UInt64(stack) + (10 << 20)
    }()

    /// How many working threads fit into the limit, at least one; `nil` without a limit.
    ///
    /// They are counted once, so that all stages of an operation have the same number.
    package static let threadLimit: Int? = limit.map { limit in
        // If this file can't be read, the whole limit counts as free.
        let pages = (try? FileDescriptor.open("/proc/self/statm", .reading).readAll(limit: 256))
            .flatMap { $0 }?.split(separator: UInt8(ascii: " ")).first
        let used = pages.flatMap { UInt64(String(decoding: $0, as: UTF8.self)) } ?? 0
        let free = limit - min(limit, used * UInt64(sysconf(CInt(_SC_PAGESIZE))) + reserve)
        return max(1, Int(clamping: free / bytesOfThread))
    }
}

/// Whether this process may write a core dump and be traced by a debugger.
///
/// A forked process inherits this until it runs another program.
package enum CoreDumps {
    private struct State {
        var holders = 0
        var former: CInt = 1
    }

    private static let state = Monitor(State())

    /// Forbids core dumps until ``allow()`` has been called as often as this function.
    package static func prevent() {
        state.withLock { state in
            state.holders += 1
            guard state.holders == 1 else { return }
            state.former = migration_dumpable()
            _ = migration_set_dumpable(0)
        }
    }

    /// Ends the effect of one ``prevent()``.
    package static func allow() {
        state.withLock { state in
            state.holders -= 1
            // Only the system can set the value 2.
            guard state.holders == 0, state.former == 1 else { return }
            _ = migration_set_dumpable(1)
        }
    }

    /// Whether the process may be dumped now.
    package static var areAllowed: Bool { migration_dumpable() != 0 }
}

/// The environment of this process, as bytes: Foundation converts it to text and replaces invalid
/// bytes.
package enum Environment {
    /// The variables, as `NAME=value`.
    package static var assignments: [[UInt8]] {
        var all: [[UInt8]] = []
        var next = unsafe environ
        while let assignment = unsafe next.pointee {
            unsafe all.append([UInt8](cString: assignment))
            unsafe next += 1
        }
        return all
    }

    /// The value of a variable; `nil` if it isn't set.
    package static func value(of variable: String) -> [UInt8]? {
        unsafe getenv(variable).map { unsafe [UInt8](cString: $0) }
    }

    /// The path that a variable holds; `nil` if it isn't set or is empty.
    package static func path(in variable: String) -> BytePath? {
        guard let value = unsafe getenv(variable), unsafe value.pointee != 0 else { return nil }
        return unsafe BytePath(cString: value)
    }

    /// The directory for temporary files.
    package static var temporaryDirectory: BytePath { path(in: "TMPDIR")?.trimmed ?? "/tmp" }
}

extension MigrationOperation {
    /// The maximum number of threads that a client can request.
    package static let threadLimit = 64

    /// Makes an operation with the requested number of threads, or with one for each processor that this
    /// process may use, but with no more than its memory allows.
    package convenience init(
        requesting threadCount: Int?,
        _ cancellation: CancellationFlag = CancellationFlag(),
        progress: Progress? = nil
    ) {
        let requested = threadCount ?? ControlGroup.availableProcessors
        let count = min(max(1, requested), Self.threadLimit)
        self.init(
            threadCount: min(count, AddressSpace.threadLimit ?? count),
            cancellation: cancellation,
            progress: progress
        )
    }
}
