package import MigrationArchive
package import MigrationCore
package import MigrationSystem

/// A count, shown with thousands separators.
package struct GroupedCount: Hashable, Sendable, CustomStringConvertible {
    package let value: UInt64

    package init(_ value: some BinaryInteger) {
        self.value = UInt64(clamping: value)
    }

    package var description: String {
        var groups: [String] = []
        var rest = value
        while rest >= 1000 {
            groups.append(padded(rest % 1000, to: 3))
            rest /= 1000
        }
        return ([String(rest)] + groups.reversed()).joined(separator: ",")
    }

    /// The number with the name of the things, such as `1 file` or `1,204 files`.
    package func of(_ singular: String, _ plural: String) -> String {
        "\(self) \(value == 1 ? singular : plural)"
    }
}

/// A share of a whole in percent, such as `37 %`; `nil` if it is larger than the whole.
package func percentage(_ part: UInt64, of whole: UInt64) -> String? {
    guard whole > 0, part <= whole else { return nil }
    return "\(Int((Double(part) / Double(whole) * 100).rounded())) %"
}

/// A number in decimal digits, with zeros before it up to `width`.
package func padded(_ number: some BinaryInteger, to width: Int) -> String {
    let digits = String(number)
    guard digits.utf8.count < width else { return digits }
    return String(repeating: "0", count: width - digits.utf8.count) + digits
}

// MARK: - Words

/// How a program words a remedy, with its own flags and commands; `nil` if there is no advice.
package typealias Advice = @Sendable (Remedy) -> String?

/// A possible next step for the reader of an answer, as a fact.
package enum NextStep: Hashable, Sendable {
    /// Read the items that a short list omits.
    case listAll
    /// Name the app of a container that doesn't name it.
    case nameApp
    /// Go back to the data that an import replaced.
    case goBack
    /// Move the data of one container, quoted for a shell, into the other.
    case moveData(from: String, into: String)
    /// Look at notes too.
    case showNotes
    /// Choose the container of a group.
    case chooseGroup
    /// Archive the files that are not lost.
    case keepGoing
}

/// How a program words remedies for errors, and next steps.
package struct Wording: Sendable {
    let advice: Advice
    let step: @Sendable (NextStep) -> String

    package init(advice: @escaping Advice, step: @escaping @Sendable (NextStep) -> String) {
        (self.advice, self.step) = (advice, step)
    }
}

/// The size of an archive's content, in one line.
package struct TotalsText: CustomStringConvertible, Sendable {
    private let totals: ArchiveTotals

    package init(_ totals: ArchiveTotals) {
        self.totals = totals
    }

    package var description: String {
        let links = totals.symbolicLinks + totals.hardLinks
        let parts = [
            GroupedCount(totals.files).of("file", "files"),
            GroupedCount(totals.directories).of("directory", "directories"),
            GroupedCount(links).of("link", "links"),
        ]
        return parts.joined(separator: ", ") + "; \(ByteCount(totals.contentBytes))"
    }
}

extension Omission {
    /// Why something was left out, and its size.
    package func remark(_ advice: Advice) -> String {
        // Another host may have said it.
        let detail = detail.map(PrintableText.escapingRest)
        if reason == .damaged { return detail ?? "damaged" }
        let text = reason.words(advice) + (detail.map { " \($0)" } ?? "")
        return reason.isOfContent ? "\(ByteCount(bytes)), \(text)" : text
    }
}

extension Omission.Reason {
    fileprivate var isOfContent: Bool {
        [.leftOutByDefault, .excluded, .unreadableToOwner].contains(self)
    }

    fileprivate func words(_ advice: Advice) -> String {
        switch self {
        case .leftOutByDefault: "by default"
        case .excluded: "excluded"
        case .specialFile: "special file"
        case .extendedAttribute: "extended attribute"
        case .owners: "owners" + (advice(.restoreOwners).map { ", which \($0)" } ?? "")
        case .specialPermissions: "special permissions"
        case .modificationTime: "time"
        case .externalLink: "link that leads out"
        case .unreadableToOwner: "unreadable to the container's owner"
        case .damaged: "damaged"
        case .applicationGroup: "app group, on request"
        }
    }
}

extension PrintableText {
    /// Escapes the parts of `text` that are not escaped yet.
    package static func escapingRest(of text: String) -> String {
        text.split(separator: "\\", omittingEmptySubsequences: false)
            .map { escaping(String($0)) }
            .joined(separator: "\\")
    }
}
