internal import MigrationSystem

/// The directory in which an import makes a container ready, on the container's own file system.
///
/// It lies beside the container where an exchange with it is possible, else in the container's
/// bookkeeping. Its name follows from the container's, so that the next command finds what a dead one left.
struct StagingDirectory {
    enum Place: CaseIterable {
        case beside
        case inside
    }

    static let nameInside = ByteString(utf8: "staged")
    private static let suffix = ByteString(utf8: ".migration-staging")

    let parent: OpenFile
    let name: ByteString
    let directory: OpenFile
    let place: Place

    /// The name of the staging directory beside the container at `path`.
    static func nameBeside(_ path: PathName) -> ByteString {
        let dot = [UInt8(ascii: ".")]
        return dot + ByteString(path.name.prefix(255 - 1 - suffix.count)) + suffix
    }

    /// Makes an empty directory, removing first what an earlier import left.
    static func make(for path: PathName, root: OpenFile) throws(SystemError) -> StagingDirectory {
        if let beside = try makeBeside(path, root: root) { return beside }
        let bookkeeping = try BookkeepingDirectory.make(in: root)
        return try make(nameInside, in: bookkeeping.openDirectory, .inside)
    }

    /// Makes the directory beside the container; `nil` where that can't be or is another file system.
    private static func makeBeside(
        _ path: PathName,
        root: OpenFile
    ) throws(SystemError) -> StagingDirectory? {
        do {
            let parent = OpenFile(try FileDescriptor.open(path.parent, .directory))
            let device = try root.descriptor.status().identity.device
            guard try parent.descriptor.status().identity.device == device else { return nil }
            return try make(nameBeside(path), in: parent, .beside)
        } catch {
            guard error.isDenied || error.isReadOnly else { throw error }
            return nil
        }
    }

    private static func make(
        _ name: ByteString,
        in parent: OpenFile,
        _ place: Place
    ) throws(SystemError) -> StagingDirectory {
        try removeLeftover(name, in: parent)
        try parent.descriptor.makeDirectory(name, permissions: 0o700)
        let directory = OpenFile(try parent.descriptor.open(name, .directory))
        try directory.descriptor.lock(.exclusive)
        return StagingDirectory(parent: parent, name: name, directory: directory, place: place)
    }

    /// Removes the directory `name`, unless somebody is at work in it.
    static func removeLeftover(_ name: ByteString, in parent: OpenFile) throws(SystemError) {
        do {
            let left = OpenFile(try parent.descriptor.open(name, .directory))
            try left.descriptor.lock(.exclusive)
        } catch {
            if error.isMissing { return }
            guard error.isDenied || error.isNotDirectory else { throw error }
        }
        try parent.descriptor.removeTree(name)
    }

    /// Gives back the lock on the directory, which may be the live container by now.
    func release() {
        directory.descriptor.unlock()
    }

    /// Removes the directory with everything in it.
    func remove() throws(SystemError) {
        do {
            try parent.descriptor.removeTree(name)
        } catch {
            guard error.isMissing else { throw error }
        }
    }
}
