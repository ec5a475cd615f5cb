internal import Foundation
internal import Glibc

/// Makes the data container of an imaginary notes app, for trying out a migration.
@main
struct SampleContainer {
    static func main() {
        do {
            let arguments = try Arguments(Array(CommandLine.arguments.dropFirst()))
            if arguments.wantsHelp {
                print(Arguments.usage)
            } else {
                print(try make(arguments))
            }
        } catch SampleError.usage(let complaint) {
            fail("\(complaint)\n\n\(Arguments.usage)", code: 64)
        } catch {
            fail("\(error)", code: 1)
        }
    }

    /// Makes the container, and returns a line that describes it.
    private static func make(_ arguments: Arguments) throws -> String {
        let seed = arguments.seed
        var container = try ContainerWriter(root: arguments.directory, seed: seed)
        try NotesFolder(seed: seed, count: arguments.files).write(to: &container)
        try PhotoLibrary(seed: seed).write(to: &container)
        try NotesDatabase(seed: seed).write(to: &container)
        try UnusualNames().write(to: &container)
        try UnusualEntries(seed: seed).write(to: &container)
        try SystemFiles(seed: seed).write(to: &container)
        if container.lacksAttributes {
            complain("note: this file system keeps no extended attributes; made without them")
        }
        let summary = "\(container.fileCount) files, \(container.byteCount / 1_000_000) MB"
        let directory = container.root
        try container.finish()
        return "made \(directory): \(summary)"
    }

    private static func complain(_ line: String) {
        FileHandle.standardError.write(Data("sample-container: \(line)\n".utf8))
    }

    private static func fail(_ line: String, code: Int32) -> Never {
        complain("error: \(line)")
        exit(code)
    }
}
