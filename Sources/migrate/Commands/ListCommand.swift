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

    private static let ncdu = Flag<Self>("ncdu", sets: \.isForNcdu)
        .help("Answer with a tree for 'ncdu -f', which shows what takes the room.")

    static var flags: [Flag<Self>] {
        PathArguments.pattern.included(at: \.selection)
        PathArguments.included(at: \.selection)
        DecryptionFlags.included(at: \.keys)
        BackupFlags.passwordFile.included(at: \.backup)
        Flag("json", sets: \.format, to: .json)
            .help("Answer with one JSON document.")
            .excluding(jsonLines)
        jsonLines
        ncdu
    }

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
        let tree = Monitor(NcduTree())
        try rows.begin(ListHead(archive: archive))
        let search = selection.search()
        let inspection = try await BackupOperations.inspect(
            archive.source(on: console, keys: keys),
            at: backup.place(of: archive, on: console),
            spoolingTo: TemporaryDirectory.path
        ) { entry in
            guard search.finds(entry) else { return }
            if isForNcdu { return tree.withLock { $0.add(entry) } }
            try rows.write(EntryRow(entry))
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

/// What a list says before its entries.
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

    static let schema = "migrate/entry/1"

    init(_ entry: ArchiveEntry) {
        self.entry = entry
    }

    var line: String {
        let size = String(entry.contentSize)
        let padding = String(repeating: " ", count: max(12 - size.utf8.count, 1))
        let date = Timestamp(entry.modificationTime).localMinutes
        let owner = entry.owner.map { " \($0.user)/\($0.group)" } ?? ""
        return "\(mode)\(owner)\(padding)\(size) \(date) \(path)\(suffix)"
    }

    /// The kind and the permissions in ten letters, as `ls -l` prints them.
    var mode: String {
        var letters = [UInt8](repeating: UInt8(ascii: "-"), count: 10)
        letters[0] = kindLetter
        for (index, letter) in "rwxrwxrwx".utf8.enumerated()
        where entry.permissions & (0o400 >> index) != 0 {
            letters[index + 1] = letter
        }
        for (bit, place, letter) in [(0o4000, 3, "s"), (0o2000, 6, "s"), (0o1000, 9, "t")]
        where Int(entry.permissions) & bit != 0 {
            let isExecutable = letters[place] == UInt8(ascii: "x")
            letters[place] = Array((isExecutable ? letter : letter.uppercased()).utf8)[0]
        }
        return String(decoding: letters, as: UTF8.self)
    }

    private var kindLetter: UInt8 {
        switch entry.kind {
        case .file: UInt8(ascii: "-")
        case .directory: UInt8(ascii: "d")
        case .symbolicLink: UInt8(ascii: "l")
        case .hardLink: UInt8(ascii: "h")
        }
    }

    private var path: String {
        entry.path.bytes.isEmpty ? "." : entry.path.description
    }

    private var suffix: String {
        switch entry.kind {
        case .file: ""
        case .directory: "/"
        case .symbolicLink(let target): " -> \(PrintableText.escaping(target))"
        case .hardLink(let target): " link to \(target)"
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
