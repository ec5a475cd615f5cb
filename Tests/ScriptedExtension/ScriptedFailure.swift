internal import Foundation

/// An error as an app's author defines one.
enum ScriptedFailure: LocalizedError {
    case tooOld

    var errorDescription: String? { "The notes are too old." }
    var failureReason: String? { "They are of version 1." }
    var recoverySuggestion: String? { "Open them in the old app first." }
    var helpAnchor: String? { "old-notes" }
}

extension ScriptedFailure {
    /// An error with every possible text, and with values that can't be carried.
    static var everything: NSError {
        let innermost = NSError(domain: "disk", code: 5)
        let beneath = NSError(
            domain: "store",
            code: 14,
            userInfo: [
                NSLocalizedDescriptionKey: "The store can't be opened.",
                NSUnderlyingErrorKey: innermost,
            ]
        )
        return NSError(
            domain: "com.example.notes",
            code: 9,
            userInfo: [
                NSLocalizedDescriptionKey: "The notes did not arrive.",
                NSLocalizedFailureReasonErrorKey: "The store is damaged.",
                NSLocalizedRecoverySuggestionErrorKey: "Migrate again.",
                NSHelpAnchorErrorKey: "migration",
                NSUnderlyingErrorKey: beneath,
                "NSMultipleUnderlyingErrorsKey": [innermost, beneath],
                "text": "notes",
                "count": 3,
                "share": 0.25,
                "infinite": Double.infinity,
                "isOld": true,
                "when": Date(timeIntervalSinceReferenceDate: 7.25),
                "bytes": Data([0, 255]),
                "names": ["a", "b"],
                "nested": ["list": [1, ["deep": false]]] as [String: Any],
                "url": URL(filePath: "/notes"),
                "mixed": ["a", Notes()] as [Any],
                "huge": String(repeating: "x", count: 900_000),
            ]
        )
    }

    /// A value that no property list can hold.
    private struct Notes {}
}
