package import Foundation
package import MigrationCore
internal import MigrationSystem

/// The outcome of the import that made a container's data, or else of the last attempt, and later
/// events.
package struct StatusAnswer: Answer, JSONObject {
    /// How an import ended, if there was one.
    package enum Status: String, Encodable, Sendable {
        case failure, interrupted, none, success
    }

    private let record: ImportRecord?
    private let attempt: ImportRecord?
    private let readDate: Timestamp?

    /// - Parameters:
    ///   - record: The import; `nil` if there was none.
    ///   - attempt: The last import that failed or was interrupted since.
    ///   - readDate: When the app asked for the record.
    package init(_ record: ImportRecord?, attempt: ImportRecord? = nil, readDate: Date? = nil) {
        self.record = record
        self.attempt = record == nil ? nil : attempt
        self.readDate = record == nil ? nil : readDate.map { Timestamp($0) }
    }

    package var status: Status { record?.status ?? .none }

    package var schema: String { "migrate/status/1" }

    package var text: String {
        let failure = record?.failure
        let reason = failure.map { ": " + PrintableText.escaping($0.description) } ?? ""
        let rows = [
            ("reason", failure?.failureReason), ("advice", failure?.recoverySuggestion),
            ("date", record.map { Timestamp($0.date).localSeconds }),
            ("app", record?.bundleIdentifier), ("platform", record?.platform),
            ("version", record?.resourcesVersion), ("fingerprint", record?.fingerprint),
            ("times", changedTimesText), ("activity", activityText),
            ("attempt", status == .success ? attemptText : nil), ("asked for", askedFor),
        ]
        let known = rows.compactMap { name, value in
            value.map { (name: name, value: PrintableText.escaping($0)) }
        }
        return "\(status.rawValue)\(reason)\n" + Table(rows: known).text
    }

    private var attemptText: String? {
        attempt.map { attempt in
            "\(attempt.status.rawValue) on \(Timestamp(attempt.date).localSeconds), which changed nothing"
                + (attempt.failure.map { ": " + $0.description } ?? "")
        }
    }

    /// Whether the app knows of the import; outside `migrate run`, no other command warns if it
    /// doesn't.
    private var askedFor: String? {
        guard record != nil else { return nil }
        return readDate.map { "\($0.localSeconds), and not cleared since" } ?? "not by the app yet"
    }

    private var changedTimesText: String? {
        guard let changedTimes = record?.changedTimes, changedTimes > 0 else { return nil }
        let count = GroupedCount(changedTimes).of("entry has", "entries have")
        return "\(count) another than in the archive, which the file system can't hold"
    }

    private var activityText: String? {
        record?.activity.map { activity in
            activity.activityType + (activity.title.map { " '\($0)'" } ?? "") + ", not taken yet"
        }
    }

    /// All members are included; unknown values are `null`.
    package var members: JSONMembers {
        Self.members(of: record) + [
            "activityTitle": JSONMembers.orNull(record?.activity?.title),
            "activityType": JSONMembers.orNull(record?.activity?.activityType),
            "changedTimes": JSONMembers.orNull(record?.changedTimes),
            "fingerprint": JSONMembers.orNull(record?.fingerprint),
            "lastAttempt": JSONMembers.orNull(attempt.map(Self.members)),
            "readDate": JSONMembers.orNull(readDate),
        ]
    }

    private static func members(of record: ImportRecord?) -> JSONMembers {
        [
            "bundleIdentifier": JSONMembers.orNull(record?.bundleIdentifier),
            "date": JSONMembers.orNull(record.map { Timestamp($0.date) }),
            "failure": JSONMembers.orNull(record?.failure),
            "platform": JSONMembers.orNull(record?.platform),
            "resourcesVersion": JSONMembers.orNull(record?.resourcesVersion),
            "status": record?.status ?? Status.none,
        ]
    }
}

extension ImportRecord {
    fileprivate var status: StatusAnswer.Status {
        switch outcome {
        case .success: .success
        case .interrupted: .interrupted
        case .failure: .failure
        }
    }

    /// Why the import failed, if it did.
    fileprivate var failure: PersistedError? {
        if case .failure(let error) = outcome { error } else { nil }
    }
}
