@testable internal import MigrationContract
@testable internal import MigrationConversation
@testable internal import MigrationCore
@testable internal import MigrationSystem

/// Messages of a session as a short text, so that one mutation changes what a message says.
///
/// One line a message: a byte for its kind and the payload, whose length is put before them. Lines
/// `a|source|name` and `s|source|name` append an item, awaited or not; `@` stands for the container.
enum MessageScript {
    private static let kind: UInt8 = 34

    /// The bytes that a process sends for the script `text`.
    static func bytes(of text: some Collection<UInt8>, container: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        for line in text.split(separator: UInt8(ascii: "\n")) {
            let fields = line.split(separator: UInt8(ascii: "|"), omittingEmptySubsequences: false)
            switch fields[0].elementsEqual("a".utf8) || fields[0].elementsEqual("s".utf8) {
            case true where fields.count == 3:
                let isAwaited = fields[0].elementsEqual("a".utf8)
                let source = expanded([UInt8](fields[1]), container)
                bytes.appendMessage(kind) {
                    $0.appendLittleEndian(UInt32(line.count))
                    $0.append(isAwaited ? 1 : 0)
                    $0.appendLittleEndian(UInt32(source.count))
                    $0 += source
                    $0 += fields[2]
                }
            default: bytes.appendMessage(line.first ?? 0) { $0 += line.dropFirst() }
            }
        }
        return bytes
    }

    private static func expanded(_ source: [UInt8], _ container: [UInt8]) -> [UInt8] {
        source.first == UInt8(ascii: "@") ? container + source.dropFirst() : source
    }
}
