extension FileDescriptor {
    /// Removes the directory `name` in this directory with everything in it, links not followed.
    ///
    /// Directories that forbid it are opened up first. Nothing is left open but a few directories,
    /// however deep the tree is: what lies deep is moved up before it is removed.
    package borrowing func removeTree(_ name: ByteString) throws(SystemError) {
        do {
            try setPermissionsOfDirectory(name, 0o700)
            let root = OpenFile(try open(name, .directory))
            var remover = TreeRemover(root: root)
            try remover.removeContents()
            try removeDirectory(name)
        } catch {
            guard error.isNotDirectory else { throw error }
            try removeFile(name)
        }
    }

    /// Opens up a directory that forbids being listed or changed; what is no directory is left alone.
    fileprivate borrowing func setPermissionsOfDirectory(
        _ name: ByteString,
        _ permissions: UInt16
    ) throws(SystemError) {
        let status = try status(of: name)
        guard status.kind == .directory, status.permissions & permissions != permissions else {
            return
        }
        try setPermissions(permissions, of: name)
    }
}

/// Empties a directory.
private struct TreeRemover {
    private static let depthLimit = 32

    private let root: OpenFile
    private var moved = 0

    init(root: OpenFile) {
        self.root = root
    }

    mutating func removeContents() throws(SystemError) {
        var pending = [root]
        var names: [ByteString] = []
        while let directory = pending.last {
            if let child = try removeFiles(in: directory) {
                if pending.count < Self.depthLimit {
                    pending.append(OpenFile(try directory.descriptor.open(child, .directory)))
                    names.append(child)
                } else {
                    try moveUp(child, from: directory)
                }
                continue
            }
            pending.removeLast()
            if let name = names.popLast(), let parent = pending.last {
                try parent.descriptor.removeDirectory(name)
            }
        }
    }

    /// Removes what is no directory or an empty one; returns the first directory that holds something.
    private func removeFiles(in directory: OpenFile) throws(SystemError) -> ByteString? {
        let listing = try DirectoryListing(of: directory.descriptor)
        for index in 0..<listing.count {
            let name = listing[index]
            let status: FileStatus
            do {
                status = try directory.descriptor.status(of: name)
            } catch  where error.isMissing {
                continue
            }
            guard status.kind == .directory else {
                try directory.descriptor.removeFile(name)
                continue
            }
            do {
                try directory.descriptor.removeDirectory(name)
            } catch  where error.isExisting || error.isNotEmpty {
                try directory.descriptor.setPermissionsOfDirectory(name, 0o700)
                return name
            }
        }
        return nil
    }

    private mutating func moveUp(
        _ name: ByteString,
        from directory: OpenFile
    ) throws(SystemError) {
        while true {
            moved += 1
            let newName = ByteString(utf8: ".removed-\(moved)")
            do {
                try directory.descriptor.renameExclusively(
                    name,
                    to: newName,
                    in: root.descriptor
                )
                return
            } catch  where error.isExisting {
                continue
            }
        }
    }
}
