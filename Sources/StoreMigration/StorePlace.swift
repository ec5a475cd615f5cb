internal import Foundation
internal import MigrationSystem

/// The directory of a store, with the work directory of a migration beside the store.
///
/// The work directory is called `.<name>.migration`, and a migration of the store holds a lock on
/// it. It has a directory for the copy and one for the old store, each under the store's name. Its
/// `state.json` describes the work that remains once the migrated store is in place; without this
/// file the rest is useless.
final class StorePlace {
    /// A file of a migration, which has companions such as a log.
    enum File {
        /// The store under its name.
        case live
        /// The copy that the steps work on; after an exchange, the old store.
        case copy
        /// The old content of a SQLite file.
        case old

        fileprivate var directory: [UInt8]? {
            switch self {
            case .live: nil
            case .copy: [UInt8]("store".utf8)
            case .old: [UInt8]("old".utf8)
            }
        }
    }

    private static let stateName = [UInt8]("state.json".utf8)
    private static let newStateName = [UInt8]("state.partial".utf8)

    /// The absolute path of the store, without links.
    let path: BytePath

    private let name: [UInt8]
    private let directory: OpenFile
    private var work: OpenFile?

    /// Finds the directory of `store`, which must exist unless it `isNew`.
    init(of store: VersionedStore, isNew: Bool = false) throws(StoreMigrationError) {
        let location = try store.location(isNew: isNew)
        path = location
        name = location.lastComponent
        do {
            directory = OpenFile(try FileDescriptor.open(location.parent, .directory))
        } catch {
            throw StoreMigrationError(error, message: "can't open the store's directory", at: path)
        }
    }

    /// The printable path.
    var description: String { String(decoding: path.bytes, as: UTF8.self) }

    private var workName: [UInt8] { [UInt8](utf8: ".") + name + [UInt8](utf8: ".migration") }

    func path(of file: File) -> BytePath {
        file.directory.map { path.parent / workName / $0 / name } ?? path
    }

    private func wrapping<Value>(
        _ message: String,
        _ body: () throws(SystemError) -> Value
    ) throws(StoreMigrationError) -> Value {
        do throws(SystemError) {
            return try body()
        } catch {
            if error.isBusy {
                let message = "another process is migrating the store"
                throw StoreMigrationError(.storeBusy, message, at: description)
            }
            throw StoreMigrationError(error, message: message, at: path)
        }
    }

    private func parent(of file: File) throws(SystemError) -> OpenFile? {
        guard let name = file.directory else { return directory }
        guard let work, try work.descriptor.statusIfPresent(of: name) != nil else { return nil }
        return OpenFile(try work.descriptor.open(name, .directory))
    }
}

// MARK: - The work directory

extension StorePlace {
    /// Makes the work directory, or takes over an abandoned one, and locks it.
    ///
    /// - Returns: Whether the directory already existed.
    /// - Throws: ``StoreMigrationError`` with `storeBusy` if another process has it.
    func begin() throws(StoreMigrationError) -> Bool {
        try wrapping("can't make a directory beside the store") { () throws(SystemError) in
            while true {
                var isLeft = false
                do throws(SystemError) {
                    try directory.descriptor.makeDirectory(workName, permissions: 0o700)
                } catch {
                    guard error.isExisting else { throw error }
                    isLeft = true
                }
                do throws(SystemError) {
                    let work = OpenFile(try directory.descriptor.open(workName, .directory))
                    try work.descriptor.lock(.exclusive)
                    let current = try directory.descriptor.status(of: workName).identity
                    // The previous owner may have removed it meanwhile.
                    guard try work.descriptor.status().identity == current else { continue }
                    self.work = work
                    return isLeft
                } catch {
                    guard error.isMissing else { throw error }
                }
            }
        }
    }

    /// Whether there is a work directory, of this process or left by another.
    var hasWork: Bool {
        get throws(StoreMigrationError) {
            try wrapping("can't look beside the store") { () throws(SystemError) in
                try directory.descriptor.statusIfPresent(of: workName) != nil
            }
        }
    }

    /// Removes what an earlier process left, and keeps the lock.
    func clear() throws(StoreMigrationError) {
        try wrapping("can't remove what an earlier migration left") { () throws(SystemError) in
            guard let work else { return }
            try removeState(in: work)
            for name in try DirectoryListing(of: work.descriptor) {
                try work.descriptor.removeTree(name)
            }
        }
    }

    /// Removes the work directory and everything in it.
    func end() throws(StoreMigrationError) {
        guard let work else { return }
        try wrapping("can't remove the directory of the migration") { () throws(SystemError) in
            try removeState(in: work)
            try directory.descriptor.removeTree(workName)
        }
        self.work = nil
    }

    /// Removed first: without the state, the rest is useless.
    private func removeState(in work: OpenFile) throws(SystemError) {
        guard try work.descriptor.statusIfPresent(of: Self.stateName) != nil else { return }
        try work.descriptor.removeFile(Self.stateName)
        try work.descriptor.synchronize()
    }

    func makeDirectory(for file: File) throws(StoreMigrationError) {
        try wrapping("can't make a directory for the copy") { () throws(SystemError) in
            guard let name = file.directory else { return }
            try work?.descriptor.makeDirectory(name, permissions: 0o700)
        }
    }

    /// Makes a file and everything in it survive a power loss.
    func synchronize(_ file: File) throws(StoreMigrationError) {
        try wrapping("can't write the copy to the disk") { () throws(SystemError) in
            guard let work, let parent = try parent(of: file) else { return }
            try StoreFiles.synchronize(name, in: parent.descriptor)
            try parent.descriptor.synchronize()
            try work.descriptor.synchronize()
        }
    }
}

// MARK: - The state

extension StorePlace {
    /// Whether a migration was interrupted when the migrated store was in place, or about to be.
    var isInterrupted: Bool {
        get throws(StoreMigrationError) {
            try wrapping("can't look for a migration that was cut off") { () throws(SystemError) in
                guard try directory.descriptor.statusIfPresent(of: workName) != nil else {
                    return false
                }
                let work = try directory.descriptor.open(workName, .directory)
                return try work.statusIfPresent(of: Self.stateName) != nil
            }
        }
    }

    /// The state that was left; `nil` if there is none.
    func state<State: Decodable>(
        _ type: State.Type = State.self
    ) throws(StoreMigrationError) -> State? {
        let bytes: [UInt8]? = try wrapping("can't read the migration's state") {
            () throws(SystemError) in
            guard let work, try work.descriptor.statusIfPresent(of: Self.stateName) != nil else {
                return nil
            }
            return try work.descriptor.open(Self.stateName, .reading).readAll(limit: 4096) ?? []
        }
        guard let bytes else { return nil }
        // If the state can't be read for any reason, the migration can't be resumed.
        guard let state = try? JSONDecoder().decode(State.self, from: Data(bytes)) else {
            let message = "the state of the migration that was cut off can't be read"
            throw StoreMigrationError(.interrupted, message, at: description)
        }
        return state
    }

    /// Writes the state in one step, with the current directory of the store.
    func write(_ state: some Encodable) throws(StoreMigrationError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        // Numbers and texts can always be encoded.
        let bytes = [UInt8]((try? encoder.encode(state)) ?? Data())
        try wrapping("can't write the migration's state") { () throws(SystemError) in
            guard let work else { return }
            let (name, temporary) = (Self.stateName, Self.newStateName)
            try work.descriptor.replaceFile(name, writing: bytes, as: temporary)
            // The name of the work directory must survive too.
            try directory.descriptor.synchronize()
        }
    }
}

// MARK: - The files

extension StorePlace {
    /// Whether the store is a directory.
    var isDirectory: Bool {
        get throws(StoreMigrationError) { try status(of: .live)?.kind == .directory }
    }

    /// How many names the store has; 1 for a directory.
    var nameCount: Int {
        get throws(StoreMigrationError) {
            let status = try status(of: .live)
            return status?.kind == .regular ? Int(clamping: status?.linkCount ?? 1) : 1
        }
    }

    /// Refuses a store that has other names: its log may be beside one of those, and a new file
    /// would get only this name.
    func checkNames() throws(StoreMigrationError) {
        let count = try nameCount
        guard count > 1 else { return }
        let message =
            "the store has \(count) names (hard links), and its log may lie under another one; copy it "
            + "while no app uses it, and move the copy to its place"
        throw StoreMigrationError(.severalNames, message, at: description)
    }

    /// The status of a file, read by its name, because closing a descriptor would release SQLite's
    /// locks.
    func status(of file: File) throws(StoreMigrationError) -> FileStatus? {
        try wrapping("can't look at the store") { () throws(SystemError) in
            try parent(of: file)?.descriptor.statusIfPresent(of: name)
        }
    }

    /// The bytes that may still be written beside the store.
    var availableSpace: UInt64 {
        get throws(StoreMigrationError) {
            try wrapping("can't ask for the room beside the store") { () throws(SystemError) in
                try directory.descriptor.availableSpace()
            }
        }
    }

    func setModificationTime(_ time: FileTime) throws(StoreMigrationError) {
        try wrapping("can't set the time of the store") { () throws(SystemError) in
            try directory.descriptor.setModificationTime(time, of: name)
        }
    }

    /// Whether the store is empty or begins like a SQLite file (sqlite.org/fileformat2.html, 1.3).
    ///
    /// - Precondition: This process has no connection to the store, whose locks this would release.
    var beginsLikeSQLite: Bool {
        get throws(StoreMigrationError) {
            try wrapping("can't read the store") { () throws(SystemError) in
                var start = [UInt8](repeating: 0, count: 16)
                let file = try directory.descriptor.open(name, .reading)
                let count = try file.read(at: 0, into: &start, count: start.count)
                return count == 0 || start == [UInt8]("SQLite format 3\0".utf8)
            }
        }
    }

    /// Examines everything that belongs to a file.
    func survey(of file: File = .live) throws(StoreMigrationError) -> StoreFiles.Survey {
        try wrapping("can't look at the store's files") { () throws(SystemError) in
            guard let parent = try parent(of: file) else { throw SystemError.missing("lstat") }
            return try StoreFiles.Survey(of: name, in: parent.descriptor)
        }
    }

    /// Copies the files of the store.
    func copyFiles(report: StoreFiles.Report) throws {
        do {
            guard let copies = try parent(of: .copy) else { return }
            try StoreFiles.copy(
                name,
                in: directory.descriptor,
                to: copies.descriptor,
                report: report
            )
        } catch let error as SystemError {
            throw StoreMigrationError(error, message: "can't copy the store", at: path)
        }
    }

    /// The bytes of a file beside the store; 0 if there is none.
    func size(suffix: String) throws(StoreMigrationError) -> UInt64 {
        try wrapping("can't look beside the store") { () throws(SystemError) in
            let file = name + [UInt8](utf8: suffix)
            return try directory.descriptor.statusIfPresent(of: file)?.size ?? 0
        }
    }

    /// Removes the shared memory that a crash left beside a SQLite file that is locked exclusively.
    func removeSharedMemory() throws(StoreMigrationError) {
        try wrapping("can't remove a file beside the store") { () throws(SystemError) in
            let file = name + [UInt8](utf8: "-shm")
            guard try directory.descriptor.statusIfPresent(of: file) != nil else { return }
            try directory.descriptor.removeFile(file)
        }
    }

    /// Removes the rollback journal beside a SQLite file that is locked exclusively, if its
    /// transaction has ended: SQLite then overwrites the mark at its start
    /// (sqlite.org/fileformat2.html, 3).
    func removeFinishedJournal() throws(StoreMigrationError) {
        try wrapping("can't remove a file beside the store") { () throws(SystemError) in
            let file = name + [UInt8](utf8: "-journal")
            guard try directory.descriptor.statusIfPresent(of: file) != nil else { return }
            var start = [UInt8](repeating: 0, count: 8)
            let journal = try directory.descriptor.open(file, .reading)
            let count = try journal.read(at: 0, into: &start, count: start.count)
            guard count == 0 || start.allSatisfy({ $0 == 0 }) else { return }
            try directory.descriptor.removeFile(file)
        }
    }
}

// MARK: - Names

extension StorePlace {
    /// Exchanges the store and the copy in one step; called again, it undoes that.
    func exchange() throws(StoreMigrationError) {
        do throws(SystemError) {
            guard let copies = try parent(of: .copy) else { return }
            try directory.descriptor.exchange(name, with: name, in: copies.descriptor)
            try directory.descriptor.synchronize()
            try copies.descriptor.synchronize()
        } catch {
            guard error.isExchangeImpossible else {
                throw StoreMigrationError(error, message: "can't exchange the store", at: path)
            }
            throw StoreMigrationError(
                .exchangeUnsupported,
                "the file system can't exchange the store and its copy in one step",
                at: description,
                cause: error
            )
        }
    }

    /// Renames the copy to the store's name; returns `false` if a store exists by now.
    func placeCopy() throws(StoreMigrationError) -> Bool {
        try moveCopy(to: name)
    }

    /// Renames the copy to a free name beside the store, and returns that name.
    func keepCopyBeside() throws(StoreMigrationError) -> String {
        var number = 1
        while true {
            let free = name + [UInt8](utf8: ".saved-\(number)")
            if try moveCopy(to: free) { return String(decoding: free, as: UTF8.self) }
            number += 1
        }
    }

    private func moveCopy(to newName: [UInt8]) throws(StoreMigrationError) -> Bool {
        try wrapping("can't move the copy to its place") { () throws(SystemError) in
            guard let copies = try parent(of: .copy) else { throw SystemError.missing("rename") }
            do throws(SystemError) {
                try copies.descriptor.renameExclusively(
                    name,
                    to: newName,
                    in: directory.descriptor
                )
            } catch {
                guard error.isExisting else { throw error }
                return false
            }
            try directory.descriptor.synchronize()
            return true
        }
    }
}
