internal import MigrationArchive

/// What an export showed of an extension's mistakes.
struct ExportFindings {
    private let estimate: Int
    private let longestWait: Duration
    private let hangTimeout: Duration
    private let copies: (names: [String], count: Int)

    init(_ host: AppExtensionHost, estimate: Int) {
        self.estimate = estimate
        longestWait = host.observer.longestWait
        hangTimeout = host.appExtension.hangTimeout
        copies = host.observer.convertedCopies
    }

    /// The findings of an export that archived `totals`.
    func all(of totals: ArchiveTotals) -> [ExtensionFinding] {
        let entries =
            totals.files + totals.directories + totals.symbolicLinks + totals.hardLinks
        guard entries > 0 else { return [.nothingExported] }
        return [estimateOff(totals.contentBytes), appendGap, convertedCopy].compactMap { $0 }
    }

    private func estimateOff(_ bytes: UInt64) -> ExtensionFinding? {
        let exported = Double(bytes)
        let off = abs(Double(estimate) - exported)
        guard off > 0.2 * exported else { return nil }
        return ExtensionFinding(
            code: .estimateOff,
            message: "resourcesSizeEstimate said \(estimate) bytes, \(bytes) were exported",
            fix: "add up the sizes of the files that exportResources appends"
        )
    }

    private var appendGap: ExtensionFinding? {
        guard longestWait > hangTimeout / 3 else { return nil }
        return ExtensionFinding(
            code: .appendGap,
            message:
                "the extension went \(longestWait.text) without an append; "
                + "at \(hangTimeout.text) it is ended",
            fix: "append each item as soon as it is ready, and prepare the next one meanwhile"
        )
    }

    private var convertedCopy: ExtensionFinding? {
        guard copies.count > 0 else { return nil }
        let names = copies.names.joined(separator: ", ") + (copies.count > 3 ? ", …" : "")
        return ExtensionFinding(
            code: .convertedCopy,
            message: "\(copies.count) large items came from the temporary directory: \(names)",
            fix: "append the original files, and convert them on the importing side"
        )
    }
}

extension ExtensionFinding {
    /// The finding of an export without any entry.
    static let nothingExported = ExtensionFinding(
        code: .nothingExported,
        message: "the extension appended nothing",
        fix: "append what the app needs on its next device"
    )
}
