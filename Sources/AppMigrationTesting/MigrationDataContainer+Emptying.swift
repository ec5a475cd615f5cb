public import MigrationHosting

extension MigrationDataContainer {
    /// Empties the container, as it is before a migration imports into it.
    ///
    /// Everything is removed, including the status of an import; only the empty directories of a
    /// fresh container are left. App groups are left alone, because no system clears them.
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
