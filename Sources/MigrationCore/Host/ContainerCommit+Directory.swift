internal import MigrationSystem

/// The container's own directory, which stays as the place has it, whatever comes into it.
extension ContainerCommit {
    /// Gives the staged directory the live one's owner, group, permissions and attributes.
    ///
    /// - Returns: Whether the two are alike now. Where they are not, the live directory has to stay.
    func adoptDirectory() throws(SystemError) -> Bool {
        do {
            let status = try live.descriptor.status()
            let staged = try staging.directory.descriptor.status()
            if status.owner != staged.owner || status.group != staged.group {
                try staging.directory.descriptor.setOwner(status.owner, group: status.group)
            }
            let present = try Self.attributes(of: staging.directory)
            let missing = try Self.attributes(of: live).filter { !present.contains($0) }
            try staging.directory.descriptor.setExtendedAttributes(missing)
            try staging.directory.descriptor.setPermissions(status.permissions)
            return try isAlike(status)
        } catch {
            guard error.isDenied || error.isUnsupported else { throw error }
            return false
        }
    }

    /// Looks again: the system drops set-group-id bits without a word, and attributes can be inherited.
    private func isAlike(_ status: FileStatus) throws(SystemError) -> Bool {
        let staged = try staging.directory.descriptor.status()
        guard staged.owner == status.owner, staged.group == status.group,
            staged.permissions == status.permissions
        else { return false }
        let attributes = try Self.attributes(of: live)
        return try Self.attributes(of: staging.directory) == attributes
    }

    private static func attributes(
        of directory: OpenFile
    ) throws(SystemError) -> [ExtendedAttribute] {
        var attributes: [ExtendedAttribute] = []
        for name in try directory.descriptor.extendedAttributeNames() {
            let value = try directory.descriptor.extendedAttribute(name)
            attributes.append(ExtendedAttribute(name: name, value: value))
        }
        return attributes
    }
}
