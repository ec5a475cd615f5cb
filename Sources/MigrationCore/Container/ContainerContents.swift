internal import MigrationSystem

/// The contents of a container.
enum ContainerContents {
    /// Whether there is anything but empty directories, bookkeeping and metadata.
    static func holdsData(_ root: OpenFile, at path: BytePath) throws(MigrationError) -> Bool {
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
        for index in 0..<listing.count {
            let name = listing[index]
            if omittingOwn && ContainerLayout.ownNames.contains(name) { continue }
            guard try directory.descriptor.status(of: name).kind == .directory else { return nil }
            directories.append(OpenFile(try directory.descriptor.open(name, .directory)))
        }
        return directories
    }
}

extension ContainerLayout {
    /// Makes the directories of a fresh container in `root`, which is empty of them.
    static func makeSkeleton(in root: OpenFile) throws(SystemError) {
        for path in skeleton {
            try root.descriptor.makeDirectory([UInt8](utf8: path), permissions: 0o755)
        }
    }
}
