internal import Foundation
internal import MigrationHosting
internal import MigrationReports
internal import MigrationSystem

/// The flags that name the app's extension and the terms on which it runs.
struct ExtensionFlags: FlagGroup {
    /// The extension's program, an absolute path; `nil` if no extension takes part.
    private(set) var executable: String?

    private var settings = MigrationExtension.executable(at: URL(filePath: "/"))

    /// The extension on the given terms; `nil` if no extension takes part.
    var appExtension: MigrationExtension? { executable == nil ? nil : settings }

    static let topic: FlagTopic? = .extension

    static let executable = Flag<Self>(
        "extension",
        value: "path",
        as: .textPath,
        // The first of the flags, before any other term is set.
        effect: { (terms, path) throws(ValueError) in
            let path = try absolute(path)
            terms.executable = path
            terms.settings = .executable(at: URL(filePath: path))
        }
    )
    .help("The app's extension.")

    private static let requireSandbox = Flag<Self>(
        "require-sandbox",
        sets: \.settings.confinement,
        to: .required
    )
    .help("Run the extension only if the system can confine it.")

    static var flags: [Flag<Self>] {
        executable
        terms
    }

    /// The flags that need `--extension`.
    static var terms: [Flag<Self>] {
        termFlags.map { $0.needing(executable) }
    }

    @FlagList<Self> private static var termFlags: [Flag<Self>] {
        Flag(
            "entitlements",
            value: "file",
            as: .textPath,
            effect: { (terms, path) throws(ValueError) in
                terms.settings.entitlements = URL(filePath: try absolute(path))
            }
        )
        .help(
            "The extension's entitlements, a property list; by default the file beside the "
                + "extension with '.entitlements' after its name."
        )
        group
        Flag(
            "no-group",
            value: "id",
            as: .text,
            isRepeatable: true,
            effect: { terms, group in terms.settings.omittedGroups.insert(group) }
        )
        .help("Leave out the data of an app group on purpose; may be repeated.")
        grant
        Flag("hang-timeout", value: "s", as: .seconds, to: \.settings.hangTimeout)
            .help("Stop the extension after this many seconds without progress; 30 by default.")
        Flag("grace-period", value: "s", as: .seconds, to: \.settings.gracePeriod)
            .help("Give a cancelled extension this many seconds to end; 5 by default.")
        Flag("temporary-space", value: "size", as: .byteCount, to: \.settings.temporarySpace)
            .help(
                "Stop the extension when its temporary files exceed this size (K, M, G: powers of "
                    + "1024); 1G by default."
            )
        Flag("memory-limit", value: "size", as: .byteCount, to: \.settings.memoryLimit)
            .help(
                "Stop the extension when it uses more memory than this; by default 4G if a cgroup "
                    + "can be made, otherwise no limit."
            )
        Flag("no-sandbox", sets: \.settings.confinement, to: .none)
            .help("Do not confine the extension.")
            .excluding(requireSandbox)
        requireSandbox
    }

    private static let group = Flag<Self>(
        "group",
        value: "id=dir",
        as: .assignment,
        isRepeatable: true
    ) { (terms, group) throws(ValueError) in
        guard let path = String(validating: group.value, as: UTF8.self), !path.isEmpty else {
            throw .malformed
        }
        guard terms.settings.applicationGroups[group.name] == nil else {
            throw group.repetition(of: "group")
        }
        terms.settings.applicationGroups[group.name] = URL(filePath: try absolute(path))
    }
    .help(
        "The directory of an app group that the entitlements declare; each declared group needs "
            + "this or --no-group; may be repeated."
    )

    private static let grant = Flag<Self>(
        "grant",
        value: "name=path",
        as: .assignment,
        isRepeatable: true
    ) { (terms, grant) throws(ValueError) in
        guard var path = String(validating: grant.value, as: UTF8.self) else { throw .malformed }
        let isWritable = path.hasSuffix(":rw")
        if isWritable || path.hasSuffix(":ro") { path.removeLast(3) }
        guard !path.isEmpty else { throw .malformed }
        guard !terms.settings.grantedResources.contains(where: { $0.name == grant.name }) else {
            throw grant.repetition(of: "grant")
        }
        terms.settings.grantedResources.append(
            GrantedResource(
                name: grant.name,
                url: URL(filePath: try absolute(path)),
                isWritable: isWritable
            )
        )
    }
    .help(
        "A file or directory outside the container that the extension may read, or with ':rw' after "
            + "the path also change, while it has it open; may be repeated."
    )

    /// Checks that no app group is both included and left out.
    func check() throws(UsageError) {
        let groups = settings.omittedGroups.intersection(settings.applicationGroups.keys)
        guard let group = groups.min() else { return }
        let quoted = UsageError.quoting([UInt8](group.utf8))
        throw UsageError("the app group \(quoted) is given by '--group' and by '--no-group'")
    }

    /// The absolute form of `path`: a URL of a relative path would lose `..` after a link.
    private static func absolute(_ path: String) throws(ValueError) -> String {
        guard !path.hasPrefix("/") else { return path }
        let start = path.hasPrefix("./") ? path.dropFirst(2).drop { $0 == "/" } : path[...]
        let directory: BytePath
        do throws(SystemError) {
            directory = try BytePath(resolvingWhole: ".")
        } catch {
            throw .refused("the current directory can't be found: \(error)")
        }
        guard let name = String(validating: directory.bytes, as: UTF8.self) else {
            throw .refused(
                "the path of the current directory is not valid UTF-8; move the extension's files"
            )
        }
        return name + "/" + start
    }
}

// MARK: - The extension

extension ExtensionFlags {
    /// The purpose for which an extension runs.
    enum Purpose: Sendable {
        case export
        case `import`
        case preflight
    }

    /// The extension, whose output goes to `console` after a summary of its preflight, and whose session
    /// `record` notes.
    func hosted(
        on console: Console,
        for purpose: Purpose,
        _ common: CommonOptions,
        _ record: OperationRecord? = nil
    ) throws -> MigrationExtension? {
        guard var hosted = appExtension, let executable else { return nil }
        do throws(SystemError) {
            _ = try BytePath(resolvingWhole: BytePath(executable))
        } catch {
            throw MigrationError(
                .extensionUnsuitable,
                "the program of '--extension' can't be found",
                path: BytePath(executable),
                cause: error
            )
        }
        let name = PrintableText.escaping(URL(filePath: executable).lastPathComponent)
        hosted.outputHandler = { line in
            console.tell(line.isEmpty ? "\(name):" : "\(name): \(line)")
        }
        record?.watch(&hosted)
        guard purpose != .preflight else { return hosted }
        hosted.preflightHandler = { report in
            let text = PreflightText(
                report: report,
                isOfExport: purpose == .export,
                isVerbose: common.isVerbose,
                advice: ErrorMessage.Hint.advice
            )
            console.tell(text.lines.map { "migrate: \($0)" }.joined(separator: "\n"))
        }
        return hosted
    }
}

// MARK: - Options of the destination

/// The values of `--option`, which pass to the extension in one message.
enum DestinationOptions {
    private static let sizeLimit = 4 << 20

    /// The flag that sets one option in the dictionary at `path`.
    static func flag<Owner>(
        to path: Property<Owner, [String: Data]>
    ) -> Flag<Owner> {
        Flag(
            "option",
            value: "name=value",
            as: .assignment,
            isRepeatable: true
        ) { (owner, option) throws(ValueError) in
            guard owner[keyPath: path][option.name] == nil else {
                throw option.repetition(of: "option")
            }
            owner[keyPath: path][option.name] = Data(try content(option.value))
            let size = owner[keyPath: path].values.reduce(0) { $0 + $1.count }
            guard size <= sizeLimit else { throw surplus }
        }
        .help(
            "An option of the destination, for the extension; '@file' as the value stands for the "
                + "file's content, and '@@' for one '@'; may be repeated."
        )
        .about(.extension)
    }

    private static var surplus: ValueError {
        .message("the values of option '--option' hold more than \(sizeLimit >> 20) MiB")
    }

    private static func content(_ value: [UInt8]) throws(ValueError) -> [UInt8] {
        let at = UInt8(ascii: "@")
        guard value.first == at else { return value }
        let rest = Array(value.dropFirst())
        return rest.first == at ? rest : try contents(ofFileAt: BytePath(rest))
    }

    private static func contents(ofFileAt path: BytePath) throws(ValueError) -> [UInt8] {
        let file = UsageError.quoting(path.bytes)
        let isRegular: Bool
        let contents: [UInt8]?
        do throws(SystemError) {
            let descriptor = try FileDescriptor.openFollowingLinks(path, .reading)
            // A pipe might never end, and signals wouldn't end the wait.
            isRegular = try descriptor.status().kind == .regular
            contents = isRegular ? try descriptor.readAll(limit: sizeLimit) : nil
        } catch {
            throw .refused("\(file) can't be read: \(error)")
        }
        guard isRegular else { throw .refused("\(file) is not a regular file") }
        guard let contents else { throw surplus }
        return contents
    }
}

// MARK: - The exporting app

extension ImportSource: FlagGroup {
    static var topic: FlagTopic? { .extension }

    /// The flags that describe the exporting app if the archive does not.
    static var flags: [Flag<Self>] {
        Flag("source-app", value: "id", as: .text, to: \.bundleIdentifier)
            .help("The app that the data comes from; by default the one that the archive names.")
        Flag("source-platform", value: "p", as: .platform, to: \.platform)
            .help(
                "The platform that the data comes from; by default the one that the archive names."
            )
        Flag("source-store", value: "s", as: .text, effect: { $0.store = .init($1) })
            .help("The store that the app comes from; by default the store of its platform.")
        Flag("source-version", value: "v", as: .text, to: \.version)
            .help("The version of the data's format; by default the one that the archive names.")
    }
}
