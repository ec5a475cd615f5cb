internal import MigrationSystem

/// The right to use a container: shared by an app that runs, exclusive for a migration.
///
/// The lock is on the container directory itself. An import exchanges that directory, so after a
/// lock is taken the path must still lead to what was locked. A lock ends with the process that holds it.
struct ContainerLock {
    private static let attempts = 16

    /// The locked root directory.
    let root: OpenFile

    /// Locks the container at `path` without waiting.
    ///
    /// - Throws: ``MigrationError`` of code `containerBusy` where somebody else holds it.
    init(
        _ path: PathName,
        _ mode: FileDescriptor.LockMode
    ) throws(MigrationError) {
        for _ in 0..<Self.attempts {
            do throws(SystemError) {
                let file = OpenFile(try FileDescriptor.open(path.path, .directory))
                try file.descriptor.lock(mode)
                let locked = try file.descriptor.status().identity
                if try FileDescriptor.status(atPath: path.path).identity == locked {
                    root = file
                    return
                }
            } catch {
                throw Self.failure(error, at: path)
            }
        }
        throw MigrationError(.containerBusy, "the container keeps being replaced", path: path.path)
    }

    /// Gives the lock back; without this it ends when the last copy of its descriptor is closed.
    func release() {
        root.descriptor.unlock()
    }

    private static func failure(_ error: SystemError, at path: PathName) -> MigrationError {
        if error.isBusy {
            let message = "the container is in use by an app or another migration"
            return MigrationError(.containerBusy, message, path: path.path)
        }
        if error.isMissing {
            return MigrationError(.containerInvalid, "there is no container", path: path.path)
        }
        if error.isNotDirectory {
            let message = "the container is no directory but a file or a link"
            return MigrationError(.containerInvalid, message, path: path.path)
        }
        let message = "the container can't be opened"
        return MigrationError(.containerInvalid, message, path: path.path, cause: error)
    }
}
