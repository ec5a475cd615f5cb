internal import Glibc

/// Replaces this process by another program.
package enum ProcessReplacement {
    /// Runs `command`, found by `PATH`, in place of this process with a variable set.
    ///
    /// - Throws: ``SystemError`` where the program can't be run; it returns only by throwing.
    package static func execute(
        _ command: [ByteString],
        settingVariable assignment: ByteString
    ) throws(SystemError) -> Never {
        guard let program = command.first else { throw SystemError("execvp", code: ENOENT) }
        try setVariable(assignment)
        let arguments = CStringList(command)
        _ = program.withPath { program in
            arguments.withPointer { unsafe execvp(program, $0) }
        }
        throw SystemError("execvp")
    }

    /// Sets a variable of the environment to bytes, which need not be text.
    static func setVariable(_ assignment: ByteString) throws(SystemError) {
        guard let variable = assignment.withPath({ unsafe strdup($0) }) else {
            throw SystemError("strdup")
        }
        guard unsafe putenv(variable) == 0 else { throw SystemError("putenv") }
    }
}

extension FileDescriptor {
    /// Keeps the file open in the program that replaces this process.
    package borrowing func passToSuccessor() throws(SystemError) {
        guard fcntl(rawValue, F_SETFD, 0) == 0 else { throw SystemError("fcntl") }
    }
}
