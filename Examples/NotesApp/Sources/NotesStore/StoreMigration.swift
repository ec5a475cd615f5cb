/// The way from every version of the store's format to the current one.
public enum StoreMigration {
    /// The version that this app reads and writes.
    public static let currentVersion = "3.0"

    private static let allSteps: [FormatStep] = [.textToJSON, .foldersAndAttachments]

    /// Returns the steps that lead from `version` to the current one; none where it is that.
    ///
    /// - Throws: ``StoreError/unknownVersion(_:)`` where a step is missing.
    public static func steps(from version: String) throws(StoreError) -> [FormatStep] {
        var steps: [FormatStep] = []
        var reached = version
        while reached != currentVersion {
            guard let step = allSteps.first(where: { $0.source == reached }) else {
                throw StoreError.unknownVersion(version)
            }
            steps.append(step)
            reached = step.target
        }
        return steps
    }

    /// Brings a store to the current format, step by step.
    ///
    /// The version is written down before each step, so that one that was cut off is taken up again
    /// at the next opening.
    ///
    /// - Parameters:
    ///   - version: The version that the files are in.
    ///   - layout: Where they lie.
    /// - Throws: ``StoreError/unknownVersion(_:)`` before anything is changed; errors of files.
    public static func run(from version: String, in layout: StoreLayout) throws {
        let steps = try steps(from: version)
        try layout.write(version: version)
        for step in steps {
            try step.convert(layout)
            try layout.write(version: step.target)
            try step.cleanUp(layout)
        }
    }
}
