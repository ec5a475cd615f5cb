internal import CMigrationShims
internal import Foundation
internal import Glibc

/// A program in a process of its own, which ends with this value and with its host.
///
/// A *supervisor*, a copy of the host that runs no more than a loop, stands between the two. The
/// program and whatever it starts are its descendants, even those who leave their session and
/// parent; when the program ends, the host dies or ``terminate(within:)`` is called, it kills all.
///
/// Whom a sandbox filters can't leave the program's process group, which is killed as one. Others
/// are killed one by one, so that a crowd of them that keeps starting others can outrun it. Without
/// a sandbox, or where Landlock's version is below 6, a hostile program can kill the supervisor, as
/// it can kill the host; ``terminate(within:)`` then says that processes may be left.
package final class ChildProcess: Sendable {
    /// What is started, and how.
    package struct Configuration: Sendable {
        /// The absolute path of the program.
        package var executable: ByteString
        /// Its arguments, the first of which is its name.
        package var arguments: [ByteString]
        /// Its environment as `NAME=value`; nothing else is passed.
        package var environment: [ByteString]
        /// The directory that it starts in.
        package var workingDirectory: ByteString
        /// The directories that it alone sees at other paths, in namespaces of its own.
        package var mounts: [Mount]
        /// The root directory that it alone has, which shows ``mounts`` too; `nil` for the host's.
        package var root: PrivateRoot?
        /// What it may reach; `nil` where it is not confined.
        package var sandbox: Sandbox?
        /// The cgroup that it runs in, with all that it starts.
        package var group: ControlGroup?
        /// The bytes of memory that it may have to itself, and so may each process that it starts.
        package var memoryLimit: UInt64?
        /// The processes and threads that its user may have, for a user namespace of its own.
        package var taskLimit: UInt64?
        /// Whom it runs as; `nil` for this process's own user.
        package var user: UserIdentity?

        package init(
            executable: ByteString,
            arguments: [ByteString],
            environment: [ByteString],
            workingDirectory: ByteString,
            mounts: [Mount] = [],
            root: PrivateRoot? = nil,
            sandbox: Sandbox?,
            group: ControlGroup? = nil,
            memoryLimit: UInt64? = nil,
            taskLimit: UInt64? = nil,
            user: UserIdentity? = nil
        ) {
            self.executable = executable
            self.arguments = arguments
            self.environment = environment
            self.workingDirectory = workingDirectory
            self.mounts = mounts
            self.root = root
            self.sandbox = sandbox
            self.group = group
            self.memoryLimit = memoryLimit
            self.taskLimit = taskLimit
            self.user = user
        }
    }

    /// A directory that a program sees at another path as well.
    package struct Mount: Sendable, Hashable {
        /// The directory.
        package let directory: ByteString
        /// An empty directory, which is the other one to the program.
        package let place: ByteString

        package init(_ directory: ByteString, at place: ByteString) {
            self.directory = directory
            self.place = place
        }
    }

    /// How the program ended.
    package enum Ending: Sendable, Equatable {
        /// It returned or exited with a code.
        case exited(Int32)
        /// A signal ended it.
        case signaled(Int32)
    }

    /// The number of the descriptor that is the child's end of ``connection``.
    package static let connectionNumber: Int32 = 3

    /// This end of the sockets between host and child; reading it waits.
    package let connection: OpenFile

    /// What the child writes to its standard output and error; reading it never waits.
    package let output: OpenFile

    /// The supervisor sends the child's status here, and once more when nobody is left.
    let control: OpenFile

    private let supervisor: pid_t
    private let state = Monitor(State.running)

    private enum State {
        case running
        /// What the child started was not gone in time.
        case outlasting
        case collected
    }

    init(
        supervisor: pid_t,
        control: consuming FileDescriptor,
        connection: consuming FileDescriptor,
        output: consuming FileDescriptor
    ) {
        self.supervisor = supervisor
        self.control = OpenFile(control)
        self.connection = OpenFile(connection)
        self.output = OpenFile(output)
    }

    /// How the child ended; `nil` while it runs.
    ///
    /// A child whose supervisor was killed has been killed with it.
    package var ending: Ending? {
        guard let statuses = sentStatuses else { return nil }
        return statuses.first.map { Ending(status: $0) } ?? .signaled(SIGKILL)
    }

    /// What the supervisor has sent until now; `nil` where it may still send the first.
    private var sentStatuses: ArraySlice<CInt>? {
        var statuses: [CInt] = [0, 0]
        let size = MemoryLayout<CInt>.size
        // They stay in the socket, where those who wait for the end keep seeing them.
        let flags = CInt(MSG_PEEK | MSG_DONTWAIT)
        let file = control.descriptor.rawValue
        do throws(SystemError) {
            let count = try retryingOnInterrupt("recv") {
                unsafe recv(file, &statuses, statuses.count * size, flags)
            }
            return statuses[..<(count / size)]
        } catch {
            return error.isBusy ? nil : []
        }
    }

    /// Kills the child and all that it started; returns when none of them is left.
    ///
    /// - Throws: ``UnfinishedEnd`` where some of them may be left.
    @discardableResult
    package func terminate(
        within limit: Duration = .seconds(10)
    ) throws(UnfinishedEnd) -> Ending {
        try state.withLock { state throws(UnfinishedEnd) in
            if state == .collected { return }
            _ = shutdown(control.descriptor.rawValue, CInt(SHUT_WR))
            guard hasSupervisorEnded(within: state == .running ? limit : .zero) else {
                state = .outlasting
                throw .outlasted(limit)
            }
            // Fails where the host's program lets the system collect its children; it waits still.
            _ = try? retryingOnInterrupt("waitpid") { waitpid(supervisor, nil, 0) }
            state = .collected
        }
        guard let statuses = sentStatuses, statuses.count == 2 else { throw .supervisorKilled }
        return Ending(status: statuses[0])
    }

    private func hasSupervisorEnded(within limit: Duration) -> Bool {
        do throws(SystemError) {
            return try waitForSupervisor(timeout: limit)
        } catch {
            return false
        }
    }

    deinit {
        do throws(UnfinishedEnd) {
            try terminate()
        } catch {
            guard case .outlasted = error else { return }
            // The supervisor goes on, and is collected whenever it is done.
            Thread.detachNewThread { [supervisor] in _ = waitpid(supervisor, nil, 0) }
        }
    }
}

extension ChildProcess.Ending {
    /// Reads a status as `wait(2)` gives it.
    fileprivate init(status: CInt) {
        let signal = status & 0x7F
        self = signal == 0 ? .exited(status >> 8 & 0xFF) : .signaled(signal)
    }
}
