package import MigrationArchive
package import MigrationCore
package import MigrationSystem

/// An archive entry as a row of the answer.
package struct EntryRow: Row, JSONObject {
    private let entry: ArchiveEntry
    private let clock: LocalClock

    package static let schema = "migrate/entry/1"

    package init(_ entry: ArchiveEntry, clock: LocalClock) {
        self.entry = entry
        self.clock = clock
    }

    package func append(to text: inout [UInt8]) {
        appendMode(to: &text)
        if let owner = entry.owner {
            text.append(contentsOf: " \(owner.user)/\(owner.group)".utf8)
        }
        let size = String(entry.contentSize).utf8
        for _ in 0..<max(12 - size.count, 1) { text.append(UInt8(ascii: " ")) }
        text.append(contentsOf: size)
        text.append(UInt8(ascii: " "))
        clock.append(entry.modificationTime, to: &text)
        text.append(UInt8(ascii: " "))
        appendNames(to: &text)
    }

    /// Appends the kind and the permissions in ten letters, as `ls -l` prints them.
    private func appendMode(to text: inout [UInt8]) {
        let start = text.count
        text.append(kindLetter)
        var bit: UInt16 = 0o400
        while bit > 0 {
            let isSet = entry.permissions & bit != 0
            text.append(isSet ? Self.letter(of: bit) : UInt8(ascii: "-"))
            bit >>= 1
        }
        guard entry.permissions & 0o7000 != 0 else { return }
        let special: [(UInt16, Int, UInt8)] = [
            (0o4000, 3, UInt8(ascii: "s")), (0o2000, 6, UInt8(ascii: "s")),
            (0o1000, 9, UInt8(ascii: "t")),
        ]
        for (bit, offset, letter) in special where entry.permissions & bit != 0 {
            let isExecutable = text[start + offset] == UInt8(ascii: "x")
            // ASCII capitals are 32 less than their small letters.
            text[start + offset] = isExecutable ? letter : letter - 32
        }
    }

    private static func letter(of bit: UInt16) -> UInt8 {
        switch bit {
        case 0o400, 0o040, 0o004: UInt8(ascii: "r")
        case 0o200, 0o020, 0o002: UInt8(ascii: "w")
        default: UInt8(ascii: "x")
        }
    }

    private var kindLetter: UInt8 {
        switch entry.kind {
        case .file: UInt8(ascii: "-")
        case .directory: UInt8(ascii: "d")
        case .symbolicLink: UInt8(ascii: "l")
        case .hardLink: UInt8(ascii: "h")
        }
    }

    private func appendNames(to text: inout [UInt8]) {
        if entry.path.bytes.isEmpty {
            text.append(UInt8(ascii: "."))
        } else {
            PrintableText.append(escaping: entry.path.bytes, to: &text)
        }
        switch entry.kind {
        case .file: break
        case .directory: text.append(UInt8(ascii: "/"))
        case .symbolicLink(let target):
            text.append(contentsOf: " -> ".utf8)
            PrintableText.append(escaping: target, to: &text)
        case .hardLink(let target):
            text.append(contentsOf: " link to ".utf8)
            PrintableText.append(escaping: target.bytes, to: &text)
        }
    }

    package var members: JSONMembers {
        // The root has no name; commands also accept "." for it.
        let path = entry.path.bytes.isEmpty ? [UInt8(ascii: ".")] : entry.path.bytes
        let octal = String(entry.permissions, radix: 8)
        let names = entry.extendedAttributes.map { ExactName($0.name) }
        let (texts, others) = (names.compactMap(\.text), names.filter { $0.text == nil })
        let (kind, size, target): (String, UInt64?, [UInt8]?) =
            switch entry.kind {
            case .file(let size): ("file", size, nil)
            case .directory: ("directory", nil, nil)
            case .symbolicLink(let target): ("symbolicLink", nil, target)
            case .hardLink(let target): ("hardLink", nil, target.bytes)
            }
        return [
            "extendedAttributes": texts.isEmpty ? nil : texts,
            "extendedAttributesBase64": others.isEmpty ? nil : others.map(\.base64),
            "kind": kind, "linkTarget": target.map(ExactName.init),
            "modificationTime": Timestamp(entry.modificationTime).universalNanoseconds,
            "owner": entry.owner.map { ["group": $0.group, "user": $0.user] as JSONMembers },
            "path": ExactName(path),
            "permissions": String(repeating: "0", count: max(4 - octal.count, 0)) + octal,
            "size": size,
        ]
    }
}

// MARK: - Differences

/// A difference as a row of the answer.
package struct DifferenceRow: Row, JSONObject {
    private let path: EntryPath
    private let kind: ArchiveDifference.Kind
    private let detail: String

    package init(_ difference: ArchiveDifference) {
        self.init(path: difference.path, kind: difference.kind, detail: difference.detail)
    }

    init(path: EntryPath, kind: ArchiveDifference.Kind, detail: String) {
        (self.path, self.kind, self.detail) = (path, kind, detail)
    }

    package static let schema = "migrate/difference/1"

    package func append(to text: inout [UInt8]) {
        text.append(contentsOf: line.utf8)
    }

    /// The row without the end of the line.
    package var line: String {
        let ending = detail.isEmpty ? "" : " (\(detail))"
        guard let aspect else { return "only in the \(side): \(path)\(ending)" }
        return "\(path): \(aspect) differ\(ending)"
    }

    /// The only side that has the entry.
    private var side: String {
        switch kind {
        case .onlyInArchive: "archive"
        case .onlyInContainer: "container"
        case .onlyInFirst: "first"
        default: "second"
        }
    }

    /// The property that differs in an entry that both sides have.
    private var aspect: String? {
        switch kind {
        case .onlyInArchive, .onlyInContainer, .onlyInFirst, .onlyInSecond: nil
        case .kind: "kinds"
        case .content: "contents"
        case .permissions: "permissions"
        case .owner: "owners"
        case .modificationTime: "modification times"
        case .linkTarget: "link targets"
        case .hardLink: "hard links"
        case .extendedAttributes: "extended attributes"
        }
    }

    package var members: JSONMembers {
        ["detail": detail.isEmpty ? nil : detail, "kind": kind, "path": ExactName(path.bytes)]
    }
}

// MARK: - Heads

/// The beginning of a list's answer, before its entries.
package struct ListHead: RowsHead, JSONObject {
    private let archive: ArchiveName

    package static let schema = "migrate/list/1"
    package static let rows = "entries"

    package init(_ archive: ArchiveName) { self.archive = archive }

    package var members: JSONMembers { ["archive": archive.exact] }
}

/// The beginning of a comparison's answer, before the differences.
package struct DiffHead: RowsHead, JSONObject {
    /// An archive or a directory.
    package enum Side: Sendable {
        case archive(ArchiveName)
        case directory(BytePath)
    }

    package static let schema = "migrate/diff/1"
    package static let rows = "differences"

    private let sides: [Side]

    package init(_ first: Side, _ second: Side) { sides = [first, second] }

    package var members: JSONMembers {
        let archives = sides.compactMap {
            if case .archive(let name) = $0 { name.exact } else { nil }
        }
        let containers = sides.compactMap {
            if case .directory(let path) = $0 { ExactName(path.bytes) } else { nil }
        }
        return [
            "archive": archives.first, "container": containers.first,
            "otherArchive": archives.dropFirst().first,
            "otherContainer": containers.dropFirst().first,
        ]
    }
}
