package import Foundation

extension URL {
    /// Names the directory at a path of any bytes.
    package init(directoryAtPath path: BytePath) {
        self.init(path, isDirectory: true)
    }

    /// Names the directory of a container at a path of any bytes, without a slash at the end.
    ///
    /// If an extension removes this path from the path of a file in it, the rest begins with a
    /// slash.
    package init(containerAtPath path: BytePath) {
        self.init(path, isDirectory: false)
    }

    /// Names the file at a path of any bytes.
    package init(fileAtPath path: BytePath) {
        self.init(path, isDirectory: false)
    }

    private init(_ path: BytePath, isDirectory: Bool) {
        // Without a current directory, a relative path doesn't name anything.
        let fits = (try? path.fitsURL) ?? true
        if !fits, let url = try? URL(escaping: path, isDirectory: isDirectory) {
            self = url
            return
        }
        let terminated = path.bytes.map { CChar(bitPattern: $0) } + [0]
        self = unsafe terminated.withUnsafeBufferPointer { buffer in
            unsafe URL(
                fileURLWithFileSystemRepresentation: buffer.baseAddress.unsafelyUnwrapped,
                isDirectory: isDirectory,
                relativeTo: nil
            )
        }
    }

    /// Names a path that isn't UTF-8, which Foundation would change; its bytes are escaped.
    private init?(escaping path: BytePath, isDirectory: Bool) throws(SystemError) {
        let path = path.isAbsolute ? path : try BytePath(resolvingWhole: ".") / path
        let digits = Array("0123456789ABCDEF".utf8)
        let text = path.trimmed.bytes.flatMap { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-")...UInt8(ascii: "/"),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                [byte]
            default: [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        let end = isDirectory ? "/" : ""
        self.init(string: "file://" + String(decoding: text, as: UTF8.self) + end)
    }

    /// The exact path of the file in the file system; `nil` if this isn't a file URL.
    ///
    /// Foundation returns an empty path if the escaped bytes are not UTF-8.
    package var fileSystemPath: BytePath? {
        guard isFileURL else { return nil }
        let path = unsafe withUnsafeFileSystemRepresentation { path in
            unsafe path.map { unsafe BytePath(cString: $0) }
        }
        if let path, !path.bytes.isEmpty { return path }
        let escaped = [UInt8](utf8: absoluteURL.path(percentEncoded: true))
        let bytes = escaped[...].percentDecoded
        return bytes.isEmpty || bytes.contains(0) ? path : BytePath(bytes).trimmed
    }
}

extension ArraySlice<UInt8> {
    /// The bytes with each `%` and its two hexadecimal digits replaced by the byte that they stand
    /// for.
    package var percentDecoded: [UInt8] {
        var decoded: [UInt8] = []
        var rest = self
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2,
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                decoded.append(value)
                rest = rest.dropFirst(2)
            } else {
                decoded.append(byte)
            }
        }
        return decoded
    }
}

extension BytePath {
    /// Whether Foundation's calls accept a URL of the file: they accept only UTF-8.
    package var fitsURL: Bool {
        get throws(SystemError) {
            let isText = String(validating: bytes, as: UTF8.self) != nil
            guard isText, !isAbsolute else { return isText }
            return try BytePath(resolvingWhole: ".").fitsURL
        }
    }

    /// The path of `url`, or its path component if it isn't a file URL.
    package init(of url: URL) {
        self = url.fileSystemPath ?? BytePath(url.path)
    }
}
