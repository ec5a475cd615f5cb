import Foundation
import MigrationContract
import Testing

/// Errors as they are persisted, whatever an extension threw.
struct PersistedErrorTests {
    private func encodedAgain(_ error: PersistedError) throws -> PersistedError {
        try JSONDecoder().decode(PersistedError.self, from: JSONEncoder().encode(error))
    }

    /// An error with `count` errors below it that caused each other.
    private func chain(_ count: Int) -> NSError {
        (0..<count).reduce(NSError(domain: "D", code: 0)) { cause, number in
            NSError(domain: "D", code: number + 1, userInfo: [NSUnderlyingErrorKey: cause])
        }
    }

    @Test(arguments: [(0, 1), (1, 2), (7, 8), (8, 8), (30, 8)])
    func `keeps eight errors that caused each other`(_ count: Int, _ expected: Int) {
        let errors = sequence(first: PersistedError(chain(count))) { $0.underlyingError }
        #expect(Array(errors).map(\.code) == (0..<expected).map { count - $0 })
    }

    @Test func `keeps the values that fit, and leaves out the others`() throws {
        let values: [String: Any] = [
            NSLocalizedDescriptionKey: "no room", NSLocalizedFailureReasonErrorKey: "full",
            NSLocalizedRecoverySuggestionErrorKey: "delete", NSHelpAnchorErrorKey: "space",
            "large": Data(count: 41 << 10), "odd": NSObject(), "paths": ["/a", "/b"], "size": 7,
            "NSMultipleUnderlyingErrorsKey": [chain(0), chain(1)],
        ]
        let error = PersistedError(NSError(domain: "D", code: 1, userInfo: values))
        #expect(error.failureReason == "full" && error.recoverySuggestion == "delete")
        #expect(error.helpAnchor == "space")
        #expect(error.underlyingErrors.map(\.code) == [0, 1])
        let information = error.error.userInfo
        #expect(information["paths"] as? [String] == ["/a", "/b"])
        #expect(information["size"] as? Int == 7)
        #expect(information["large"] == nil && information["odd"] == nil)
        #expect(try encodedAgain(error) == error)
    }

    @Test func `leaves out a cause that is larger than all may be`() {
        let large = NSError(
            domain: "D",
            code: 2,
            userInfo: [NSLocalizedDescriptionKey: String(repeating: "\u{1}", count: 60 << 10)]
        )
        let causes = Array(repeating: large, count: 40) + [chain(0)]
        let values = ["NSMultipleUnderlyingErrorsKey": causes]
        let kept = PersistedError(NSError(domain: "D", code: 1, userInfo: values)).underlyingErrors
        #expect(kept.count < causes.count && kept.contains { $0.code == 2 })
    }

    @Test func `refuses errors that are nested deeper than any that was persisted`() throws {
        func nested(_ levels: Int) -> Data {
            let one = #""domain":"D","code":1,"description":"d""#
            let text = (1..<levels).reduce("{\(one)}") { below, _ in
                "{\(one),\"underlyingError\":\(below)}"
            }
            return Data(text.utf8)
        }
        #expect(try JSONDecoder().decode(PersistedError.self, from: nested(64)).code == 1)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(PersistedError.self, from: nested(66))
        }
    }
}
