internal import MigrationArchive
internal import MigrationSystem

/// The directory in which an import makes a container ready, on the container's own file system.
///
/// It lies beside the container where an exchange with it is possible, else in the container's
/// bookkeeping. Its name follows from the container's, so that the next command finds what a dead one left.
struct StagingDirectory {
    enum Place {
        case beside
        case inside
    }

    static let nameInside = ByteString(utf8: "staged")
    /// Where in the bookkeeping a container is for a moment, on its way out of a staging directory.
    static let passingName = ByteString(utf8: "staged-container")
    private static let suffix = ByteString(utf8: ".migration-staging")

    let parent: OpenFile
    let path: PathName
    let directory: OpenFile
    let place: Place

    /// The name in the parent.
    var name: ByteString { path.name }

    /// The name of the staging directory beside the container at `path`, which no other container has.
    static func nameBeside(_ path: PathName) -> ByteString {
        let dot = [UInt8(ascii: ".")]
        let room = 255 - dot.count - suffix.count
        guard path.name.count >= room else { return dot + path.name + suffix }
        let hash = SHA256Digest.hash(of: path.name).prefix(8).reduce(UInt64(0)) { number, byte in
            number << 8 | UInt64(byte)
        }
        let mark = ByteString(utf8: "-" + String(hash, radix: 16))
        return dot + ByteString(path.name.prefix(room - mark.count)) + mark + suffix
    }

    /// Makes an empty directory, removing first what an earlier import left.
    ///
    /// It is made in the bookkeeping and moved out where that is possible, so that what is beside the
    /// container can be moved back in: two mounts of one file system can't.
    static func make(for path: PathName, root: OpenFile) throws(SystemError) -> StagingDirectory {
        let bookkeeping = [UInt8(ascii: "/")] + ContainerLayout.bookkeepingName
        let inside = try BookkeepingDirectory.make(in: root).openDirectory
        try removeLeftover(nameInside, in: inside)
        try inside.descriptor.makeDirectory(nameInside, permissions: 0o700)
        let directory = OpenFile(try inside.descriptor.open(nameInside, .directory))
        try directory.descriptor.lock(.exclusive)
        try? dropInherited(directory, unlike: root)
        let beside = nameBeside(path)
        do {
            let parent = OpenFile(try FileDescriptor.open(path.parent, .directory))
            try removeLeftover(beside, in: parent)
            try inside.descriptor.renameExclusively(nameInside, to: beside, in: parent.descriptor)
            return StagingDirectory(
                parent: parent,
                path: PathName(parent: path.parent, name: beside),
                directory: directory,
                place: .beside
            )
        } catch {
            guard error.isExchangeImpossible else { throw error }
            return StagingDirectory(
                parent: inside,
                path: PathName(parent: path.path + bookkeeping, name: nameInside),
                directory: directory,
                place: .inside
            )
        }
    }

    /// Gives `directory` the default access control list of `root` instead of its parent's, so that what
    /// is made in it inherits what it would in the container itself.
    ///
    /// Where that fails, the two directories differ, which the commit looks at.
    static func dropInherited(
        _ directory: OpenFile,
        unlike root: OpenFile
    ) throws(SystemError) {
        let attributes = try root.descriptor.extendedAttributes()
        for name in try directory.descriptor.knownExtendedAttributeNames()
        where !attributes.contains(where: { $0.name == name }) {
            // One of a security module is not ours to remove.
            try? directory.descriptor.removeExtendedAttribute(name)
        }
        let inherited = ByteString(utf8: "system.posix_acl_default")
        try directory.descriptor.setExtendedAttributes(attributes.filter { $0.name == inherited })
    }

    /// Puts the directory `name` in it, open as `content`, in its own place, and removes all else in it.
    ///
    /// - Returns: That directory as it is staged now, for the container that is open as `root`.
    func replace(
        byContentNamed name: ByteString,
        _ content: OpenFile,
        root: OpenFile
    ) throws(SystemError) -> StagingDirectory {
        let inside = try BookkeepingDirectory.make(in: root).openDirectory
        try Self.removeLeftover(Self.passingName, in: inside)
        // Who moves a directory must be able to write it, and the one that it leaves.
        for moved in [directory, content] { try moved.descriptor.setPermissions(0o700) }
        try directory.descriptor.renameExclusively(
            name,
            to: Self.passingName,
            in: inside.descriptor
        )
        try remove()
        try inside.descriptor.renameExclusively(
            Self.passingName,
            to: path.name,
            in: parent.descriptor
        )
        return StagingDirectory(parent: parent, path: path, directory: content, place: place)
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
