import Foundation
import MigrationArchive
import MigrationCore

/// The app's extension as a command line names it, and the terms on which it runs.
struct ExtensionOptions: Hashable, Sendable {
    /// The extension's program, an absolute path.
    let executable: String

    /// The property list of its entitlements; `nil` takes the one beside the program.
    let entitlements: String?

    /// The directories of the app groups, by identifier.
    let groups: [String: String]

    /// The app groups that are left out on purpose.
    let omittedGroups: Set<String>

    /// How long it may do nothing; `nil` leaves that to the library.
    let hangTimeout: Duration?

    /// How long it may go on when it was cancelled; `nil` leaves that to the library.
    let gracePeriod: Duration?

    /// The bytes that it may have in its temporary directory; `nil` leaves that to the library.
    let temporarySpace: UInt64?

    /// The bytes of memory that it may take; `nil` leaves that to the library.
    let memoryLimit: UInt64?

    let confinement: MigrationExtension.ConfinementPolicy

    /// The name before lines that the extension prints.
    var name: String { PrintableText.escaping(URL(filePath: executable).lastPathComponent) }

    /// The extension, to be run on these terms.
    var appExtension: MigrationExtension {
        var appExtension = MigrationExtension.executable(at: URL(filePath: executable))
        appExtension.entitlements = entitlements.map { URL(filePath: $0) }
        appExtension.applicationGroups = groups.mapValues { URL(filePath: $0) }
        appExtension.omittedGroups = omittedGroups
        if let hangTimeout { appExtension.hangTimeout = hangTimeout }
        if let gracePeriod { appExtension.gracePeriod = gracePeriod }
        if let temporarySpace { appExtension.temporarySpace = temporarySpace }
        if let memoryLimit { appExtension.memoryLimit = memoryLimit }
        appExtension.confinement = confinement
        return appExtension
    }
}

extension ExtensionOptions {
    init(_ arguments: ParsedArguments, executable: String) throws(UsageError) {
        self.executable = Self.absolute(executable)
        entitlements = try arguments.text("entitlements").map(Self.absolute)
        groups = try Self.groups(arguments)
        omittedGroups = Set(try arguments.texts("no-group"))
        if let group = omittedGroups.intersection(groups.keys).min() {
            let quoted = UsageError.quoting([UInt8](group.utf8))
            throw UsageError("the app group \(quoted) is given by '--group' and by '--no-group'")
        }
        hangTimeout = try arguments.duration("hang-timeout")
        gracePeriod = try arguments.duration("grace-period")
        temporarySpace = try arguments.byteCount("temporary-space")
        memoryLimit = try arguments.byteCount("memory-limit")
        confinement =
            if arguments.has("no-sandbox") {
                .none
            } else if arguments.has("require-sandbox") {
                .required
            } else {
                .whereAvailable
            }
    }

    private static func groups(
        _ arguments: ParsedArguments
    ) throws(UsageError) -> [String: String] {
        let form = "id=dir"
        var groups: [String: String] = [:]
        for (identifier, path) in try arguments.assignments("group", form) {
            guard let text = String(validating: path, as: UTF8.self), !text.isEmpty else {
                let value = UsageError.quoting([UInt8]("\(identifier)=".utf8) + path)
                let problem = "is not of the form \(form)"
                throw UsageError("the value \(value) of option '--group' \(problem)")
            }
            groups[identifier] = absolute(text)
        }
        return groups
    }

    /// `path` from the root: a URL of a relative path would lose `..` behind a link.
    private static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/") else { return path }
        let start = path.hasPrefix("./") ? path.dropFirst(2).drop { $0 == "/" } : path[...]
        return FileManager.default.currentDirectoryPath + "/" + start
    }
}

extension ParsedArguments {
    /// The extension that `--extension` names, with its terms, if it was given.
    var appExtension: ExtensionOptions? {
        get throws(UsageError) {
            guard let executable = try text("extension") else { return nil }
            return try ExtensionOptions(self, executable: executable)
        }
    }
}

extension OptionDescription {
    static func appExtension(_ help: String, isRequired: Bool = false) -> OptionDescription {
        OptionDescription(
            name: "extension",
            help: help,
            valueName: "path",
            isRequired: isRequired,
            completion: .file
        )
    }

    /// The terms on which an extension runs, for every command that runs one.
    static let extensionTerms = [
        OptionDescription(
            name: "entitlements",
            help: "The extension's entitlements, a property list; by default the file beside it "
                + "with '.entitlements' after its name.",
            valueName: "file",
            completion: .file,
            companion: "extension"
        ),
        OptionDescription(
            name: "group",
            help: "The directory of an app group that the entitlements declare; each of them needs "
                + "this or --no-group; may be given again.",
            valueName: "id=dir",
            isRepeatable: true,
            companion: "extension"
        ),
        OptionDescription(
            name: "no-group",
            help: "Leave the data of an app group out on purpose; may be given again.",
            valueName: "id",
            isRepeatable: true,
            companion: "extension"
        ),
        OptionDescription(
            name: "hang-timeout",
            help: "End the extension when it does nothing for so many seconds; 30 by default.",
            valueName: "s",
            companion: "extension"
        ),
        OptionDescription(
            name: "grace-period",
            help: "Give the extension so many seconds to end once it is cancelled; 5 by default.",
            valueName: "s",
            companion: "extension"
        ),
        OptionDescription(
            name: "temporary-space",
            help: "End the extension when its temporary files take more than so many bytes (K, M, "
                + "G: powers of 1024); 1G by default.",
            valueName: "size",
            companion: "extension"
        ),
        OptionDescription(
            name: "memory-limit",
            help: "End the extension when it takes more than so many bytes of memory; by default "
                + "4G where a cgroup can be made, else no limit.",
            valueName: "size",
            companion: "extension"
        ),
        OptionDescription(
            name: "no-sandbox",
            help: "Do not confine the extension.",
            companion: "extension",
            rival: "require-sandbox"
        ),
        OptionDescription(
            name: "require-sandbox",
            help: "Run the extension only where the system can confine it.",
            companion: "extension"
        ),
    ]
}
