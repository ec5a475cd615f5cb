import Foundation
import Glibc

/// Measures the conversion of a stream of Android's against `tar -x` of the same content, in turn.
@main
struct AndroidBenchmarks {
    private static let rounds = 7

    static func main() throws {
        guard CommandLine.arguments.count == 2 else {
            FileHandle.standardError.write(Data("usage: android-benchmarks MIGRATE\n".utf8))
            exit(64)
        }
        let place = try makePlace()
        defer { try? FileManager.default.removeItem(at: place) }
        let stream = place.appending(path: "stream")
        let size = try BackupMaker.write(to: stream)
        let (target, archive) = (place.appending(path: "files"), place.appending(path: "archive"))
        var (extracting, converting): ([Double], [Double]) = ([], [])
        var peak = 0
        // The first round warms both up.
        for round in 0...rounds {
            try? FileManager.default.removeItem(at: target)
            try FileManager.default.createDirectory(at: target, withIntermediateDirectories: false)
            let tar = try run(["tar", "-xf", stream.path, "-C", target.path])
            let convert = try run([
                CommandLine.arguments[1], "android", "convert", stream.path, "--out",
                archive.path, "--force",
            ])
            guard round > 0 else { continue }
            extracting.append(tar.seconds)
            converting.append(convert.seconds)
            peak = max(peak, convert.peak)
        }
        let ratio = median(zip(extracting, converting).map { $0 / $1 })
        print("Converting an Android backup of \(size / 1_000_000) MB, against tar -x of it:")
        print("")
        print("| | tar -x | android convert | speed by tar's | peak memory |")
        print("|---|--:|--:|--:|--:|")
        print(
            String(
                format: "| texts, photos, databases | %.2f s | %.2f s | %.2f | %.1f MiB |",
                median(extracting),
                median(converting),
                ratio,
                Double(peak) / 1024
            )
        )
    }

    private static func makePlace() throws -> URL {
        let memory = URL(filePath: "/dev/shm")
        let parent =
            FileManager.default.isWritableFile(atPath: memory.path)
            ? memory : FileManager.default.temporaryDirectory
        let place = parent.appending(path: "android-benchmarks-\(getpid())")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: false)
        return place
    }

    /// Runs a command; returns its seconds and its peak memory in KiB.
    private static func run(_ words: [String]) throws -> (seconds: Double, peak: Int) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
        var arguments = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        let start = ContinuousClock.now
        var process: pid_t = 0
        let result = posix_spawnp(&process, words[0], &actions, nil, &arguments, environ)
        guard result == 0 else { throw Failure(words: words, reason: "error \(result)") }
        var (status, usage) = (Int32(0), rusage())
        while wait4(process, &status, 0, &usage) < 0 {
            guard errno == EINTR else { throw Failure(words: words, reason: "error \(errno)") }
        }
        guard status == 0 else { throw Failure(words: words, reason: "status \(status)") }
        return ((ContinuousClock.now - start) / .seconds(1), usage.ru_maxrss)
    }

    private static func median(_ values: [Double]) -> Double {
        values.sorted()[values.count / 2]
    }
}

/// A command that could not be measured.
struct Failure: Error {
    let words: [String]
    let reason: String
}

/// Writes a stream as Android does: notes, incompressible photos, and databases.
enum BackupMaker {
    /// Writes about 200 MB, the same each time; returns the number of bytes.
    static func write(to file: URL) throws -> Int {
        try Data().write(to: file)
        let handle = try FileHandle(forWritingTo: file)
        var random = SplitMix(state: 1)
        let manifest = "1\ncom.x\n7\n36\n\n0\n1\n00ff\n"
        let transfer = "1\ncom.x\nios\n1\ncom.example.app\nABCDE12345\n3\n0\n"
        try append("_manifest", [UInt8](manifest.utf8), handle)
        try append("_cross_platform_manifest", [UInt8](transfer.utf8), handle)
        for index in 0..<6_000 { try append("f/notes/\(index).txt", random.text(8_000), handle) }
        for index in 0..<100 {
            try append("f/photos/\(index).jpg", random.noise(1_000_000), handle)
        }
        for index in 0..<6 { try append("db/\(index).db", random.text(9_000_000), handle) }
        try handle.write(contentsOf: Data(count: 1024))
        let size = try handle.offset()
        try handle.close()
        return Int(size)
    }

    private static func append(_ path: String, _ content: [UInt8], _ file: FileHandle) throws {
        var header = [UInt8](repeating: 0, count: 512)
        func put(_ text: String, at offset: Int) {
            header.replaceSubrange(offset..<offset + text.utf8.count, with: text.utf8)
        }
        put("apps/com.x/" + path, at: 0)
        put("000600 ", at: 100)
        put(octal(content.count, 11), at: 124)
        put(octal(1_700_000_000, 11), at: 136)
        put("        0", at: 148)
        put("ustar\u{0}00", at: 257)
        put(octal(header.reduce(0) { $0 + Int($1) }, 6) + "\u{0} ", at: 148)
        try file.write(contentsOf: header + content)
        try file.write(contentsOf: Data(count: (512 - content.count % 512) % 512))
    }

    private static func octal(_ number: Int, _ digits: Int) -> String {
        let text = String(number, radix: 8)
        return String(repeating: "0", count: digits - text.count) + text
    }
}

/// Numbers that are the same in each run.
private struct SplitMix {
    var state: UInt64

    private mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }

    mutating func noise(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 8)
        while bytes.count < count { withUnsafeBytes(of: next()) { bytes += $0 } }
        return [UInt8](bytes.prefix(count))
    }

    /// Words of a vocabulary of 4,096, which compresses about as prose does.
    mutating func text(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 16)
        while bytes.count < count {
            let draw = next()
            // Some words are used more than others.
            var letters = (draw & 0xFFF) & (draw >> 12 | 0xFF)
            letters = letters &* 0x9E37_79B9_7F4A_7C15
            for _ in 0..<(3 + letters >> 61) {
                bytes.append(UInt8(ascii: "a") + UInt8((letters >> 32) % 26))
                letters = letters << 7 | letters >> 57
            }
            bytes.append(UInt8(ascii: " "))
        }
        return [UInt8](bytes.prefix(count))
    }
}
