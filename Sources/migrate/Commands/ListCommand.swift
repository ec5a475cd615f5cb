internal import AndroidMigration
internal import MigrationArchive
internal import MigrationCore
internal import MigrationSystem

/// `migrate list`: lists the entries of an archive.
struct ListCommand: Command {
    private var archive = ArchiveName()
    private var keys = DecryptionFlags()
    private var backup = BackupFlags()
    private var selection = PathArguments()
    private var format = RowFormat.text
    private var isForNcdu = false

    static let name = "list"
    static let abstract = "List the entries of an archive, as 'tar -tv' does."

    static var arguments: [Argument<Self>] {
        [.archive(to: \.archive), PathArguments.argument(at: \.selection)]
    }

    private static let jsonLines = Flag<Self>("json-lines", sets: \.format, to: .jsonLines)
        .help("Answer with one JSON document a line, each an entry.")
        .about(.running)

    private static let ncdu = Flag<Self>("ncdu", sets: \.isForNcdu)
        .help("Answer with a tree for 'ncdu -f', which shows what takes the room.")
        .about(.running)

    static var flags: [Flag<Self>] {
        PathArguments.pattern.included(at: \.selection)
        PathArguments.included(at: \.selection)
        DecryptionFlags.included(at: \.keys)
        BackupFlags.passwordFile.included(at: \.backup)
        BackupFlags.sizeFlags.map { $0.included(at: \.backup) }
        Flag("json", sets: \.format, to: .json)
            .help("Answer with one JSON document.")
            .about(.running)
            .excluding(jsonLines)
        jsonLines
        ncdu
    }

    static let examples = [
        Example("List all entries.", "migrate list notes.tar.zst"),
        Example(
            "List the pictures, wherever they are.",
            "migrate list notes.tar.zst --glob '*.jpg'"
        ),
        Example("Look at what takes the room.", "migrate list notes.tar.zst --ncdu | ncdu -f -"),
    ]

    func check(_ given: GivenFlags) throws(UsageError) {
        guard isForNcdu, format != .text else { return }
        let flag = format == .json ? "--json" : "--json-lines"
        throw UsageError("'--ncdu' can't be given together with '\(flag)'")
    }

    var onlyAnswers: Bool { true }

    var subject: String { archive.sourceText }

    func run(in context: CommandContext) async throws -> ExitCode {
        let console = context.console
        let rows = RowOutput(to: console.output, as: format)
        let clock = LocalClock()
        let tree = Monitor(NcduTree())
        try rows.begin(ListHead(archive: archive))
        let source = try archive.source(on: console, keys: keys)
        let selection = try await selection.resolved(in: source, called: archive)
        let search = selection.search()
        let inspection = try await BackupOperations.inspect(
            source,
            at: backup.place(of: archive, on: console),
            spoolingTo: Environment.temporaryDirectory,
            paths: selection.guidingPaths
        ) { entry in
            guard search.finds(entry) else { return }
            if isForNcdu { return tree.withLock { $0.add(entry) } }
            try rows.write(EntryRow(entry, clock: clock))
        }
        try search.checkCompleteness()
        if isForNcdu {
            let name = archive.isStandardStream ? [UInt8(ascii: "-")] : archive.path.bytes
            try tree.withLock { $0 }.write(named: name) { try console.output.write($0.span) }
        }
        try rows.end()
        switch inspection {
        case .archive(let inspection):
            console.logMissingProof(of: archive.sourceText, in: inspection)
            return .success
        case .backup(let summary):
            for loss in summary.lost {
                console.log("migrate: warning: lost: \(loss.path) (\(loss.reason))")
            }
            return summary.lost.isEmpty ? .success : .failure
        }
    }
}

// MARK: - Answer

/// The beginning of a list's answer, before its entries.
private struct ListHead: RowsHead {
    let archive: ArchiveName

    static let schema = "migrate/list/1"
    static let rows = "entries"

    private enum CodingKeys: String, CodingKey {
        case archive, archiveBase64
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(archive.exact, forKey: .archive, or: .archiveBase64)
    }
}

/// An archive entry as a row of the answer.
struct EntryRow: Row {
    let entry: ArchiveEntry
    private let clock: LocalClock

    static let schema = "migrate/entry/1"

    init(_ entry: ArchiveEntry, clock: LocalClock) {
        self.entry = entry
        self.clock = clock
    }

    func append(to text: inout [UInt8]) {
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
        for (bit, place, letter) in special where entry.permissions & bit != 0 {
            let isExecutable = text[start + place] == UInt8(ascii: "x")
            // ASCII capitals come 32 before their small letters.
            text[start + place] = isExecutable ? letter : letter - 32
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
}

extension EntryRow {
    private enum Key: String, CodingKey {
        case extendedAttributes, extendedAttributesBase64, kind, linkTarget, linkTargetBase64
        case modificationTime, owner, path, pathBase64, permissions, size
    }

    private enum OwnerKey: String, CodingKey {
        case group, user
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        // The root has no name; "." stands for it in a command too.
        let path = entry.path.bytes.isEmpty ? [UInt8(ascii: ".")] : entry.path.bytes
        try container.encode(ExactName(path), forKey: .path, or: .pathBase64)
        let octal = String(entry.permissions, radix: 8)
        let zeros = String(repeating: "0", count: max(4 - octal.count, 0))
        try container.encode(zeros + octal, forKey: .permissions)
        let time = Timestamp(entry.modificationTime).universalNanoseconds
        try container.encode(time, forKey: .modificationTime)
        if let owner = entry.owner {
            var numbers = container.nestedContainer(keyedBy: OwnerKey.self, forKey: .owner)
            try numbers.encode(owner.group, forKey: .group)
            try numbers.encode(owner.user, forKey: .user)
        }
        try encodeAttributes(into: &container)
        try encodeKind(into: &container)
    }

    private func encodeAttributes(into container: inout KeyedEncodingContainer<Key>) throws {
        let names = entry.extendedAttributes.map { ExactName($0.name) }
        let texts = names.compactMap(\.text)
        if !texts.isEmpty { try container.encode(texts, forKey: .extendedAttributes) }
        let others = names.filter { $0.text == nil }.map(\.base64)
        if !others.isEmpty { try container.encode(others, forKey: .extendedAttributesBase64) }
    }

    private func encodeKind(into container: inout KeyedEncodingContainer<Key>) throws {
        let (kind, target): (String, [UInt8]?) =
            switch entry.kind {
            case .file: ("file", nil)
            case .directory: ("directory", nil)
            case .symbolicLink(let target): ("symbolicLink", target)
            case .hardLink(let target): ("hardLink", target.bytes)
            }
        try container.encode(kind, forKey: .kind)
        if case .file(let size) = entry.kind { try container.encode(size, forKey: .size) }
        guard let target else { return }
        try container.encode(ExactName(target), forKey: .linkTarget, or: .linkTargetBase64)
    }
}
