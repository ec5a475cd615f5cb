import Foundation

/// An entry of a plain tar file, put together byte by byte.
struct TarBlock {
    let name: String
    let type: Character
    let link: String
    let content: String

    static func file(_ name: String, _ content: String) -> TarBlock {
        TarBlock(name: name, type: "0", link: "", content: content)
    }

    static func directory(_ name: String) -> TarBlock {
        TarBlock(name: name, type: "5", link: "", content: "")
    }

    static func link(_ name: String, _ target: String) -> TarBlock {
        TarBlock(name: name, type: "2", link: target, content: "")
    }

    static func hardLink(_ name: String, _ target: String) -> TarBlock {
        TarBlock(name: name, type: "1", link: target, content: "")
    }

    /// The bytes of an archive that holds `blocks`.
    static func archive(of blocks: [TarBlock]) -> Data {
        blocks.reduce(into: Data()) { $0 += $1.bytes } + Data(count: 1024)
    }

    private var bytes: Data {
        var block = [UInt8](repeating: 0, count: 512)
        func put(_ text: String, at start: Int) {
            block.replaceSubrange(start..<start + text.utf8.count, with: text.utf8)
        }
        put(name, at: 0)
        put("0000755\0", at: 100)
        put("0000000\0", at: 108)
        put("0000000\0", at: 116)
        put(octal(content.utf8.count), at: 124)
        put(octal(1_000_000), at: 136)
        put("        ", at: 148)
        put(String(type), at: 156)
        put(link, at: 157)
        put("ustar\u{0}00", at: 257)
        let sum = block.reduce(0) { $0 + Int($1) }
        put(String(octal(sum).suffix(7)), at: 148)
        let padding = (512 - content.utf8.count % 512) % 512
        return Data(block) + Data(content.utf8) + Data(count: padding)
    }

    private func octal(_ value: Int) -> String {
        let digits = String(value, radix: 8)
        return String(repeating: "0", count: 11 - digits.count) + digits + "\0"
    }
}
