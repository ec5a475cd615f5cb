internal import CMigrationShims
internal import Glibc

extension ChildProcess {
    /// The program to start, and its surroundings.
    package struct Configuration: Sendable {
        /// The absolute path of the program.
        package var executable: BytePath
        /// Its arguments, the first of which is its name.
        package var arguments: [[UInt8]]
        /// Its whole environment, as `NAME=value`.
        package var environment: [[UInt8]]
        package var workingDirectory: BytePath
        /// The directories that it sees at other paths, in its own mount namespace.
        package var mounts: [Mount]
        /// Its own root directory, which includes ``mounts``; `nil` for the host's.
        package var root: PrivateRoot?
        /// The files it may reach; `nil` if it is not confined.
        package var sandbox: Sandbox?
        /// The cgroup for it and all processes that it starts.
        package var group: ControlGroup?
        /// The bytes of private memory for it, and for each process that it starts.
        package var memoryLimit: UInt64?
        /// The maximum number of processes and threads of its user, for its own user namespace.
        package var taskLimit: UInt64?
        /// The user that it runs as; `nil` for this process's user.
        package var user: UserIdentity?

        package init(
            executable: BytePath,
            arguments: [[UInt8]],
            environment: [[UInt8]],
            workingDirectory: BytePath,
            mounts: [Mount] = [],
            root: PrivateRoot? = nil,
            sandbox: Sandbox?,
            group: ControlGroup? = nil,
            memoryLimit: UInt64? = nil,
            taskLimit: UInt64? = nil,
            user: UserIdentity? = nil
        ) {
            (self.executable, self.arguments) = (executable, arguments)
            (self.environment, self.workingDirectory) = (environment, workingDirectory)
            (self.mounts, self.root, self.sandbox, self.group) = (mounts, root, sandbox, group)
            (self.memoryLimit, self.taskLimit, self.user) = (memoryLimit, taskLimit, user)
        }
    }

    /// A directory that a program also sees at another path.
    package struct Mount: Sendable, Hashable {
        /// The directory.
        package let directory: BytePath
        /// The path at which the program sees it, that of an empty directory.
        package let place: BytePath

        package init(_ directory: BytePath, at place: BytePath) {
            (self.directory, self.place) = (directory, place)
        }
    }
}

// MARK: - Starting

extension ChildProcess {
    /// Starts a program.
    ///
    /// - Throws: ``SystemError`` that names the call that failed, here or in the new process:
    ///   `execve` if there is no such program, `chdir` if there is no such directory,
    ///   `landlock_create_ruleset` if this system can't make the sandbox,
    ///   `unshare`, `mount` or another call if the program can't have its own mounts
    ///   (``SystemError/isAboutMounts``).
    package static func start(
        _ configuration: Configuration
    ) throws(SystemError) -> ChildProcess {
        try configuration.check()
        var ruleset: OpenFile?
        if let sandbox = configuration.sandbox { ruleset = try sandbox.ruleset() }
        let control = try DescriptorPair.sockets()
        let connection = try DescriptorPair.sockets()
        let output = try DescriptorPair.pipe()
        let failures = try DescriptorPair.pipe()
        try output.ours.stopWaiting()
        let (theirControl, theirConnection) = (control.theirs.rawValue, connection.theirs.rawValue)
        let (theirOutput, theirFailures) = (output.theirs.rawValue, failures.theirs.rawValue)
        let supervisor = try noting { () throws(SystemError) in
            try configuration.start(
                control: theirControl,
                connection: theirConnection,
                output: theirOutput,
                failures: theirFailures,
                ruleset: ruleset
            )
        }
        let process = ChildProcess(
            supervisor: supervisor,
            control: control.ours,
            connection: connection.ours,
            output: output.ours
        )
        // While this process has them open, it can't see that the child closed them.
        try control.theirs.close()
        try connection.theirs.close()
        try output.theirs.close()
        try failures.theirs.close()
        try throwFailure(told: failures.ours)
        return process
    }

    /// Whether the kernel counts processes and threads for each user namespace (from 5.14).
    package static let countsTasksByNamespace: Bool = {
        var name = utsname()
        guard unsafe uname(&name) == 0 else { return false }
        let release = unsafe withUnsafeBytes(of: name.release) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        let numbers = release.split { !$0.isNumber }.prefix(2).compactMap { Int($0) }
        return numbers.count == 2 && (numbers[0], numbers[1]) >= (5, 14)
    }()

    /// Waits until the program has started; throws the reason if it could not.
    static func throwFailure(
        told failures: borrowing FileDescriptor
    ) throws(SystemError) {
        var failure = unsafe migration_failure()
        let size = unsafe MemoryLayout<migration_failure>.size
        let file = failures.rawValue
        let count = try retryingOnInterrupt("read") { unsafe read(file, &failure, size) }
        guard count == size, let call = unsafe failure.call else { return }
        throw unsafe SystemError(String(cString: call), code: failure.code)
    }
}

extension ChildProcess.Configuration {
    /// Throws if a string holds a zero byte, which would end it.
    fileprivate func check() throws(SystemError) {
        let strings =
            [executable.bytes, workingDirectory.bytes] + arguments + environment
            + mounts.flatMap { [$0.directory.bytes, $0.place.bytes] } + (root?.steps ?? [])
            + grantWords
        guard strings.allSatisfy({ !$0.contains(0) }) else {
            throw SystemError("execve", code: EINVAL)
        }
    }

    /// Forks the supervisor; returns its process number.
    fileprivate func start(
        control: CInt,
        connection: CInt,
        output: CInt,
        failures: CInt,
        ruleset: OpenFile?
    ) throws(SystemError) -> pid_t {
        let hasMaps = !namespaceMaps.isEmpty
        let supervisor = unsafe CStringList.withPointers(words[...], after: []) { lists in
            withIdentity { identity in
                var program = unsafe migration_program(
                    executable: lists[0][0].unsafelyUnwrapped,
                    arguments: lists[1],
                    environment: lists[2],
                    directory: lists[0][1].unsafelyUnwrapped,
                    mounts: lists[3],
                    root: root == nil ? nil : lists[4],
                    grants: lists[5],
                    user_map: hasMaps ? lists[0][2] : nil,
                    group_map: hasMaps ? lists[0][3] : nil,
                    control: control,
                    failures: failures,
                    connection: connection,
                    output: output,
                    is_confined: sandbox != nil,
                    ruleset: ruleset?.descriptor.rawValue ?? -1,
                    is_filtered: sandbox?.support.filtersSystemCalls ?? false,
                    group: group?.entrance.descriptor.rawValue ?? -1,
                    memory_limit: memoryLimit ?? 0,
                    task_limit: taskLimit ?? 0,
                    identity: identity
                )
                return unsafe migration_start(&program)
            }
        }
        guard supervisor >= 0 else { throw SystemError("fork") }
        return supervisor
    }

    /// The lists of strings that the new process needs, the first with its two paths and the maps.
    private var words: [[[UInt8]]] {
        [
            [executable.bytes, workingDirectory.bytes] + namespaceMaps,
            arguments,
            environment,
            mounts.flatMap { [$0.directory.bytes, $0.place.bytes] },
            root?.steps ?? [],
            grantWords,
        ]
    }

    /// Two strings for each grant: whether it can be written, and its path.
    private var grantWords: [[UInt8]] {
        guard root != nil, let sandbox else { return [] }
        return sandbox.grants.flatMap { grant in
            [[UInt8](utf8: grant.access == .readAndWrite ? "w" : "r"), grant.path.bytes]
        }
    }

    /// The maps of the user namespace, which a user other than root needs to mount anything.
    private var namespaceMaps: [[UInt8]] {
        guard geteuid() != 0 else { return [] }
        return [geteuid(), getegid()].map { [UInt8](utf8: "\($0) \($0) 1") }
    }

    @safe
    private func withIdentity<Result>(
        _ body: (UnsafePointer<migration_identity>?) -> Result
    ) -> Result {
        guard let user else { return body(nil) }
        return user.withPointer(body)
    }
}

// MARK: - Ends of pipes and sockets

/// The two ends of a pipe or of a pair of sockets; one end goes to another process or thread.
package struct DescriptorPair: ~Copyable {
    package let ours: FileDescriptor
    package let theirs: FileDescriptor

    private init(_ ends: [CInt]) {
        ours = FileDescriptor(adopting: ends[0])
        theirs = FileDescriptor(adopting: ends[1])
    }

    /// Makes a pipe from the other process or thread to this one.
    package static func pipe() throws(SystemError) -> DescriptorPair {
        var ends: [CInt] = [-1, -1]
        guard unsafe migration_make_pipe(&ends) == 0 else { throw SystemError("pipe2") }
        return DescriptorPair(ends)
    }

    /// Makes a pair of connected stream sockets.
    static func sockets() throws(SystemError) -> DescriptorPair {
        var ends: [CInt] = [-1, -1]
        guard unsafe migration_make_sockets(&ends) == 0 else { throw SystemError("socketpair") }
        return DescriptorPair(ends)
    }
}

extension DescriptorPair {
    /// Gives up both ends, one of which is for the other process.
    package consuming func takeEnds() -> (ours: OpenFile, theirs: OpenFile) {
        (OpenFile(ours), OpenFile(theirs))
    }
}

extension FileDescriptor {
    /// Makes reads and writes that would wait fail with an error that ``SystemError/isBusy``.
    borrowing func stopWaiting() throws(SystemError) {
        let flags = fcntl(rawValue, F_GETFL)
        guard flags >= 0, fcntl(rawValue, F_SETFL, flags | O_NONBLOCK) == 0 else {
            throw SystemError("fcntl")
        }
    }
}

// MARK: - Strings for C

/// A list of strings for C: each ends with a zero byte, the list with a null pointer.
@safe
struct CStringList: ~Copyable {
    private let strings: UnsafeMutableBufferPointer<UnsafeMutablePointer<CChar>?>

    /// Copies `strings`; a string ends at its first zero byte.
    init(_ strings: [[UInt8]]) {
        let list = UnsafeMutableBufferPointer<UnsafeMutablePointer<CChar>?>
            .allocate(capacity: strings.count + 1)
        for (index, string) in strings.enumerated() {
            let copy = UnsafeMutableBufferPointer<CChar>.allocate(capacity: string.count + 1)
            for (position, byte) in string.enumerated() {
                unsafe copy[position] = CChar(bitPattern: byte)
            }
            unsafe copy[string.count] = 0
            unsafe list.initializeElement(at: index, to: copy.baseAddress)
        }
        unsafe list.initializeElement(at: strings.count, to: nil)
        unsafe self.strings = list
    }

    /// Calls `body` with the list, which is valid until it returns.
    @safe
    borrowing func withPointer<Result>(
        _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
    ) -> Result {
        unsafe body(UnsafePointer(strings.baseAddress.unsafelyUnwrapped))
    }

    /// Calls `body` with a copy of each of `lists`, which are valid until it returns.
    @safe
    static func withPointers<Result>(
        _ lists: ArraySlice<[[UInt8]]>,
        after earlier: [UnsafePointer<UnsafeMutablePointer<CChar>?>],
        _ body: ([UnsafePointer<UnsafeMutablePointer<CChar>?>]) -> Result
    ) -> Result {
        guard let first = lists.first else { return unsafe body(earlier) }
        return CStringList(first).withPointer { list in
            unsafe withPointers(lists.dropFirst(), after: earlier + [list], body)
        }
    }

    deinit {
        unsafe strings.forEach { unsafe $0?.deallocate() }
        unsafe strings.deallocate()
    }
}
