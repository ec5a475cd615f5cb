public import Foundation

/// The persisted outcome of a container's last import, for the app's next launch.
public struct ImportRecord: Sendable, Equatable {
    /// How an import ended.
    public enum Outcome: Sendable, Equatable {
        /// The data is in the container.
        case success

        /// The import failed with this error; the container holds its previous data.
        case failure(PersistedError)

        /// The import was interrupted; the container holds its previous data.
        case interrupted
    }

    /// How the import ended.
    public let outcome: Outcome

    /// When it ended, to the second.
    public let date: Date

    /// The bundle identifier of the app that the data comes from, as passed to the importer; `nil`
    /// if it wasn't.
    public let bundleIdentifier: String?

    /// The platform that the data comes from, as passed to the importer; `nil` if it wasn't.
    public let platform: String?

    /// The version of the data's format, as passed to the importer; `nil` if it wasn't.
    public let resourcesVersion: String?

    /// The fingerprint of the archive in hexadecimal digits; `nil` if it has none.
    public package(set) var fingerprint: String?

    /// How many entries have a different modification time than in the archive, because the file
    /// system can't hold it.
    public package(set) var changedTimes = 0

    /// What the person was doing when the container was exported; `nil` if there was nothing, or
    /// once the app has taken it.
    public package(set) var activity: ResumeActivity?

    /// The identity that a success gives the container; the bookkeeping keeps it beside the record.
    package var container: ContainerIdentity?

    /// The directory that holds the data which the import replaced, as a container; `nil` if that data was
    /// removed, or there was none.
    package var keptPath: [UInt8]?

    /// The token in the names of files that the import may have left beside the container.
    package var staging: String?

    package init(
        outcome: Outcome,
        date: Date = Date(),
        bundleIdentifier: String? = nil,
        platform: String? = nil,
        resourcesVersion: String? = nil,
        fingerprint: String? = nil,
        staging: String? = nil,
        activity: ResumeActivity? = nil,
        container: ContainerIdentity? = nil
    ) {
        (self.outcome, self.date, self.bundleIdentifier) = (outcome, date, bundleIdentifier)
        (self.platform, self.resourcesVersion) = (platform, resourcesVersion)
        (self.fingerprint, self.staging) = (fingerprint, staging)
        (self.activity, self.container) = (activity, container)
    }

    /// The record without its activity, after the app has taken it.
    package var withoutActivity: ImportRecord {
        var record = self
        record.activity = nil
        return record
    }
}

extension ImportRecord.Outcome {
    /// The failure of an import with `error`, described for a person.
    ///
    /// An error that an app's extension threw is persisted unchanged.
    package init(failure error: any Error) {
        let failure = error as? MigrationError
        if failure?.code == .extensionFailed, let cause = failure?.cause {
            self = .failure(PersistedError(cause))
        } else {
            self = .failure(PersistedError(error))
        }
    }
}

extension ImportRecord {
    /// The version of the persisted form that this code writes.
    package static let version = 1
}

extension ImportRecord: Codable {
    private enum CodingKeys: String, CodingKey {
        case version
        case outcome
        case date
        case bundleIdentifier
        case platform
        case resourcesVersion
        case fingerprint
        case changedTimes
        case staging
        case activity
        case container
        case error
        case kept
        case keptBase64
    }

    private enum OutcomeName: String, Codable {
        case success
        case failure
        case interrupted
    }

    /// The error of a record that a newer version wrote.
    package struct NewerVersion: Error, CustomStringConvertible {
        let version: Int

        package init(version: Int) {
            self.version = version
        }

        package var description: String {
            "it has version \(version), which is newer than this program"
        }
    }

    /// Reads the persisted form.
    ///
    /// - Parameter decoder: The decoder to read from.
    /// - Throws: An error if the form is malformed or has a newer version.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let version = try values.decode(Int.self, forKey: .version)
        guard version == Self.version else { throw NewerVersion(version: version) }
        switch try values.decode(OutcomeName.self, forKey: .outcome) {
        case .success: outcome = .success
        case .interrupted: outcome = .interrupted
        case .failure:
            outcome = .failure(try values.decode(PersistedError.self, forKey: .error))
        }
        date = try values.decode(Date.self, forKey: .date)
        bundleIdentifier = try values.decodeIfPresent(String.self, forKey: .bundleIdentifier)
        platform = try values.decodeIfPresent(String.self, forKey: .platform)
        resourcesVersion = try values.decodeIfPresent(String.self, forKey: .resourcesVersion)
        fingerprint = try values.decodeIfPresent(String.self, forKey: .fingerprint)
        changedTimes = try values.decodeIfPresent(Int.self, forKey: .changedTimes) ?? 0
        staging = try values.decodeIfPresent(String.self, forKey: .staging)
        activity = try values.decodeIfPresent(Data.self, forKey: .activity)
            .map { try ResumeActivity(encoded: $0) }
        container = try values.decodeIfPresent(ContainerIdentity.self, forKey: .container)
        guard values.contains(.kept) || values.contains(.keptBase64) else { return }
        keptPath = try values.decodeName(forKey: .kept, or: .keptBase64).bytes
    }

    /// Writes the persisted form, with its version.
    ///
    /// - Parameter encoder: The encoder to write to.
    /// - Throws: The encoder's errors.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(Self.version, forKey: .version)
        switch outcome {
        case .success: try values.encode(OutcomeName.success, forKey: .outcome)
        case .interrupted: try values.encode(OutcomeName.interrupted, forKey: .outcome)
        case .failure(let error):
            try values.encode(OutcomeName.failure, forKey: .outcome)
            try values.encode(error, forKey: .error)
        }
        try values.encode(date, forKey: .date)
        try values.encodeIfPresent(bundleIdentifier, forKey: .bundleIdentifier)
        try values.encodeIfPresent(platform, forKey: .platform)
        try values.encodeIfPresent(resourcesVersion, forKey: .resourcesVersion)
        try values.encodeIfPresent(fingerprint, forKey: .fingerprint)
        if changedTimes != 0 { try values.encode(changedTimes, forKey: .changedTimes) }
        try values.encodeIfPresent(staging, forKey: .staging)
        try values.encodeIfPresent(activity?.encoded, forKey: .activity)
        try values.encodeIfPresent(container, forKey: .container)
        guard let keptPath else { return }
        try values.encode(ExactName(keptPath), forKey: .kept, or: .keptBase64)
    }
}
