package import MigrationArchive
package import MigrationCore
package import MigrationSystem

/// An archive as the command line names it: a path, `-` for a standard stream, or a command.
package struct ArchiveName: Hashable, Sendable {
    /// The word on the command line; empty for a command.
    package let path: BytePath

    /// The command that consumes or produces the archive.
    package let command: StreamCommand?

    package init(_ path: BytePath = "") {
        self.path = path
        command = nil
    }

    package init(_ command: StreamCommand) {
        path = ""
        self.command = command
    }

    /// Whether the name stands for standard input or output.
    package var isStandardStream: Bool { path == "-" }

    /// Whether it doesn't name a regular file, so that other files can't be beside it.
    package var isStream: Bool { isStandardStream || command != nil }

    /// The name as JSON holds it.
    package var exact: ExactName { ExactName(command?.text ?? path.bytes) }

    /// The name of an archive that is read, in messages.
    package var sourceText: String {
        isStandardStream ? "standard input" : PrintableText.escaping(exact.bytes)
    }

    /// The name of an archive that is written, in messages.
    package var destinationText: String {
        isStandardStream ? "standard output" : PrintableText.escaping(exact.bytes)
    }
}

/// The properties of an archive.
package struct InspectionAnswer: Answer, JSONObject {
    let archive: ArchiveName
    let inspection: ArchiveInspection

    private var header: ArchiveHeader? { inspection.header }

    package init(_ archive: ArchiveName, inspection: ArchiveInspection) {
        (self.archive, self.inspection) = (archive, inspection)
    }

    package var schema: String { "migrate/inspect/1" }

    package var text: String { Table(rows: rows).text }

    /// The properties, each with its name.
    package var rows: [(name: String, value: String)] {
        let proof =
            inspection.fingerprint?.description ?? "none: nothing proves that it is complete"
        return [("archive", archive.sourceText)] + headerRows + totalsRows + sizeRows
            + [("fingerprint", proof)]
    }

    private var activityRows: [(String, String)] {
        do throws(ArchiveError) {
            guard let activity = try header?.resumeActivity else { return [] }
            return [("activity", PrintableText.escaping(activity.activityType))]
        } catch {
            let reason = PrintableText.escaping(error.message)
            return [("activity", "unreadable, so an import refuses the archive: \(reason)")]
        }
    }

    /// Why an import refuses the header, if it does.
    private var problem: String? {
        do throws(ArchiveError) {
            try header?.check()
            return nil
        } catch {
            return error.description
        }
    }

    private func holdingRows(_ header: ArchiveHeader) -> [(String, String)] {
        let kinds: [(ExtraMetadata, String)] = [
            (.owners, "owners"), (.accessLists, "access control lists"),
            (.attributes, "all attributes"),
        ]
        let held = kinds.filter { header.extraMetadata.contains($0.0) }.map(\.1)
        return held.isEmpty ? [] : [("holds", held.joined(separator: ", "))]
    }

    private var headerRows: [(String, String)] {
        guard let header else { return [("creator", "another program")] }
        return [
            ("app", header.bundleIdentifier.map { PrintableText.escaping($0) } ?? "unknown"),
            ("platform", PrintableText.escaping(header.platform)),
            ("version", PrintableText.escaping(header.resourcesVersion)),
            ("creator", PrintableText.escaping(header.creator)),
        ] + holdingRows(header) + activityRows
            + (header.importers ?? []).map { ("for", PrintableText.escaping($0)) }
    }

    private var totalsRows: [(String, String)] {
        guard let totals = inspection.totals else { return [] }
        let links = totals.symbolicLinks + totals.hardLinks
        let kinds =
            "\(GroupedCount(totals.symbolicLinks)) symbolic, \(GroupedCount(totals.hardLinks)) hard"
        return [
            ("files", "\(GroupedCount(totals.files))"),
            ("directories", "\(GroupedCount(totals.directories))"),
            ("links", links == 0 ? "0" : "\(GroupedCount(links)) (\(kinds))"),
            ("content", "\(ByteCount(totals.contentBytes))"),
        ]
    }

    private var sizeRows: [(String, String)] {
        var rows: [(String, String)] = []
        if let archiveBytes = inspection.archiveBytes {
            let share = inspection.totals.flatMap { percentage(archiveBytes, of: $0.contentBytes) }
            rows.append(("size", "\(ByteCount(archiveBytes))" + (share.map { " (\($0))" } ?? "")))
        }
        if let frameCount = inspection.frameCount {
            rows.append(("frames", "\(GroupedCount(frameCount))"))
        }
        return rows
    }

    package var members: JSONMembers {
        [
            "archive": archive.exact, "archiveBytes": inspection.archiveBytes,
            "fingerprint": inspection.fingerprint?.description,
            "frameCount": inspection.frameCount, "header": header, "problem": problem,
            "streamBytes": inspection.streamBytes, "totals": inspection.totals,
        ]
    }
}

// MARK: - Verification

/// The checks of an archive, and the properties of an archive that was read completely.
package struct VerificationAnswer: Answer, JSONObject {
    private let inspection: InspectionAnswer
    private let checked: VerificationScope
    private let signature: String?

    /// - Parameters:
    ///   - inspection: The properties of the archive.
    ///   - checked: The checks that were made.
    ///   - signature: The result of checking the required signature.
    package init(
        _ inspection: InspectionAnswer,
        checked: VerificationScope,
        signature: String? = nil
    ) {
        (self.inspection, self.checked, self.signature) = (inspection, checked, signature)
    }

    package var schema: String { "migrate/verify/1" }

    package var text: String {
        let name = inspection.archive.sourceText
        guard let fingerprint = inspection.inspection.fingerprint else {
            return "\(name): readable to its end, without a fingerprint\n"
        }
        let frames = inspection.inspection.frameCount.map {
            GroupedCount($0).of("frame", "frames") + ", "
        }
        let finding =
            checked == .everything
            ? "sound, read as an import would" : "hashes match, entries not read"
        let proof = "\(frames ?? "")fingerprint \(fingerprint)"
        return (["\(name): \(finding), \(proof)"] + [signature].compactMap(\.self))
            .map { "\($0)\n" }.joined()
    }

    package var members: JSONMembers {
        // Another program's archive can't be proved complete.
        let sound: Bool? = inspection.inspection.fingerprint == nil ? nil : true
        return inspection.members + [
            "checked": checked, "signature": signature, "sound": JSONMembers.orNull(sound),
        ]
    }
}

/// The losses in a damaged archive; the error gives the reason.
package struct UnsoundAnswer: Answer, JSONObject {
    private let archive: ArchiveName
    private let checked: VerificationScope
    /// The entries that can't be read.
    private let lost: OmissionList?
    private let wording: Wording

    package init(
        _ archive: ArchiveName,
        checked: VerificationScope,
        lost: OmissionList?,
        _ wording: Wording
    ) {
        (self.archive, self.checked) = (archive, checked)
        (self.lost, self.wording) = (lost, wording)
    }

    package var schema: String { "migrate/verify/1" }

    package var text: String {
        lost.map { OmissionLines(title: "lost", omissions: $0, wording: wording).text } ?? ""
    }

    package var members: JSONMembers {
        ["archive": archive.exact, "checked": checked, "lost": lost, "sound": false]
    }
}
