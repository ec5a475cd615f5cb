internal import Foundation
internal import MigrationCore
internal import MigrationSystem

/// How an extension sees the paths of its container, its app groups and its temporary directory.
///
/// On iOS these paths never need percent-encoding, so an extension may use `url.path()`, which is
/// encoded, as a path. If a path here needs encoding, the extension gets another path to the
/// directory.
public enum ExtensionPaths: String, Sendable, Codable {
    /// The real paths: none of them needs encoding.
    case unchanged

    /// By other paths, at which the directories are mounted only for its process.
    case mounted

    /// By other paths, which lead through a symbolic link.
    case linked
}

/// The paths of a session's directories as its extension sees them; none needs encoding.
struct SessionPaths {
    /// The reason why an extension can't have its own mounts.
    enum Obstacle {
        case ownProcess
        case denied(SystemError)
    }

    /// A directory, and another path that leads to it.
    struct Alias {
        let directory: BytePath
        let path: BytePath
    }

    let form: ExtensionPaths

    /// The directories that have another path.
    private(set) var aliases: [Alias] = []

    /// The mounts of the extension's process.
    private(set) var mounts: [ChildProcess.Mount] = []

    /// The directory of the other paths, which ends with the session.
    private let directory: PrivateDirectory?

    /// Mounts those of `directories` whose paths need encoding.
    ///
    /// - Parameters:
    ///   - directories: The directories of the session.
    ///   - isForOther: Whether the extension runs as another user.
    /// - Throws: ``MigrationError`` of codes `outputFailed` and `pathNeedsEncoding`.
    init(mounting directories: [SessionDirectory], forOther isForOther: Bool) throws(MigrationError)
    {
        let encoded = directories.filter { $0.path.needsEncoding }
        form = encoded.isEmpty ? .unchanged : .mounted
        directory = encoded.isEmpty ? nil : try Self.makeDirectory()
        guard let directory else { return }
        if isForOther { try directory.letPass() }
        for (index, encoded) in encoded.enumerated() {
            let name = [UInt8](utf8: "\(encoded.label)-\(index)")
            let place = directory.path / name
            try Self.making(place) { () throws(SystemError) in
                let parent = try FileDescriptor.open(directory.path, .directory)
                try parent.makeDirectory(name, permissions: 0o700)
            }
            aliases.append(Alias(directory: encoded.path, path: place))
            mounts.append(ChildProcess.Mount(encoded.path, at: place))
        }
    }

    /// Makes links to those of `directories` whose paths need encoding.
    ///
    /// For a directory that the extension lists, the link leads to the parent, because Foundation
    /// does not list a link.
    ///
    /// - Throws: ``MigrationError`` of code `pathNeedsEncoding` if its own name needs encoding too.
    init(
        linking directories: [SessionDirectory],
        because obstacle: Obstacle,
        forOther isForOther: Bool = false
    ) throws(MigrationError) {
        let encoded = directories.filter { $0.path.needsEncoding }
        for encoded in encoded where encoded.isListed {
            let name = BytePath(encoded.path.lastComponent)
            if name.needsEncoding { throw Self.refusal(of: encoded, obstacle) }
        }
        form = encoded.isEmpty ? .unchanged : .linked
        directory = encoded.isEmpty ? nil : try Self.makeDirectory()
        guard let directory else { return }
        if isForOther { try directory.letPass() }
        for (index, encoded) in encoded.enumerated() {
            let name = [UInt8](utf8: "\(encoded.label)-\(index)")
            let link = directory.path / name
            let target = encoded.isListed ? encoded.path.parent : encoded.path
            try Self.making(link) { () throws(SystemError) in
                let parent = try FileDescriptor.open(directory.path, .directory)
                try parent.makeSymbolicLink(name, to: target.bytes)
            }
            let path = encoded.isListed ? link / encoded.path.lastComponent : link
            aliases.append(Alias(directory: encoded.path, path: path))
        }
    }

    /// The path by which the extension knows the file at `path`.
    func shown(_ path: BytePath) -> BytePath {
        aliases.lazy.compactMap { path.moved(from: $0.directory, to: $0.path) }.first ?? path
    }

    /// Removes the other paths, and anything that the extension made beside them.
    func remove() {
        directory?.remove()
    }
}

extension SessionPaths {
    /// Makes a directory whose own path needs no encoding.
    private static func makeDirectory() throws(MigrationError) -> PrivateDirectory {
        let usual = Environment.temporaryDirectory
        let places: [BytePath] = [usual, "/tmp", "/var/tmp", "/dev/shm"]
        var problem = MigrationError(
            .pathNeedsEncoding,
            "the path of every directory for temporary files needs percent-encoding",
            path: usual
        )
        for place in places {
            do throws(MigrationError) {
                let directory = try PrivateDirectory(in: place)
                if !directory.path.needsEncoding { return directory }
            } catch {
                problem = error
            }
        }
        throw problem
    }

    private static func making(
        _ path: BytePath,
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
            reason = "an extension in its host's process sees the real name"
            cause = nil
        case .denied(let error):
            reason = "this system does not allow the mounts that would hide it"
            cause = error
        }
        let message =
            "the name of the \(directory.label) directory has characters that a URL must encode, which "
            + "makes extensions lose files, and \(reason); use only letters, digits, '.', '_' and "
            + "'-' in its name"
        let path = directory.path
        return MigrationError(.pathNeedsEncoding, message, path: path, cause: cause)
    }
}

extension BytePath {
    /// Whether the URL of a file with this path or name spells it differently.
    fileprivate var needsEncoding: Bool {
        let path = isAbsolute ? self : .root / self
        return BytePath(URL(fileAtPath: path).path(percentEncoded: true)) != path
    }
}
