internal import CMigrationShims
internal import Glibc
internal import Synchronization

/// A program in a process of its own, of which nothing outlives this value or its host.
///
/// A *supervisor*, a copy of the host that runs no more than a loop, stands between the two. The
/// program and whatever it starts are its descendants, even those who leave their session and
/// parent; when the host dies or ``terminate()`` is called, it kills them all.
///
/// Without a sandbox, or where Landlock's version is below 6, a hostile program can kill the
/// supervisor, as it can kill the host.
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
        /// What it may reach; `nil` where it is not confined.
        package var sandbox: Sandbox?

        package init(
            executable: ByteString,
            arguments: [ByteString],
            environment: [ByteString],
            workingDirectory: ByteString,
            sandbox: Sandbox?
        ) {
            self.executable = executable
            self.arguments = arguments
            self.environment = environment
            self.workingDirectory = workingDirectory
            self.sandbox = sandbox
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

    /// The supervisor sends the child's status here and closes it when nobody is left.
    let control: OpenFile

    private let supervisor: pid_t
    private let isCollected = Mutex(false)

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
        var status: CInt = 0
        let size = MemoryLayout<CInt>.size
        // The status stays in the socket, where those who wait for the end keep seeing it.
        let flags = CInt(MSG_PEEK | MSG_DONTWAIT)
        let file = control.descriptor.rawValue
        do throws(SystemError) {
            let count = try retryingOnInterrupt("recv") { unsafe recv(file, &status, size, flags) }
            return count == size ? Ending(status: status) : .signaled(SIGKILL)
        } catch {
            return error.isBusy ? nil : .signaled(SIGKILL)
        }
    }

    /// Kills the child and all that it started; returns when none of them is left.
    @discardableResult
    package func terminate() -> Ending {
        isCollected.withLock { isCollected in
            if isCollected { return }
            _ = shutdown(control.descriptor.rawValue, CInt(SHUT_WR))
            // Fails where the host's program lets the system collect its children; it waits still.
            _ = try? retryingOnInterrupt("waitpid") { waitpid(supervisor, nil, 0) }
            isCollected = true
        }
        return ending ?? .signaled(SIGKILL)
    }

    deinit {
        terminate()
    }
}

extension ChildProcess.Ending {
    /// Reads a status as `wait(2)` gives it.
    fileprivate init(status: CInt) {
        let signal = status & 0x7F
        self = signal == 0 ? .exited(status >> 8 & 0xFF) : .signaled(signal)
    }
}
