import Foundation
import Glibc
import TestTrees

/// Uploads exports into an S3 server with the real client, kills them at random bytes, and checks
/// which objects exist.
struct ObjectStore {
    private static let megabytes = 20

    private let tools: Tools
    private let kills: Int

    init(_ tools: Tools, kills: Int) {
        self.tools = tools
        self.kills = kills
    }

    private var source: BytePath { tools.scratch / "source" }
    private var whole: BytePath { tools.scratch / "whole" }

    /// Why there is no server or client here; `nil` if there are both.
    private static var whyMissing: String? {
        if !Tools.has("aws") { return "the client 'aws' is missing" }
        let hasServer = (try? Tools.call(["python3", "-c", "import moto.server"])) != nil
        return hasServer ? nil : "the S3 server is missing: pip install 'moto[server]'"
    }

    /// Kills uploads, then makes one whole and imports it.
    ///
    /// - Returns: How often an incomplete archive became an object.
    func run() throws -> Int {
        if let reason = Self.whyMissing {
            print("skipped: \(reason)")
            return 0
        }
        try source.makeDirectory()
        try Tools.call([
            "sh", "-c", "head -c \(Self.megabytes)000000 /dev/urandom > \"$0\"/noise", source.text,
        ])
        try Tools.call([tools.migrate, "export", "--container", source.text, "--out", whole.text])
        let server = try Server(in: tools.scratch)
        defer { server.stop() }
        try server.call(["s3", "mb", "s3://proof"])
        let size = try Int(whole.status().st_size)

        try checkPipeOfShell(server)
        var (cut, late, failed) = (0, 0, 0)
        while cut < kills {
            let key = "killed-\(cut + late)"
            try killOnce(writing: key, server, at: Int.random(in: 0..<size))
            switch try server.size(of: key) {
            case nil: cut += 1
            case size: late += 1
            case let other?:
                print("\(key): an object of \(other) bytes instead of \(size)")
                (cut, failed) = (cut + 1, failed + 1)
            }
        }
        print(
            "killed uploads: no object \(cut - failed), whole before it \(late), failed \(failed)"
        )
        return failed + (try moveWhole(server) ? 0 : 1)
    }

    /// Shows the failure that this proof looks for: a shell pipe publishes a cut archive.
    private func checkPipeOfShell(_ server: Server) throws {
        let upload = "head -c 300000 \"$0\" | aws s3 cp --only-show-errors - s3://proof/pipe"
        try Tools.call(["sh", "-c", upload, whole.text], environment: server.environment)
        guard let size = try server.size(of: "pipe") else {
            throw ProofError("a pipe of the shell leaves no object, so nothing is shown here")
        }
        print("a pipe of the shell, cut after 300000 bytes: an object of \(size) bytes")
    }

    /// Kills an export, its guard or its process group once it has written so many bytes.
    private func killOnce(writing key: String, _ server: Server, at bytes: Int) throws {
        let process = Process()
        process.executableURL = URL(filePath: tools.migrate)
        process.arguments = [
            "export", "--container", source.text, "--quiet", "--out-command",
            "aws s3 cp --only-show-errors --expected-size {bytes} - s3://proof/\(key)",
        ]
        process.environment = ProcessInfo.processInfo.environment.merging(server.environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        let number = process.processIdentifier
        while process.isRunning, Self.writtenBytes(of: number) < bytes { usleep(500) }
        switch Int.random(in: 0..<3) {
        case 0: kill(number, SIGKILL)
        case 1: for child in Tools.children(of: number) { kill(child, SIGKILL) }
        default:
            // Without a group of its own, only it is killed.
            let group = getpgid(number) == number ? -number : number
            kill(group, SIGKILL)
        }
        process.waitUntilExit()
        try waitForClients(of: key)
    }

    private static func writtenBytes(of process: pid_t) -> Int {
        let text = try? String(contentsOfFile: "/proc/\(process)/io", encoding: .utf8)
        let line = text?.split(separator: "\n").first { $0.hasPrefix("wchar: ") }
        return line.flatMap { Int($0.dropFirst(7)) } ?? 0
    }

    /// Waits until no client names the key on its command line.
    private func waitForClients(of key: String) throws {
        for _ in 0..<10_000 {
            let processes = try FileManager.default.contentsOfDirectory(atPath: "/proc")
            let isDone = processes.allSatisfy { process in
                guard pid_t(process) != nil else { return true }
                let words = try? String(contentsOfFile: "/proc/\(process)/cmdline", encoding: .utf8)
                return words?.hasSuffix("s3://proof/\(key)\0") != true
            }
            if isDone { return }
            usleep(1000)
        }
        throw ProofError("a client is left that uploads \(key)")
    }

    /// Uploads a whole archive and imports it from the server; returns whether the same tree came out.
    private func moveWhole(_ server: Server) throws -> Bool {
        let copy = tools.scratch / "copy"
        let up = try tools.run(
            [
                "export", "--container", source.text, "--out-command",
                "aws s3 cp --only-show-errors --expected-size {bytes} - s3://proof/whole",
            ],
            environment: server.environment
        )
        let down = try tools.run(
            [
                "import", "--in-command", "aws s3 cp --only-show-errors s3://proof/whole -",
                "--container", copy.text,
            ],
            environment: server.environment
        )
        guard up.code == 0, down.code == 0 else {
            print("a whole upload: \(up.description), \(down.description)")
            return false
        }
        let difference = try Container.contents(of: copy)
            .differences(from: Container.contents(of: source))
        print(
            "a whole upload and its import: \(difference.isEmpty ? "the same tree" : "different")"
        )
        return difference.isEmpty
    }
}

/// An S3 server on the loopback.
private struct Server {
    private let process = Process()
    private let port: Int

    init(in scratch: BytePath) throws {
        let report = scratch / "port"
        let program = """
            import sys, time
            from moto.server import ThreadedMotoServer
            server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
            server.start()
            port = server.get_host_and_port()[1]
            open(sys.argv[1] + ".new", "w").write(str(port))
            import os; os.rename(sys.argv[1] + ".new", sys.argv[1])
            time.sleep(1 << 30)
            """
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", "-c", program, report.text]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        for _ in 0..<600 where process.isRunning && !report.exists { usleep(100_000) }
        guard report.exists,
            let port = Int(String(decoding: try report.contents(), as: UTF8.self))
        else {
            process.terminate()
            throw ProofError("the S3 server doesn't start")
        }
        self.port = port
    }

    func stop() { kill(process.processIdentifier, SIGKILL) }

    /// The client's settings to reach it.
    var environment: [String: String] {
        [
            "AWS_ACCESS_KEY_ID": "proof", "AWS_SECRET_ACCESS_KEY": "proof",
            "AWS_DEFAULT_REGION": "us-east-1", "AWS_ENDPOINT_URL": "http://127.0.0.1:\(port)",
        ]
    }

    @discardableResult
    func call(_ words: [String]) throws -> String {
        try Tools.call(["aws"] + words, environment: environment)
    }

    /// The bytes of an object; `nil` if there is none.
    func size(of key: String) throws -> Int? {
        let list = try call([
            "s3api", "list-objects-v2", "--bucket", "proof", "--prefix", key, "--output", "json",
        ])
        let value = try? JSONSerialization.jsonObject(with: Data(list.utf8))
        let contents = (value as? [String: Any])?["Contents"] as? [[String: Any]]
        return contents?.first { $0["Key"] as? String == key }?["Size"] as? Int
    }
}
