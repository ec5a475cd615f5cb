internal import Foundation
internal import MigrationContract
internal import MigrationSystem

/// What the host says.
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
            bytes.appendMessage(Kind.accepted.rawValue) { $0.append(littleEndian: number) }
        case .rejected(let number, let error):
            try bytes.appendMessage(Kind.rejected.rawValue) {
                $0.append(littleEndian: number)
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
            self = .accepted(UInt32(littleEndianBytes: payload))
        case .rejected where payload.count > 4:
            let error: CarriedError = try SessionCoding.decode(payload.dropFirst(4))
            self = .rejected(UInt32(littleEndianBytes: payload), error)
        case .cancel: self = .cancel
        default: throw SessionCoding.malformed(kind)
        }
    }
}
