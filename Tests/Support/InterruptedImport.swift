import Foundation
package import TestTrees
import Testing

/// How far a dead import got, as seen on the disk.
package enum ImportMoment: CaseIterable, Sendable {
    case journalWritten, staged
    case clearingBegun, clearingHalfDone, clearingDone
    case fillingBegun, fillingHalfDone, fillingDone, recordWritten
    case restoringBegun, restoringHalfDone, restoringDone

    package enum Phase: String, Sendable {
        case staging, clearing, filling, restoring
    }

    package var phase: Phase {
        switch self {
        case .journalWritten, .staged: .staging
        case .clearingBegun, .clearingHalfDone, .clearingDone: .clearing
        case .fillingBegun, .fillingHalfDone, .fillingDone, .recordWritten: .filling
        case .restoringBegun, .restoringHalfDone, .restoringDone: .restoring
        }
    }

    package var endsWithOldData: Bool { phase == .staging || phase == .restoring }

    /// The file with the record of the import's outcome.
    package var recordName: BytePath {
        endsWithOldData ? "import-attempt.json" : "import-status.json"
    }

    /// The entries of the old data that lie aside.
    fileprivate var cleared: [BytePath] {
        switch self {
        case .journalWritten, .staged, .clearingBegun, .restoringDone: []
        case .clearingHalfDone, .restoringHalfDone: ["Documents"]
        default: ["Documents", "Library", "link"]
        }
    }

    /// The entries of the new data that are in the container.
    fileprivate var filled: [BytePath] {
        switch self {
        case .fillingHalfDone: ["Documents"]
        case .fillingDone, .recordWritten: ["Documents", "top"]
        default: []
        }
    }
}

/// The import whose process died, by its bookkeeping: text, so that a changed format is noticed.
package enum InterruptedImport {
    package static let token = "0E9D7A52-6C0B-4B39-9A57-3B1D6F1C2E44"

    /// The record of its success.
    package static let record =
        #"{"version":1,"outcome":"success","date":"2026-03-04T05:06:07Z","bundleIdentifier":"com.example.new"}"#

    /// The journal of an import into `container` that is to keep the old data in `kept`.
    static func journal(
        _ phase: ImportMoment.Phase,
        of container: BytePath,
        keepingIn kept: BytePath?
    ) throws -> String {
        let attributes = try FileManager.default.attributesOfItem(atPath: container.url.path)
        let inode = try #require(attributes[.systemFileNumber] as? UInt64)
        let record = phase == .staging ? "" : #","record":\#(record)"#
        let place = kept.map {
            #","kept":"\#(Data($0.bytes).base64EncodedString())","container":\#(inode)"#
        }
        return #"{"version":1,"phase":"\#(phase)","staging":"\#(token)"\#(record)\#(place ?? "")}"#
    }
}

extension Places {
    /// Makes the staged data and the journal of the destination as they are at `moment`.
    ///
    /// The staged data lies in the bookkeeping if `isInside`, else beside the container; `kept` is where the
    /// import was to keep the old data.
    package func interrupt(
        at moment: ImportMoment,
        isInside: Bool,
        keepingIn kept: BytePath? = nil
    ) throws {
        let bookkeeping = destination / ".migration"
        if !bookkeeping.exists { try bookkeeping.makeDirectory() }
        let holder = isInside ? bookkeeping / "staged" : root / ".destination.migration-staging"
        let staged = holder / "container"
        let replaced = bookkeeping / "replaced"
        if moment != .journalWritten {
            try holder.makeDirectory()
            try (holder / BytePath(InterruptedImport.token)).write("")
            try makeNewData(in: staged)
        }
        if moment.phase != .staging { try replaced.makeDirectory() }
        for name in moment.cleared { try (destination / name).rename(to: replaced / name) }
        for name in moment.filled { try (staged / name).rename(to: destination / name) }
        if moment == .recordWritten {
            try (bookkeeping / "import-status.json").write(InterruptedImport.record)
        }
        try (bookkeeping / "import-journal.json")
            .write(InterruptedImport.journal(moment.phase, of: destination, keepingIn: kept))
    }

    private func makeNewData(in place: BytePath) throws {
        try place.makeDirectory()
        try (place / "Documents").makeDirectory()
        try (place / "Documents/new").write("new")
        try (place / "top").write("top")
    }

    /// Expects the destination to hold the old data or the new, as an import that died at `moment` is to end.
    package func expectWhole(_ moment: ImportMoment, _ old: TreeSnapshot) throws {
        let contents = try contents(of: destination)
        if moment.endsWithOldData {
            #expect(contents.differences(from: old) == [])
        } else {
            let new = root / "new"
            try makeNewData(in: new)
            // Not the times, which differ between two trees made one after the other.
            #expect(try outline(contents) == outline(TreeSnapshot(of: new)))
        }
    }

    private func outline(_ snapshot: TreeSnapshot) -> [BytePath: Content] {
        snapshot.nodes.mapValues(\.content)
    }
}
