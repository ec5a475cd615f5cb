import MigrationCore

extension Console {
    /// Says what imports left that could not be removed.
    func logLeftovers(of report: ImportReport) {
        for leftover in report.leftovers { log("migrate: warning: \(leftover)") }
    }
}
