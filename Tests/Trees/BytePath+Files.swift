package import Foundation
import Glibc

// File operations of tests: each is one system call, by a path of any bytes.

extension BytePath {
    private func check(_ call: String, _ body: (UnsafePointer<CChar>) -> Int32) throws {
        guard withPointer(body) == 0 else { throw CallFailure("\(call) \(self)") }
    }

    /// Makes a directory.
    package func makeDirectory() throws {
        try check("mkdir") { mkdir($0, 0o755) }
    }

    /// Writes a file, which is made if it is missing and emptied if it exists.
    package func write(_ content: Data) throws {
        let descriptor = withPointer { open($0, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644) }
        guard descriptor >= 0 else { throw CallFailure("open \(self)") }
        defer { close(descriptor) }
        var rest = content
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { throw CallFailure("write \(self)") }
            rest = rest.dropFirst(count)
        }
    }

    /// Writes text to a file.
    package func write(_ text: String) throws {
        try write(Data(text.utf8))
    }

    /// Adds text to a file.
    package func append(_ text: String) throws {
        try write(try contents() + Data(text.utf8))
    }

    /// Reads a file whole.
    package func contents() throws -> Data {
        let descriptor = withPointer { open($0, O_RDONLY | O_NOFOLLOW | O_CLOEXEC) }
        guard descriptor >= 0 else { throw CallFailure("open \(self)") }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw CallFailure("fstat \(self)") }
        var data = Data(count: Int(status.st_size))
        var done = 0
        while done < data.count {
            let rest = data.count - done
            let count = data.withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress?.advanced(by: done), rest, off_t(done))
            }
            guard count > 0 else { throw CallFailure("pread \(self)") }
            done += count
        }
        return data
    }

    /// Sets the size of a file.
    package func truncate(to size: Int) throws {
        try check("truncate") { Glibc.truncate($0, off_t(size)) }
    }

    /// Makes a symbolic link to `target`.
    package func makeSymbolicLink(to target: BytePath) throws {
        try check("symlink") { path in target.withPointer { symlink($0, path) } }
    }

    /// Makes another name of `other`, which may itself be a link.
    package func makeHardLink(to other: BytePath) throws {
        try check("link") { path in other.withPointer { linkat(AT_FDCWD, $0, AT_FDCWD, path, 0) } }
    }

    /// Makes a FIFO.
    package func makeFIFO() throws {
        try check("mkfifo") { mkfifo($0, 0o644) }
    }

    /// Makes a socket's file.
    package func makeSocket() throws {
        try check("mknod") { mknod($0, S_IFSOCK | 0o644, 0) }
    }

    /// Sets the permission bits.
    package func setMode(_ mode: mode_t) throws {
        try check("chmod") { chmod($0, mode) }
    }

    /// Sets the modification time, of a link itself if it is one.
    package func setModificationTime(_ seconds: Int, _ nanoseconds: Int) throws {
        let time = timespec(tv_sec: seconds, tv_nsec: nanoseconds)
        try check("utimensat") { utimensat(AT_FDCWD, $0, [time, time], AT_SYMLINK_NOFOLLOW) }
    }

    /// Sets an extended attribute; returns `false` if the file system has none.
    @discardableResult
    package func setAttribute(_ name: String, _ value: [UInt8]) throws -> Bool {
        let result = withPointer { AttributeCalls.set($0, name, value, value.count, 0) }
        if result == 0 { return true }
        guard errno == ENOTSUP else { throw CallFailure("setxattr \(self)") }
        return false
    }

    /// Renames to `other`, which is replaced.
    package func rename(to other: BytePath) throws {
        try check("rename") { path in other.withPointer { Glibc.rename(path, $0) } }
    }

    /// Removes a file or a link.
    package func removeFile() throws {
        try check("unlink") { unlink($0) }
    }

    /// Whether there is something at the path, a link that leads nowhere included.
    package var exists: Bool {
        var status = stat()
        return withPointer { lstat($0, &status) } == 0
    }

    /// The names in a directory, in byte order.
    package func names() throws -> [BytePath] {
        guard let stream = withPointer({ opendir($0) }) else {
            throw CallFailure("opendir \(self)")
        }
        defer { closedir(stream) }
        var names: [BytePath] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { [UInt8]($0.prefix { $0 != 0 }) }
            let path = BytePath(name)
            if path != "." && path != ".." { names.append(path) }
        }
        return names.sorted()
    }
}
