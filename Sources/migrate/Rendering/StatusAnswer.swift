import Foundation
import MigrationArchive
import MigrationCore

/// What `migrate status` answers.
struct StatusAnswer: Answer {
    /// How the last import ended, if there was one.
    enum Status: String, Encodable, Sendable {
        case failure, interrupted, none, success
    }

    let status: Status
    var bundleIdentifier: String?
    var date: Timestamp?
    var failure: PersistedError?
    var fingerprint: String?
    var platform: String?
    var readDate: Timestamp?
    var resourcesVersion: String?

    var text: String {
        let reason = failure.map { ": " + PrintableText.escaping($0.description) } ?? ""
        let rows = [
            ("reason", failure?.failureReason), ("advice", failure?.recoverySuggestion),
            ("date", date?.localSeconds), ("app", bundleIdentifier), ("platform", platform),
            ("version", resourcesVersion), ("fingerprint", fingerprint),
            ("asked for", readDate.map { "\($0.localSeconds), and not cleared since" }),
        ]
        let known = rows.compactMap { name, value in
            value.map { (name: name, value: PrintableText.escaping($0)) }
        }
        return "\(status.rawValue)\(reason)\n" + Table(rows: known).text
    }
}

extension StatusAnswer {
    init(_ record: ImportRecord?, read: Date?) {
        guard let record else {
            self.init(status: .none)
            return
        }
        let (status, failure): (Status, PersistedError?) =
            switch record.outcome {
            case .success: (.success, nil)
            case .interrupted: (.interrupted, nil)
            case .failure(let error): (.failure, error)
            }
        self.init(
            status: status,
            bundleIdentifier: record.bundleIdentifier,
            date: Timestamp(record.date),
            failure: failure,
            fingerprint: record.fingerprint,
            platform: record.platform,
            readDate: read.map { Timestamp($0) },
            resourcesVersion: record.resourcesVersion
        )
    }
}

extension Timestamp: Encodable {
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(universalSeconds)
    }
}
