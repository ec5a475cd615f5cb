internal import Foundation
internal import MigrationArchive
internal import MigrationCore
internal import MigrationSystem

/// A session with an extension in its own process.
final class ProcessSession: ExtensionSession {
    let confinement: ConfinementReport
    let paths: SessionPaths

    private let connection: ExtensionConnection
    private let observer: SessionObserver

    private var name: String { connection.name }

    /// Starts the extension.
    init(
        executable: BytePath,
        terms: MigrationExtension,
        in directories: SessionDirectories,
        observer: SessionObserver,
        limits: SessionLimits
    ) throws {
        let program = try Self.resolve(executable)
        let (sandbox, report) = try ExtensionSandbox.make(
            for: program,
            in: directories,
            policy: terms.confinement
        )
        let user = directories.owner.map { UserIdentity($0) }
        if let user { try Self.check(program, isReadableTo: user) }
        let bounds = try SessionBounds(terms, in: directories)
        let process: ChildProcess
        let visibility: ConfinementReport.FileVisibility
        let launch = Launch(
            program: program,
            directories: directories,
            sandbox: sandbox,
            bounds: bounds
        )
        (process, paths, visibility) = try launch.start()
        confinement = report.seeing(visibility).granting(directories.grants, seen: visibility)
            .bounded(by: bounds).running(as: user)
        connection = try ExtensionConnection(
            to: process,
            named: PrintableText.escaping(program.lastComponent),
            output: terms.outputHandler,
            bounds: bounds,
            room: ExtensionRoom(in: directories),
            observer: observer,
            limits: limits
        )
        self.observer = observer
        try begin(in: directories)
    }

    func end() throws {
        try connection.end()
    }

    func checkBounds() {
        // The next wait for the process throws the error again.
        try? connection.checkBounds()
    }

    func description() throws -> ExtensionDescription {
        observer.noteActivity()
        guard case .description(let description) = try connection.next() else {
            throw unexpected("instead of its description")
        }
        guard description.version == sessionVersion else {
            let message =
                "\(name) was built for version \(description.version) of the session, but this host "
                + "has version \(sessionVersion); build it again"
            throw MigrationError(.sessionFailed, message)
        }
        return description
    }

    func export(_ call: ExportCall, to items: AppendedItemArchiver) throws {
        observer.noteActivity()
        try connection.send(.export(call))
        while true {
            guard let message = try connection.received() else {
                try connection.waitForMore()
                observer.noteEndOfWait()
                continue
            }
            switch message {
            case .append(let number?, let source, let name):
                try append(number, itemAt: source, as: name, to: items)
            case .append(nil, let source, let name):
                try archive { try items.appendSoon(source, as: name) }
            case .finished(let summary):
                if summary.wasCancelled { throw SessionFailure.swallowedCancellation(name) }
                if connection.isCancelled { throw CancellationError() }
                return
            case .failed(let error): throw connection.failure(of: error.carried)
            default: throw unexpected("during an export")
            }
        }
    }

    func importResources(
        _ call: ImportCall,
        onProgress: @escaping @Sendable (ImportProgress) -> Void
    ) throws -> ImportProgressSummary {
        observer.noteActivity()
        var shown = call
        shown.directory = Data(paths.shown(BytePath([UInt8](call.directory))).bytes)
        try connection.send(.importResources(shown))
        var last: ImportProgress?
        while true {
            switch try connection.next() {
            case .progress(let progress):
                if progress != last { observer.noteActivity() }
                last = progress
                onProgress(progress)
            case .finished(let summary):
                if connection.isCancelled { throw CancellationError() }
                return summary.progress
            case .failed(let error): throw connection.failure(of: error.carried)
            default: throw unexpected("during an import")
            }
        }
    }
}

// MARK: - Starting

/// The parameters for starting an extension's program.
private struct Launch {
    let program: BytePath
    let directories: SessionDirectories
    let sandbox: Sandbox?
    let bounds: SessionBounds

    /// Starts the program with its own root directory if possible, otherwise with its own mounts if
    /// a path needs encoding, and otherwise with links.
    func start() throws(MigrationError)
        -> (ChildProcess, SessionPaths, ConfinementReport.FileVisibility)
    {
        let isForOther = directories.owner != nil
        let mounted = try SessionPaths(mounting: directories.all, forOther: isForOther)
        let (root, hidden) = root(as: mounted)
        var (visibility, obstacle) = (hidden, SystemError?.none)
        if let root {
            do throws(MigrationError) {
                return (try start(as: mounted, root: root), mounted, visibility)
            } catch {
                let cause = try Self.obstacle(in: error)
                (obstacle, visibility) = (cause, .visible(because: "\(cause)"))
            }
        }
        if mounted.mounts.isEmpty || obstacle?.isAboutNamespaces != true {
            do throws(MigrationError) {
                return (try start(as: mounted, root: nil), mounted, visibility)
            } catch {
                obstacle = try Self.obstacle(in: error)
            }
        }
        mounted.remove()
        let linked = try SessionPaths(
            linking: directories.all,
            because: obstacle.map { .denied($0) } ?? .ownProcess,
            forOther: isForOther
        )
        return (try start(as: linked, root: nil), linked, visibility)
    }

    /// The root directory of the process, and whether it hides other files.
    private func root(
        as paths: SessionPaths
    ) -> (PrivateRoot?, ConfinementReport.FileVisibility) {
        guard let sandbox, sandbox.support.confinesFiles else {
            return (nil, .visible(because: "no Landlock"))
        }
        // In its own root, the two directories would be mounts, and files can't be renamed between
        // mounts.
        if let apart = directories.importDirectory, apart.holder == nil {
            return (nil, .visible(because: "the import directory is separate from the container"))
        }
        do throws(SystemError) {
            let root = try PrivateRoot(
                showing: sandbox.rules,
                paths.mounts,
                placesFor: sandbox.grants
            )
            return (root, .hidden)
        } catch {
            return (nil, .visible(because: "\(error)"))
        }
    }

    /// The reason why the process can't have its own mounts; rethrows other errors.
    private static func obstacle(
        in error: MigrationError
    ) throws(MigrationError) -> SystemError {
        guard let cause = error.cause as? SystemError, cause.isAboutMounts else { throw error }
        return cause
    }

    private func start(
        as paths: SessionPaths,
        root: PrivateRoot?
    ) throws(MigrationError) -> ChildProcess {
        let temporary = paths.shown(directories.temporaryDirectory)
        let hasMounts = root != nil || !paths.mounts.isEmpty
        let hasNamespace = hasMounts && FileStatus.currentUser != 0
        let offersGrants = root != nil && !directories.grants.grants.isEmpty
        do throws(SystemError) {
            return try ChildProcess.start(
                ChildProcess.Configuration(
                    executable: program,
                    arguments: [program.bytes],
                    environment: ExtensionEnvironment.variables(
                        temporaryDirectory: temporary,
                        offersGrants: offersGrants
                    ),
                    workingDirectory: temporary,
                    mounts: paths.mounts,
                    root: root,
                    sandbox: sandbox,
                    group: bounds.group,
                    memoryLimit: bounds.memoryOfEach,
                    taskLimit: bounds.limitTasks(inNamespace: hasNamespace),
                    user: directories.owner.map { UserIdentity($0) }
                )
            )
        } catch {
            if bounds.group != nil, error.isOfControlGroup {
                bounds.leaveGroup()
                return try start(as: paths, root: root)
            }
            let message = "the extension can't be started"
            throw MigrationError(.extensionUnsuitable, message, path: program, cause: error)
        }
    }
}

// MARK: - The start of the session

extension ProcessSession {
    private func begin(in directories: SessionDirectories) throws {
        // A user namespace shows all other users as the overflow user, who would see their files as
        // its own.
        let showsOwners = FileStatus.currentUser != FileStatus.overflowUser
        let isFixed = confinement.isConfined && showsOwners
        let start = SessionStart(
            container: Data(paths.shown(directories.container.rootPath).bytes),
            bundleIdentifier: directories.container.bundleIdentifier,
            temporaryDirectory: Data(paths.shown(directories.temporaryDirectory).bytes),
            groups: directories.groups.mapValues { Data(paths.shown($0).bytes) },
            appendPolicy: isFixed ? directories.appendPolicy : .answered,
            grants: directories.grants.grants.map(SessionGrant.init)
        )
        try connection.send(.begin(start))
    }

    /// Archives items whose appends don't wait for an answer, unless the session is cancelled.
    private func archive(_ body: () throws -> Void) throws {
        // The process was told to stop, and its own side of the session knows it.
        if connection.isCancelled { return }
        do {
            try body()
        } catch is CancellationError {
            return
        }
    }

    /// Archives an item; if the export can continue after an error, the process gets the error.
    private func append(
        _ number: UInt32,
        itemAt source: BytePath,
        as name: [UInt8],
        to items: AppendedItemArchiver
    ) throws {
        // The process was told to stop, and its own side of the session knows it.
        if connection.isCancelled { return }
        do {
            try items.append(source, as: name)
            try connection.send(.accepted(number))
        } catch is CancellationError {
            return
        } catch {
            guard items.failure == nil else { throw error }
            try connection.send(.rejected(number, CarriedError(error)))
        }
    }

    private func unexpected(_ phase: String) -> MigrationError {
        MigrationError(.sessionFailed, "\(name) sent an unexpected message \(phase)")
    }

    /// Checks that the container's owner can read the program and the libraries beside it.
    private static func check(
        _ program: BytePath,
        isReadableTo user: UserIdentity
    ) throws(MigrationError) {
        var path = program
        do throws(SystemError) {
            for (index, file) in try Sandbox.files(forRunning: program).enumerated() {
                path = file
                guard try user.may(index == 0 ? .readAndExecute : .read, at: file) else {
                    throw SystemError.denied
                }
            }
        } catch {
            let message =
                "the extension runs as the container's owner, \(user.text), who can't read this file; "
                + "let them read it and enter its directories"
            throw MigrationError(.extensionUnsuitable, message, path: path, cause: error)
        }
    }

    private static func resolve(_ executable: BytePath) throws(MigrationError) -> BytePath {
        let path: BytePath
        let kind: FileStatus.Kind
        do throws(SystemError) {
            path = try BytePath(resolvingWhole: executable)
            kind = try FileDescriptor.status(atPath: path).kind
        } catch {
            let message = "there is no such extension"
            throw MigrationError(.extensionUnsuitable, message, path: executable, cause: error)
        }
        guard kind == .regular else {
            let message = "the extension is not a program"
            throw MigrationError(.extensionUnsuitable, message, path: executable)
        }
        return path
    }
}

// MARK: - The environment

/// The environment of an extension's process.
private enum ExtensionEnvironment {
    /// The host's variables that the process gets; none that might end up in an archive by
    /// accident.
    private static let passed = [
        "LANG", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "LD_LIBRARY_PATH", "PATH", "TZ",
        "ASAN_OPTIONS", "LLVM_PROFILE_FILE", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS",
    ]

    static func variables(
        temporaryDirectory temporary: BytePath,
        offersGrants: Bool
    ) -> [[UInt8]] {
        var variables: [[UInt8]] = passed.compactMap { name in
            Environment.value(of: name).map { [UInt8](utf8: name + "=") + $0 }
        }
        variables += [
            [UInt8](
                utf8: "\(ExtensionService.sessionVariable)=\(ChildProcess.connectionNumber)"
            ),
            [UInt8](utf8: "HOME=") + temporary.bytes,
            [UInt8](utf8: "TMPDIR=") + temporary.bytes,
            // The confinement does not let the crash tracer work.
            [UInt8](utf8: "SWIFT_BACKTRACE=enable=no"),
        ]
        if offersGrants {
            let number = ChildProcess.grantsNumber
            variables.append([UInt8](utf8: "\(ExtensionService.grantsVariable)=\(number)"))
        }
        return variables
    }
}
