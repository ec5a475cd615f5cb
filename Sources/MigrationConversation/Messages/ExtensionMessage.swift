internal import MigrationContract
package import MigrationSystem

/// What an extension's process says.
package enum ExtensionMessage: Sendable {
    case description(ExtensionDescription)
    /// An item to append, with the number of the answer that the process waits for; `nil` if it
    /// doesn't wait (``AppendPolicy``).
    case append(answer: UInt32?, source: ByteString, name: ByteString)
    case progress(completed: Int64, total: Int64)
    case finished(SessionSummary)
    case failed(CarriedError)
}

extension ExtensionMessage {
    private enum Kind: UInt8 {
        case description = 33
        case append = 34
        case progress = 35
        case finished = 36
        case failed = 37
    }

    package func encoded() throws -> [UInt8] {
        var bytes: [UInt8] = []
        switch self {
        case .description(let description):
            try bytes.appendMessage(Kind.description.rawValue, json: description)
        case .append(let answer, let source, let name):
            bytes.reserveCapacity(14 + source.count + name.count)
            bytes.appendMessage(Kind.append.rawValue) {
                $0.append(littleEndian: answer ?? 0)
                $0.append(answer == nil ? 0 : 1)
                $0.append(littleEndian: UInt32(source.count))
                $0 += source
                $0 += name
            }
        case .progress(let completed, let total):
            try bytes.appendMessage(Kind.progress.rawValue, json: [completed, total])
        case .finished(let summary): try bytes.appendMessage(Kind.finished.rawValue, json: summary)
        case .failed(let error): try bytes.appendMessage(Kind.failed.rawValue, json: error)
        }
        return bytes
    }

    package init(kind: UInt8, payload: ArraySlice<UInt8>) throws {
        switch Kind(rawValue: kind) {
        case .description: self = .description(try SessionCoding.decode(payload))
        case .append: self = try Self.append(payload)
        case .progress:
            let numbers: [Int64] = try SessionCoding.decode(payload)
            guard numbers.count == 2 else { throw SessionCoding.malformed(kind) }
            self = .progress(completed: numbers[0], total: numbers[1])
        case .finished: self = .finished(try SessionCoding.decode(payload))
        case .failed: self = .failed(try SessionCoding.decode(payload))
        case nil: throw SessionCoding.malformed(kind)
        }
    }

    private static func append(_ payload: ArraySlice<UInt8>) throws -> ExtensionMessage {
        guard payload.count >= 9 else { throw SessionCoding.malformed(Kind.append.rawValue) }
        let number = UInt32(littleEndianBytes: payload)
        let flag = payload[payload.startIndex + 4]
        let count = Int(UInt32(littleEndianBytes: payload.dropFirst(5)))
        let rest = payload.dropFirst(9)
        guard flag <= 1, count <= rest.count else {
            throw SessionCoding.malformed(Kind.append.rawValue)
        }
        let source = ByteString(rest.prefix(count))
        let name = ByteString(rest.dropFirst(count))
        return .append(answer: flag == 1 ? number : nil, source: source, name: name)
    }
}
