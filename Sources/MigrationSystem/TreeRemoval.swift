extension FileDescriptor {
    /// Removes the directory `name` and everything in it; links are not followed.
    ///
    /// Directories whose permissions forbid it are made writable first. Only a few are open at
    /// once, however deep the tree is: deep directories are moved up before they are removed.
    ///
    /// - Parameters:
    ///   - name: The directory's name.
    ///   - last: The name in it that is removed last.
    ///   - lastName: The name that the directory gets before `last` is removed, which identifies it if
    ///     the removal is interrupted.
    /// - Throws: ``SystemError`` if something can't be removed.
    package borrowing func removeTree(
        _ name: [UInt8],
        endingWith last: [UInt8]? = nil,
        under lastName: [UInt8]? = nil
    ) throws(SystemError) {
        var name = name
        do {
            try setPermissionsOfDirectory(name, to: 0o700)
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

    /// Renames a directory unless the name is taken; returns whether it did.
    private borrowing func rename(
        _ name: [UInt8],
        toUnused other: [UInt8]
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

    private borrowing func removeContents(except last: [UInt8]) throws(SystemError) {
        for name in try DirectoryListing(of: self) where name != last { try removeTree(name) }
    }

    /// Makes a directory readable and writable to its owner; other files are left alone.
    ///
    /// The permissions are changed through a descriptor if the directory can be opened. Root can
    /// open every directory, so root never changes a file that replaced the directory.
    fileprivate borrowing func setPermissionsOfDirectory(
        _ name: [UInt8],
        to permissions: UInt16
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

    /// A directory on the way down, and the directories in it that are not empty.
    private struct Level {
        let directory: OpenFile
        let name: [UInt8]
        var children: [[UInt8]]
    }

    private let root: OpenFile
    private var moved = 0

    init(root: OpenFile) {
        self.root = root
    }

    mutating func removeContents() throws(SystemError) {
        var moved = -1
        // Directories that are too deep are moved to the root, which is visited again until none is left.
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

    /// Removes files and empty directories, and makes the remaining directories accessible.
    private static func open(
        _ directory: OpenFile,
        named name: [UInt8]
    ) throws(SystemError) -> Level {
        var level = Level(directory: directory, name: name, children: [])
        for name in try DirectoryListing(of: directory.descriptor) {
            guard let status = try directory.descriptor.statusIfPresent(of: name) else { continue }
            guard status.kind == .directory else {
                try directory.descriptor.removeFile(name)
                continue
            }
            do {
                try directory.descriptor.removeDirectory(name)
            } catch  where error.isExisting || error.isNotEmpty {
                try directory.descriptor.setPermissionsOfDirectory(name, to: 0o700)
                level.children.append(name)
            }
        }
        return level
    }

    private mutating func moveUp(
        _ name: [UInt8],
        from directory: OpenFile
    ) throws(SystemError) {
        while true {
            moved += 1
            let newName = [UInt8](utf8: ".removed-\(moved)")
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
