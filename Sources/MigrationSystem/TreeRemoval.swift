extension FileDescriptor {
    /// Removes the directory `name` in this directory with everything in it, links not followed.
    ///
    /// Directories that forbid it are opened up first. Nothing is left open but a few directories,
    /// however deep the tree is: what lies deep is moved up before it is removed.
    ///
    /// - Parameters:
    ///   - name: The directory's name.
    ///   - last: The name in it that is removed when nothing else is left.
    ///   - lastName: The name that the directory gets before `last` is removed, so that it is known by it
    ///     should the removal end there.
    /// - Throws: ``SystemError`` where something can't be removed.
    package borrowing func removeTree(
        _ name: ByteString,
        endingWith last: ByteString? = nil,
        under lastName: ByteString? = nil
    ) throws(SystemError) {
        var name = name
        do {
            try setPermissionsOfDirectory(name, 0o700)
            let root = OpenFile(try open(name, .directory))
            if let last {
                try root.descriptor.removeContents(except: last)
                if let lastName, try rename(name, toUnused: lastName) { name = lastName }
            }
            var remover = TreeRemover(root: root)
            try remover.removeContents()
            try removeDirectory(name)
        } catch {
            guard error.isNotDirectory else { throw error }
            try removeFile(name)
        }
    }

    /// Renames a directory unless it has the name or something else does; returns whether it did.
    private borrowing func rename(
        _ name: ByteString,
        toUnused other: ByteString
    ) throws(SystemError) -> Bool {
        guard name != other else { return false }
        do throws(SystemError) {
            try renameExclusively(name, to: other, in: self)
            return true
        } catch {
            guard error.isExisting || error.isExchangeImpossible else { throw error }
            return false
        }
    }

    private borrowing func removeContents(except last: ByteString) throws(SystemError) {
        let listing = try DirectoryListing(of: self)
        for index in 0..<listing.count where listing[index] != last {
            try removeTree(listing[index])
        }
    }

    /// Opens up a directory that forbids being listed or changed; what is no directory is left alone.
    ///
    /// What can be opened is changed by its descriptor, so that root, who can open every directory, never
    /// changes a file that took the directory's name.
    fileprivate borrowing func setPermissionsOfDirectory(
        _ name: ByteString,
        _ permissions: UInt16
    ) throws(SystemError) {
        let status = try status(of: name)
        guard status.kind == .directory, status.permissions & permissions != permissions else {
            return
        }
        do {
            try open(name, .directory).setPermissions(permissions)
        } catch {
            guard error.isDenied else { throw error }
            try setPermissions(permissions, of: name)
        }
    }
}

/// Empties a directory.
private struct TreeRemover {
    private static let depthLimit = 32

    /// A directory on the way down, and the directories in it that still hold something.
    private struct Level {
        let directory: OpenFile
        let name: ByteString
        var children: [ByteString]
    }

    private let root: OpenFile
    private var moved = 0

    init(root: OpenFile) {
        self.root = root
    }

    mutating func removeContents() throws(SystemError) {
        var moved = -1
        // What lies too deep is moved to the root, which is gone through again until nothing was.
        while moved < self.moved {
            moved = self.moved
            try removeLevels()
        }
    }

    private mutating func removeLevels() throws(SystemError) {
        var levels = [try Self.open(root, named: [])]
        while let index = levels.indices.last {
            let directory = levels[index].directory
            if let child = levels[index].children.popLast() {
                if levels.count < Self.depthLimit {
                    let opened = OpenFile(try directory.descriptor.open(child, .directory))
                    levels.append(try Self.open(opened, named: child))
                } else {
                    try moveUp(child, from: directory)
                }
                continue
            }
            let name = levels.removeLast().name
            if let parent = levels.last { try parent.directory.descriptor.removeDirectory(name) }
        }
    }

    /// Removes what is no directory or an empty one, and opens up the directories that are left.
    private static func open(
        _ directory: OpenFile,
        named name: ByteString
    ) throws(SystemError) -> Level {
        var level = Level(directory: directory, name: name, children: [])
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
                level.children.append(name)
            }
        }
        return level
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
