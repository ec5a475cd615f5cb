/// What is done at each step of a walk.
protocol SourceVisitor {
    /// Takes something that is no directory.
    mutating func visit(_ item: SourceItem) throws

    /// Takes a directory, open as `opened`, before what is in it; returns whether to go into it.
    mutating func enter(_ item: SourceItem, opened: OpenFile) throws -> Bool

    /// Takes the end of a directory, after what is in it.
    ///
    /// Whether the directory changed is to be checked once nothing in it is read any more.
    mutating func leave(_ directory: WalkedDirectory) throws

    /// Returns whether the walk passes over a directory that can't be opened, because nothing of it
    /// is wanted.
    mutating func passesOver(_ item: SourceItem) throws -> Bool

    /// Whether files are taken by their names, a run at a time, where the directory tells them.
    static var takesRuns: Bool { get }

    /// Takes files that follow one another.
    mutating func visit(_ run: FileRun) throws
}

extension SourceVisitor {
    mutating func leave(_ directory: WalkedDirectory) throws {
        try directory.checkIsUnchanged()
    }

    static var takesRuns: Bool { false }

    mutating func visit(_ run: FileRun) throws {
        for index in run.range { try visit(try run.item(at: index)) }
    }
}
