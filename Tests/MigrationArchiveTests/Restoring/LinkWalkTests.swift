import MigrationSystem
import TestSupport
import Testing

@testable import MigrationArchive

@Suite(.scratchDirectory)
struct LinkWalkTests {
    private let root: OpenFile

    /// A tree of the directories `d` and `d/e`, a file `d/f`, and links.
    init() throws {
        root = OpenFile(try FileDescriptor.open(Scratch.path("."), .directory))
        try root.descriptor.makeDirectory([UInt8]("d".utf8), permissions: 0o700)
        let directory = try root.descriptor.open([UInt8]("d".utf8), .directory)
        try directory.makeDirectory([UInt8]("e".utf8), permissions: 0o700)
        _ = try directory.open([UInt8]("f".utf8), .creating(permissions: 0o600))
        for (name, target) in [
            ("in", "d/e"), ("here", "."), ("up", ".."), ("far", "/"), ("off", "no"), ("me", "me"),
            ("file", "d/f"), ("round", "round/.."),
        ] {
            try root.descriptor.makeSymbolicLink([UInt8](name.utf8), to: [UInt8](target.utf8))
        }
    }

    /// Where a link at `path` to `target` leads.
    private func end(_ target: String, at path: String = "link") throws -> LinkWalk.End {
        let cursor = DirectoryCursor(restoringIn: root)
        return try LinkWalk.end(
            ofLinkAt: EntryPath(path),
            to: [UInt8](target.utf8),
            beneath: cursor
        )
    }

    @Test(
        arguments: [
            ("d", .inside), ("d/..", .inside), ("./d//e/", .inside), ("in/../f", .inside),
            ("in/../..", .inside), ("in/../../..", .outside), ("here/..", .outside),
            ("here/here/in/..", .inside), ("..", .outside), ("/", .outside), ("up/..", .outside),
            ("d/../far/..", .outside), ("in/../../here/../d", .outside),
        ] as [(String, LinkWalk.End)]
    )
    func `goes up from where a link ends, not from where it lies`(
        _ target: String,
        _ expected: LinkWalk.End
    ) throws {
        #expect(try end(target) == expected)
    }

    @Test(
        arguments: [
            ("no", .inside), ("d/no/x", .inside), ("off", .inside), ("off/x", .inside),
            ("me", .inside), ("no/../d", .undecided), ("off/..", .undecided),
            ("d/f/..", .undecided), ("file/..", .undecided), ("me/..", .undecided),
            ("round/..", .undecided), (String(repeating: "n", count: 300) + "/..", .undecided),
        ] as [(String, LinkWalk.End)]
    )
    func `leaves open what lies above something that is no directory`(
        _ target: String,
        _ expected: LinkWalk.End
    ) throws {
        #expect(try end(target) == expected)
    }

    @Test(
        arguments: [
            ("../f", .inside), ("../..", .inside), ("../../..", .outside),
        ] as [(String, LinkWalk.End)]
    )
    func `begins in the directory of the link`(_ target: String, _ expected: LinkWalk.End) throws {
        #expect(try end(target, at: "d/e/link") == expected)
    }

    /// The target of `m` may be anything, as long as nothing goes up from there.
    @Test func `leaves the links on the way to themselves`() throws {
        #expect(try end("d/../up") == .inside)
        #expect(try end("up/x") == .inside)
    }

    @Test func `follows as many links as the system does`() throws {
        for number in 1...41 {
            let target = number == 1 ? "d" : "l\(number - 1)"
            try root.descriptor.makeSymbolicLink(
                [UInt8]("l\(number)".utf8),
                to: [UInt8](target.utf8)
            )
        }
        #expect(try end("l40/..") == .inside)
        #expect(try end("l41/..") == .undecided)
    }

    /// Each look into a directory far above looks at the whole way to it.
    @Test func `goes up far once, and not over and over`() throws {
        let names = [UInt8]("n".utf8)
        var directory = OpenFile(try root.descriptor.duplicate())
        for _ in 0..<200 {
            try directory.descriptor.makeDirectory(names, permissions: 0o700)
            directory = OpenFile(try directory.descriptor.open(names, .directory))
        }
        let path = String(repeating: "n/", count: 200) + "link"
        let up = { String(repeating: "../", count: $0) }
        #expect(try end(up(200) + "d", at: path) == .inside)
        #expect(try end(up(201), at: path) == .outside)
        #expect(try end(up(128) + "n/../..", at: path) == .inside)
        #expect(try end(up(129) + "n/..", at: path) == .undecided)
    }

    @Test func `goes down as far as one link can lead, and no farther through others`() throws {
        let name = [UInt8]("n".utf8)
        var directory = OpenFile(try root.descriptor.duplicate())
        for _ in 0..<2_049 {
            try directory.descriptor.makeDirectory(name, permissions: 0o700)
            directory = OpenFile(try directory.descriptor.open(name, .directory))
        }
        let down = { String(repeating: "n/", count: $0) }
        let half = [UInt8](down(1_024).utf8)
        try root.descriptor.makeSymbolicLink([UInt8]("half".utf8), to: half)
        #expect(try end(down(2_046) + "..") == .inside)
        #expect(try end("half/" + down(1_024) + "..") == .inside)
        #expect(try end("half/" + down(1_025) + "..") == .undecided)
    }

    @Test func `names the call that failed rather than judge without it`() throws {
        let cursor = DirectoryCursor(restoringIn: root)
        let error = #expect(throws: SystemError.self) {
            try LinkWalk.end(
                ofLinkAt: EntryPath("d/no/link"),
                to: [UInt8]("x".utf8),
                beneath: cursor
            )
        }
        #expect(error?.isMissing == true)
    }
}
