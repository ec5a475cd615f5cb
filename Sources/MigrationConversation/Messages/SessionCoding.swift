internal import Foundation
package import MigrationContract

/// How the values in messages are written and read: as JSON.
package enum SessionCoding {
    /// The error of a message that can't be read.
    package static func malformed(_ kind: UInt8) -> MigrationError {
        MigrationError(.sessionFailed, "a message of kind \(kind) is malformed or unknown")
    }

    package static func decode<Value: Decodable>(_ payload: ArraySlice<UInt8>) throws -> Value {
        do {
            return try JSONDecoder().decode(Value.self, from: Data(payload))
        } catch {
            throw MigrationError(.sessionFailed, "a message is malformed: it is no \(Value.self)")
        }
    }
}

extension [UInt8] {
    /// Appends a message whose payload is `value`.
    package mutating func appendMessage(_ kind: UInt8, json value: some Encodable) throws {
        let data = try JSONEncoder().encode(value)
        appendMessage(kind) { $0 += data }
    }
}
