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
        guard let variable = unsafe strdup(terminated(assignment)) else {
            throw SystemError("strdup")
        }
        guard unsafe putenv(variable) == 0 else { throw SystemError("putenv") }
        var arguments = unsafe command.map { unsafe strdup(terminated($0)) }
        defer { unsafe arguments.forEach { unsafe free($0) } }
        unsafe arguments.append(nil)
        guard let program = unsafe arguments[0] else { throw SystemError("strdup") }
        _ = unsafe execvp(program, arguments)
        throw SystemError("execvp")
    }

    private static func terminated(_ bytes: ByteString) -> [CChar] {
        bytes.map { CChar(bitPattern: $0) } + [0]
    }
}

extension FileDescriptor {
    /// Keeps the file open in the program that replaces this process.
    package borrowing func passToSuccessor() throws(SystemError) {
        guard fcntl(rawValue, F_SETFD, 0) == 0 else { throw SystemError("fcntl") }
    }
}
