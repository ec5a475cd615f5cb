public import MigrationCore

extension MigrationDataContainer {
    /// Empties the container, as it is before a migration imports into it.
    ///
    /// Everything is removed, the status of an import too; what is left are the empty directories of a
    /// fresh container. App groups are left alone: no system clears those.
    ///
    /// ```swift
    /// let result = try await tester.exportController.exportResources()
    /// try container.empty()
    /// try await tester.importController.importResources(from: result.extractedResourcesURL)
    /// ```
    ///
    /// - Throws: `MigrationError` of code `containerBusy` while an app or a migration holds the container,
    ///   and of codes `containerInvalid` and `outputFailed`.
    public func empty() throws {
        try clear()
    }
}
