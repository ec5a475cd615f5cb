internal import CMigrationShims
internal import Glibc

/// Names in an open directory.
extension FileDescriptor {
    /// Makes a directory that must not exist yet.
    package borrowing func makeDirectory(
        _ name: ByteString,
        permissions: UInt16
    ) throws(SystemError) {
        let rawValue = rawValue
        guard name.withPath({ unsafe mkdirat(rawValue, $0, mode_t(permissions)) }) == 0 else {
            throw SystemError("mkdir")
        }
    }

    /// Makes a symbolic link that must not exist yet.
    package borrowing func makeSymbolicLink(
        _ name: ByteString,
        to target: ByteString
    ) throws(SystemError) {
        let rawValue = rawValue
        let result = name.withPath { name in
            target.withPath { target in unsafe symlinkat(target, rawValue, name) }
        }
        guard result == 0 else { throw SystemError("symlink") }
    }

    /// Makes `name` in this directory another name of `target` in `directory`, links not followed.
    package borrowing func makeHardLink(
        _ name: ByteString,
        to target: ByteString,
        in directory: borrowing FileDescriptor
    ) throws(SystemError) {
        let (rawValue, source) = (rawValue, directory.rawValue)
        let result = name.withPath { name in
            target.withPath { target in unsafe linkat(source, target, rawValue, name, 0) }
        }
        guard result == 0 else { throw SystemError("link") }
    }

    /// Reads where a symbolic link leads, whole, whatever its length.
    package borrowing func symbolicLinkTarget(
        _ name: ByteString
    ) throws(SystemError) -> ByteString {
        let rawValue = rawValue
        var target = [UInt8](repeating: 0, count: 256)
        while true {
            let count = unsafe target.withUnsafeMutableBytes { buffer in
                name.withPath {
                    unsafe readlinkat(
                        rawValue,
                        $0,
                        buffer.assumingMemoryBound(to: CChar.self).baseAddress.unsafelyUnwrapped,
                        buffer.count
                    )
                }
            }
            if count < 0 { throw SystemError("readlink") }
            if count < target.count { return ByteString(target[..<count]) }
            target = [UInt8](repeating: 0, count: target.count * 4)
        }
    }

    /// Removes a file, a link or anything else that is no directory.
    package borrowing func removeFile(_ name: ByteString) throws(SystemError) {
        let rawValue = rawValue
        guard name.withPath({ unsafe unlinkat(rawValue, $0, 0) }) == 0 else {
            throw SystemError("unlink")
        }
    }

    /// Removes an empty directory.
    package borrowing func removeDirectory(_ name: ByteString) throws(SystemError) {
        let rawValue = rawValue
        guard name.withPath({ unsafe unlinkat(rawValue, $0, AT_REMOVEDIR) }) == 0 else {
            throw SystemError("rmdir")
        }
    }
}

// MARK: - Renaming

extension FileDescriptor {
    /// Renames `name`, replacing a file of the new name in one step.
    package borrowing func rename(
        _ name: ByteString,
        to newName: ByteString,
        in directory: borrowing FileDescriptor
    ) throws(SystemError) {
        guard rename(name, to: newName, in: directory, by: unsafe renameat) else {
            throw SystemError("rename")
        }
    }

    /// Renames `name`; fails where the new name is taken.
    package borrowing func renameExclusively(
        _ name: ByteString,
        to newName: ByteString,
        in directory: borrowing FileDescriptor
    ) throws(SystemError) {
        let function = unsafe migration_rename_exclusive
        if rename(name, to: newName, in: directory, by: function) { return }
        let error = SystemError("renameat2")
        guard error.isUnsupported else { throw error }
        // File systems that can't do it in one step, such as NFS: look, then rename.
        do {
            _ = try directory.status(of: newName)
        } catch let status where status.isMissing {
            return try rename(name, to: newName, in: directory)
        }
        throw SystemError("rename", code: SystemError.existingCode)
    }

    /// Swaps `name` and what is called `other` in `directory` in one step.
    package borrowing func exchange(
        _ name: ByteString,
        with other: ByteString,
        in directory: borrowing FileDescriptor
    ) throws(SystemError) {
        guard rename(name, to: other, in: directory, by: unsafe migration_rename_exchange) else {
            throw SystemError("renameat2")
        }
    }

    /// Renames by one of the system's functions for that; returns `false` where it fails.
    @safe
    private borrowing func rename(
        _ name: ByteString,
        to newName: ByteString,
        in directory: borrowing FileDescriptor,
        by function: (CInt, UnsafePointer<CChar>, CInt, UnsafePointer<CChar>) -> CInt
    ) -> Bool {
        let (source, destination) = (rawValue, directory.rawValue)
        let result = name.withPath { name in
            newName.withPath { unsafe function(source, name, destination, $0) }
        }
        return result == 0
    }
}
