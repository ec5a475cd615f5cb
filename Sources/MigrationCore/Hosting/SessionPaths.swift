internal import Foundation
internal import MigrationSystem

/// How an extension sees the paths of its container, its app groups and its temporary directory.
///
/// On iOS no such path ever needs percent-encoding, so an extension may take `url.path()`, which is
/// encoded, for a path. Where a path here would need it, the extension gets to know the directory by
/// another path.
public enum ExtensionPaths: String, Sendable, Codable {
    /// As they are: none of them needs encoding.
    case unchanged

    /// By other paths, at which its process has the directories mounted for itself alone.
    case mounted

    /// By other paths, which lead through a symbolic link to the directory above.
    case linked
}

/// The paths of a session's directories as its extension sees them: encoding changes none of them.
struct SessionPaths {
    /// Why an extension can't have mounts of its own.
    enum Obstacle {
        case ownProcess
        case denied(SystemError)
    }

    /// A directory, and another path that leads to it.
    struct Alias {
        let directory: ByteString
        let path: ByteString
    }

    let form: ExtensionPaths

    /// The directories that have another path.
    private(set) var aliases: [Alias] = []

    /// What the extension's process mounts.
    private(set) var mounts: [ChildProcess.Mount] = []

    /// Where the other paths begin, as long as the session.
    private let directory: PrivateDirectory?

    /// Mounts those of `directories` whose paths need encoding; `isForOther` says that the extension
    /// runs as another user.
    init(mounting directories: [SessionDirectory], forOther isForOther: Bool) throws(MigrationError)
    {
        let encoded = directories.filter { $0.path.path.needsEncoding }
        form = encoded.isEmpty ? .unchanged : .mounted
        directory = encoded.isEmpty ? nil : try Self.makeDirectory()
        guard let directory else { return }
        if isForOther { try directory.letPass() }
        for (index, encoded) in encoded.enumerated() {
            let name = ByteString(utf8: "\(encoded.label)-\(index)")
            let place = PathName(parent: directory.path.path, name: name).path
            try Self.making(place) { () throws(SystemError) in
                let parent = try FileDescriptor.open(directory.path.path, .directory)
                try parent.makeDirectory(name, permissions: 0o700)
            }
            aliases.append(Alias(directory: encoded.path.path, path: place))
            mounts.append(ChildProcess.Mount(encoded.path.path, at: place))
        }
    }

    /// Lays links to those of `directories` whose paths need encoding.
    ///
    /// A directory that an extension lists is reached through a link to the one above, since listing a
    /// link gives nothing.
    ///
    /// - Throws: ``MigrationError`` of code `pathNeedsEncoding` where its own name needs it too.
    init(
        linking directories: [SessionDirectory],
        because obstacle: Obstacle,
        forOther isForOther: Bool = false
    ) throws(MigrationError) {
        let encoded = directories.filter { $0.path.path.needsEncoding }
        for encoded in encoded where encoded.isListed && encoded.path.name.needsEncoding {
            throw Self.refusal(of: encoded, obstacle)
        }
        form = encoded.isEmpty ? .unchanged : .linked
        directory = encoded.isEmpty ? nil : try Self.makeDirectory()
        guard let directory else { return }
        if isForOther { try directory.letPass() }
        for (index, encoded) in encoded.enumerated() {
            let name = ByteString(utf8: "\(encoded.label)-\(index)")
            let link = PathName(parent: directory.path.path, name: name).path
            let target = encoded.isListed ? encoded.path.parent : encoded.path.path
            try Self.making(link) { () throws(SystemError) in
                let parent = try FileDescriptor.open(directory.path.path, .directory)
                try parent.makeSymbolicLink(name, to: target)
            }
            let path =
                encoded.isListed ? PathName(parent: link, name: encoded.path.name).path : link
            aliases.append(Alias(directory: encoded.path.path, path: path))
        }
    }

    /// The path by which the extension knows what is at `path`.
    func shown(_ path: ByteString) -> ByteString {
        aliases.lazy.compactMap { path.moved(from: $0.directory, to: $0.path) }.first ?? path
    }

    /// The path by which the extension knows what is at `path`.
    func shown(_ path: PathName) -> PathName {
        PathName(absolute: shown(path.path))
    }

    /// Removes the other paths, whatever the extension has made beside them.
    func remove() {
        directory?.remove()
    }
}

extension SessionPaths {
    /// Makes a directory whose own path needs no encoding.
    private static func makeDirectory() throws(MigrationError) -> PrivateDirectory {
        let usual = FileManager.default.temporaryDirectory
        let places = [usual] + ["/tmp", "/var/tmp", "/dev/shm"].map { URL(filePath: $0) }
        var problem = MigrationError(
            .pathNeedsEncoding,
            "there is no directory of temporary files whose path needs no percent-encoding",
            path: ByteString(pathOf: usual)
        )
        for place in places {
            do throws(MigrationError) {
                let directory = try PrivateDirectory(in: place)
                if !directory.path.path.needsEncoding { return directory }
            } catch {
                problem = error
            }
        }
        throw problem
    }

    private static func making(
        _ path: ByteString,
        _ body: () throws(SystemError) -> Void
    ) throws(MigrationError) {
        do {
            try body()
        } catch {
            let message = "a path for the extension can't be made"
            throw MigrationError(.outputFailed, message, path: path, cause: error)
        }
    }

    private static func refusal(
        of directory: SessionDirectory,
        _ obstacle: Obstacle
    ) -> MigrationError {
        let reason: String
        let cause: SystemError?
        switch obstacle {
        case .ownProcess:
            reason = "an extension in its host's process sees the name as it is"
            cause = nil
        case .denied(let error):
            reason = "this system lets the extension have no mounts of its own, which would hide it"
            cause = error
        }
        let message =
            "the name of the \(directory.label) directory has characters that a URL must encode, by "
            + "which extensions lose files, and \(reason); give the directory a name of letters, "
            + "digits, '.', '_' and '-'"
        let path = directory.path.path
        return MigrationError(.pathNeedsEncoding, message, path: path, cause: cause)
    }
}

extension ByteString {
    /// Whether the URL of a file at this path, or with this name, spells it otherwise.
    fileprivate var needsEncoding: Bool {
        let slash = UInt8(ascii: "/")
        let path = first == slash ? self : [slash] + self
        return ByteString(utf8: URL(fileAtPath: path).path(percentEncoded: true)) != path
    }
}
