import Foundation
import Glibc
import TestSupport

/// A mount namespace of its own for shell commands.
enum Namespace {
    static let isAvailable =
        geteuid() == 0 && (try? run("mount -t tmpfs x /mnt && echo y")) == "y\n"

    static func run(_ script: String) throws -> String {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/unshare")
        process.arguments = ["-m", "sh", "-c", "migrate='\(TestedProgram.path)'\n" + script]
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self)
    }
}
