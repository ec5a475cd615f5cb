internal import MigrationArchive
internal import MigrationContainers
internal import MigrationSystem

/// The staging directory of an extraction, whose items move to their destination: all of them, or none.
package struct StagedPlacement {
    /// What happens to existing items.
    package enum Policy: Sendable {
        /// No item of the archive may already exist.
        case separate
        /// Items go into existing directories; an existing file is replaced, or refused.
        case merged(replacesFiles: Bool)
    }

    /// The staging directory's own name, which no item of the archive may have.
    private static let stagingName = [UInt8](utf8: ".migration-extracting")

    /// The temporary name of a file in the staging directory while another one replaces it.
    private static let replacedName = [UInt8](utf8: ".migration-replaced")

    private let root: OpenFile
    private let path: BytePath
    private let policy: Policy
    /// The staging directory, which is locked.
    let directory: OpenFile
    private let staged: DirectoryCursor<OpenFile>
    private let present: DirectoryCursor<OpenFile>
    private let operation: MigrationOperation
    /// The paths of moved items, each after a byte that says whether it was exchanged.
    private let moved: RecordSpool

    /// Makes the staging directory in `root`, the destination at `path`.
    init(
        in root: OpenFile,
        at path: BytePath,
        policy: Policy,
        on operation: MigrationOperation
    ) throws(MigrationError) {
        do throws(SystemError) {
            directory = try Self.makeDirectory(in: root)
        } catch {
            if error.isBusy {
                let message = "another extraction into this directory is running"
                throw MigrationError(.containerBusy, message, path: path)
            }
            let code: MigrationError.Code = error.isOutOfSpace ? .outOfSpace : .outputFailed
            throw MigrationError(code, "can't be written to", path: path, cause: error)
        }
        (self.root, self.path, self.policy, self.operation) = (root, path, policy, operation)
        staged = DirectoryCursor(root: directory)
        present = DirectoryCursor(root: root)
        moved = RecordSpool(in: root)
    }

    private static func makeDirectory(in root: OpenFile) throws(SystemError) -> OpenFile {
        try StagingDirectory.removeLeftover(stagingName, in: root)
        try root.descriptor.makeDirectory(stagingName, permissions: 0o700)
        do throws(SystemError) {
            let directory = OpenFile(try root.descriptor.open(stagingName, .directory))
            try directory.descriptor.lock(.exclusive)
            // Another extraction may have removed it as a leftover before it was locked.
            let named = try root.descriptor.status(of: stagingName).identity
            guard try directory.descriptor.status().identity == named else { throw .busy }
            return directory
        } catch {
            // Best effort; the caller needs the first error.
            if !error.isBusy { try? root.descriptor.removeDirectory(stagingName) }
            throw error
        }
    }

    /// Moves everything and removes the staging directory; if something fails, all moves are undone.
    ///
    /// - Throws: ``MigrationError`` of codes `outputExists`, `outputFailed` and `outOfSpace`; `CancellationError`.
    func run() throws {
        if case .merged = policy { try walk { try meeting(of: $0, $1) == .directories } }
        do {
            try walk(move)
            try root.descriptor.removeTree(Self.stagingName)
        } catch {
            undo()
            guard let error = error as? SystemError else { throw error }
            let message = "the temporary directory of the extraction can't be removed"
            throw MigrationError(
                .outputFailed,
                message,
                path: path / Self.stagingName,
                cause: error
            )
        }
    }

    /// Removes the staging directory with everything in it.
    func discard() {
        // Best effort; the caller needs the first error.
        try? root.descriptor.removeTree(Self.stagingName)
    }

    /// A directory of the archive, and the existing one.
    private struct Pair {
        let path: [UInt8]
        let staged: OpenFile
        let present: OpenFile

        func path(of name: [UInt8]) -> [UInt8] {
            path.isEmpty ? name : path + [UInt8(ascii: "/")] + name
        }
    }

    /// Passes each item to `body`, and enters the directories for which it returns `true`.
    private func walk(_ body: ([UInt8], Pair) throws -> Bool) throws {
        var pending: [[UInt8]] = [[]]
        while let path = pending.popLast() {
            let pair = try pair(at: path)
            let listing = try attempt(path) { () throws(SystemError) in
                try DirectoryListing(of: pair.staged.descriptor)
            }
            for name in listing {
                try operation.check()
                if try body(name, pair) { pending.append(pair.path(of: name)) }
            }
        }
    }

    private func pair(at path: [UInt8]) throws(MigrationError) -> Pair {
        let components = path.split(separator: UInt8(ascii: "/"))
        return try attempt(path) { () throws(SystemError) in
            Pair(
                path: path,
                staged: try staged.directory(at: components),
                present: try present.directory(at: components)
            )
        }
    }

    private func attempt<Result>(
        _ path: [UInt8],
        _ body: () throws(SystemError) -> Result
    ) throws(MigrationError) -> Result {
        do throws(SystemError) {
            return try body()
        } catch {
            throw failure(error, at: path)
        }
    }
}

// MARK: - Moving

extension StagedPlacement {
    private enum Meeting {
        case nothing, directories, files
    }

    /// The item at the destination of `name` in the archive.
    private func meeting(of name: [UInt8], _ pair: Pair) throws(MigrationError) -> Meeting {
        guard case .merged(let replacesFiles) = policy else { return .nothing }
        let path = pair.path(of: name)
        return try attempt(path) { () throws(SystemError) in
            let there = try pair.present.descriptor.statusIfPresent(of: name)?.kind
            guard let there else { return .nothing }
            let staged = try pair.staged.descriptor.status(of: name).kind
            guard staged == .directory, there == .directory else {
                guard staged != .directory, there != .directory else {
                    throw there == .directory ? .directory("rename") : .notDirectory("rename")
                }
                guard replacesFiles else { throw .existing("rename") }
                return .files
            }
            // It is listed, emptied and removed, whatever its permissions are.
            try pair.staged.descriptor.setPermissions(0o700, of: name)
            return .directories
        }
    }

    /// Moves `name`, or returns whether it is a directory on both sides.
    private func move(_ name: [UInt8], _ pair: Pair) throws -> Bool {
        let path = pair.path(of: name)
        guard path != Self.stagingName else {
            let message = "the archive holds a name that extractions use themselves"
            throw MigrationError(.outputExists, message, path: destination(of: path))
        }
        let meeting = try meeting(of: name, pair)
        if meeting == .directories { return true }
        let isExchanged = meeting == .files
        try attempt(path) { () throws(SystemError) in
            try keepingTime(of: pair) { () throws(SystemError) in
                if isExchanged {
                    try Self.exchange(name, of: pair.staged, with: pair.present)
                } else {
                    try pair.staged.descriptor.move(name, into: pair.present.descriptor)
                }
            }
            do throws(SystemError) {
                try moved.append([isExchanged ? 1 : 0] + path)
            } catch {
                takeBack(name, isExchanged: isExchanged, pair)
                throw error
            }
        }
        return false
    }

    /// Undoes every move, the last one first.
    private func undo() {
        // The caller needs the first error; what can't be opened anymore stays where it is.
        try? moved.forEachReversed { record in
            let path = BytePath(Array(record.dropFirst()))
            let parent = path.bytes.contains(UInt8(ascii: "/")) ? path.parent.bytes : []
            guard let pair = try? pair(at: parent) else { return }
            takeBack(path.lastComponent, isExchanged: record.first == 1, pair)
        }
    }

    private func takeBack(_ name: [UInt8], isExchanged: Bool, _ pair: Pair) {
        // Best effort; the caller needs the first error.
        try? keepingTime(of: pair) { () throws(SystemError) in
            if isExchanged {
                try Self.exchange(name, of: pair.staged, with: pair.present)
            } else {
                try pair.present.descriptor.removeTree(name)
            }
        }
    }

    /// Preserves the time of an existing directory; that of the destination itself changes.
    private func keepingTime(
        of pair: Pair,
        _ body: () throws(SystemError) -> Void
    ) throws(SystemError) {
        guard !pair.path.isEmpty else { return try body() }
        let time = try pair.present.descriptor.status().modificationTime
        try body()
        try pair.present.descriptor.setModificationTime(time)
    }

    /// Exchanges two files of the same name, in three steps if the system can't do it in one.
    private static func exchange(
        _ name: [UInt8],
        of staged: OpenFile,
        with present: OpenFile
    ) throws(SystemError) {
        do {
            return try staged.descriptor.exchange(name, with: name, in: present.descriptor)
        } catch {
            guard error.isExchangeImpossible else { throw error }
        }
        let aside = replacedName
        try present.descriptor.renameExclusively(name, to: aside, in: staged.descriptor)
        do {
            try staged.descriptor.renameExclusively(name, to: name, in: present.descriptor)
        } catch {
            // The caller needs the first error.
            try? staged.descriptor.renameExclusively(aside, to: name, in: present.descriptor)
            throw error
        }
        try staged.descriptor.renameExclusively(aside, to: name, in: staged.descriptor)
    }
}

// MARK: - Failures

extension StagedPlacement {
    private func destination(of path: [UInt8]) -> BytePath {
        path.isEmpty ? self.path : self.path / BytePath(path)
    }

    private func failure(_ error: SystemError, at path: [UInt8]) -> MigrationError {
        let destination = destination(of: path)
        guard !error.isExisting else {
            var message = "the directory already holds an item of that name"
            if case .merged = policy { message = "a file of that name is there already" }
            return MigrationError(.outputExists, message, path: destination)
        }
        if case .merged = policy, error.isDirectory || error.isNotDirectory {
            let message =
                error.isDirectory
                ? "a directory is there where the archive has a file"
                : "a file is there where the archive has a directory"
            return MigrationError(.outputFailed, message, path: destination)
        }
        let code: MigrationError.Code = error.isOutOfSpace ? .outOfSpace : .outputFailed
        return MigrationError(code, "can't be moved to its place", path: destination, cause: error)
    }
}
