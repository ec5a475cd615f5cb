import CZlib
import Foundation
import Testing

@testable import MigrationArchive

/// The vectors that the authors of the age format publish.
@Suite("Vectors of the age format")
struct AgeVectorTests {
    @Test(arguments: AgeVector.names { !$0.contains("hybrid") }, [true, false])
    func `each vector ends as it says`(_ name: String, isFile: Bool) throws {
        let vector = try AgeVector(name)
        let source = MemoryBytes(vector.file, isSequential: !isFile)
        var content: [UInt8] = []
        var failure: ArchiveError?
        do {
            let opened = try EncryptedFile.open(source, with: vector.decryption)
            if opened.source is MemoryBytes { throw NotEncrypted() }
            try opened.readAll(into: &content)
        } catch is NotEncrypted {
            failure = ArchiveError(.notAnArchive, "not an age file")
        } catch let error as ArchiveError {
            failure = error
        }
        switch vector.expected {
        case "success":
            #expect(failure == nil)
            #expect(vector.isPayload(content))
        case "no match":
            let code = try #require(failure).code
            #expect([.keyRefused, .passphraseWrong].contains(code))
        case "HMAC failure":
            let error = try #require(failure)
            #expect(error.code == .headerDamaged && error.message.contains("authentication code"))
        case "header failure":
            let code = try #require(failure).code
            let codes: [ArchiveError.Code] = [
                .headerDamaged, .unsupported, .workFactorTooLarge, .notAnArchive,
            ]
            #expect(codes.contains(code))
        case "armor failure":
            let error = try #require(failure)
            let isOfArmor = error.message.contains("armor") || error.code == .notAnArchive
            #expect(isOfArmor, "\(error)")
        case "payload failure":
            let code = try #require(failure).code
            #expect([.damaged, .truncated].contains(code))
            // A last chunk that looks like a cut isn't released at all.
            let most = try vector.contentBeforeDamage()
            #expect(vector.isPayload(most) && most.starts(with: content))
            #expect(content.count % ChunkCipher.chunkSize == 0)
        default: Issue.record("unknown expectation \(vector.expected)")
        }
        if failure == nil { #expect(vector.expected == "success") }
    }

    /// OpenSSL 3.0 has no ML-KEM, so these keys are unknown, and no content that they seal is
    /// returned.
    @Test(arguments: AgeVector.names { $0.contains("hybrid") })
    func `vectors with post-quantum recipients are refused`(_ name: String) throws {
        let vector = try AgeVector(name)
        let unknown = #expect(throws: ArchiveError.self) { _ = try vector.decryption }
        #expect(unknown?.code == .keyInvalid)

        var decryption = ArchiveDecryption()
        var other = [UInt8](AgeVector.x25519Identity.utf8)
        try decryption.addIdentities(wiping: &other)
        let refused = #expect(throws: ArchiveError.self) {
            let source = MemoryBytes(vector.file, isSequential: false)
            _ = try EncryptedFile.open(source, with: decryption)
        }
        let codes: [ArchiveError.Code?] = [.keyRefused, .headerDamaged, .unsupported]
        #expect(codes.contains(refused?.code), "\(String(describing: refused))")
    }

    @Test func `there are vectors of each kind`() {
        #expect(AgeVector.names { $0.contains("hybrid") }.count == 19)
        #expect(AgeVector.names { !$0.contains("hybrid") }.count == 124)
    }
}

private struct NotEncrypted: Error {}

/// One vector: the file, its keys, and the expected result.
private struct AgeVector {
    let file: [UInt8]
    private let fields: [String: [String]]

    /// An identity that none of the vectors is for.
    static let x25519Identity =
        "AGE-SECRET-KEY-1GFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPYYSJZGFPQ4EGAEX"

    private static let directory = URL(filePath: #filePath)
        .deletingLastPathComponent().appending(path: "../../Fixtures/age").standardizedFileURL

    static func names(_ isIncluded: (String) -> Bool) -> [String] {
        let names = try? FileManager.default.contentsOfDirectory(atPath: directory.path)
        return (names ?? []).filter { $0 != "README.md" && isIncluded($0) }.sorted()
    }

    init(_ name: String) throws {
        let bytes = [UInt8](try Data(contentsOf: Self.directory.appending(path: name)))
        let end = try #require(
            bytes.indices.first { bytes[$0...].starts(with: [0x0A, 0x0A]) }
        )
        var fields: [String: [String]] = [:]
        for line in String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\n") {
            let parts = line.split(separator: ": ", maxSplits: 1).map(String.init)
            fields[parts[0], default: []].append(parts.count > 1 ? parts[1] : "")
        }
        self.fields = fields
        let rest = [UInt8](bytes[(end + 2)...])
        file = fields["compressed"] == ["zlib"] ? try Self.inflated(rest) : rest
    }

    var expected: String { fields["expect"]?.first ?? "" }

    var decryption: ArchiveDecryption {
        get throws {
            var decryption = ArchiveDecryption()
            for identity in fields["identity"] ?? [] {
                var text = [UInt8](identity.utf8)
                try decryption.addIdentities(wiping: &text)
            }
            if let passphrase = fields["passphrase"]?.first {
                var text = [UInt8](passphrase.utf8)
                try decryption.usePassphrase(wiping: &text)
            }
            return decryption
        }
    }

    /// The most that a program may release of a damaged payload: the chunks before the first bad
    /// one.
    func contentBeforeDamage() throws -> [UInt8] {
        var source = ByteReader(MemoryBytes(file, isSequential: true))
        if fields["armored"] != nil { source = ByteReader(try ArmorSource(reading: source)) }
        _ = try AgeHeader(reading: source)
        _ = try source.lookAhead(ChunkCipher.nonceSize)
        let nonce = Array(source.ahead.prefix(ChunkCipher.nonceSize))
        source.skip(nonce.count)
        var payload: [UInt8] = []
        try source.readAll(into: &payload)
        let digits = Array(fields["file key"]?.first ?? "")
        var key = stride(from: 0, to: digits.count, by: 2).compactMap {
            UInt8(String(digits[$0..<$0 + 2]), radix: 16)
        }
        let cipher = ChunkCipher(ChunkCipher.key(of: Secret(wiping: &key), nonce: nonce))
        var content: [UInt8] = []
        var start = 0
        while start < payload.count {
            let count = min(ChunkCipher.sealedSize, payload.count - start)
            var opened = false
            // A chunk that isn't the last one must be complete.
            for isLast in [false, true]
            where !opened && (isLast || count == ChunkCipher.sealedSize) {
                var chunk = [UInt8](payload[start..<start + count])
                opened = cipher.opens(
                    &chunk,
                    number: UInt64(start / ChunkCipher.sealedSize),
                    isLast: isLast
                )
                if opened { content += chunk.dropLast(ChunkCipher.tagSize) }
                if opened, isLast { return content }
            }
            if !opened { return content }
            start += count
        }
        return content
    }

    func isPayload(_ content: [UInt8]) -> Bool {
        let digest = SHA256Digest.hash(of: content).map { byte in
            let text = String(byte, radix: 16)
            return text.count == 1 ? "0" + text : text
        }
        return fields["payload"] == [digest.joined()]
    }

    private static func inflated(_ bytes: [UInt8]) throws -> [UInt8] {
        var output = [UInt8](repeating: 0, count: 20 << 20)
        var size = uLongf(output.count)
        try #require(uncompress(&output, &size, bytes, uLong(bytes.count)) == Z_OK)
        return [UInt8](output[..<Int(size)])
    }
}

extension ChunkCipher {
    /// Opens a chunk in place; returns whether it is the one that was sealed.
    fileprivate func opens(_ chunk: inout [UInt8], number: UInt64, isLast: Bool) -> Bool {
        do throws(ArchiveError) {
            try chunk.withUnsafeMutableBufferPointer { chunk throws(ArchiveError) in
                let bytes = UnsafeMutableRawBufferPointer(chunk)
                let size = max(0, bytes.count - ChunkCipher.tagSize)
                try open(
                    UnsafeRawBufferPointer(bytes),
                    into: UnsafeMutableRawBufferPointer(rebasing: bytes[..<size]),
                    number: number,
                    isLast: isLast
                )
            }
            return true
        } catch {
            return false
        }
    }
}
