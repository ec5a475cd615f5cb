internal import Foundation
internal import MigrationArchive
internal import MigrationSystem

/// A path at which nothing is, because it was taken from a URL in the wrong way.
struct MistakenPath {
    private enum Mistake {
        case encoded
        case relative
    }

    private let mistake: Mistake

    /// The path of what was meant.
    let intended: ByteString

    /// Finds what is meant by `path` in `roots`; `nil` where something is at the path, or nothing is where
    /// a mistake would have led from.
    init?(_ path: ByteString, in roots: SourceRoots) {
        var roots = roots
        guard !roots.hasItem(at: path) else { return nil }
        let decoded = Self.decoded(path[...])
        if decoded != path, roots.hasItem(at: decoded) {
            (mistake, intended) = (.encoded, decoded)
            return
        }
        let candidates = roots.baseDirectories.lazy.compactMap { base in
            path.moved(from: PathName(absolute: base).parent, to: base)
        }
        guard let found = candidates.first(where: { roots.hasItem(at: $0) }) else { return nil }
        (mistake, intended) = (.relative, found)
    }

    /// What is wrong with the path, and what helps.
    var advice: String {
        let path = PrintableText.escaping(intended)
        switch mistake {
        case .encoded:
            return "isn't there, and \(path) is: take path(percentEncoded: false) of a URL"
        case .relative:
            return "isn't there, and \(path) is: make the URL with appending(path:), since "
                + "URL(filePath:relativeTo:) takes a base with no slash at its end for a file"
        }
    }

    /// Whether `name`, in the archive, is the end of `source` as a URL encodes it.
    static func isEncoded(_ name: ByteString, of source: ByteString) -> Bool {
        guard name.contains(UInt8(ascii: "%")) else { return false }
        let slash = UInt8(ascii: "/")
        let components = zip(
            name.split(separator: slash).reversed(),
            source.split(separator: slash).reversed()
        )
        guard let (archived, own) = components.first(where: { $0 != $1 }) else { return false }
        return decoded(archived) == ByteString(own)
    }

    private static func decoded(_ path: ArraySlice<UInt8>) -> ByteString {
        var decoded = ByteString()
        var rest = path
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

extension SourceRoots {
    /// Whether something is at `path` that may be exported.
    fileprivate mutating func hasItem(at path: ByteString) -> Bool {
        do {
            let location = try locate(path)
            guard let name = location.name else { return true }
            _ = try location.directory.descriptor.status(of: name)
            return true
        } catch {
            return false
        }
    }
}
