package import Foundation

/// Tar bytes made by hand, as other programs write them or as an attacker would.
package struct RawTar: Sendable {
    /// The bytes so far.
    package private(set) var bytes: [UInt8] = []

    /// Begins with nothing.
    package init() {}

    /// How the header's magic looks.
    package enum Magic: Sendable {
        case v7, ustar, gnu

        fileprivate var bytes: [UInt8] {
            switch self {
            case .v7: [UInt8](repeating: 0, count: 8)
            case .ustar: [UInt8]("ustar\u{0}00".utf8)
            case .gnu: [UInt8]("ustar  \0".utf8)
            }
        }
    }

    /// Appends a header block and its content, padded to whole blocks.
    package mutating func add(
        _ name: String,
        type: String = "0",
        content: [UInt8] = [],
        size: [UInt8]? = nil,
        mode: String = "0000644",
        time: [UInt8] = [UInt8]("14524770400".utf8),
        link: String = "",
        magic: Magic = .ustar,
        fields: [(at: Int, bytes: [UInt8])] = []
    ) {
        var block = [UInt8](repeating: 0, count: 512)
        func put(_ value: some Collection<UInt8>, at start: Int) {
            block.replaceSubrange(start..<start + value.count, with: value)
        }
        put(name.utf8, at: 0)
        put(mode.utf8, at: 100)
        let octal = String(content.count, radix: 8)
        put(
            size ?? [UInt8]((String(repeating: "0", count: 11 - octal.count) + octal).utf8),
            at: 124
        )
        put(time, at: 136)
        put(type.utf8, at: 156)
        put(link.utf8, at: 157)
        put(magic.bytes, at: 257)
        for field in fields { put(field.bytes, at: field.at) }
        block.fixChecksum()
        bytes += block
        bytes += content
        bytes += [UInt8](repeating: 0, count: (512 - content.count % 512) % 512)
    }

    /// Appends an extended header of `records`, their lengths put before them.
    package mutating func addRecords(_ records: [(String, String)], type: String = "x") {
        var body: [UInt8] = []
        for (key, value) in records {
            let rest = [UInt8](" \(key)=\(value)\n".utf8)
            // The length counts its own digits.
            var length = rest.count + 1
            while "\(length)".utf8.count + rest.count != length { length += 1 }
            body += "\(length)".utf8
            body += rest
        }
        add("PaxHeaders/x", type: type, content: body)
    }

    /// Appends bytes as they are.
    package mutating func append(_ more: [UInt8]) { bytes += more }

    /// The bytes, followed by `blocks` blocks of zeros.
    package func ended(_ blocks: Int = 2) -> [UInt8] {
        bytes + [UInt8](repeating: 0, count: blocks * 512)
    }

    /// A block's number in base 256 over 12 bytes.
    package static func base256(_ value: Int64) -> [UInt8] {
        var bytes = (0..<12).map { index -> UInt8 in
            let shift = 8 * (11 - index)
            return shift >= 64 ? (value < 0 ? 0xFF : 0) : UInt8(truncatingIfNeeded: value >> shift)
        }
        bytes[0] |= 0x80
        return bytes
    }
}

extension [UInt8] {
    /// Writes the right checksum into the header block that begins at `start`.
    package mutating func fixChecksum(ofBlockAt start: Int = 0) {
        for index in 148..<156 { self[start + index] = UInt8(ascii: " ") }
        let sum = self[start..<start + 512].reduce(0) { $0 + Int($1) }
        let digits = String(sum, radix: 8)
        let text = String(repeating: "0", count: 6 - digits.count) + digits + "\0 "
        replaceSubrange(start + 148..<start + 156, with: text.utf8)
    }
}

// MARK: - Whole tar files

extension RawTar {
    /// An entry of a plain tar file.
    package struct Entry: Sendable {
        let name: String
        let type: Character
        let link: String
        let content: String

        /// Makes an entry of any type.
        package init(name: String, type: Character, link: String, content: String) {
            self.name = name
            self.type = type
            self.link = link
            self.content = content
        }

        /// A file.
        package static func file(_ name: String, _ content: String) -> Entry {
            Entry(name: name, type: "0", link: "", content: content)
        }

        /// A directory.
        package static func directory(_ name: String) -> Entry {
            Entry(name: name, type: "5", link: "", content: "")
        }

        /// A symbolic link.
        package static func link(_ name: String, _ target: String) -> Entry {
            Entry(name: name, type: "2", link: target, content: "")
        }

        /// A hard link.
        package static func hardLink(_ name: String, _ target: String) -> Entry {
            Entry(name: name, type: "1", link: target, content: "")
        }
    }

    /// The bytes of a tar file that holds `entries`.
    package static func archive(of entries: [Entry]) -> Data {
        var tar = RawTar()
        for entry in entries {
            tar.add(
                entry.name,
                type: String(entry.type),
                content: [UInt8](entry.content.utf8),
                mode: "0000755",
                time: [UInt8]("00003641100".utf8),
                link: entry.link
            )
        }
        return Data(tar.ended())
    }
}
