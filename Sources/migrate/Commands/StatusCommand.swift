internal import Foundation
internal import MigrationArchive
internal import MigrationCore
internal import MigrationSystem

/// `migrate status`: shows how the last import into a container ended.
struct StatusCommand: Command {
    private var container: BytePath = ""
    private var clearsStatus = false
    private var answersInJSON = false

    static let name = "status"
    static let abstract = "Show the import status as the app will see it."

    static var flags: [Flag<Self>] {
        Flag.container(help: "The container.", to: \.container)
        Flag("clear", sets: \.clearsStatus).help("Clear the status first.")
        Flag.json(sets: \.answersInJSON)
    }

    static let examples = [
        Example("Show how the last import ended.", "migrate status --container notes"),
        Example("Print it for a program.", "migrate status -c notes --json"),
        Example(
            "Clear it, as the app does once it has read it.",
            "migrate status -c notes --clear"
        ),
    ]

    var onlyAnswers: Bool { true }

    var subject: String { PrintableText.escaping(container) }

    func run(in context: CommandContext) async throws -> ExitCode {
        let container = try MigrationDataContainer(atPath: container)
        if clearsStatus { try container.clearImportRecord() }
        let answer = StatusAnswer(
            try container.importRecord(),
            attempt: try container.lastImportAttempt(),
            readDate: try container.importRecordReadDate()
        )
        try context.console.output.write(answer, inJSON: answersInJSON)
        return clearsStatus ? .success : answer.exitCode
    }
}

// MARK: - Answer

/// The answer of `migrate status`.
struct StatusAnswer: Answer {
    /// The outcome of the import that made the data, or else of the last attempt, if there was one.
    enum Status: String, Encodable, Sendable {
        case failure, interrupted, none, success
    }

    /// The last import that failed or was interrupted since.
    struct Attempt: Encodable, Sendable {
        let bundleIdentifier: String?
        let date: Timestamp
        let failure: PersistedError?
        let platform: String?
        let resourcesVersion: String?
        let status: Status

        private enum CodingKeys: String, CodingKey {
            case bundleIdentifier, date, failure, platform, resourcesVersion, status
        }

        init(_ record: ImportRecord) {
            (status, failure) = Status.of(record)
            date = Timestamp(record.date)
            bundleIdentifier = record.bundleIdentifier
            platform = record.platform
            resourcesVersion = record.resourcesVersion
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(bundleIdentifier, forKey: .bundleIdentifier)
            try container.encode(date, forKey: .date)
            try container.encode(failure, forKey: .failure)
            try container.encode(platform, forKey: .platform)
            try container.encode(resourcesVersion, forKey: .resourcesVersion)
            try container.encode(status, forKey: .status)
        }

        /// The attempt in one line.
        var text: String {
            "\(status.rawValue) on \(date.localSeconds), which changed nothing"
                + (failure.map { ": " + $0.description } ?? "")
        }
    }

    let status: Status

    var schema: String { "migrate/status/1" }

    var exitCode: ExitCode {
        switch status {
        case .success: .success
        case .failure: .importFailed
        case .interrupted: .importInterrupted
        case .none: .noImport
        }
    }

    var lastAttempt: Attempt?
    var activityTitle: String?
    var activityType: String?
    var bundleIdentifier: String?
    var date: Timestamp?
    var failure: PersistedError?
    var fingerprint: String?
    /// `nil` if there was no import.
    var changedTimes: Int?
    var platform: String?
    var readDate: Timestamp?
    var resourcesVersion: String?

    var text: String {
        let reason = failure.map { ": " + PrintableText.escaping($0.description) } ?? ""
        let rows = [
            ("reason", failure?.failureReason), ("advice", failure?.recoverySuggestion),
            ("date", date?.localSeconds), ("app", bundleIdentifier), ("platform", platform),
            ("version", resourcesVersion), ("fingerprint", fingerprint),
            ("times", changedTimesText),
            ("activity", activityText),
            ("attempt", status == .success ? lastAttempt?.text : nil),
            ("asked for", askedFor),
        ]
        let known = rows.compactMap { name, value in
            value.map { (name: name, value: PrintableText.escaping($0)) }
        }
        return "\(status.rawValue)\(reason)\n" + Table(rows: known).text
    }

    /// Whether the app knows of the import; it may run without `migrate run`, which would warn.
    private var askedFor: String? {
        guard status != .none else { return nil }
        return readDate.map { "\($0.localSeconds), and not cleared since" } ?? "not by the app yet"
    }

    private var changedTimesText: String? {
        guard let changedTimes, changedTimes > 0 else { return nil }
        let count = GroupedCount(changedTimes).of("entry has", "entries have")
        return "\(count) another than in the archive, which the file system can't hold"
    }

    private var activityText: String? {
        activityType.map { $0 + (activityTitle.map { " '\($0)'" } ?? "") + ", not taken yet" }
    }
}

extension StatusAnswer {
    private enum CodingKeys: String, CodingKey {
        case activityTitle, activityType, bundleIdentifier, changedTimes, date, failure
        case fingerprint, lastAttempt, platform, readDate, resourcesVersion, status
    }

    /// Encodes all keys; unknown values are `null`.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(status, forKey: .status)
        try container.encode(activityTitle, forKey: .activityTitle)
        try container.encode(activityType, forKey: .activityType)
        try container.encode(bundleIdentifier, forKey: .bundleIdentifier)
        try container.encode(changedTimes, forKey: .changedTimes)
        try container.encode(date, forKey: .date)
        try container.encode(failure, forKey: .failure)
        try container.encode(fingerprint, forKey: .fingerprint)
        try container.encode(lastAttempt, forKey: .lastAttempt)
        try container.encode(platform, forKey: .platform)
        try container.encode(readDate, forKey: .readDate)
        try container.encode(resourcesVersion, forKey: .resourcesVersion)
    }

    init(_ record: ImportRecord?, attempt: ImportRecord? = nil, readDate: Date?) {
        guard let record else {
            self.init(status: .none)
            return
        }
        let (status, failure) = Status.of(record)
        self.init(
            status: status,
            lastAttempt: attempt.map(Attempt.init),
            activityTitle: record.activity?.title,
            activityType: record.activity?.activityType,
            bundleIdentifier: record.bundleIdentifier,
            date: Timestamp(record.date),
            failure: failure,
            fingerprint: record.fingerprint,
            changedTimes: record.changedTimes,
            platform: record.platform,
            readDate: readDate.map { Timestamp($0) },
            resourcesVersion: record.resourcesVersion
        )
    }
}

extension StatusAnswer.Status {
    /// How the import of `record` ended, and why.
    fileprivate static func of(_ record: ImportRecord) -> (Self, PersistedError?) {
        switch record.outcome {
        case .success: (.success, nil)
        case .interrupted: (.interrupted, nil)
        case .failure(let error): (.failure, error)
        }
    }
}
