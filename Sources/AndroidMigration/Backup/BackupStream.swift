package import MigrationArchive
package import MigrationSystem

/// The tar stream of a backup, decrypted and decompressed, in a file with random access.
package final class BackupStream {
    /// The form of the file that held the stream.
    package struct Packaging: Hashable, Sendable {
        /// The version of the `.ab` file; `nil` for a plain stream.
        package let version: Int?
        package let isCompressed: Bool
        package let isEncrypted: Bool

        static let plain = Packaging(version: nil, isCompressed: false, isEncrypted: false)
    }

    package let file: OpenFile
    package let size: UInt64
    package let form: Packaging

    /// Why the rest could not be decrypted or decompressed; `nil` if all of it was.
    package let damage: String?

    /// How to read entries that hold headers of others.
    package var sizePolicy = SizePolicy.refuse

    /// The directories of packages at the top of a plain tar file, which are removed from the
    /// paths.
    var packageDirectories = PackageDirectories()

    /// Whether a reader has read the whole stream, and no content holds headers of others.
    var holdsNoHeadersInside = false

    private var window = [UInt8](repeating: 0, count: 256 * 1024)
    private var windowStart: UInt64 = 0
    /// The number of bytes in the window.
    private var windowSize = 0
    /// How many bytes are read at once: few at an offset that doesn't continue the last read.
    private var readSize = 0

    init(
        file: OpenFile,
        size: UInt64,
        form: Packaging = .plain,
        damage: String? = nil
    ) {
        (self.file, self.size, self.form, self.damage) = (file, size, form, damage)
    }

    /// Reads `count` bytes at `offset`, fewer only at the end; small reads are cheap.
    func read(at offset: UInt64, count: Int) throws -> ArraySlice<UInt8> {
        let isThere =
            offset >= windowStart
            && offset + UInt64(count) <= windowStart + UInt64(windowSize)
        if !isThere {
            let isNext = (windowStart...windowStart + UInt64(windowSize)).contains(offset)
            readSize = max(count, isNext ? min(4 * readSize, window.count) : 4096)
            // The buffer is reused: allocating memory for each piece takes longer than reading it.
            windowSize = 0
            windowStart = offset
            if window.count < count { window = [UInt8](repeating: 0, count: count) }
            windowSize = try Self.reading { () throws(SystemError) in
                try file.descriptor.fill(&window, count: readSize, at: offset)
            }
        }
        let start = Int(offset - windowStart)
        return window[start..<min(start + count, windowSize)]
    }

    /// Does `body`, which reads the backup.
    static func reading<Value: ~Copyable>(
        _ body: () throws(SystemError) -> Value
    ) throws(AndroidMigrationError) -> Value {
        try AndroidMigrationError.wrapping(.unreadable, "the backup can't be read", body)
    }
}

// MARK: - Opening

extension BackupStream {
    /// Whether `input` begins like an Android backup, which doesn't follow all of `tar`'s rules.
    package static func isBackup(_ input: ArchiveInput) throws -> Bool {
        guard try input.lookAhead(512) > 0 else { return false }
        let ahead = input.ahead
        return ahead.starts(with: BackupHeader.mark) || ForeignBackup.isKnown(ahead)
            || (ahead.starts(with: "apps/".utf8) && isTar(ahead))
    }

    private static func isTar(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.count >= 512
            && (UstarBlock(copying: bytes).hasValidChecksum || UstarBlock(copying: bytes).isPOSIX)
    }

    /// Reads a backup from `file`.
    ///
    /// Input without random access is copied to an unnamed file in `directory`.
    package static func open(
        _ file: OpenFile,
        password: [UInt8]?,
        spoolingTo directory: BytePath,
        named name: BytePath? = nil,
        on operation: MigrationOperation
    ) throws -> BackupStream {
        let copy: FileDescriptor
        do throws(SystemError) {
            let status = try file.descriptor.status()
            if status.kind == .regular {
                var start = [UInt8](repeating: 0, count: 512)
                let count = try file.descriptor.read(at: 0, into: &start, count: 512)
                if isTar(start[..<count]) || (count > 0 && start.allSatisfy { $0 == 0 }) {
                    return BackupStream(file: file, size: status.size)
                }
            }
            copy = try file.descriptor.duplicate()
        } catch {
            throw AndroidMigrationError(.unreadable, "the backup can't be read", cause: error)
        }
        let input = try ArchiveInput(reading: copy, on: operation)
        return try open(input, password: password, spoolingTo: directory, named: name)
    }

    /// Reads a backup from `input`, which is copied to an unnamed file in `directory`.
    package static func open(
        _ input: ArchiveInput,
        password: [UInt8]?,
        spoolingTo directory: BytePath,
        named name: BytePath? = nil
    ) throws -> BackupStream {
        guard try input.lookAhead(512) > 0 else {
            throw AndroidMigrationError(.nothingBackedUp, "the backup is empty")
        }
        if let error = try ForeignBackup.error(for: input, named: name) { throw error }
        if input.ahead.starts(with: BackupHeader.mark) {
            let decoder = try BackupDecoder(input, password: password)
            return try decoder.run(into: BackupSpool(in: directory))
        }
        let spool = try BackupSpool(in: directory)
        if ForeignBackup.isCompressed(input.ahead) { return try unpack(input, into: spool) }
        try checkStart(input.ahead)
        var buffer = [UInt8](repeating: 0, count: 256 * 1024)
        while true {
            let count = try input.read(into: &buffer, from: 0, count: buffer.count)
            if count == 0 { break }
            try spool.append(buffer[..<count])
        }
        return try spool.finish(form: .plain, damage: nil)
    }

    /// Copies a compressed tar file to `spool`.
    private static func unpack(
        _ input: ArchiveInput,
        into spool: BackupSpool
    ) throws -> BackupStream {
        guard let tar = try UnpackedTar(input) else {
            let message = "a migration archive, and not a backup of Android's"
            throw AndroidMigrationError(.notABackup, message, remedy: .convertToAndroid)
        }
        let damage = try tar.forEachPiece { piece in
            try input.operation.check()
            if spool.size == 0 { try checkStart(piece) }
            try spool.append(piece)
        }
        if let damage, spool.size == 0 { throw damage }
        return try spool.finish(
            form: Packaging(version: nil, isCompressed: true, isEncrypted: false),
            damage: damage?.message
        )
    }

    /// Throws unless a tar stream can begin like this: with a header, or with the zeros at its end.
    private static func checkStart(_ bytes: ArraySlice<UInt8>) throws(AndroidMigrationError) {
        let start = bytes.prefix(512)
        guard isTar(start) || start.allSatisfy({ $0 == 0 }) else {
            throw AndroidMigrationError(
                .notABackup,
                "no backup of Android's: neither an .ab file nor a tar stream"
            )
        }
    }
}

// MARK: - Decoding

/// An unnamed file for a stream, with holes in place of zeros, so that a
/// stream of zeros takes no space.
final class BackupSpool {
    /// The longest accepted stream; no archive holds more.
    private static let sizeLimit: UInt64 = 1 << 40
    /// The space that stays free on the file system, in bytes.
    private static let reserve: UInt64 = 64 << 20

    private let file: OpenFile
    private let writableBytes: UInt64
    private(set) var size: UInt64 = 0
    private var written: UInt64 = 0
    private var end: UInt64 = 0

    init(in directory: BytePath) throws {
        (file, writableBytes) = try AndroidMigrationError.makingFile(in: directory) {
            () throws(SystemError) in
            let place = try FileDescriptor.openFollowingLinks(directory, .directory)
            let space = try place.availableSpace()
            return (OpenFile(try place.openTemporary()), space - min(space, Self.reserve))
        }
    }

    func append(_ bytes: ArraySlice<UInt8>) throws {
        guard size + UInt64(bytes.count) <= Self.sizeLimit else {
            throw AndroidMigrationError(.unsupported, "the backup holds more than 1 TiB")
        }
        if bytes.contains(where: { $0 != 0 }) {
            written += UInt64(bytes.count)
            guard written <= writableBytes else {
                let message =
                    "the backup holds more than the \(ByteCount(writableBytes)) that are free for "
                    + "unpacking it"
                throw AndroidMigrationError(.outputFailed, message)
            }
            try write(bytes, at: size)
            end = size + UInt64(bytes.count)
        }
        size += UInt64(bytes.count)
    }

    private func write(_ bytes: ArraySlice<UInt8>, at offset: UInt64) throws {
        try AndroidMigrationError.wrapping(.outputFailed, "the backup can't be unpacked") {
            () throws(SystemError) in try file.descriptor.writeAll(bytes.span, at: offset)
        }
    }

    func finish(form: BackupStream.Packaging, damage: String?) throws -> BackupStream {
        if end < size { try write([0], at: size - 1) }
        return BackupStream(file: file, size: size, form: form, damage: damage)
    }
}

/// Decrypts and decompresses an `.ab` file.
private struct BackupDecoder {
    private let input: ArchiveInput
    private let header: BackupHeader
    private let decryptor: BackupDecryptor?

    init(_ input: ArchiveInput, password: [UInt8]?) throws {
        self.input = input
        header = try BackupHeader(input)
        guard let lock = header.lock else {
            decryptor = nil
            return
        }
        guard let password else {
            throw AndroidMigrationError(
                .passwordNeeded,
                "the backup is encrypted",
                remedy: .givePassword
            )
        }
        guard let keys = BackupKeys.unlock(lock, with: password) else {
            throw AndroidMigrationError(
                .wrongPassword,
                "the password is wrong: it does not unlock the backup's key"
            )
        }
        decryptor = BackupDecryptor(
            key: keys.masterKey,
            initializationVector: keys.initializationVector
        )
    }

    func run(into spool: BackupSpool) throws -> BackupStream {
        let inflater: BackupInflater?
        do throws(BackupInflater.Failure) {
            inflater = header.isCompressed ? try BackupInflater() : nil
        } catch {
            throw AndroidMigrationError(.unreadable, error.reason)
        }
        var damage: String?
        do {
            try decode(with: inflater, into: spool)
        } catch let error as BackupInflater.Failure {
            damage = "the compressed data is damaged behind \(spool.size) bytes (\(error.reason))"
        } catch let error as Damage {
            damage = error.reason
        }
        if damage == nil, let inflater, !inflater.isFinished, spool.size > 1024 {
            damage = "the compressed data ends early, behind \(spool.size) bytes"
        }
        if spool.size == 0 {
            let message = damage ?? "the backup ends behind its header"
            throw AndroidMigrationError(.damaged, message)
        }
        let form = BackupStream.Packaging(
            version: header.version,
            isCompressed: header.isCompressed,
            isEncrypted: header.lock != nil
        )
        return try spool.finish(form: form, damage: damage)
    }

    private struct Damage: Error {
        let reason: String
    }

    private func decode(with inflater: BackupInflater?, into spool: BackupSpool) throws {
        var buffer = [UInt8](repeating: 0, count: 256 * 1024)
        var isAtEnd = false
        while !isAtEnd, !(inflater?.isFinished ?? false) {
            try input.operation.check()
            let count = try input.read(into: &buffer, from: 0, count: buffer.count)
            isAtEnd = count == 0
            var bytes = buffer[..<count]
            if let decryptor {
                guard let plain = isAtEnd ? decryptor.finish() : decryptor.update(bytes) else {
                    let reason =
                        "the encrypted data is damaged or cut off behind \(spool.size) bytes"
                    throw Damage(reason: reason)
                }
                bytes = plain[...]
            }
            guard let inflater else {
                if !bytes.isEmpty { try spool.append(bytes) }
                continue
            }
            try inflater.inflate(bytes) { piece in
                try input.operation.check()
                try spool.append(piece)
            }
        }
    }
}
