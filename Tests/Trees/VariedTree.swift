package import Foundation
import Glibc

/// A small tree with one of everything that a container can hold and an archive must keep.
package enum VariedTree: Sendable {
    /// One thing in the tree.
    private enum Part {
        case directory
        case file(Data)
        case hole(size: Int, data: String)
        case link(BytePath)
    }

    /// The paths that hold the tree's odd names.
    private static let oddNames: [BytePath] = [
        BytePath([0x66, 0xFF, 0xFE, 0x80]),
        "e\u{301}", "\u{E9}",
        "line\nbreak\u{1B}[31m", " leading and trailing ", "back\\slash", "*?[a]", "-rf",
        BytePath([UInt8](repeating: UInt8(ascii: "n"), count: 255)),
        BytePath([UInt8](String(repeating: "\u{1F980}", count: 63).utf8)),
    ]

    private static var parts: [(BytePath, Part)] {
        var parts: [(BytePath, Part)] = [
            ("Documents", .directory), ("Library", .directory),
            ("Library/Application Support", .directory), ("empty", .directory),
            ("Documents/names", .directory), ("Documents/sizes", .directory),
            ("Documents/locked", .directory), ("Documents/links", .directory),
            ("Documents/modes", .directory), ("Documents/empty", .file(Data())),
            ("Documents/locked/inside", .file(Data("kept".utf8))),
            ("Documents/locked/deeper", .directory),
            ("Documents/locked/deeper/file", .file(Data("kept too".utf8))),
            ("Documents/links/relative", .link("../sizes/513")),
            ("Documents/links/dangling", .link("nowhere/\u{E9}")),
            ("Documents/links/long", .link(BytePath([UInt8](repeating: 0x61, count: 4000)))),
            ("Documents/hole", .hole(size: 3_000_000, data: "in the middle")),
            ("Documents/zeros", .hole(size: 100_000, data: "")),
        ]
        for size in [1, 511, 512, 513, 4095, 4096, 4097, 300_000] {
            parts.append((BytePath([UInt8]("Documents/sizes/\(size)".utf8)), .file(noise(size))))
        }
        for name in oddNames {
            parts.append(("Documents/names" / name, .file(Data(name.bytes))))
        }
        for mode in modes {
            parts.append((path(ofMode: mode), .file(Data("\(mode)".utf8))))
        }
        return parts
    }

    private static let modes: [mode_t] = [0o400, 0o444, 0o600, 0o640, 0o644, 0o700, 0o755, 0o777]

    private static func path(ofMode mode: mode_t) -> BytePath {
        BytePath([UInt8]("Documents/modes/\(String(mode, radix: 8))".utf8))
    }

    /// Bytes that look random and are the same each time.
    package static func noise(_ count: Int) -> Data {
        var state: UInt64 = 0x9E37_79B9_7F4A_7C15 &+ UInt64(count)
        var data = Data(capacity: count)
        for _ in 0..<count {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            data.append(UInt8(truncatingIfNeeded: state))
        }
        return data
    }

    /// Makes the tree in the directory `root`; `isReversed` makes the contents of directories in
    /// another order.
    package static func make(in root: BytePath, isReversed: Bool = false) throws {
        let parts = parts
        let directories = parts.filter { if case .directory = $0.1 { true } else { false } }
        for (path, _) in directories { try (root / path).makeDirectory() }
        let others = parts.filter { if case .directory = $0.1 { false } else { true } }
        for (path, part) in isReversed ? others.reversed() : others {
            try make(part, at: root / path)
        }
        try addLinks(in: root)
        try addAttributes(in: root)
        for mode in modes { try (root / path(ofMode: mode)).setMode(mode) }
        try (root / "Documents/locked/deeper").setMode(0o500)
        try (root / "Documents/locked").setMode(0o500)
        try (root / "empty").setMode(0o711)
        try setTimes(parts.map(\.0), in: root)
    }

    private static func make(_ part: Part, at path: BytePath) throws {
        switch part {
        case .directory: break
        case .file(let content): try path.write(content)
        case .link(let target): try path.makeSymbolicLink(to: target)
        case .hole(let size, let data):
            try path.write("")
            try path.truncate(to: size)
            guard !data.isEmpty else { return }
            let descriptor = path.withPointer { open($0, O_WRONLY | O_CLOEXEC) }
            defer { close(descriptor) }
            guard pwrite(descriptor, data, data.utf8.count, 1_234_567) == data.utf8.count else {
                throw CallFailure("pwrite \(path)")
            }
        }
    }

    private static func addLinks(in root: BytePath) throws {
        try (root / "Documents/links/hard").makeHardLink(to: root / "Documents/sizes/4097")
        try (root / "Library/hard").makeHardLink(to: root / "Documents/sizes/4097")
        try (root / "Documents/links/twin").makeHardLink(to: root / "Documents/links/relative")
    }

    private static func addAttributes(in root: BytePath) throws {
        let everyByte = (0...255).map { UInt8($0) }
        for path: BytePath in ["Documents/sizes/1", "Documents", "Documents/modes/400"] {
            try (root / path).setAttribute("user.empty", [])
            try (root / path).setAttribute("user.bytes", everyByte)
            try (root / path).setAttribute("user.a=b", [UInt8]("c=d\n".utf8))
        }
    }

    /// Gives each path its own time, the deepest first, because making files changed the
    /// directories.
    private static func setTimes(_ paths: [BytePath], in root: BytePath) throws {
        for (index, path) in paths.sorted().enumerated().reversed() {
            try (root / path).setModificationTime(1_600_000_000 + index, 123_456_789 - index)
        }
        try (root / "Documents/sizes/513").setModificationTime(-86_401, 999_999_999)
        try (root / "Documents/sizes/512").setModificationTime(0, 1)
        try (root / "Documents/links/dangling").setModificationTime(-1, 5)
        try (root / "Library").setModificationTime(-2, 0)
    }
}
