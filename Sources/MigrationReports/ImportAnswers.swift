internal import Foundation
internal import MigrationArchive
package import MigrationCore
internal import MigrationHosting
package import MigrationSystem

/// The result of an import or an extraction.
package struct ImportAnswer: Answer, JSONObject {
    /// The operation on the archive.
    package enum Action: String, Sendable {
        case extract, `import`

        /// The participle for the text.
        var done: String { "\(rawValue)ed" }
    }

    private let action: Action
    private let archive: ArchiveName
    private let destination: [UInt8]
    private let report: ImportReport
    /// The effects that the import would have; `nil` if it was made.
    private let preview: ImportPreview?
    private let wording: Wording

    package init(
        _ action: Action,
        of archive: ArchiveName,
        into destination: [UInt8],
        _ report: ImportReport,
        preview: ImportPreview? = nil,
        _ wording: Wording
    ) {
        (self.action, self.archive, self.destination) = (action, archive, destination)
        (self.report, self.preview, self.wording) = (report, preview, wording)
    }

    package var schema: String { "migrate/\(action.rawValue)/1" }

    package var text: String {
        let place = PrintableText.escaping(destination)
        if report.isSkipped { return "\(archive.sourceText): already imported into \(place)\n" }
        let proof = report.fingerprint.map { "fingerprint \($0)\n" } ?? ""
        if let preview {
            return "\(archive.sourceText): would be \(action.done) into \(place): "
                + "\(TotalsText(report.totals))\n" + proof + replacement(title: "would replace")
                + "needs \(ByteCount(preview.neededBytes)), \(ByteCount(preview.availableBytes)) "
                + "are free\n"
                + omissions(title: "would not restore")
        }
        return "\(archive.sourceText): \(action.done) into \(place): \(TotalsText(report.totals))\n"
            + proof + replacement(title: "replaced")
            + omissions(title: "not restored")
            + (archive.command.map { CommandAnswer($0).text } ?? "")
    }

    private func omissions(title: String) -> String {
        OmissionLines(title: title, omissions: report.omissions, wording: wording).text
    }

    /// The replaced data, and where it is now.
    private func replacement(title: String) -> String {
        guard let replaced = report.replaced else { return "" }
        let least = replaced.isPartial ? "at least " : ""
        let parts = Listing.text(of: replaced.parts, count: replaced.partCount, wording) { part in
            "\(title)  \(part.name): \(TotalsText(part.totals))"
        }
        let place = report.keptContainer.map { kept in
            preview == nil
                ? "kept it in \(kept); \(wording.step(.goBack))\n"
                : "would keep it in \(kept)\n"
        }
        return "\(title) \(least)\(TotalsText(replaced.totals))\n" + parts + (place ?? "")
    }

    package var members: JSONMembers {
        [
            "appExtension": report.appExtension, "archive": archive.exact,
            "command": archive.command.map { CommandAnswer($0) },
            "destination": ExactName(destination), "dryRun": preview.map(Self.members),
            "fingerprint": report.fingerprint?.description, "hasTrailer": report.hasTrailer,
            "header": report.header, "isSkipped": action == .import ? report.isSkipped : nil,
            "keptContainer": report.keptPath.map(ExactName.init),
            "lacksEndMark": report.lacksEndMark, "leftovers": report.leftovers.map(\.description),
            "omissions": report.omissions, "replaced": report.replaced.map(Self.members),
            "replacedData": report.replacedData, "totals": report.totals,
        ]
    }

    private static func members(of preview: ImportPreview) -> JSONMembers {
        [
            "availableBytes": preview.availableBytes, "neededBytes": preview.neededBytes,
            "replacedTotals": preview.replacedTotals,
        ]
    }

    private static func members(of replaced: ReplacedData) -> JSONMembers {
        [
            "isPartial": replaced.isPartial, "partCount": replaced.partCount,
            "parts": replaced.parts.map {
                ["name": ExactName($0.nameBytes), "totals": $0.totals] as JSONMembers
            },
            "totals": replaced.totals,
        ]
    }
}

/// The answer of a receiver to the sender.
package struct ReceiveAnswer: Answer, Codable {
    /// The result of an import.
    package struct Import: JSONObject, Decodable, Sendable {
        let container: ExactName
        let isSkipped: Bool
        let omissions: OmissionList
        let replacedData: Bool
        let totals: ArchiveTotals

        private enum CodingKeys: String, CodingKey {
            case container, containerBase64, isSkipped, omissions, replacedData, totals
        }

        package var members: JSONMembers {
            [
                "container": container, "isSkipped": isSkipped, "omissions": omissions,
                "replacedData": replacedData, "totals": totals,
            ]
        }

        /// The lines for a person.
        func text(_ wording: Wording) -> String {
            let place = PrintableText.escaping(container.bytes)
            if isSkipped { return "already imported into \(place) there\n" }
            return "imported into \(place) there\n"
                + (replacedData ? "replaced the data that was there\n" : "")
                + OmissionLines(title: "not restored", omissions: omissions, wording: wording)
                .text
        }
    }

    package let fingerprint: String
    package let isUnchanged: Bool
    package var `import`: Import?

    package var schema: String { "migrate/receive/1" }

    package var text: String { "fingerprint \(fingerprint)\n" }

    package init(_ received: ReceivedArchive) {
        fingerprint = received.fingerprint.description
        isUnchanged = received.isUnchanged
    }

    /// Reads the answer of a receiver.
    package init(reading answer: [UInt8]) throws(MigrationError) {
        do {
            self = try JSONDecoder().decode(Self.self, from: Data(answer))
        } catch {
            throw MigrationError(.commandFailed, "the receiver's answer can't be understood")
        }
    }
}

extension ReceiveAnswer.Import {
    package init(container: BytePath, report: ImportReport) {
        self.init(
            container: ExactName(container.bytes),
            isSkipped: report.isSkipped,
            omissions: report.omissions,
            replacedData: report.replacedData,
            totals: report.totals
        )
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        container = try values.decodeName(forKey: .container, or: .containerBase64)
        isSkipped = try values.decode(Bool.self, forKey: .isSkipped)
        omissions = try values.decode(OmissionList.self, forKey: .omissions)
        replacedData = try values.decode(Bool.self, forKey: .replacedData)
        totals = try values.decode(ArchiveTotals.self, forKey: .totals)
    }
}

/// The result of a recovery, and how to go back to replaced data.
package struct RecoverAnswer: Answer, JSONObject {
    private let report: RecoveryReport
    private let container: BytePath
    /// The message about the report's problem.
    private let problem: String?
    private let wording: Wording

    package init(
        _ report: RecoveryReport,
        of container: BytePath,
        problem: String?,
        _ wording: Wording
    ) {
        (self.report, self.container) = (report, container)
        (self.problem, self.wording) = (problem, wording)
    }

    package var schema: String { "migrate/recover/1" }

    package var text: String {
        let first =
            switch report.outcome {
            case .nothing: "nothing to recover"
            case .rolledBack: "rolled back: the container holds what it held before the import"
            case .completed: "completed: the container holds what was being imported"
            case .discarded: "discarded" + (problem.map { ": " + $0 } ?? "")
            }
        let kept = report.kept.map { "kept  " + $0 }
        return (([first] + kept + wayBack).map { $0 + "\n" }).joined()
    }

    /// How to go back to the data that the last import replaced.
    private var wayBack: [String] {
        guard let replaced = report.replacedPath else { return [] }
        let place = PrintableText.escaping(replaced)
        return [
            "the data that the last import replaced is in \(place); to go back to it:",
            "  " + commandOfWayBack(to: replaced),
        ]
    }

    private func commandOfWayBack(to replaced: [UInt8]) -> String {
        let quoted = { PrintableText.escaping(SSHLocation.quoting($0)) }
        let here = quoted(container.bytes)
        // A mount point can't be renamed.
        guard report.isRenamable else {
            return wording.step(.moveData(from: quoted(replaced), into: here))
        }
        let aside = quoted(container.bytes + [UInt8](".imported".utf8))
        return "mv -T \(here) \(aside) && mv -T \(quoted(replaced)) \(here)"
    }

    package var members: JSONMembers {
        let object = { (path: [UInt8]) in ["path": ExactName(path)] as JSONMembers }
        return [
            "kept": report.keptPaths.map(object), "problem": problem,
            "recovery": report.outcome.rawValue, "replaced": report.replacedPath.map(object),
        ]
    }
}
