import MigrationStatus

/// An app that asks how its import ended, shows it, and clears it.
@main struct StatusReader {
    static func main() {
        switch MigrationStatus.importStatus {
        case nil: print("none")
        case .success: print("success")
        case .failure(let error): print("failure: \(error)")
        }
        MigrationStatus.clearImportStatus()
    }
}
