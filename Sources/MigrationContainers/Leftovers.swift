internal import MigrationContract
package import MigrationSystem

/// Data of imports that should be gone: replaced data, and data that was never committed.
///
/// Leftovers are harmless. If one can't be removed, the command reports it instead of failing, and
/// the next command tries again.
package struct Leftovers {
    /// The directory in which a journaled commit keeps the old data.
    static let replaced = "replaced"
    static let replacedName = [UInt8](utf8: replaced)

    /// The container.
    package let path: BytePath

    /// An error for each leftover that could not be removed.
    private(set) var problems: [MigrationError] = []

    package init(of path: BytePath) {
        self.path = path
    }

    /// Removes the journal of a finished commit.
    mutating func removeJournal(from bookkeeping: BookkeepingDirectory) {
        do throws(SystemError) {
            try bookkeeping.remove(BookkeepingDirectory.journalName)
        } catch {
            let name = BookkeepingDirectory.journalName
            note(error, at: BookkeepingDirectory.path(of: name, in: path))
        }
    }

    /// Moves the replaced data to the directory that keeps it, by `body`.
    ///
    /// If that fails, the journal stays and the next command tries again.
    mutating func move(to kept: KeptContainer, _ body: () throws -> Void) {
        do {
            try body()
        } catch {
            problems.append(
                MigrationError(
                    .outputFailed,
                    "the replaced data could not be moved to its directory yet",
                    path: kept.path,
                    cause: error,
                    remedy: .finishImport
                )
            )
        }
    }

    /// Removes a staging directory that this process made and locked, with everything in it.
    mutating func remove(_ staging: StagingDirectory) {
        do throws(SystemError) {
            try staging.remove()
        } catch {
            note(error, at: staging.path)
        }
    }

    /// Keeps the replaced data, which may still be needed.
    mutating func keep(_ staging: StagingDirectory, because error: any Error) {
        let message = "the data that an import replaced was kept"
        let place = staging.path
        problems.append(MigrationError(.outputFailed, message, path: place, cause: error))
    }

    /// Removes the leftovers in the container's bookkeeping, unless someone is using them.
    package mutating func remove(in bookkeeping: BookkeepingDirectory) {
        let directory = bookkeeping.openDirectory
        let place = BookkeepingDirectory.path(in: path)
        do throws(SystemError) {
            for name in try DirectoryListing(of: directory.descriptor)
            where Self.isLeftover(name) { remove(place / name, in: directory) }
        } catch {
            note(error, at: place)
        }
    }

    /// Removes the leftovers of the imports with these tokens beside the container, unless someone
    /// is using them.
    mutating func removeBeside(of tokens: [StagingToken]) {
        // An import leaves nothing in a parent that can't be opened.
        guard let parent = try? OpenFile(FileDescriptor.open(path.parent, .directory)) else {
            return
        }
        for token in tokens {
            do throws(SystemError) {
                let names = try StagingDirectory.leftovers(of: [token], beside: path, in: parent)
                for name in names {
                    remove(path.parent / name, in: parent, token: token)
                }
            } catch {
                note(error, at: path.parent / ".")
            }
        }
    }

    private mutating func remove(
        _ leftover: BytePath,
        in directory: OpenFile,
        token: StagingToken? = nil
    ) {
        do throws(SystemError) {
            if let token {
                try StagingDirectory.removeLeftover(
                    leftover.lastComponent,
                    beside: path,
                    in: directory,
                    token: token
                )
            } else {
                try StagingDirectory.removeLeftover(leftover.lastComponent, in: directory)
            }
        } catch {
            guard !error.isBusy else { return }
            let name = Self.setAside(leftover.lastComponent, in: directory)
            note(error, at: leftover.parent / name)
        }
    }

    /// Renames replaced data that can't be removed, so that it is never mistaken for that of a
    /// later commit.
    private static func setAside(_ name: [UInt8], in directory: OpenFile) -> [UInt8] {
        guard name == replacedName else { return name }
        for number in 1... {
            let other = replacedName + [UInt8](utf8: "-\(number)")
            do throws(SystemError) {
                try directory.descriptor.renameExclusively(
                    name,
                    to: other,
                    in: directory.descriptor
                )
                return other
            } catch {
                // If it keeps its name, a later commit is refused.
                guard error.isExisting else { break }
            }
        }
        return name
    }

    /// Whether the bookkeeping holds leftovers.
    static func are(in bookkeeping: BookkeepingDirectory) throws(SystemError) -> Bool {
        try DirectoryListing(of: bookkeeping.openDirectory.descriptor).contains(where: isLeftover)
    }

    private static func isLeftover(_ name: [UInt8]) -> Bool {
        name == StagingDirectory.nameInside || name.starts(with: replacedName)
            || BookkeepingDirectory.unfinishedNames.contains(name)
    }

    private mutating func note(_ error: SystemError, at place: BytePath) {
        let message = "a leftover of an import can't be removed"
        problems.append(MigrationError(.outputFailed, message, path: place, cause: error))
    }
}
