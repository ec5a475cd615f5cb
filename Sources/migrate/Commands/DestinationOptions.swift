import Foundation
import MigrationArchive
import MigrationSystem

/// The options of the destination that an extension gets, as the command line gives them.
enum DestinationOptions {
    /// The most bytes that all values together hold, which pass to the extension in one message.
    private static let sizeLimit = 4 << 20

    static let description = OptionDescription(
        name: "option",
        help: "An option of the destination, for the extension; a value of '@file' is what the "
            + "file holds, one that begins with '@@' begins with '@'; may be given again.",
        valueName: "name=value",
        isRepeatable: true,
        companion: "extension"
    )

    /// Reads the values of `--option`, and the files that they name.
    static func read(_ arguments: ParsedArguments) throws(UsageError) -> [String: Data] {
        var options: [String: Data] = [:]
        var size = 0
        for (name, value) in try arguments.assignments("option", "name=value") {
            let content = try content(value)
            size += content.count
            guard size <= sizeLimit else { throw surplus }
            options[name] = Data(content)
        }
        return options
    }

    private static var surplus: UsageError {
        UsageError("the values of option '--option' hold more than \(sizeLimit >> 20) MiB")
    }

    private static func content(_ value: [UInt8]) throws(UsageError) -> [UInt8] {
        let at = UInt8(ascii: "@")
        guard value.first == at else { return value }
        let rest = Array(value.dropFirst())
        return rest.first == at ? rest : try contents(ofFileAt: rest)
    }

    private static func contents(ofFileAt path: [UInt8]) throws(UsageError) -> [UInt8] {
        let file = "option '--option': \(UsageError.quoting(path))"
        let isRegular: Bool
        let contents: [UInt8]?
        do throws(SystemError) {
            let descriptor = try FileDescriptor.openFollowingLinks(path, .reading)
            // A pipe might never end, and no signal would end the wait.
            isRegular = try descriptor.status().kind == .regular
            contents = isRegular ? try descriptor.readAll(limit: sizeLimit) : nil
        } catch {
            throw UsageError("\(file) can't be read: \(error)")
        }
        guard isRegular else { throw UsageError("\(file) is no file") }
        guard let contents else { throw surplus }
        return contents
    }
}
