internal import MigrationArchive
package import MigrationCore
internal import MigrationHosting
internal import MigrationSystem

/// The result of an export, into a file or to another host.
package struct ExportAnswer: Answer, JSONObject {
    private let archive: ArchiveName
    package let report: ExportReport
    private let isDryRun: Bool
    /// The fate of an archive that was sent to another host.
    private let transfer: TransferAnswer?
    private let wording: Wording

    package init(
        _ archive: ArchiveName,
        report: ExportReport,
        isDryRun: Bool = false,
        transfer: TransferAnswer? = nil,
        _ wording: Wording
    ) {
        (self.archive, self.report, self.isDryRun) = (archive, report, isDryRun)
        (self.transfer, self.wording) = (transfer, wording)
    }

    package var schema: String { "migrate/export/1" }

    private var command: CommandAnswer? { archive.command.map { CommandAnswer($0) } }

    package var text: String {
        let (bytes, totals) = (report.archiveBytes, report.totals)
        let share = percentage(bytes, of: totals.contentBytes).map { " (\($0))" } ?? ""
        return
            "\(archive.destinationText): \(isDryRun ? "would hold " : "")\(TotalsText(totals)) in "
            + "\(ByteCount(bytes))\(share)\n" + (report.resumedBytes.map(resumption) ?? "")
            + "fingerprint \(report.fingerprint)\n"
            + (report.header.bundleIdentifier == nil ? unnamed : "")
            + OmissionLines(title: "left out", omissions: report.omissions, wording: wording).text
            + (report.leftBehind.map { LeftBehindLines(leftBehind: $0, wording: wording).text }
                ?? "")
            + (command?.text ?? "") + (transfer?.text(wording) ?? "")
    }

    private var unnamed: String {
        "the archive names no app, since the container doesn't; \(wording.step(.nameApp))\n"
    }

    private func resumption(_ resumedBytes: UInt64) -> String {
        transfer.map { $0.resumption(resumedBytes) }
            ?? "resumed behind \(ByteCount(resumedBytes)) that were written before\n"
    }

    package var members: JSONMembers {
        [
            "appExtension": report.appExtension, "archive": archive.exact,
            "archiveBytes": report.archiveBytes, "command": command,
            "compressedStreamBytes": report.compressedStreamBytes,
            "externalLinkCount": report.externalLinkCount,
            "externalLinks": report.externalLinks.map {
                ["path": ExactName($0.path.bytes), "target": ExactName($0.target)] as JSONMembers
            },
            "fingerprint": report.fingerprint.description, "header": report.header,
            "isDryRun": isDryRun ? true : nil, "leftBehind": report.leftBehind,
            "omissions": report.omissions, "resumedBytes": report.resumedBytes,
            "streamBytes": report.streamBytes, "totals": report.totals, "transfer": transfer,
        ]
    }
}

/// The result of the command that consumed or produced the archive, as a part of an answer.
struct CommandAnswer: Encodable, Sendable {
    private let exitCode: Int32?
    private let printed: [String]

    init(_ command: StreamCommand) {
        exitCode = command.exitCode
        printed = command.printedLines
    }

    /// The lines that the command printed, each indented.
    var text: String {
        guard !printed.isEmpty else { return "" }
        return "the command printed:\n"
            + printed.map { "    \(PrintableText.escaping($0))\n" }.joined()
    }
}

/// The part of an export's answer about the other host.
package struct TransferAnswer: Encodable, Sendable {
    private let `import`: ReceiveAnswer.Import?
    private let isUnchanged: Bool
    private let offeredBytes: UInt64
    private let printed: [String]

    package init(_ received: ReceiveAnswer, from remote: RemoteArchive) {
        `import` = received.import
        isUnchanged = received.isUnchanged
        offeredBytes = remote.offeredBytes
        printed = remote.printedLines
    }

    /// Lines for a person about bytes that were not sent: `resumedBytes` of the pieces on the other
    /// host matched.
    func resumption(_ resumedBytes: UInt64) -> String {
        if isUnchanged { return "unchanged: the other host has this archive\n" }
        if offeredBytes == 0 { return "" }
        let (kept, offered) = (ByteCount(resumedBytes), ByteCount(offeredBytes))
        if resumedBytes == offeredBytes { return "resumed behind \(kept) that were sent before\n" }
        return resumedBytes == 0
            ? "the container is not as it was: sent anew, though \(offered) were sent before\n"
            : "the container is not as it was: resumed behind \(kept) of \(offered) that were sent "
                + "before\n"
    }

    /// Lines for a person about the archive on the other host.
    func text(_ wording: Wording) -> String {
        let lines = printed.map { "    \(PrintableText.escaping($0))\n" }.joined()
        return (`import`?.text(wording) ?? "")
            + (lines.isEmpty ? "" : "the other host printed:\n" + lines)
    }
}

/// The answer of an export that left an archive as it was.
package struct ExistingArchiveAnswer: Answer, JSONObject {
    package enum State: String, Encodable, Sendable {
        case kept, unchanged
    }

    private let archive: ArchiveName
    private let state: State
    /// `nil` if the archive was not read.
    private let fingerprint: Fingerprint?

    package init(_ archive: ArchiveName, _ state: State, fingerprint: Fingerprint?) {
        (self.archive, self.state, self.fingerprint) = (archive, state, fingerprint)
    }

    package var schema: String { "migrate/existing/1" }

    package var text: String {
        "\(archive.destinationText): \(state.rawValue)\n"
            + (fingerprint.map { "fingerprint \($0)\n" } ?? "")
    }

    package var members: JSONMembers {
        ["archive": archive.exact, "fingerprint": fingerprint?.description, "state": state]
    }
}

/// The fingerprint that an export would have.
package struct FingerprintAnswer: Answer, JSONObject {
    private let report: ExportReport

    package init(_ report: ExportReport) { self.report = report }

    package var schema: String { "migrate/fingerprint/1" }

    package var text: String { "\(report.fingerprint)\n" }

    package var members: JSONMembers {
        [
            "fingerprint": report.fingerprint.description, "omissions": report.omissions,
            "totals": report.totals,
        ]
    }
}
