internal import CMigrationShims
internal import Glibc

extension ChildProcess {
    /// Starts a program.
    ///
    /// - Throws: ``SystemError`` that names the call that failed, here or in the new process:
    ///   `execve` where there is no such program, `chdir` where there is no such directory,
    ///   `landlock_create_ruleset` where a sandbox was asked for that nothing here can make,
    ///   `unshare`, `mount` or another call where it can't have mounts of its own
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
        let supervisor = try configuration.start(
            control: control.theirs,
            connection: connection.theirs,
            output: output.theirs,
            failures: failures.theirs,
            ruleset: ruleset
        )
        let process = ChildProcess(
            supervisor: supervisor,
            control: control.ours,
            connection: connection.ours,
            output: output.ours
        )
        // As long as this process has them, their ends can't be seen.
        try control.theirs.close()
        try connection.theirs.close()
        try output.theirs.close()
        try failures.theirs.close()
        try throwFailure(told: failures.ours)
        return process
    }

    /// Whether the kernel counts the processes and threads of a user by user namespace, as from 5.14.
    package static let countsTasksByNamespace: Bool = {
        var name = utsname()
        guard unsafe uname(&name) == 0 else { return false }
        let release = unsafe withUnsafeBytes(of: name.release) { bytes in
            unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        let numbers = release.split { !$0.isNumber }.prefix(2).compactMap { Int($0) }
        return numbers.count == 2 && (numbers[0], numbers[1]) >= (5, 14)
    }()

    /// Waits until the program has started, or throws why it could not.
    private static func throwFailure(
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
    /// Throws where a string can't be told to the system whole.
    fileprivate func check() throws(SystemError) {
        let strings =
            [executable, workingDirectory] + arguments + environment
            + mounts.flatMap { [$0.directory, $0.place] } + (root?.steps ?? [])
        guard strings.allSatisfy({ !$0.contains(0) }) else {
            throw SystemError("execve", code: EINVAL)
        }
    }

    /// Forks the supervisor and returns its process.
    fileprivate func start(
        control: borrowing FileDescriptor,
        connection: borrowing FileDescriptor,
        output: borrowing FileDescriptor,
        failures: borrowing FileDescriptor,
        ruleset: OpenFile?
    ) throws(SystemError) -> pid_t {
        let (control, connection) = (control.rawValue, connection.rawValue)
        let (output, failures) = (output.rawValue, failures.rawValue)
        let paths = CStringList([executable, workingDirectory] + namespaceMaps)
        let hasMaps = !namespaceMaps.isEmpty
        let hasRoot = root != nil
        let arguments = CStringList(arguments)
        let environment = CStringList(environment)
        let mounts = CStringList(mounts.flatMap { [$0.directory, $0.place] })
        let steps = CStringList(root?.steps ?? [])
        let isConfined = sandbox != nil
        let isFiltered = sandbox?.support.filtersSystemCalls ?? false
        let supervisor = paths.withPointer { paths in
            arguments.withPointer { arguments in
                environment.withPointer { environment in
                    mounts.withPointer { mounts in
                        steps.withPointer { steps in
                            withIdentity { identity in
                                var program = unsafe migration_program(
                                    executable: paths[0].unsafelyUnwrapped,
                                    arguments: arguments,
                                    environment: environment,
                                    directory: paths[1].unsafelyUnwrapped,
                                    mounts: mounts,
                                    root: hasRoot ? steps : nil,
                                    user_map: hasMaps ? paths[2] : nil,
                                    group_map: hasMaps ? paths[3] : nil,
                                    control: control,
                                    failures: failures,
                                    connection: connection,
                                    output: output,
                                    is_confined: isConfined,
                                    ruleset: ruleset?.descriptor.rawValue ?? -1,
                                    is_filtered: isFiltered,
                                    group: group?.entrance.descriptor.rawValue ?? -1,
                                    memory_limit: memoryLimit ?? 0,
                                    task_limit: taskLimit ?? 0,
                                    identity: identity
                                )
                                return unsafe migration_start(&program)
                            }
                        }
                    }
                }
            }
        }
        guard supervisor >= 0 else { throw SystemError("fork") }
        return supervisor
    }

    /// The maps of the user namespace that a user who is not root needs to mount anything.
    private var namespaceMaps: [ByteString] {
        guard geteuid() != 0 else { return [] }
        return [geteuid(), getegid()].map { ByteString(utf8: "\($0) \($0) 1") }
    }

    @safe
    private func withIdentity<Result>(
        _ body: (UnsafePointer<migration_identity>?) -> Result
    ) -> Result {
        guard let user else { return body(nil) }
        return user.withPointer(body)
    }
}
