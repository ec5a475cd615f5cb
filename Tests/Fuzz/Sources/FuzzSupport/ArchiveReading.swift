public import MigrationCore

/// Reads an archive in one of the ways in which archives are read.
public enum ArchiveReading {
    /// Reads `source`, an archive of `form`, to its end.
    public static func read(_ source: ArchiveSource, _ form: ArchiveInputForm) throws {
        let choice = form.choice
        _ = try Blocking.run {
            switch choice {
            case 0: _ = try await source.forEachEntry { _ = $0.path.description }
            case 1: _ = try await source.verify(threadCount: 1)
            case 2: _ = try await source.inspect()
            default: _ = try await source.verify(threadCount: 2)
            }
        }
        Milestones.reach(form.kind.rawValue)
    }
}
