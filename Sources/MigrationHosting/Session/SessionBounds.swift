internal import MigrationCore
internal import MigrationSystem

/// The limits of an extension's process on memory, processes and temporary files.
///
/// The kernel limits its memory and its processes. Its temporary directory is measured while it
/// works, and at the end.
final class SessionBounds {
    /// The maximum number of processes and threads of a session.
    private static let tasks: UInt64 = 1024

    /// The default memory of a session if a cgroup can be made.
    private static let memory: UInt64 = 4 << 30

    private static let interval = Duration.milliseconds(250)

    private let temporaryDirectory: OpenFile
    private let temporarySpace: UInt64
    private let askedMemory: UInt64?
    private var nextLook = SuspendingClock.now
    private var failure: MigrationError?

    /// The cgroup of the process; `nil` if none could be made.
    private(set) var group: ControlGroup?

    /// The memory limit of each process, if no cgroup limits all of them together.
    var memoryOfEach: UInt64? { group?.limits.memory == nil ? askedMemory : nil }

    /// The maximum number of processes and threads, if no cgroup counts them but they have their
    /// own user namespace.
    private(set) var tasksInNamespace: UInt64?

    /// Sets the limits in `terms` for a session with `directories`.
    init(_ terms: MigrationExtension, in directories: SessionDirectories) throws(MigrationError) {
        let path = directories.temporaryDirectory
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

    /// The limit on processes and threads, which may need a user namespace.
    func limitTasks(inNamespace hasNamespace: Bool) -> UInt64? {
        let isPossible = hasNamespace && ChildProcess.countsTasksByNamespace
        tasksInNamespace = isPossible && group?.limits.tasks == nil ? Self.tasks : nil
        return tasksInNamespace
    }

    /// Gives up the cgroup, because processes can't be put in it.
    func leaveGroup() {
        group = nil
    }
}

// MARK: - Usage

extension SessionBounds {
    /// The time until ``check(_:)`` measures the temporary directory again.
    var timeToNextLook: Duration { nextLook - SuspendingClock.now }

    /// Measures the temporary directory, unless that was done just before.
    ///
    /// - Throws: ``MigrationError`` of code `limitExceeded` once the directory was too large.
    func check(_ name: String) throws(MigrationError) {
        if let failure { throw failure }
        if SuspendingClock.now >= nextLook { try look(name) }
    }

    /// Measures the temporary directory.
    ///
    /// - Throws: ``MigrationError`` of code `limitExceeded` if it is too large.
    func look(_ name: String) throws(MigrationError) {
        if let failure { throw failure }
        let start = SuspendingClock.now
        let size: UInt64
        do {
            size = try temporaryDirectory.descriptor.allocatedSize(upTo: temporarySpace)
        } catch {
            let message = "the temporary directory of \(name) can't be measured"
            throw MigrationError(.sessionFailed, message, cause: error)
        }
        // If measuring takes long, most of the time must remain for other work.
        nextLook = .now + max(Self.interval, (SuspendingClock.now - start) * 10)
        guard size > temporarySpace else { return }
        let message =
            "\(name) used more than \(temporarySpace) bytes of its temporary directory"
        let error = MigrationError(.limitExceeded, message, remedy: .allowMoreTemporarySpace)
        failure = error
        throw error
    }

    /// The error of a process that the kernel killed because of its memory.
    func failure(of name: String) -> MigrationError? {
        guard let group, let limit = group.limits.memory, group.memoryKills > 0 else { return nil }
        let message =
            "\(name) used more than \(limit) bytes of memory and was killed"
        return MigrationError(.limitExceeded, message, remedy: .allowMoreMemory)
    }

    /// The limit that may have made a process crash.
    var possibleCause: (text: String, remedy: Remedy?)? {
        if let group, group.refusedTasks > 0 {
            return ("it was refused more than \(Self.tasks) processes and threads", nil)
        }
        let causes = [
            memoryOfEach.map { "each of its processes may have \($0) bytes of memory" },
            tasksInNamespace.map { "it may have \($0) processes and threads" },
        ].compactMap(\.self)
        if causes.isEmpty { return nil }
        return (causes.joined(separator: ", and "), memoryOfEach.map { _ in .allowMoreMemory })
    }
}

// MARK: - Reporting

extension SessionBounds {
    /// The limits, a phrase each.
    var phrases: [String] {
        let memory = group?.limits.memory.map {
            "\(ByteCount($0)) of memory for all of it (cgroup)"
        }
        return [
            "\(ByteCount(temporarySpace)) in its temporary directory",
            memory ?? memoryOfEach.map { "\(ByteCount($0)) of memory for each process (rlimit)" },
            group?.limits.tasks.map { "\($0) processes and threads (cgroup)" },
            tasksInNamespace.map { "\($0) processes and threads (rlimit in a user namespace)" },
        ].compactMap(\.self)
    }

    /// The missing limits, a phrase each.
    var gaps: [String] {
        var gaps = ["temporary files without a name, or in a directory that can't be listed"]
        if group?.limits.memory == nil {
            gaps.append(
                memoryOfEach == nil
                    ? ConfinementReport.memoryGap
                    : "the memory of all its processes together (no cgroup)"
            )
        }
        if group?.limits.tasks == nil, tasksInNamespace == nil {
            gaps.append("the number of its processes and threads (no cgroup, no user namespace)")
        }
        return gaps
    }
}
