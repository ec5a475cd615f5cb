/// The documents' own error, which an app declares in a module that it shares with its extension.
public enum MigrationError: Error {
    /// The data has a version that can't be imported.
    case incompatibleVersion(String)
}

/// A name that this project also has.
public struct ImportRecord {
    /// How many notes were imported.
    public var count = 0

    /// Makes the record of an import of nothing.
    public init() {}
}

/// A name that this project also has, but not for clients.
public enum ContainerLayout {
    /// All notes in one directory.
    case flat
}
