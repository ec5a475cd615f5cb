/// What becomes of symbolic links that lead out of the place they are restored to.
public enum ExternalLinkPolicy: String, Sendable, CaseIterable {
    /// The import fails.
    case refuse

    /// They are restored as they are; they are never followed.
    case keep

    /// They are left out, and the report says so.
    case skip
}
