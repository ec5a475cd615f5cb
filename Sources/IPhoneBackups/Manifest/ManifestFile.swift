internal import CSQLite
internal import MigrationArchive
internal import MigrationSystem

/// `Manifest.db`, plain or encrypted, with random access.
///
/// An encrypted one is decrypted page by page, so that no plaintext reaches the disk. A block in CBC
/// mode needs only the block before it.
@safe
final class ManifestFile {
    static let magic = [UInt8]("SQLite format 3\0".utf8)

    private static let blockSize = UInt64(BackupCipher.blockSize)
    /// The versions of the format for writing and reading, which are 2 in a database with a log.
    private static let versionRange = 18..<20
    private static let withoutLog: UInt8 = 1

    private let file: OpenFile
    private let status: FileStatus
    private let decryptor: BlockDecryptor?
    private var buffer: [UInt8] = []

    /// The bytes of the database.
    private(set) var size: UInt64

    /// Why SQLite couldn't read; SQLite itself only reports that it couldn't.
    private(set) var problem: ArchiveError?

    /// Makes the file.
    ///
    /// - Parameters:
    ///   - file: The open file.
    ///   - key: The key, if it is encrypted.
    /// - Throws: ``ArchiveError`` of codes `damaged` and `sourceUnreadable`.
    init(_ file: OpenFile, key: Secret?) throws(ArchiveError) {
        self.file = file
        decryptor = key.map { BlockDecryptor($0) }
        do {
            status = try file.descriptor.status()
        } catch {
            throw Self.unreadable(error)
        }
        size = status.size - (decryptor == nil ? 0 : status.size % Self.blockSize)
        guard size >= 100 else { throw Self.notADatabase }
        let header = [UInt8](try read(at: 0, count: 100))
        guard header.starts(with: Self.magic) else { throw Self.notADatabase }
        if decryptor != nil { size = min(size, Self.length(in: header) ?? size) }
    }

    private static let notADatabase = ArchiveError(
        .damaged,
        "the backup's Manifest.db isn't a database"
    )

    /// The length in the header; `nil` if the header is of an older version than the content.
    ///
    /// The device pads the file and other programs don't, so the file's own length isn't reliable.
    private static func length(in header: [UInt8]) -> UInt64? {
        let number = { (offset: Int, size: Int) in
            header[offset..<offset + size].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        }
        guard number(24, 4) == number(92, 4), number(28, 4) > 0 else { return nil }
        let pageSize = number(16, 2)
        return (pageSize == 1 ? 65_536 : pageSize) * number(28, 4)
    }

    private static func unreadable(_ error: SystemError) -> ArchiveError {
        ArchiveError(.sourceUnreadable, "the backup's Manifest.db can't be read", cause: error)
    }

    /// Reads at most `count` bytes at `offset`; fewer at the end.
    ///
    /// The result is in the buffer, so it must be released before the next bytes are read.
    func read(at offset: UInt64, count: Int) throws(ArchiveError) -> ArraySlice<UInt8> {
        guard offset < size else { return [] }
        let end = min(offset + UInt64(count), size)
        let start = offset - offset % Self.blockSize
        // The block before the first one is read too, because decryption needs it.
        let lead = Int(Self.blockSize)
        let rounded = (end + Self.blockSize - 1) / Self.blockSize * Self.blockSize
        let wanted = Int(min(rounded, max(size, status.size)) - start)
        if buffer.count < lead + wanted { buffer = [UInt8](repeating: 0, count: lead + wanted) }
        if start == 0 {
            for index in 0..<lead { buffer[index] = 0 }
            try fill(lead..<lead + wanted, at: 0)
        } else {
            try fill(0..<lead + wanted, at: start - Self.blockSize)
        }
        if let decryptor { decryptor.decrypt(&buffer, count: wanted / lead * lead) }
        let first = lead + Int(offset - start)
        return buffer[first..<first + Int(end - offset)]
    }

    private func fill(_ range: Range<Int>, at offset: UInt64) throws(ArchiveError) {
        let filled: Int
        do {
            filled = try file.descriptor.fill(
                &buffer,
                from: range.lowerBound,
                count: range.count,
                at: offset
            )
        } catch {
            throw Self.unreadable(error)
        }
        guard filled == range.count else {
            throw ArchiveError(.sourceChanged, "the backup's Manifest.db became shorter")
        }
    }

    /// Throws if the file changed since it was opened.
    func checkUnchanged() throws(ArchiveError) {
        let now: FileStatus
        do {
            now = try file.descriptor.status()
        } catch {
            throw Self.unreadable(error)
        }
        guard now.isUnchanged(since: status) else {
            throw ArchiveError(.sourceChanged, "the backup's Manifest.db changed while it was read")
        }
    }

    /// Reads for SQLite, and hides that the database has a log: SQLite can't read the log here, and
    /// would make files in the backup for it.
    ///
    /// - Returns: The number of bytes, fewer than `output` holds at the end; `nil` for a ``problem``.
    fileprivate func readForDatabase(
        at offset: UInt64,
        into output: UnsafeMutableRawBufferPointer
    ) -> Int? {
        let bytes: ArraySlice<UInt8>
        do {
            bytes = try read(at: offset, count: output.count)
        } catch {
            problem = error
            return nil
        }
        unsafe output.copyBytes(from: bytes)
        for position in Self.versionRange where position >= offset {
            let index = position - Int(offset)
            if index < bytes.count { unsafe output[index] = Self.withoutLog }
        }
        return bytes.count
    }
}

// MARK: - File system

/// A read-only file system for SQLite that contains one manifest.
@safe
final class ManifestFileSystem {
    /// The state that SQLite keeps for an open file; SQLite's own part must be first.
    @unsafe
    private struct Open {
        var base: sqlite3_file
        var file: Unmanaged<ManifestFile>
    }

    /// The name of the file system, which selects it when a database is opened.
    let name: String
    private let system: UnsafeMutablePointer<sqlite3_vfs>
    private let rawName: UnsafeMutablePointer<CChar>
    private let file: ManifestFile

    init(holding file: ManifestFile) {
        self.file = file
        name = "manifest-\(UInt64.random(in: 0 ... .max))"
        let characters = name.utf8CString
        unsafe rawName = .allocate(capacity: characters.count)
        for (index, character) in characters.enumerated() {
            unsafe (rawName + index).initialize(to: character)
        }
        unsafe system = .allocate(capacity: 1)
        var table = unsafe sqlite3_vfs()
        unsafe table.iVersion = 1
        unsafe table.szOsFile = CInt(MemoryLayout<Open>.size)
        unsafe table.mxPathname = 512
        unsafe table.zName = UnsafePointer(rawName)
        unsafe table.pAppData = Unmanaged.passUnretained(file).toOpaque()
        unsafe Self.setFunctions(of: &table)
        unsafe system.initialize(to: table)
        unsafe sqlite3_vfs_register(system, 0)
    }

    deinit {
        unsafe sqlite3_vfs_unregister(system)
        unsafe system.deallocate()
        unsafe rawName.deallocate()
    }

    private static func setFunctions(of table: inout sqlite3_vfs) {
        unsafe table.xOpen = { system, _, file, flags, outFlags in
            guard flags & SQLITE_OPEN_MAIN_DB != 0, let file = unsafe file,
                let data = unsafe system?.pointee.pAppData
            else { return SQLITE_CANTOPEN }
            unsafe UnsafeMutableRawPointer(file).initializeMemory(
                as: Open.self,
                to: Open(
                    base: sqlite3_file(pMethods: ManifestFileSystem.methods),
                    file: .fromOpaque(data)
                )
            )
            unsafe outFlags?.pointee = SQLITE_OPEN_READONLY
            return SQLITE_OK
        }
        unsafe table.xDelete = { _, _, _ in SQLITE_READONLY }
        unsafe table.xAccess = { _, _, _, result in
            unsafe result?.pointee = 0
            return SQLITE_OK
        }
        // There is only one file, whatever name SQLite uses.
        unsafe table.xFullPathname = { _, _, size, output in
            guard let output = unsafe output, size > 1 else { return SQLITE_CANTOPEN }
            unsafe output[0] = CChar(UInt8(ascii: "m"))
            unsafe output[1] = 0
            return SQLITE_OK
        }
        unsafe table.xRandomness = { _, size, output in
            unsafe output?.update(repeating: 0, count: Int(size))
            return size
        }
        unsafe table.xSleep = { _, microseconds in microseconds }
        unsafe table.xCurrentTime = { _, day in
            unsafe day?.pointee = 0
            return SQLITE_OK
        }
        unsafe table.xGetLastError = { _, _, _ in 0 }
    }

    private nonisolated(unsafe) static let methods: UnsafePointer<sqlite3_io_methods> = {
        var table = sqlite3_io_methods()
        table.iVersion = 1
        unsafe table.xClose = { _ in SQLITE_OK }
        unsafe table.xRead = { file, output, count, offset in
            guard let file = unsafe file, let output = unsafe output, offset >= 0 else {
                return SQLITE_IOERR
            }
            let open = unsafe UnsafeRawPointer(file).assumingMemoryBound(to: Open.self)
            let manifest = unsafe open.pointee.file.takeUnretainedValue()
            let target = unsafe UnsafeMutableRawBufferPointer(start: output, count: Int(count))
            guard let filled = unsafe manifest.readForDatabase(at: UInt64(offset), into: target)
            else { return SQLITE_IOERR }
            guard filled < Int(count) else { return SQLITE_OK }
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: target[filled...])
            unsafe rest.initializeMemory(as: UInt8.self, repeating: 0)
            return migration_sqlite_short_read
        }
        unsafe table.xWrite = { _, _, _, _ in SQLITE_READONLY }
        unsafe table.xTruncate = { _, _ in SQLITE_READONLY }
        unsafe table.xSync = { _, _ in SQLITE_OK }
        unsafe table.xFileSize = { file, size in
            guard let file = unsafe file else { return SQLITE_IOERR }
            let open = unsafe UnsafeRawPointer(file).assumingMemoryBound(to: Open.self)
            unsafe size?.pointee = Int64(open.pointee.file.takeUnretainedValue().size)
            return SQLITE_OK
        }
        unsafe table.xLock = { _, _ in SQLITE_OK }
        unsafe table.xUnlock = { _, _ in SQLITE_OK }
        unsafe table.xCheckReservedLock = { _, result in
            unsafe result?.pointee = 0
            return SQLITE_OK
        }
        unsafe table.xFileControl = { _, _, _ in SQLITE_NOTFOUND }
        unsafe table.xSectorSize = { _ in 4096 }
        unsafe table.xDeviceCharacteristics = { _ in SQLITE_IOCAP_IMMUTABLE }
        let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        unsafe methods.initialize(to: table)
        return unsafe UnsafePointer(methods)
    }()
}
