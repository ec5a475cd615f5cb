import AppMigrationKit
import Foundation

/// The message that the app shows once, at its first launch after a migration.
enum ImportNotice {
    /// Shows how the import ended, and then clears the status, because the person has seen it.
    static func showOnce(by show: (String) -> Void) {
        guard let status = MigrationStatus.importStatus else { return }
        show(text(for: status))
        MigrationStatus.clearImportStatus()
    }

    static func text(for status: MigrationStatus) -> String {
        switch status {
        case .success: "Your notes have arrived."
        case .failure(let error): "Your notes did not arrive. \(error.localizedDescription)"
        }
    }
}
