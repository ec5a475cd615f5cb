import Foundation
import MigrationArchive
import MigrationCore
import MigrationSystem
import Testing

@testable import MigrationReports

struct EntryRowTests {
    private func row(
        _ path: [UInt8],
        _ kind: ArchiveEntry.Kind,
        _ permissions: UInt16 = 0o644,
        attributes: [ExtendedAttribute] = []
    ) -> EntryRow {
        EntryRow(
            ArchiveEntry(
                path: EntryPath(bytes: path),
                kind: kind,
                permissions: permissions,
                modificationTime: FileTime(seconds: 1_709_210_096, nanoseconds: 5),
                extendedAttributes: attributes
            ),
            clock: LocalClock()
        )
    }

    private func line(_ row: EntryRow) -> String {
        var text = [UInt8]("before ".utf8)
        row.append(to: &text)
        return String(decoding: text.dropFirst(7), as: UTF8.self)
    }

    @Test(
        arguments: [
            (0o644, "-rw-r--r--"), (0o755, "-rwxr-xr-x"), (0o000, "----------"),
            (0o7777, "-rwsrwsrwt"), (0o7000, "---S--S--T"), (0o4755, "-rwsr-xr-x"),
        ] as [(UInt16, String)]
    )
    func `writes permissions as ls does`(_ permissions: UInt16, _ mode: String) {
        #expect(line(row([0x61], .file(size: 1), permissions)).hasPrefix(mode + " "))
    }

    @Test func `writes a line as tar does`() {
        let date = Timestamp(FileTime(seconds: 1_709_210_096)).localMinutes
        let link = ArchiveEntry.Kind.symbolicLink(target: [0x62, 0x0A])
        #expect(
            line(row([0x61, 0xE9], .file(size: 1204)))
                == "-rw-r--r--        1204 \(date) a\\xE9"
        )
        #expect(line(row([0x64], .directory, 0o755)) == "drwxr-xr-x           0 \(date) d/")
        #expect(line(row([], .directory, 0o755)) == "drwxr-xr-x           0 \(date) ./")
        #expect(line(row([0x6C], link, 0o777)) == "lrwxrwxrwx           0 \(date) l -> b\\n")
        #expect(
            line(row([0x68], .hardLink(target: EntryPath("a/b"))))
                == "hrw-r--r--           0 \(date) h link to a/b"
        )
        #expect(
            line(row([0x61], .file(size: .max))) == "-rw-r--r-- 18446744073709551615 \(date) a"
        )
    }

    @Test func `shows the owner behind the mode`() {
        let date = Timestamp(FileTime(seconds: 1_709_210_096)).localMinutes
        let entry = ArchiveEntry(
            path: EntryPath("a"),
            kind: .directory,
            permissions: 0o755,
            modificationTime: FileTime(seconds: 1_709_210_096),
            owner: FileOwner(user: 1000, group: 33)
        )
        let shown = line(EntryRow(entry, clock: LocalClock()))
        #expect(shown == "drwxr-xr-x 1000/33           0 \(date) a/")
    }

    @Test func `encodes an entry in one line with sorted keys`() throws {
        let attribute = ExtendedAttribute(name: [UInt8]("user.tag".utf8), value: [1])
        let file = row([UInt8]("a/b".utf8), .file(size: 7), attributes: [attribute])
        #expect(
            try JSONText.line(file)
                == #"{"extendedAttributes":["user.tag"],"kind":"file","#
                + #""modificationTime":"2024-02-29T12:34:56.000000005Z","path":"a/b","#
                + #""permissions":"0644","size":7}"#
        )
        let link = row([0xE9], .symbolicLink(target: [0xFF]), 0o777)
        #expect(
            try JSONText.line(link)
                == #"{"kind":"symbolicLink","linkTargetBase64":"/w==","#
                + #""modificationTime":"2024-02-29T12:34:56.000000005Z","pathBase64":"6Q==","#
                + #""permissions":"0777"}"#
        )
    }

    @Test func `escapes in JSON what could harm a terminal`() throws {
        let text = try JSONText.line(["\u{202E}é\u{9B}\u{7F}\u{1B}\u{E0001}"])
        #expect(text == #"["\u202eé\u009b\u007f\u001b\udb40\udc01"]"#)
        let decoded = try JSONDecoder().decode([String].self, from: Data(text.utf8))
        #expect(decoded == ["\u{202E}é\u{9B}\u{7F}\u{1B}\u{E0001}"])
    }

    @Test(arguments: [
        (
            DifferenceRow(path: EntryPath("a"), kind: .onlyInArchive, detail: ""),
            "only in the archive: a"
        ),
        (
            DifferenceRow(path: EntryPath("a\n"), kind: .onlyInContainer, detail: ""),
            "only in the container: a\\n"
        ),
        (DifferenceRow(path: EntryPath("a"), kind: .content, detail: ""), "a: contents differ"),
        (
            DifferenceRow(path: EntryPath("a"), kind: .permissions, detail: "0644, 0600"),
            "a: permissions differ (0644, 0600)"
        ),
    ])
    func `shows a difference in a line`(_ row: DifferenceRow, _ line: String) {
        #expect(row.line == line)
    }

    @Test func `encodes a difference`() throws {
        let row = DifferenceRow(path: EntryPath("a"), kind: .hardLink, detail: "x")
        #expect(try JSONText.line(row) == #"{"detail":"x","kind":"hardLink","path":"a"}"#)
    }
}
