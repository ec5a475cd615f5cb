internal import MigrationSystem

/// What imports leave that nobody needs any more: replaced data, and data that was not committed.
///
/// It does no harm where it lies. What can't be removed is therefore no failure of a command; it is
/// named, and the next command tries again.
struct Leftovers {
    /// Where a journaled commit keeps the old data.
    static let replacedName = ByteString(utf8: "replaced")

    /// The container.
    let path: PathName

    /// Why some of it is still there.
    private(set) var problems: [MigrationError] = []

    init(of path: PathName) {
        self.path = path
    }

    /// Removes the journal of a commit that is done.
    mutating func removeJournal(from bookkeeping: BookkeepingDirectory) {
        do throws(SystemError) {
            try bookkeeping.remove(BookkeepingDirectory.journalName)
        } catch {
            let name = BookkeepingDirectory.journalName
            note(error, at: BookkeepingDirectory.path(of: name, in: path))
        }
    }

    /// Removes a staging directory that this process made and locked, whatever is in it by now.
    mutating func remove(_ staging: StagingDirectory) {
        do throws(SystemError) {
            try staging.remove()
        } catch {
            note(error, at: staging.path)
        }
    }

    /// Keeps what was replaced, since it is not proved that it won't be needed.
    mutating func keep(_ staging: StagingDirectory, because error: any Error) {
        let message = "the data that an import replaced is kept"
        let place = staging.path.path
        problems.append(MigrationError(.outputFailed, message, path: place, cause: error))
    }

    /// Removes what is in the container's bookkeeping, unless somebody is at work in it.
    mutating func remove(in bookkeeping: BookkeepingDirectory) {
        let directory = bookkeeping.openDirectory
        let place = BookkeepingDirectory.path(in: path)
        do throws(SystemError) {
            let listing = try DirectoryListing(of: directory.descriptor)
            for index in 0..<listing.count where Self.isLeftover(listing[index]) {
                remove(PathName(parent: place.path, name: listing[index]), in: directory)
            }
        } catch {
            note(error, at: place)
        }
    }

    /// Removes what the imports with these tokens left beside the container, unless somebody is at work in
    /// it.
    mutating func removeBeside(of tokens: [StagingToken]) {
        // In a parent that can't be opened nothing was left.
        guard let parent = try? OpenFile(FileDescriptor.open(path.parent, .directory)) else {
            return
        }
        for token in tokens {
            do throws(SystemError) {
                let names = try StagingDirectory.leftovers(of: [token], beside: path, in: parent)
                for name in names {
                    remove(PathName(parent: path.parent, name: name), in: parent, token)
                }
            } catch {
                note(error, at: PathName(parent: path.parent, name: [UInt8(ascii: ".")]))
            }
        }
    }

    private mutating func remove(
        _ leftover: PathName,
        in directory: OpenFile,
        _ token: StagingToken? = nil
    ) {
        do throws(SystemError) {
            if let token {
                try StagingDirectory.removeLeftover(
                    leftover.name,
                    beside: path,
                    in: directory,
                    token
                )
            } else {
                try StagingDirectory.removeLeftover(leftover.name, in: directory)
            }
        } catch {
            guard !error.isBusy else { return }
            let name = Self.setAside(leftover.name, in: directory)
            note(error, at: PathName(parent: leftover.parent, name: name))
        }
    }

    /// Gives replaced data that stays another name, so that it is never taken for that of a later commit.
    private static func setAside(_ name: ByteString, in directory: OpenFile) -> ByteString {
        guard name == replacedName else { return name }
        for number in 1... {
            let other = replacedName + ByteString(utf8: "-\(number)")
            do throws(SystemError) {
                try directory.descriptor.renameExclusively(
                    name,
                    to: other,
                    in: directory.descriptor
                )
                return other
            } catch {
                // Where it keeps its name, a later commit is refused.
                guard error.isExisting else { break }
            }
        }
        return name
    }

    /// Whether something in the bookkeeping is to be removed.
    static func are(in bookkeeping: BookkeepingDirectory) throws(SystemError) -> Bool {
        let listing = try DirectoryListing(of: bookkeeping.openDirectory.descriptor)
        return (0..<listing.count).contains { isLeftover(listing[$0]) }
    }

    private static func isLeftover(_ name: ByteString) -> Bool {
        name == StagingDirectory.nameInside || name.starts(with: replacedName)
            || BookkeepingDirectory.unfinishedNames.contains(name)
    }

    private mutating func note(_ error: SystemError, at place: PathName) {
        let message = "what an import left can't be removed"
        problems.append(MigrationError(.outputFailed, message, path: place.path, cause: error))
    }
}
