import Foundation
import Glibc
import TestTrees

/// An SSH server on the loopback that accepts only the user of this process, and a client that
/// knows it.
///
/// Everything that belongs to them lies in one directory.
struct SecureShell {
    private let place: BytePath
    /// The shell that started the server, and kills it once its input ends, as it does with this process.
    private let keeper = Process()
    private let life = Pipe()
    private let port: UInt16

    /// Why no server can be started here; `nil` if one can.
    static var whyMissing: String? {
        if serverPath == nil { return "the server 'sshd' is missing: install openssh-server" }
        return ["ssh", "ssh-keygen"].first { !Tools.has($0) }.map {
            "the program '\($0)' is missing"
        }
    }

    /// It starts itself again, and so must be started by its path.
    private static var serverPath: String? {
        let search = "PATH=$PATH:/usr/sbin:/sbin:/usr/local/sbin command -v sshd"
        guard let answer = try? Tools.call(["sh", "-c", search]) else { return nil }
        return answer.trimmingCharacters(in: .newlines)
    }

    init(in place: BytePath) throws {
        self.place = place
        try place.makeDirectory()
        port = try Self.freePort()
        guard let server = Self.serverPath else { throw ProofError("there is no 'sshd'") }
        for key in ["host-key", "key"] {
            try Tools.call(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path(key)])
        }
        try FileManager.default.copyItem(atPath: path("key.pub"), toPath: path("authorized"))
        try (place / "server.conf").write(serverSettings)
        let hostKey = String(decoding: try (place / "host-key.pub").contents(), as: UTF8.self)
        try (place / "known-hosts").write("[127.0.0.1]:\(port) \(hostKey)")
        try (place / "client.conf").write(clientSettings)
        let client = try Tools.call(["sh", "-c", "command -v ssh"])
        try (place / "bin").makeDirectory()
        // It notes how many bytes it sent.
        try (place / "bin/ssh").write(
            """
            #!/bin/sh
            exec \(client.trimmingCharacters(in: .newlines)) -F '\(path("client.conf"))' -v -E "$SSH_LOG" "$@"

            """
        )
        try (place / "bin/ssh").setMode(0o755)
        // Root's server needs a directory that otherwise only the service makes.
        if getuid() == 0, mkdir("/run/sshd", 0o755) != 0, errno != EEXIST {
            throw CallFailure("mkdir /run/sshd")
        }
        let script = """
            "$0" -D -f "$1" -E "$2" </dev/null >/dev/null 2>&1 &
            read -r line
            kill $!
            """
        keeper.executableURL = URL(filePath: "/bin/sh")
        keeper.arguments = ["-c", script, server, path("server.conf"), path("server.log")]
        keeper.standardInput = life
        try keeper.run()
        try waitUntilItAnswers()
    }

    private var serverSettings: String {
        """
        ListenAddress 127.0.0.1
        Port \(port)
        HostKey \(path("host-key"))
        AuthorizedKeysFile \(path("authorized"))
        PidFile none
        StrictModes no
        UsePAM no
        PermitRootLogin prohibit-password
        PasswordAuthentication no
        KbdInteractiveAuthentication no
        MaxStartups 100

        """
    }

    private var clientSettings: String {
        """
        IdentityFile \(path("key"))
        IdentitiesOnly yes
        UserKnownHostsFile \(path("known-hosts"))
        StrictHostKeyChecking yes
        BatchMode yes

        """
    }

    private func path(_ name: String) -> String { (place / BytePath(name)).text }

    /// A port that nobody uses now.
    private static func freePort() throws -> UInt16 {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard socket >= 0 else { throw CallFailure("socket") }
        defer { close(socket) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(socket, address, size) == 0 ? getsockname(socket, address, &size) : -1
            }
        }
        guard result == 0 else { throw CallFailure("bind") }
        return UInt16(bigEndian: address.sin_port)
    }

    private func waitUntilItAnswers() throws {
        for _ in 0..<100 where keeper.isRunning {
            let log = path("first.log")
            let words = ["ssh", "-p", "\(port)", "127.0.0.1", "true"]
            if (try? Tools.call(words, environment: environment(log: log))) != nil { return }
            usleep(100_000)
        }
        stop()
        let log = try? (place / "server.log").contents()
        throw ProofError("sshd lets nobody in: \(String(decoding: log ?? Data(), as: UTF8.self))")
    }

    func stop() {
        // It can only fail if it is closed already.
        try? life.fileHandleForWriting.close()
        keeper.waitUntilExit()
    }

    /// The environment in which a program finds the client, whose log goes to the file `log`.
    func environment(log: String) -> [String: String] {
        let search = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        return ["PATH": "\(path("bin")):\(search)", "SSH_LOG": log]
    }

    /// The URL of a file; its path needs no escapes.
    func url(of file: BytePath) -> String { "ssh://127.0.0.1:\(port)\(file.text)" }

    /// The bytes that a client sent, according to its log; `nil` if it was killed.
    static func sentBytes(log: BytePath) throws -> Int? {
        let text = String(decoding: try log.contents(), as: UTF8.self)
        guard let range = text.range(of: "Transferred: sent ") else { return nil }
        return Int(text[range.upperBound...].prefix { $0.isNumber })
    }

    /// The processes in which the server serves its clients.
    var sessions: [pid_t] {
        Tools.children(of: keeper.processIdentifier).flatMap(Tools.children(of:))
    }
}
