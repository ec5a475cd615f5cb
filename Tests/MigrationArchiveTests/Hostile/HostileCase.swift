import TestSupport
import Testing

@testable import MigrationArchive

/// One odd or hostile archive, and its expected result.
struct HostileCase: CustomTestStringConvertible, Sendable {
    /// The result of an import.
    enum Verdict: Sendable {
        /// It makes exactly these, one per line: `d/` a directory, `f 3` a file of three bytes, `l
        /// -> t` a link.
        case accepted([String])
        /// It fails because of the archive, and says where in the archive.
        case refused
        /// It fails because the file doesn't look like an archive.
        case noArchive
    }

    let name: String
    let verdict: Verdict
    let bytes: [UInt8]

    var testDescription: String { name }

    /// The name of the case's file in a corpus.
    var fileName: String {
        let isCompressed = bytes.starts(with: [0x28, 0xB5, 0x2F, 0xFD])
        return name.replacing(" ", with: "-") + (isCompressed ? ".tar.zst" : ".tar")
    }

    /// Whether no entry can be read before the fault is found, because compression hides them all.
    var hidesEntries: Bool { bytes.first == 0x28 || bytes.first == 0x1F }

    init(_ name: String, _ verdict: Verdict, bytes: [UInt8]) {
        self.name = name
        self.verdict = verdict
        self.bytes = bytes
    }

    /// A tar file with the entries of `make` between a first and a last file.
    static func refused(_ name: String, _ make: (inout RawTar) -> Void) -> HostileCase {
        HostileCase(name, .refused, bytes: framed(make))
    }

    /// A tar file with the entries of `make` between two files; `tree` is the expected result.
    static func accepted(
        _ name: String,
        _ tree: [String],
        _ make: (inout RawTar) -> Void
    ) -> HostileCase {
        HostileCase(name, .accepted(tree + ["after 5", "before 6"]), bytes: framed(make))
    }

    static func framed(_ make: (inout RawTar) -> Void) -> [UInt8] {
        var tar = RawTar()
        tar.add("before", content: [UInt8]("before".utf8))
        make(&tar)
        tar.add("after", content: [UInt8]("after".utf8))
        return tar.ended()
    }

    /// All cases.
    static let all =
        paths + links + repeats + numbers + sparse + structure + records + kinds + frames
}
