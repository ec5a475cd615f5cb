public import Foundation
internal import Glibc

/// The contents of small files; Foundation's own way of reading them leaks a page for each file.
public enum FileContents {
    /// The bytes of the file at `path`, at most 64 KiB of them; `nil` if it can't be read.
    public static func read(_ path: String) -> Data? {
        let file = open(path, O_RDONLY)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 64 * 1024)
        let count = Glibc.read(file, &bytes, bytes.count)
        return count < 0 ? nil : Data(bytes[..<count])
    }
}
