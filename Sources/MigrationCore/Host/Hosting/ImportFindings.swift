/// What an import showed of an extension's mistakes.
struct ImportFindings {
    let progress: ImportProgressSummary
    /// `nil` where nobody can tell.
    let unread: UnreadFiles?
    let unclearedGroups: [String]

    /// The findings, in the order of the session.
    var all: [ExtensionFinding] {
        [progressFinding, unreadFinding].compactMap { $0 } + unclearedGroups.map(groupFinding)
    }

    private var progressFinding: ExtensionFinding? {
        if progress.isNewPerRead {
            return ExtensionFinding(
                code: .progressNotKept,
                message: "resourcesImportProgress is a new object at each reading",
                fix: "make the Progress once, in a stored property, and update that"
            )
        }
        if !progress.hasMoved {
            return ExtensionFinding(
                code: .progressStill,
                message: "resourcesImportProgress never changed",
                fix: "count its completedUnitCount up as items are handled"
            )
        }
        guard progress.completed < progress.total || progress.total <= 0 else { return nil }
        return ExtensionFinding(
            code: .progressIncomplete,
            message:
                "resourcesImportProgress ended at \(progress.completed) of \(progress.total) units",
            fix: "set totalUnitCount to what there is to do, and end at it"
        )
    }

    private var unreadFinding: ExtensionFinding? {
        guard let unread, unread.count > 0 else { return nil }
        let names = unread.paths.joined(separator: ", ") + (unread.count > 3 ? ", …" : "")
        return ExtensionFinding(
            code: .resourcesUnread,
            message: "\(unread.count) files of the import were never read: \(names)",
            fix: "import them, or leave them out of the export"
        )
    }

    private func groupFinding(_ identifier: String) -> ExtensionFinding {
        ExtensionFinding(
            code: .groupNotCleared,
            message: "the app group \(identifier) was written to, and still holds older files",
            fix: "remove what an app group holds before importing to it: the system clears none"
        )
    }
}
