internal import MigrationSystem

/// A directory in which entries are restored: on a disk, or in a ``TreeAccount``.
///
/// Both behave the same, so that the extractor checks an archive's entries in the same way.
protocol RestoredDirectory: AnyObject, Sendable {
    /// The status of the entry called `name`; a link is not followed.
    func status(of name: [UInt8]) throws(SystemError) -> FileStatus

    /// Opens the directory `name`; a link is not followed.
    func openDirectory(_ name: [UInt8]) throws(SystemError) -> any RestoredDirectory

    /// Makes a directory that must not exist yet.
    func makeDirectory(_ name: [UInt8], permissions: UInt16) throws(SystemError)

    /// Makes a file of `size` bytes that must not exist yet, in this directory or, on a disk, at a path beneath
    /// it; `nil` if its content is not kept.
    func makeFile(
        _ name: ArraySlice<UInt8>,
        permissions: UInt16,
        size: UInt64
    ) throws(SystemError) -> FileDescriptor?

    /// Makes a symbolic link that must not exist yet.
    func makeSymbolicLink(
        _ name: [UInt8],
        to target: [UInt8],
        modificationTime: FileTime?
    ) throws(SystemError)

    /// Reads the target of the symbolic link `name`.
    func symbolicLinkTarget(_ name: [UInt8]) throws(SystemError) -> [UInt8]

    /// Makes `name` another name of `target` in `directory`, which is in the same tree.
    func makeHardLink(
        _ name: [UInt8],
        to target: [UInt8],
        in directory: any RestoredDirectory
    ) throws(SystemError)

    /// Removes a file or a link.
    func removeFile(_ name: [UInt8]) throws(SystemError)

    /// Removes an empty directory.
    func removeDirectory(_ name: [UInt8]) throws(SystemError)
}

extension OpenFile: RestoredDirectory {
    func status(of name: [UInt8]) throws(SystemError) -> FileStatus {
        try descriptor.status(of: name)
    }

    func openDirectory(_ name: [UInt8]) throws(SystemError) -> any RestoredDirectory {
        OpenFile(try descriptor.open(name, .directory))
    }

    func makeDirectory(_ name: [UInt8], permissions: UInt16) throws(SystemError) {
        try descriptor.makeDirectory(name, permissions: permissions)
    }

    func makeFile(
        _ name: ArraySlice<UInt8>,
        permissions: UInt16,
        size: UInt64
    ) throws(SystemError) -> FileDescriptor? {
        try descriptor.openBeneathWithoutLinks(name, .creating(permissions: permissions))
    }

    func makeSymbolicLink(
        _ name: [UInt8],
        to target: [UInt8],
        modificationTime: FileTime?
    ) throws(SystemError) {
        try descriptor.makeSymbolicLink(name, to: target)
        if let modificationTime {
            try descriptor.setModificationTime(modificationTime, of: name)
        }
    }

    func symbolicLinkTarget(_ name: [UInt8]) throws(SystemError) -> [UInt8] {
        try descriptor.symbolicLinkTarget(name)
    }

    func makeHardLink(
        _ name: [UInt8],
        to target: [UInt8],
        in directory: any RestoredDirectory
    ) throws(SystemError) {
        guard let directory = directory as? OpenFile else { throw .invalid("link") }
        try descriptor.makeHardLink(name, to: target, in: directory.descriptor)
    }

    func removeFile(_ name: [UInt8]) throws(SystemError) { try descriptor.removeFile(name) }

    func removeDirectory(_ name: [UInt8]) throws(SystemError) {
        try descriptor.removeDirectory(name)
    }
}

extension DirectoryCursor<any RestoredDirectory> {
    /// Begins at `root`.
    convenience init(restoringIn root: any RestoredDirectory) {
        self.init(root: root) { directory, name throws(SystemError) in
            try directory.openDirectory(name)
        }
    }
}
