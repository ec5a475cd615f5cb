internal import Glibc

/// Descriptors from which an archive is read.
public enum InputDescriptor {
    /// The bytes that a pipe holds without a reader.
    public static let pipeLimit = 1 << 20

    private static let file = unnamedFile()

    /// An empty file that no directory names.
    static func unnamedFile() -> CInt {
        var name = [CChar]((FuzzTarget.groundPath + "/file-XXXXXX").utf8CString)
        let number = mkstemp(&name)
        guard number >= 0, unlink(name) == 0 else { fatalError("there is no file") }
        return number
    }

    /// A file that holds `bytes`, valid until the next call.
    public static func file(holding bytes: [UInt8]) -> CInt {
        guard ftruncate(file, 0) == 0, pwrite(file, bytes, bytes.count, 0) == bytes.count else {
            fatalError("the file can't be written")
        }
        return file
    }

    /// Calls `body` with the end of a pipe that delivers `bytes`; excess bytes are cut off.
    public static func withPipe(holding bytes: [UInt8], _ body: (CInt) throws -> Void) rethrows {
        var ends: [CInt] = [0, 0]
        let setPipeSize: CInt = 1031
        guard pipe(&ends) == 0, fcntl(ends[1], setPipeSize, CInt(pipeLimit)) >= 0 else {
            fatalError("there is no pipe")
        }
        let count = min(bytes.count, pipeLimit)
        guard write(ends[1], bytes, count) == count else { fatalError("the pipe is full") }
        close(ends[1])
        defer { close(ends[0]) }
        try body(ends[0])
    }
}
