import Foundation
import MigrationSystem
import TestSupport
import Testing

@testable import MigrationArchive

@Suite("Encrypted files", .scratchDirectory)
struct EncryptedFileTests {
    static let sizes = [0, 1, 65_535, 65_536, 65_537, 3_000_000]

    /// A key pair that `age-keygen` made.
    static let identity =
        "AGE-SECRET-KEY-1EGTZVFFV20835NWYV6270LXYVK2VKNX2MMDKWYKLMGR48UAWX40Q2P2LM0"

    static let recipient = "age1xmwwc06ly3ee5rytxm9mflaz2u56jjj36s0mypdrwsvlul66mv4q47ryef"

    static var decryption: ArchiveDecryption {
        get throws {
            var decryption = ArchiveDecryption()
            var text = [UInt8]("# a comment\n\n\(identity)\r\n".utf8)
            try decryption.addIdentities(wiping: &text)
            #expect(text.allSatisfy { $0 == 0 })
            return decryption
        }
    }

    /// Bytes that don't compress, and that differ at every place.
    static func content(_ size: Int) -> [UInt8] { [UInt8](longest[..<size]) }

    private static let longest = (0..<5_000_000).map {
        UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8 ^ $0 >> 16)
    }

    /// Encrypts `content` as an export does, in pieces of uneven sizes.
    static func encrypt(
        _ content: [UInt8],
        _ encryption: ArchiveEncryption,
        threadCount: Int = 3
    ) throws -> [UInt8] {
        let path = try Scratch.newPath()
        let output = try ArchiveOutput(
            writing: FileDescriptor.open(path, .creating(permissions: 0o600)),
            encryption: encryption,
            on: MigrationOperation(threadCount: threadCount)
        )
        try output.begin()
        var rest = content[...]
        var size = 1
        while !rest.isEmpty {
            try output.write(Array(rest.prefix(size)).span)
            rest = rest.dropFirst(size)
            size = size * 3 % 300_007
        }
        let written = try output.finish()
        let file = URL(filePath: path.text)
        let bytes = [UInt8](try Data(contentsOf: file))
        #expect(written == UInt64(bytes.count))
        return bytes
    }

    /// Decrypts as an import does; several threads must give the same result as one, including the
    /// error.
    static func decrypt(_ bytes: [UInt8], isFile: Bool) throws -> [UInt8] {
        let first = Result { try decrypt(bytes, isFile: isFile, threadCount: 1) }
        let second = Result { try decrypt(bytes, isFile: isFile, threadCount: 3) }
        if case .failure(let left as ArchiveError) = first {
            guard case .failure(let right as ArchiveError) = second else {
                Issue.record("only one thread found: \(left)")
                throw left
            }
            #expect("\(left)" == "\(right)")
        }
        let content = try first.get()
        #expect(try second.get() == content)
        return content
    }

    private static func decrypt(
        _ bytes: [UInt8],
        isFile: Bool,
        threadCount: Int
    ) throws -> [UInt8] {
        var content: [UInt8] = []
        let source = try EncryptedFile.open(
            MemoryBytes(bytes, isSequential: !isFile),
            with: decryption,
            on: MigrationOperation(threadCount: threadCount)
        )
        try source.readAll(into: &content)
        return content
    }

    @Test(arguments: sizes, [true, false])
    func `what is encrypted is decrypted`(size: Int, isArmored: Bool) throws {
        let content = Self.content(size)
        var encryption = try ArchiveEncryption.recipients([Self.recipient])
        encryption.isArmored = isArmored
        let bytes = try Self.encrypt(content, encryption)
        #expect(try Self.decrypt(bytes, isFile: true) == content)
        #expect(try Self.decrypt(bytes, isFile: false) == content)
    }

    @Test(
        .enabled(if: Scratch.has("age"), "age is not installed"),
        arguments: sizes,
        [true, false]
    )
    func `age decrypts it, and it decrypts what age encrypts`(size: Int, isArmored: Bool) throws {
        let content = Self.content(size)
        // The second recipient is age's own.
        let keys = try Scratch.path("keys").text
        let (_, made) = try Scratch.shell("age-keygen -o \"$0\" 2>&1", keys)
        let other = try #require(made.split(separator: " ").last).trimmingCharacters(
            in: .whitespacesAndNewlines
        )
        var encryption = try ArchiveEncryption.recipients([Self.recipient, other])
        encryption.isArmored = isArmored
        try write(try Self.encrypt(content, encryption), to: "ours")
        try write(content, to: "plain")
        let (code, output) = try Scratch.shell(
            """
            cd "$0" && age -d -i keys ours > back && cmp back plain &&
            age $2 -r "$1" -r \(other) plain > theirs
            """,
            try Scratch.path(".").text,
            Self.recipient,
            isArmored ? "-a" : ""
        )
        #expect(code == 0, "\(output)")
        let path = try Scratch.path("theirs").text
        let theirs = [UInt8](try Data(contentsOf: URL(filePath: path)))
        #expect(try Self.decrypt(theirs, isFile: true) == content)
        #expect(try Self.decrypt(theirs, isFile: false) == content)
    }

    @Test(arguments: [0, 1, 65_536, 65_537, 200_000, 262_144, 262_145], [1, 2, 7])
    func `the number of threads changes nothing`(size: Int, threadCount: Int) throws {
        let content = Self.content(size)
        let bytes = try Self.encrypt(
            content,
            .recipients([Self.recipient]),
            threadCount: threadCount
        )
        #expect(try Self.decrypt(bytes, isFile: true) == content)
    }

    @Test func `a failure to write ends what encrypts, whatever is still under way`() throws {
        let content = Self.content(5_000_000)
        for threadCount in [1, 3] {
            let output = try ArchiveOutput(
                writing: FileDescriptor.open("/dev/full", .writing),
                encryption: .recipients([Self.recipient]),
                on: MigrationOperation(threadCount: threadCount)
            )
            let error = #expect(throws: ArchiveError.self) {
                try output.begin()
                while true { try output.write(content.span) }
            }
            #expect(error?.code == .outOfSpace)
            output.abandon()
        }
        let operation = MigrationOperation(threadCount: 2)
        let output = try ArchiveOutput(
            writing: FileDescriptor.open("/dev/null", .writing),
            encryption: .recipients([Self.recipient]),
            on: operation
        )
        try output.begin()
        try output.write(content.span)
        operation.cancellation.cancel()
        #expect(throws: CancellationError.self) { try output.write(content.span) }
        output.abandon()
    }

    @Test func `a passphrase is wiped once it was used, and opens the same archive again`() throws {
        var text = [UInt8]("correct horse".utf8)
        let bytes = try Self.encrypt(Self.content(100), .passphrase(wiping: &text))
        #expect(text.allSatisfy { $0 == 0 })
        var decryption = ArchiveDecryption()
        var again = [UInt8]("correct horse".utf8)
        try decryption.usePassphrase(wiping: &again)
        for _ in 0..<2 {
            var content: [UInt8] = []
            let source = MemoryBytes(bytes, isSequential: true)
            try EncryptedFile.open(source, with: decryption).readAll(into: &content)
            #expect(content == Self.content(100))
        }
        decryption.maximumWorkFactor = 17
        let error = #expect(throws: ArchiveError.self) {
            _ = try EncryptedFile.open(
                MemoryBytes(bytes, isSequential: true),
                with: decryption
            )
        }
        #expect(error?.code == .workFactorTooLarge)
        var wrong = ArchiveDecryption()
        var other = [UInt8]("correct hors".utf8)
        try wrong.usePassphrase(wiping: &other)
        let refusal = #expect(throws: ArchiveError.self) {
            _ = try EncryptedFile.open(MemoryBytes(bytes, isSequential: false), with: wrong)
        }
        #expect(refusal?.code == .passphraseWrong)
    }

    private func write(_ bytes: [UInt8], to name: String) throws {
        let path = try Scratch.path(name).text
        try Data(bytes).write(to: URL(filePath: path))
    }
}

// MARK: - Damage

extension EncryptedFileTests {
    /// The header's length in a file for one recipient.
    private func parts(_ bytes: [UInt8]) -> (head: [UInt8], chunks: [[UInt8]]) {
        let sealed = ChunkCipher.sealedSize
        let source = ByteReader(MemoryBytes(bytes, isSequential: true))
        _ = try? AgeHeader(reading: source)
        let start = Int(source.position) + ChunkCipher.nonceSize
        let payload = bytes[start...]
        let chunks = stride(from: payload.startIndex, to: payload.endIndex, by: sealed).map {
            [UInt8](payload[$0..<min($0 + sealed, payload.endIndex)])
        }
        return ([UInt8](bytes[..<start]), chunks)
    }

    @Test(arguments: [true, false])
    func `chunks that were swapped, repeated or left out are noticed`(isFile: Bool) throws {
        let content = Self.content(4 * 65_536)
        let (head, chunks) = parts(try Self.encrypt(content, .recipients([Self.recipient])))
        #expect(chunks.count == 4)
        let changes = [
            [1, 0, 2, 3], [0, 0, 1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2, 3, 3], [3],
        ]
        for order in changes {
            let error = #expect(throws: ArchiveError.self, "\(order)") {
                _ = try Self.decrypt(head + order.flatMap { chunks[$0] }, isFile: isFile)
            }
            #expect(error?.code == .damaged, "\(order)")
        }
        // An end between chunks is distinguished from damage.
        for count in 1...3 {
            let error = #expect(throws: ArchiveError.self) {
                _ = try Self.decrypt(head + chunks[..<count].flatMap(\.self), isFile: isFile)
            }
            #expect(error?.code == .truncated)
        }
    }

    @Test(arguments: [true, false])
    func `no bit may change and no byte be missing`(isFile: Bool) throws {
        let content = Self.content(300)
        let bytes = try Self.encrypt(content, .recipients([Self.recipient]))
        for length in 0..<bytes.count where length >= AgeHeader.magic.count {
            #expect(throws: ArchiveError.self, "\(length)") {
                _ = try Self.decrypt([UInt8](bytes[..<length]), isFile: isFile)
            }
        }
        for position in AgeHeader.magic.count..<bytes.count {
            for bit in Thoroughness.bits(at: position) {
                var changed = bytes
                changed[position] ^= 1 << bit
                #expect(throws: ArchiveError.self, "bit \(bit) of byte \(position)") {
                    _ = try Self.decrypt(changed, isFile: isFile)
                }
            }
        }
        #expect(throws: ArchiveError.self) { try Self.decrypt(bytes + [0], isFile: isFile) }
    }

    @Test func `damage is said before what an encrypted file is`() throws {
        var bytes = try Self.encrypt(Self.content(200_000), .recipients([Self.recipient]))
        for code in [ArchiveError.Code.notAnArchive, .damaged] {
            let read = #expect(throws: ArchiveError.self) {
                _ = try ArchiveReader(Self.input(bytes), access: .whole)
            }
            let verified = #expect(throws: ArchiveError.self) {
                _ = try ArchiveVerifier.verify(Self.input(bytes), scope: .hashes) { _ in }
            }
            #expect((read?.code, verified?.code) == (code, code))
            bytes[100_000] ^= 1
        }
    }

    private static func input(_ bytes: [UInt8]) throws -> ArchiveInput {
        try ArchiveInput(
            reading: Scratch.file(holding: bytes),
            decryption: decryption,
            on: MigrationOperation()
        )
    }

    @Test func `one place is read by opening few chunks`() throws {
        let content = Self.content(5_000_000)
        let bytes = try Self.encrypt(content, .recipients([Self.recipient]))
        let counting = CountingBytes(bytes)
        let source = try EncryptedFile.open(counting, with: Self.decryption)
        #expect(source.size == UInt64(content.count))
        var target = [UInt8](repeating: 0, count: 5000)
        try source.readExactly(at: 3_000_000, into: &target, count: 5000)
        #expect(target == [UInt8](content[3_000_000..<3_005_000]))
        // The header, the last chunk and the one or two that hold the place.
        #expect(counting.readBytes < 4 * ChunkCipher.sealedSize)
    }

    @Test func `a line of an armor that doesn't end is refused before the rest is read`() throws {
        let line = [UInt8](repeating: UInt8(ascii: "A"), count: 1_000_000)
        let counting = CountingBytes(AgeArmor.begin + [UInt8(ascii: "\n")] + line)
        let error = #expect(throws: ArchiveError.self) {
            _ = try EncryptedFile.open(counting, with: Self.decryption)
        }
        #expect(error?.message.contains("a line is too long") == true)
        #expect(counting.readBytes < 200_000)
    }

    @Test func `threads that read at once each get what is at their place`() throws {
        let content = Self.content(3_000_000)
        let bytes = try Self.encrypt(content, .recipients([Self.recipient]))
        let source = Concurrent(
            try EncryptedFile.open(
                MemoryBytes(bytes, isSequential: false),
                with: Self.decryption
            )
        )
        let wrong = Monitor<[Int]>([])
        let workers = try WorkerThreads(count: 4, named: "readers") {
            for round in 0..<50 {
                let offset = round &* 7_919_113 % content.count
                let count = min(1 + round * 1_777 % 700_000, content.count - offset)
                var target = [UInt8](repeating: 0, count: count)
                // What could not be read is wrong.
                try? source.value.readExactly(at: UInt64(offset), into: &target, count: count)
                let isRight = target == [UInt8](content[offset..<offset + count])
                if !isRight { wrong.withLock { $0.append(round) } }
            }
        }
        workers.join()
        #expect(wrong.withLock { $0.isEmpty })
    }

    @Test func `nothing of a damaged chunk is left where it was read to`() throws {
        let bytes = try Self.encrypt(Self.content(500_000), .recipients([Self.recipient]))
        let (head, intact) = parts(bytes)
        var chunks = intact
        chunks[2][0] ^= 1
        let source = try EncryptedFile.open(
            MemoryBytes(head + chunks.flatMap(\.self), isSequential: false),
            with: Self.decryption
        )
        var target = [UInt8](repeating: 7, count: 500_000)
        #expect(throws: ArchiveError.self) {
            try source.readExactly(at: 0, into: &target, count: 500_000)
        }
        let damaged = 2 * ChunkCipher.chunkSize..<3 * ChunkCipher.chunkSize
        #expect(target[damaged].allSatisfy { $0 == 0 })
        #expect(target[damaged.upperBound...].allSatisfy { $0 == 7 })
    }

    @Test func `as long as a key is held, the process leaves no core dump`() async throws {
        await #expect(processExitsWith: .success) {
            #expect(CoreDumps.areAllowed)
            var decryption: ArchiveDecryption? = ArchiveDecryption()
            var text = [UInt8](EncryptedFileTests.identity.utf8)
            try decryption?.addIdentities(wiping: &text)
            #expect(!CoreDumps.areAllowed)
            decryption = nil
            #expect(CoreDumps.areAllowed)
        }
    }
}

/// Lets threads share a source that several may read from at once.
private struct Concurrent: @unchecked Sendable {
    let value: ByteReader

    init(_ value: ByteReader) {
        self.value = value
    }
}
