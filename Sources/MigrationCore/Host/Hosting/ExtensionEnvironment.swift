internal import Glibc
internal import MigrationSystem

/// The environment of an extension's process.
enum ExtensionEnvironment {
    /// What passes from the host: nothing that an archive should not hold by accident.
    private static let passed = [
        "LANG", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "LD_LIBRARY_PATH", "PATH", "TZ",
        "ASAN_OPTIONS", "LLVM_PROFILE_FILE", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS",
    ]

    static func variables(temporaryDirectory temporary: ByteString) -> [ByteString] {
        var variables: [ByteString] = passed.compactMap { name in
            unsafe getenv(name).map { value in
                unsafe ByteString(utf8: name + "=") + ByteString(cString: value)
            }
        }
        variables += [
            ByteString(
                utf8: "\(ExtensionService.sessionVariable)=\(ChildProcess.connectionNumber)"
            ),
            ByteString(utf8: "HOME=") + temporary,
            ByteString(utf8: "TMPDIR=") + temporary,
            // The tracer of crashes is a process that the confinement keeps from its work.
            ByteString(utf8: "SWIFT_BACKTRACE=enable=no"),
        ]
        return variables
    }
}
