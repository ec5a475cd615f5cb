import Foundation
import Glibc
import TestTrees

/// Kills exports into a command, at random bytes, and checks whether the command took a part for a
/// whole archive.
struct Streams {
    /// The process that a run kills.
    private enum Victim: String, CaseIterable {
        case migrate, guardian = "its guard", group = "its process group"
    }

    /// Each makes `done` once it has seen the end of the stream that it writes to `f`.
    private static let commands = [
        "cat > f && touch done", "cat | cat > f; touch done",
        "setsid sh -c 'cat > f && touch done'",
    ]

    private static let megabytes = 4

    private let tools: Tools
    private let kills: Int

    init(_ tools: Tools, kills: Int) {
        self.tools = tools
        self.kills = kills
    }

    private var source: BytePath { tools.scratch / "source" }
    private var whole: BytePath { tools.scratch / "whole" }

    /// Kills each victim several times with each command.
    ///
    /// - Returns: How often a command took a cut archive for a whole one.
    func run() throws -> Int {
        try source.makeDirectory()
        try Tools.call([
            "sh", "-c", "head -c \(Self.megabytes)000000 /dev/urandom > \"$0\"/noise", source.text,
        ])
        try Tools.call([tools.migrate, "export", "--container", source.text, "--out", whole.text])
        var failures = 0
        for victim in Victim.allCases {
            for command in Self.commands { failures += try kill(victim, command) }
        }
        return failures
    }

    private func kill(_ victim: Victim, _ command: String) throws -> Int {
        var (cut, late, failed) = (0, 0, 0)
        while cut < kills {
            let place = tools.scratch / BytePath("place-\(cut + late)")
            try place.makeDirectory()
            defer { try? place.removeAll() }
            try killOnce(victim, command, in: place)
            let isWhole = try hasWhole(place)
            if isWhole { late += 1 } else { cut += 1 }
            if (place / "done").exists && !isWhole { failed += 1 }
        }
        print(
            "\(victim.rawValue.padded(to: 18)) \(command.padded(to: 40)) cut \(cut), whole before it "
                + "\(late), failed \(failed)"
        )
        return failed
    }

    private func hasWhole(_ place: BytePath) throws -> Bool {
        guard (place / "f").exists else { return false }
        return try (place / "f").contents() == whole.contents()
    }

    /// Kills the victim after the command has written a number of bytes, and waits for all processes.
    private func killOnce(_ victim: Victim, _ command: String, in place: BytePath) throws {
        let process = Process()
        process.executableURL = URL(filePath: tools.migrate)
        process.arguments = [
            "export", "--container", source.text, "--out-command", command, "--quiet",
        ]
        process.currentDirectoryURL = place.url
        process.standardInput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        let number = process.processIdentifier
        try waitForBytes(Int.random(in: 0..<Self.megabytes * 1_000_000), in: place, of: process)
        switch victim {
        case .migrate: Glibc.kill(number, SIGKILL)
        case .guardian: for child in Tools.children(of: number) { Glibc.kill(child, SIGKILL) }
        case .group:
            // It may have ended by now.
            guard [number, -1].contains(getpgid(number)) else {
                throw ProofError("migrate has no process group of its own")
            }
            Glibc.kill(-number, SIGKILL)
        }
        process.waitUntilExit()
        try waitUntilEmpty(place)
    }

    private func waitForBytes(_ count: Int, in place: BytePath, of process: Process) throws {
        let file = place / "f"
        while process.isRunning {
            if file.exists, try file.status().st_size >= count { return }
        }
    }

    /// Waits until no process works in the directory, in which they all were started.
    private func waitUntilEmpty(_ place: BytePath) throws {
        for _ in 0..<10_000 {
            let processes = try FileManager.default.contentsOfDirectory(atPath: "/proc")
            let isEmpty = processes.allSatisfy { process in
                guard pid_t(process) != nil else { return true }
                let directory = try? FileManager.default.destinationOfSymbolicLink(
                    atPath: "/proc/\(process)/cwd"
                )
                return directory != place.text
            }
            if isEmpty { return }
            usleep(1000)
        }
        throw ProofError("processes of a command are left in \(place.text)")
    }
}
