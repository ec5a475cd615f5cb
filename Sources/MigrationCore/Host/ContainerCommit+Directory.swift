internal import MigrationSystem

/// What stays with the place rather than with the data, whatever comes into it: the container's own
/// directory, its metadata and its bookkeeping.
extension ContainerCommit {
    /// Gives the staged container what stays with the place, and the record of the import.
    ///
    /// - Returns: Whether the two directories are alike now. Where they are not, the live one has to stay.
    func prepareExchange() throws -> Bool {
        do {
            let status = try live.descriptor.status()
            try staging.directory.descriptor.adoptOwner(of: status)
            try copyMetadata()
            try writeRecord()
            try adoptAttributes(of: live, in: staging.directory)
            try staging.directory.descriptor.setPermissions(status.permissions)
            return try isAlike(status)
        } catch let error as SystemError {
            // Attributes that fit in one order may not in another, and some change meanwhile.
            guard
                error.isDenied || error.isUnsupported || error.isOutOfSpace || error.isTooLarge
                    || error.isWithoutAttribute
            else { throw error }
            return false
        }
    }

    private func writeRecord() throws {
        let bookkeeping = try BookkeepingDirectory.make(in: staging.directory)
        let data = try BookkeepingCoding.encode(record)
        try bookkeeping.write(data, as: BookkeepingDirectory.recordName)
    }

    /// Copies the property list by which Apple's container manager knows the container.
    private func copyMetadata() throws(SystemError) {
        let name = ContainerLayout.metadataName
        let source: OpenFile
        do {
            source = OpenFile(try live.descriptor.open(name, .reading))
        } catch {
            guard error.isMissing || error.isNotDirectory else { throw error }
            return
        }
        guard let bytes = try source.descriptor.readAll(limit: 1 << 20) else { return }
        let status = try source.descriptor.status()
        let access = FileDescriptor.Access.creating(permissions: 0o600)
        let copy = OpenFile(try staging.directory.descriptor.open(name, access))
        try copy.descriptor.writeAll(bytes.span)
        try copy.descriptor.adoptOwner(of: status)
        try adoptAttributes(of: source, in: copy)
        try copy.descriptor.setPermissions(status.permissions & 0o777)
        try copy.descriptor.setModificationTime(status.modificationTime)
    }

    private func adoptAttributes(of source: OpenFile, in copy: OpenFile) throws(SystemError) {
        let present = try copy.descriptor.extendedAttributes()
        let missing = try source.descriptor.extendedAttributes().filter { !present.contains($0) }
        try copy.descriptor.setExtendedAttributes(missing)
    }

    /// Looks again: the system drops set-group-id bits without a word, and attributes can be inherited.
    private func isAlike(_ status: FileStatus) throws(SystemError) -> Bool {
        let staged = try staging.directory.descriptor.status()
        guard staged.owner == status.owner, staged.group == status.group,
            staged.permissions == status.permissions
        else { return false }
        let attributes = try live.descriptor.extendedAttributes()
        return try staging.directory.descriptor.extendedAttributes() == attributes
    }
}
