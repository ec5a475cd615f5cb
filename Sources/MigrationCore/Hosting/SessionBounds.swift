internal import MigrationSystem

/// How much of the machine an extension's process may take, and what sees to that.
///
/// Its memory and its processes are bounded by the kernel; its temporary directory is looked at while
/// it works, and when it is done.
final class SessionBounds {
    /// The most processes and threads that a session has.
    private static let tasks: UInt64 = 1024

    /// The memory that a session has where nothing else was said and a cgroup can be made.
    private static let memory: UInt64 = 4 << 30

    private static let interval = Duration.milliseconds(250)

    private let temporaryDirectory: OpenFile
    private let temporarySpace: UInt64
    private let askedMemory: UInt64?
    private var nextLook = SuspendingClock.now
    private var failure: MigrationError?

    /// The cgroup of the process; `nil` where none could be made.
    private(set) var group: ControlGroup?

    /// The memory of each process, where no cgroup bounds that of all together.
    var memoryOfEach: UInt64? { group?.limits.memory == nil ? askedMemory : nil }

    /// The processes and threads, where no cgroup counts them and they are in a user namespace of their
    /// own, outside of which nobody counts.
    private(set) var tasksInNamespace: UInt64?

    /// Bounds what runs in `directories` as `terms` say.
    init(_ terms: MigrationExtension, in directories: SessionDirectories) throws(MigrationError) {
        let path = directories.temporaryDirectory.path
        do {
            temporaryDirectory = OpenFile(try FileDescriptor.open(path, .directory))
        } catch {
            let message = "the temporary directory can't be opened"
            throw MigrationError(.outputFailed, message, path: path, cause: error)
        }
        temporarySpace = terms.temporarySpace
        askedMemory = terms.memoryLimit
        group = ControlGroup.make(
            ControlGroup.Limits(memory: terms.memoryLimit ?? Self.memory, tasks: Self.tasks)
        )
    }

    /// The limit on processes and threads of a session that begins in a user namespace, or does not.
    func limitTasks(inNamespace hasNamespace: Bool) -> UInt64? {
        let isPossible = hasNamespace && ChildProcess.countsTasksByNamespace
        tasksInNamespace = isPossible && group?.limits.tasks == nil ? Self.tasks : nil
        return tasksInNamespace
    }

    /// Does without a cgroup, because no process can be put in it.
    func leaveGroup() {
        group = nil
    }
}

// MARK: - What it took

extension SessionBounds {
    /// The time after which ``check(_:)`` looks at the temporary directory again.
    var timeToNextLook: Duration { nextLook - SuspendingClock.now }

    /// Looks at the temporary directory, unless somebody did so just before.
    ///
    /// - Throws: ``MigrationError`` of code `limitExceeded` from when there was too much in it.
    func check(_ name: String) throws(MigrationError) {
        if let failure { throw failure }
        if SuspendingClock.now >= nextLook { try look(name) }
    }

    /// Looks at the temporary directory.
    ///
    /// - Throws: ``MigrationError`` of code `limitExceeded` where there is too much in it.
    func look(_ name: String) throws(MigrationError) {
        if let failure { throw failure }
        let start = SuspendingClock.now
        let size: UInt64
        do {
            size = try temporaryDirectory.descriptor.allocatedSize(upTo: temporarySpace)
        } catch {
            let message = "what \(name) has put into its temporary directory can't be measured"
            throw MigrationError(.sessionFailed, message, cause: error)
        }
        // Where it takes long, most of the time is left for other things.
        nextLook = .now + max(Self.interval, (SuspendingClock.now - start) * 10)
        guard size > temporarySpace else { return }
        let message =
            "\(name) has put more than \(temporarySpace) bytes into its temporary directory; "
            + "--temporary-space allows more"
        let error = MigrationError(.limitExceeded, message)
        failure = error
        throw error
    }

    /// The error of a process that the kernel ended because of its memory.
    func failure(of name: String) -> MigrationError? {
        guard let group, let limit = group.limits.memory, group.memoryKills > 0 else { return nil }
        let message =
            "\(name) took more than \(limit) bytes of memory and was ended; --memory-limit allows more"
        return MigrationError(.limitExceeded, message)
    }

    /// What of the bounds may have made a process crash.
    var possibleCause: String? {
        if let group, group.refusedTasks > 0 {
            return "it was refused more than \(Self.tasks) processes and threads"
        }
        let causes = [
            memoryOfEach.map {
                "each of its processes may have \($0) bytes of memory; --memory-limit allows more"
            },
            tasksInNamespace.map { "it may have \($0) processes and threads" },
        ].compactMap(\.self)
        return causes.isEmpty ? nil : causes.joined(separator: ", and ")
    }
}

// MARK: - What is said of it

extension SessionBounds {
    /// What is bounded, a phrase each.
    var phrases: [String] {
        let memory = group?.limits.memory.map { "\($0) bytes of memory for all of it (cgroup)" }
        return [
            "\(temporarySpace) bytes in its temporary directory",
            memory ?? memoryOfEach.map { "\($0) bytes of memory for each process (rlimit)" },
            group?.limits.tasks.map { "\($0) processes and threads (cgroup)" },
            tasksInNamespace.map { "\($0) processes and threads (rlimit in a user namespace)" },
        ].compactMap(\.self)
    }

    /// What is not bounded, a phrase each.
    var gaps: [String] {
        var gaps = ["temporary files without a name, or in a directory that can't be listed"]
        if group?.limits.memory == nil {
            gaps.append(
                memoryOfEach == nil
                    ? "its memory (no cgroup; --memory-limit bounds that of each process)"
                    : "the memory of all its processes together (no cgroup)"
            )
        }
        if group?.limits.tasks == nil, tasksInNamespace == nil {
            gaps.append("the number of its processes and threads (no cgroup, no user namespace)")
        }
        return gaps
    }
}
