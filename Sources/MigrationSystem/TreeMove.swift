extension FileDescriptor {
    /// Moves `name` into `directory`, which must not have that name, on the same file system.
    ///
    /// A directory whose permissions forbid the move is made writable for its duration. If the
    /// system can't rename a directory at all (in a lower layer of an overlay), a copy of the
    /// directory is made and its entries move over. With `resuming`, an interrupted move of that
    /// kind continues into the existing directory.
    package borrowing func move(
        _ name: [UInt8],
        into directory: borrowing FileDescriptor,
        resuming: Bool = false
    ) throws(SystemError) {
        do {
            try renameExclusively(name, to: name, in: directory)
        } catch {
            let status = try status(of: name)
            guard status.kind == .directory else { throw error }
            if error.isDenied, status.permissions & 0o200 == 0 {
                try setPermissions(status.permissions | 0o200, of: name)
                try renameExclusively(name, to: name, in: directory)
                do {
                    try directory.setPermissions(status.permissions, of: name)
                } catch {
                    // A directory that was not moved must not remain at the new path.
                    try? directory.renameExclusively(name, to: name, in: self)
                    throw error
                }
            } else if error.isCrossDevice || error.isExisting && resuming {
                try moveContents(of: name, status, into: directory, resuming: resuming)
            } else {
                throw error
            }
        }
    }

    private borrowing func moveContents(
        of name: [UInt8],
        _ status: FileStatus,
        into directory: borrowing FileDescriptor,
        resuming: Bool
    ) throws(SystemError) {
        do {
            try directory.makeDirectory(name, permissions: 0o700)
        } catch {
            guard error.isExisting && resuming else { throw error }
        }
        try setPermissions(status.permissions | 0o700, of: name)
        let source = OpenFile(try open(name, .directory))
        let copy = OpenFile(try directory.open(name, .directory))
        for name in try DirectoryListing(of: source.descriptor) {
            try source.descriptor.move(name, into: copy.descriptor, resuming: resuming)
        }
        for attribute in try source.descriptor.knownExtendedAttributeNames()
        where ExtendedAttribute.isOfUser(attribute) {
            let value = try source.descriptor.extendedAttribute(attribute)
            try copy.descriptor.setExtendedAttributes([
                ExtendedAttribute(name: attribute, value: value)
            ])
        }
        try copy.descriptor.setPermissions(status.permissions)
        try copy.descriptor.setModificationTime(status.modificationTime)
        try removeDirectory(name)
    }
}
