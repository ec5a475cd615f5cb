internal import Foundation
internal import MigrationArchive
internal import MigrationSystem

extension MigrationExtension {
    /// Finds the directories of the app groups, by identifier.
    ///
    /// A group's data stays where it is when a container is replaced or exported, so neither may lie
    /// in the other.
    ///
    /// - Throws: ``MigrationError`` of code `invalidOption` where one can't be opened, is left out too, or
    ///   is not apart from the container at `container`.
    func groupDirectories(
        apartFrom container: PathName
    ) throws(MigrationError) -> [String: PathName] {
        var directories: [String: PathName] = [:]
        for (identifier, url) in applicationGroups {
            let path = ByteString(pathOf: url)
            guard !omittedGroups.contains(identifier) else {
                let message = "the app group \(identifier) has a directory and is left out"
                throw MigrationError(.invalidOption, message, path: path)
            }
            let directory: PathName
            do throws(SystemError) {
                directory = try PathName(resolving: path)
                _ = try FileDescriptor.open(directory.path, .directory)
            } catch {
                let message = "the directory of the app group \(identifier) can't be opened"
                throw MigrationError(.invalidOption, message, path: path, cause: error)
            }
            guard !container.isWithin(directory), !directory.isWithin(container) else {
                let message = "the app group \(identifier) and the container are not apart"
                throw MigrationError(.invalidOption, message, path: path)
            }
            directories[identifier] = directory
        }
        return directories
    }
}

extension MigrationExtension {
    /// The app groups that are left out on purpose, as reports say it.
    var groupOmissions: [Omission] {
        omittedGroups.sorted().map { identifier in
            Omission(
                path: PrintableText.escaping(identifier),
                reason: .applicationGroup,
                bytes: 0,
                detail: nil
            )
        }
    }

    /// The app groups that the extension declares, or was given, as reports say it.
    func groups(declared: [String]) -> [PreflightReport.ApplicationGroup] {
        let identifiers = omittedGroups.union(declared).union(applicationGroups.keys)
        return identifiers.sorted().map { identifier in
            PreflightReport.ApplicationGroup(
                identifier: identifier,
                directory: applicationGroups[identifier].map {
                    PrintableText.escaping(ByteString(pathOf: $0))
                },
                isLeftOut: omittedGroups.contains(identifier)
            )
        }
    }
}

extension PathName {
    /// Whether this is `directory` or lies in it.
    fileprivate func isWithin(_ directory: PathName) -> Bool {
        let slash = [UInt8(ascii: "/")]
        return (path + slash).starts(with: directory.path == slash ? slash : directory.path + slash)
    }
}
