package import MigrationContract
package import MigrationSystem

package enum ContainerContents {
    /// Whether there is anything except empty directories, bookkeeping and metadata.
    package static func holdsData(_ root: OpenFile, at path: BytePath) throws(MigrationError)
        -> Bool
    {
        do throws(SystemError) {
            var pending = try directories(in: root, omittingOwn: true)
            while let directories = pending, let next = directories.last {
                var rest = directories.dropLast()
                guard let more = try Self.directories(in: next, omittingOwn: false) else {
                    return true
                }
                rest.append(contentsOf: more)
                pending = rest.count <= 256 ? Array(rest) : nil
            }
            return pending == nil
        } catch {
            let message = "the container can't be read"
            throw MigrationError(.containerInvalid, message, path: path, cause: error)
        }
    }

    /// Opens the directories in `directory`; `nil` if it holds anything else, or too many
    /// directories to be empty.
    private static func directories(
        in directory: OpenFile,
        omittingOwn: Bool
    ) throws(SystemError) -> [OpenFile]? {
        let listing = try DirectoryListing(of: directory.descriptor)
        guard listing.count <= 64 else { return nil }
        var directories: [OpenFile] = []
        for name in listing {
            if omittingOwn && ContainerLayout.ownNames.contains(name) { continue }
            guard try directory.descriptor.status(of: name).kind == .directory else { return nil }
            directories.append(OpenFile(try directory.descriptor.open(name, .directory)))
        }
        return directories
    }
}

// MARK: - One level too high

extension ContainerContents {
    private static let listed = 10

    /// Refuses a directory that isn't a container but holds several, such as a simulator's `Application`.
    package static func checkIsContainer(_ root: OpenFile, at path: BytePath) throws(MigrationError)
    {
        let found: [[UInt8]]
        do throws(SystemError) {
            for name in ["Documents", "Library"] where try isDirectory(name, in: root) { return }
            for name in ContainerLayout.ownNames
            where try root.descriptor.statusIfPresent(of: name) != nil { return }
            var names: [[UInt8]] = []
            for name in try DirectoryListing(of: root.descriptor)
            where try isContainer(name, in: root) { names.append(name) }
            found = names
        } catch {
            let message = "the container can't be read"
            throw MigrationError(.containerInvalid, message, path: path, cause: error)
        }
        guard found.count > 1 else { return }
        let shown = try found.prefix(listed).map { (name) throws(MigrationError) in
            let app = try ContainerLayout(at: path / name).appleIdentifier
            return PrintableText.escaping(name)
                + (app.map { " (\(PrintableText.escaping($0)))" } ?? "")
        }
        let rest = found.count > listed ? " and \(found.count - listed) more" : ""
        let message =
            "the directory isn't a container but holds several: \(shown.joined(separator: ", "))\(rest)"
        throw MigrationError(
            .containerInvalid,
            message,
            path: path,
            remedy: .takeAnyDirectory
        )
    }

    private static func isContainer(
        _ name: [UInt8],
        in root: OpenFile
    ) throws(SystemError) -> Bool {
        do {
            guard try root.descriptor.status(of: name).kind == .directory else { return false }
            let directory = OpenFile(try root.descriptor.open(name, .directory))
            let metadata = ContainerLayout.metadataName
            if try directory.descriptor.statusIfPresent(of: metadata) != nil { return true }
            if ContainerLayout.isNamedAsBundle(name) {
                return try isDirectory("AppData", in: directory)
            }
            guard try isDirectory("Documents", in: directory) else { return false }
            return try isDirectory("Library", in: directory)
        } catch {
            guard error.isMissing || error.isDenied || error.isNotDirectory else { throw error }
            return false
        }
    }

    private static func isDirectory(
        _ name: String,
        in directory: OpenFile
    ) throws(SystemError) -> Bool {
        try directory.descriptor.statusIfPresent(of: [UInt8](utf8: name))?.kind == .directory
    }
}

extension ContainerLayout {
    /// Makes the directories of a fresh container in `root`, which has none of them.
    package static func makeSkeleton(in root: OpenFile) throws(SystemError) {
        for path in skeleton {
            try root.descriptor.makeDirectory([UInt8](utf8: path), permissions: 0o755)
        }
    }
}
