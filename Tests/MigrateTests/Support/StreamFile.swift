import Foundation
import Glibc

/// An open file that serves as a stream of a process, closed when its life ends.
final class StreamFile: Sendable {
    let descriptor: Int32

    init(adopting descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Makes a file without a name of `bytes`, to be read from its start.
    init(holding bytes: [UInt8]) throws {
        let directory = FileManager.default.temporaryDirectory.path
        var template = Array("\(directory)/migrate-XXXXXX".utf8CString)
        descriptor = mkstemp(&template)
        guard descriptor >= 0, fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else {
            throw MigrateCommand.Failure(call: "mkstemp", code: errno)
        }
        unlink(template)
        guard pwrite(descriptor, bytes, bytes.count, 0) == bytes.count else {
            throw MigrateCommand.Failure(call: "pwrite", code: errno)
        }
    }

    deinit {
        close(descriptor)
    }

    /// Everything that the file holds.
    func bytes() throws -> [UInt8] {
        var contents: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = pread(descriptor, &buffer, buffer.count, off_t(contents.count))
            guard count >= 0 else { throw MigrateCommand.Failure(call: "pread", code: errno) }
            if count == 0 { return contents }
            contents.append(contentsOf: buffer[..<count])
        }
    }

    /// Makes two sockets that are connected with each other.
    static func makePair() throws -> (StreamFile, StreamFile) {
        var pair: [Int32] = [-1, -1]
        // Close-on-exec from the start: a child of another test must not hold an end open.
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, type, 0, &pair) == 0 else {
            throw MigrateCommand.Failure(call: "socketpair", code: errno)
        }
        return (StreamFile(adopting: pair[0]), StreamFile(adopting: pair[1]))
    }

    /// Makes a stream that gives `bytes`, and then neither more bytes nor an end, as long as both
    /// live.
    static func makeStalling(behind bytes: [UInt8]) throws -> (StreamFile, StreamFile?) {
        let (reader, writer) = try makePair()
        Thread.detachNewThread {
            var sent = 0
            while sent < bytes.count {
                let count = bytes.withUnsafeBytes {
                    let rest = $0.baseAddress?.advanced(by: sent)
                    return send(writer.descriptor, rest, bytes.count - sent, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { return }
                sent += count
            }
        }
        return (reader, writer)
    }

    /// Makes the socket hold as few unread bytes as the system allows.
    func limitBuffer() {
        var size: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Waits until there are bytes to read.
    func waitUntilReadable() {
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while poll(&request, 1, -1) != 1 {}
    }
}
