@testable internal import AndroidMigration
internal import CLibcrypto
internal import CZlib
@testable internal import MigrationArchive
@testable internal import MigrationSystem

/// Promises about every `.ab` file.
public enum BackupPromises {
    private static let plain = "plain file that was opened"
    private static let inflated = "compressed file that was opened"
    private static let decrypted = "encrypted file that was opened"
    private static let broken = "file that is damaged behind its header"
    private static let refused = "file that was refused"

    /// The milestones that the seeds must reach.
    public static let milestones = [plain, inflated, decrypted, broken, refused]

    private static let password = [UInt8]("pässword".utf8)

    /// Uses the first byte to choose the form of the rest, bits 0 and 1: a whole file, the content
    /// of one, what follows a header, or the fields that its lock holds; bit 2: compressed; bit 3:
    /// encrypted.
    public static func check(_ bytes: [UInt8]) throws {
        let first = bytes.first ?? 0
        let rest = [UInt8](bytes.dropFirst())
        let forge = BackupForge(isCompressed: first & 4 != 0, isEncrypted: first & 8 != 0)
        switch first & 3 {
        case 0: try read(rest)
        case 1:
            guard let found = try read(forge.file(holding: rest)), !rest.isEmpty else { return }
            FuzzTarget.require(found.bytes == rest, "what was written is read")
            FuzzTarget.require(found.damage == nil, "nothing is damaged")
            Milestones.reach(
                forge.isEncrypted ? decrypted : forge.isCompressed ? inflated : plain
            )
        case 2:
            if try read(forge.header + rest)?.damage != nil { Milestones.reach(broken) }
        default: try read(BackupForge.file(withLockHolding: rest))
        }
    }

    /// Reads a file and all entries in it; `nil` if it is refused.
    @discardableResult
    private static func read(_ file: [UInt8]) throws -> (bytes: [UInt8], damage: String?)? {
        let stream: BackupStream
        do {
            let number = InputDescriptor.file(holding: file)
            let input = try ArchiveInput(
                reading: FileDescriptor.duplicate(ofNumber: number),
                on: MigrationOperation()
            )
            stream = try BackupStream.open(
                input,
                password: password,
                spoolingTo: BytePath(FuzzTarget.groundPath)
            )
        } catch {
            FuzzTarget.require(
                error is AndroidMigrationError || error is ArchiveError,
                "an error is of this project: \(error)"
            )
            Milestones.reach(refused)
            return nil
        }
        // zlib makes at most 1,032 bytes of one; a tar file may be compressed otherwise.
        FuzzTarget.require(
            stream.form.version == nil || stream.size <= 1100 * UInt64(file.count),
            "a file holds no more"
        )
        let reader = try BackupReader(stream)
        while try reader.next() != nil {}
        let count = Int(min(stream.size, 1 << 20))
        return ([UInt8](try stream.read(at: 0, count: count)), stream.damage)
    }

    /// Seeds of each kind.
    public static var seeds: [[UInt8]] {
        let stream = EntryScript("f|apps/a/f/x|5|600|1\nd|apps/a/f/d|700|1".utf8).stream
        var seeds: [[UInt8]] = []
        for form in [0, 4, 8, 12] as [UInt8] {
            let forge = BackupForge(isCompressed: form & 4 != 0, isEncrypted: form & 8 != 0)
            let file = forge.file(holding: stream)
            seeds.append([form] + file)
            seeds.append([form | 1] + stream)
            seeds.append([form | 2] + file.dropFirst(forge.header.count))
            seeds.append([form | 2] + file.dropFirst(forge.header.count).dropLast(7))
        }
        seeds.append([3, 16] + [UInt8](repeating: 1, count: 90))
        seeds.append([0] + [UInt8]("TWRP".utf8))
        return seeds
    }

    fileprivate static var passwordBytes: [UInt8] { password }
}

/// Makes `.ab` files with a single round, so that the fuzzer is fast.
struct BackupForge {
    private static let salt = [UInt8](repeating: 0x5A, count: 64)
    private static let vector = [UInt8](repeating: 3, count: 16)
    private static let masterKey = [UInt8](repeating: 0x91, count: 32)

    let isCompressed: Bool
    let isEncrypted: Bool

    /// The lines before the content.
    var header: [UInt8] {
        isEncrypted
            ? Self.header(isCompressed: isCompressed, lockHolding: Self.fields)
            : [UInt8]("ANDROID BACKUP\n5\n\(isCompressed ? 1 : 0)\nnone\n".utf8)
    }

    func file(holding content: [UInt8]) -> [UInt8] {
        let body = isCompressed ? Self.deflated(content) : content
        return header + (isEncrypted ? Self.encrypted(body, Self.masterKey) : body)
    }

    /// A file whose lock holds `fields`, whatever they are.
    static func file(withLockHolding fields: [UInt8]) -> [UInt8] {
        header(isCompressed: false, lockHolding: [UInt8](fields.prefix(200)))
            + encrypted([UInt8](repeating: 0, count: 512), masterKey)
    }

    private static var fields: [UInt8] {
        var letters: [UInt8] = []
        for byte in masterKey { letters += [0xEF, 0xBC | byte >> 6, 0x80 | byte & 0x3F] }
        var fields: [UInt8] = []
        for field in [vector, masterKey, derived(letters)] {
            fields.append(UInt8(field.count))
            fields += field
        }
        return fields
    }

    private static func header(isCompressed: Bool, lockHolding fields: [UInt8]) -> [UInt8] {
        let blob = encrypted(fields, derived(BackupPromises.passwordBytes))
        let lines = [
            "ANDROID BACKUP", "5", isCompressed ? "1" : "0", "AES-256", hexadecimal(salt),
            hexadecimal(salt), "1", hexadecimal(vector), hexadecimal(blob),
        ]
        return [UInt8](lines.map { $0 + "\n" }.joined().utf8)
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined()
    }

    private static func derived(_ secret: [UInt8]) -> [UInt8] {
        KeybagPromises.derived(secret, salt, EVP_sha1())
    }

    private static func encrypted(_ bytes: [UInt8], _ key: [UInt8]) -> [UInt8] {
        let context = EVP_CIPHER_CTX_new()
        defer { EVP_CIPHER_CTX_free(context) }
        var output = [UInt8](repeating: 0, count: bytes.count + 32)
        var (count, end): (CInt, CInt) = (0, 0)
        guard EVP_EncryptInit_ex(context, EVP_aes_256_cbc(), nil, key, vector) == 1,
            EVP_EncryptUpdate(context, &output, &count, bytes, CInt(bytes.count)) == 1
        else { fatalError("no cipher") }
        var last = [UInt8](repeating: 0, count: 32)
        guard EVP_EncryptFinal_ex(context, &last, &end) == 1 else { fatalError("no last block") }
        return [UInt8](output.prefix(Int(count))) + [UInt8](last.prefix(Int(end)))
    }

    private static func deflated(_ bytes: [UInt8]) -> [UInt8] {
        var count = compressBound(CUnsignedLong(bytes.count))
        var output = [UInt8](repeating: 0, count: Int(count))
        guard compress(&output, &count, bytes, CUnsignedLong(bytes.count)) == Z_OK else {
            fatalError("no compressor")
        }
        return [UInt8](output.prefix(Int(count)))
    }
}
