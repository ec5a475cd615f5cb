internal import Foundation
internal import MigrationContract
package import MigrationSystem

/// The messages that a host sends to an extension's process.
package enum HostMessage: Sendable {
    case begin(SessionStart)
    case export(ExportCall)
    case importResources(ImportCall)
    case accepted(UInt32)
    case rejected(UInt32, CarriedError)
    case cancel
}

extension HostMessage {
    private enum Kind: UInt8 {
        case begin = 1
        case export = 2
        case importResources = 3
        case accepted = 4
        case rejected = 5
        case cancel = 6
    }

    package func encoded() throws -> [UInt8] {
        var bytes: [UInt8] = []
        switch self {
        case .begin(let start): try bytes.appendMessage(Kind.begin.rawValue, json: start)
        case .export(let call): try bytes.appendMessage(Kind.export.rawValue, json: call)
        case .importResources(let call):
            try bytes.appendMessage(Kind.importResources.rawValue, json: call)
        case .accepted(let number):
            bytes.appendMessage(Kind.accepted.rawValue) { $0.appendLittleEndian(number) }
        case .rejected(let number, let error):
            try bytes.appendMessage(Kind.rejected.rawValue) {
                $0.appendLittleEndian(number)
                $0 += try JSONEncoder().encode(error)
            }
        case .cancel: bytes.appendMessage(Kind.cancel.rawValue) { _ in }
        }
        return bytes
    }

    package init(kind: UInt8, payload: ArraySlice<UInt8>) throws {
        switch Kind(rawValue: kind) {
        case .begin: self = .begin(try SessionCoding.decode(payload))
        case .export: self = .export(try SessionCoding.decode(payload))
        case .importResources: self = .importResources(try SessionCoding.decode(payload))
        case .accepted where payload.count == 4:
            self = .accepted(payload.littleEndian(at: payload.startIndex))
        case .rejected where payload.count > 4:
            let error: CarriedError = try SessionCoding.decode(payload.dropFirst(4))
            self = .rejected(payload.littleEndian(at: payload.startIndex), error)
        case .cancel: self = .cancel
        default: throw SessionCoding.malformed(kind)
        }
    }
}

// MARK: - The answers

/// The messages that an extension's process sends to its host.
package enum ExtensionMessage: Sendable {
    case description(ExtensionDescription)
    /// An item to append, with the number of the answer that the process waits for; `nil` if it
    /// doesn't wait (``AppendPolicy``).
    case append(answer: UInt32?, source: BytePath, name: [UInt8])
    case progress(ImportProgress)
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
            bytes.reserveCapacity(14 + source.bytes.count + name.count)
            bytes.appendMessage(Kind.append.rawValue) {
                $0.appendLittleEndian(answer ?? 0)
                $0.append(answer == nil ? 0 : 1)
                $0.appendLittleEndian(UInt32(source.bytes.count))
                $0 += source.bytes
                $0 += name
            }
        case .progress(let progress):
            try bytes.appendMessage(Kind.progress.rawValue, json: progress)
        case .finished(let summary): try bytes.appendMessage(Kind.finished.rawValue, json: summary)
        case .failed(let error): try bytes.appendMessage(Kind.failed.rawValue, json: error)
        }
        return bytes
    }

    package init(kind: UInt8, payload: ArraySlice<UInt8>) throws {
        switch Kind(rawValue: kind) {
        case .description: self = .description(try SessionCoding.decode(payload))
        case .append: self = try Self.append(payload)
        case .progress: self = .progress(try SessionCoding.decode(payload))
        case .finished: self = .finished(try SessionCoding.decode(payload))
        case .failed: self = .failed(try SessionCoding.decode(payload))
        case nil: throw SessionCoding.malformed(kind)
        }
    }

    private static func append(_ payload: ArraySlice<UInt8>) throws -> ExtensionMessage {
        guard payload.count >= 9 else { throw SessionCoding.malformed(Kind.append.rawValue) }
        let start = payload.startIndex
        let number = payload.littleEndian(at: start, as: UInt32.self)
        let flag = payload[start + 4]
        let count = Int(payload.littleEndian(at: start + 5, as: UInt32.self))
        let rest = payload.dropFirst(9)
        guard flag <= 1, count <= rest.count else {
            throw SessionCoding.malformed(Kind.append.rawValue)
        }
        let source = BytePath(rest.prefix(count))
        let name = [UInt8](rest.dropFirst(count))
        return .append(answer: flag == 1 ? number : nil, source: source, name: name)
    }
}

// MARK: - Their encoding

/// Reads the values in messages, which are JSON.
private enum SessionCoding {
    /// The error of a message that can't be read.
    static func malformed(_ kind: UInt8) -> MigrationError {
        MigrationError(.sessionFailed, "a message of kind \(kind) is malformed or unknown")
    }

    static func decode<Value: Decodable>(_ payload: ArraySlice<UInt8>) throws -> Value {
        do {
            return try JSONDecoder().decode(Value.self, from: Data(payload))
        } catch {
            throw MigrationError(.sessionFailed, "a message does not hold a valid \(Value.self)")
        }
    }
}

extension [UInt8] {
    /// Appends a message whose payload is `value`.
    fileprivate mutating func appendMessage(_ kind: UInt8, json value: some Encodable) throws {
        let data = try JSONEncoder().encode(value)
        appendMessage(kind) { $0 += data }
    }
}
