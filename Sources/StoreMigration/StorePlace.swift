internal import Foundation
internal import MigrationSystem

/// The directory that has a store, with the work directory of a migration beside the store.
///
/// The work directory is called `.<name>.migration`. It holds the copy, and the old store once the two
/// were exchanged. `state.json` in it says which is which; without that file the copy isn't whole.
final class StorePlace {
    private static let stateName = [UInt8]("state.json".utf8)
    private static let newStateName = [UInt8]("state.partial".utf8)
    private static let copyName = [UInt8]("store".utf8)

    /// The absolute path of the store, with no link in it.
    let path: BytePath

    private let name: [UInt8]
    private let directory: OpenFile
    private var work: OpenFile?

    /// Finds the place of `store`, which must exist.
    init(of store: VersionedStore) throws(StoreMigrationError) {
        let location = try store.location()
        path = location
        name = location.lastComponent
        do {
            directory = OpenFile(try FileDescriptor.open(location.parent, .directory))
        } catch {
            throw StoreMigrationError(error, message: "can't open the store's directory", at: path)
        }
    }

    /// The path, as it may be printed.
    var description: String { String(decoding: path.bytes, as: UTF8.self) }

    /// The path of the copy.
    var copyPath: BytePath { path.parent / workName / Self.copyName / name }

    private var workName: [UInt8] { [UInt8](utf8: ".") + name + [UInt8](utf8: ".migration") }

    /// Whether there is a work directory that names an exchange.
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

    private func wrapping<Value>(
        _ message: String,
        _ body: () throws(SystemError) -> Value
    ) throws(StoreMigrationError) -> Value {
        do throws(SystemError) {
            return try body()
        } catch {
            let code: StoreMigrationError.Code? = error.isBusy ? .storeBusy : nil
            if let code {
                let message = "another process is migrating the store"
                throw StoreMigrationError(code, message, at: description)
            }
            throw StoreMigrationError(error, message: message, at: path)
        }
    }
}

// MARK: - The work directory

extension StorePlace {
    /// Makes the work directory, or takes over one that was left, and locks it.
    ///
    /// - Returns: Whether the directory was there already.
    /// - Throws: ``StoreMigrationError`` with `storeBusy` where another process has it.
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
                    // The process that had it may have removed it meanwhile.
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

    /// Makes the directory for the copy.
    func makeCopyDirectory() throws(StoreMigrationError) {
        try wrapping("can't make a directory for the copy") { () throws(SystemError) in
            try work?.descriptor.makeDirectory(Self.copyName, permissions: 0o700)
        }
    }

    /// Removes the work directory with what is left in it.
    ///
    /// Without the state, the rest is of no use to anybody.
    func end() throws(StoreMigrationError) {
        guard let work else { return }
        try wrapping("can't remove the directory of the migration") { () throws(SystemError) in
            if try work.descriptor.statusIfPresent(of: Self.stateName) != nil {
                try work.descriptor.removeFile(Self.stateName)
                try work.descriptor.synchronize()
            }
            try directory.descriptor.removeTree(workName)
        }
        self.work = nil
    }

    private func copyDirectory() throws(SystemError) -> OpenFile? {
        guard let work, try work.descriptor.statusIfPresent(of: Self.copyName) != nil else {
            return nil
        }
        return OpenFile(try work.descriptor.open(Self.copyName, .directory))
    }
}

// MARK: - Copying

extension StorePlace {
    /// Whether the store is a directory.
    var isDirectory: Bool {
        get throws(StoreMigrationError) {
            try wrapping("can't look at the store") { () throws(SystemError) in
                try directory.descriptor.status(of: name).kind == .directory
            }
        }
    }

    /// Whether the store is empty or begins like a SQLite file (sqlite.org/fileformat2.html, 1.3).
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

    /// Looks at the files of the store.
    func survey() throws(StoreMigrationError) -> StoreFiles.Survey {
        try wrapping("can't look at the store's files") { () throws(SystemError) in
            try StoreFiles.Survey(of: name, in: directory.descriptor)
        }
    }

    /// Copies the files of the store.
    func copyFiles(report: StoreFiles.Report) throws {
        do {
            guard let copies = try copyDirectory() else { return }
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

    /// Gives the copy of a SQLite file the mode and the owner of the file, without opening that:
    /// closing it would release SQLite's locks.
    func adoptStatusForCopy() throws(StoreMigrationError) {
        try wrapping("can't set the mode of the copy") { () throws(SystemError) in
            let status = try directory.descriptor.status(of: name)
            guard let copies = try copyDirectory() else { return }
            let copy = try copies.descriptor.open(name, .reading)
            do throws(SystemError) {
                try copy.adoptOwner(of: status)
            } catch {
                guard error.isDenied else { throw error }
            }
            try copy.setPermissions(status.permissions)
        }
    }

    /// The bytes of a file beside the store, or beside its copy; 0 if there is none.
    func size(suffix: String, ofCopy: Bool = false) throws(StoreMigrationError) -> UInt64 {
        try wrapping("can't look beside the store") { () throws(SystemError) in
            let place = ofCopy ? try copyDirectory() : directory
            let file = name + [UInt8](utf8: suffix)
            return try place?.descriptor.statusIfPresent(of: file)?.size ?? 0
        }
    }

    /// Removes a file beside the store, or beside its copy, if it is there.
    func remove(suffix: String, ofCopy: Bool) throws(StoreMigrationError) {
        try wrapping("can't remove a file beside the store") { () throws(SystemError) in
            guard let place = ofCopy ? try copyDirectory() : directory else { return }
            let file = name + [UInt8](utf8: suffix)
            guard try place.descriptor.statusIfPresent(of: file) != nil else { return }
            try place.descriptor.removeFile(file)
        }
    }
}

// MARK: - Exchanging

extension StorePlace {
    /// Which of the two is which, as `state.json` keeps it.
    private struct State: Codable {
        let version: Int
        let original: File
        let copy: File

        struct File: Codable, Equatable {
            let device: UInt64
            let inode: UInt64

            init(_ identity: FileStatus.Identity) {
                device = identity.device
                inode = identity.inode
            }
        }
    }

    /// What an earlier process has left.
    enum Remains {
        /// The store is as it was, whatever else is left.
        case original
        /// The store is the migrated one, which nobody has opened yet; the old one lies aside.
        case exchanged
    }

    /// Finds out how far the process came that has left the work directory.
    func remains() throws(StoreMigrationError) -> Remains {
        guard let state = try state() else { return .original }
        return try wrapping("can't look at the two stores") { () throws(SystemError) in
            let live = try directory.descriptor.status(of: name).identity
            guard let aside = try copyDirectory()?.descriptor.statusIfPresent(of: name) else {
                return .original
            }
            let isExchanged =
                State.File(live) == state.copy && State.File(aside.identity) == state.original
            return isExchanged ? .exchanged : .original
        }
    }

    private func state() throws(StoreMigrationError) -> State? {
        let bytes: [UInt8]? = try wrapping("can't read the migration's state") {
            () throws(SystemError) in
            guard let work, try work.descriptor.statusIfPresent(of: Self.stateName) != nil else {
                return nil
            }
            return try work.descriptor.open(Self.stateName, .reading).readAll(limit: 4096) ?? []
        }
        guard let bytes else { return nil }
        guard let state = try? JSONDecoder().decode(State.self, from: Data(bytes)),
            state.version == 1
        else {
            let message = "the state of the migration that was cut off can't be read"
            throw StoreMigrationError(.interrupted, message, at: description)
        }
        return state
    }

    /// Writes down that the copy is whole, with everything on the disk.
    func prepareExchange() throws(StoreMigrationError) {
        try wrapping("can't prepare the exchange of the store") { () throws(SystemError) in
            guard let work, let copies = try copyDirectory() else { return }
            let state = State(
                version: 1,
                original: State.File(try directory.descriptor.status(of: name).identity),
                copy: State.File(try copies.descriptor.status(of: name).identity)
            )
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            // Numbers can always be encoded.
            let bytes = [UInt8]((try? encoder.encode(state)) ?? Data())
            let file = try work.descriptor.open(
                Self.newStateName,
                .creating(permissions: 0o600)
            )
            try file.writeAll(bytes.span)
            // With the copy, and with the log that is no longer beside the store.
            try work.descriptor.synchronizeFileSystem()
            try work.descriptor.rename(Self.newStateName, to: Self.stateName, in: work.descriptor)
            try work.descriptor.synchronize()
        }
    }

    /// Exchanges the store and the copy in one step; called again, it undoes that.
    func exchange() throws(StoreMigrationError) {
        do throws(SystemError) {
            guard let copies = try copyDirectory() else { return }
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
}
