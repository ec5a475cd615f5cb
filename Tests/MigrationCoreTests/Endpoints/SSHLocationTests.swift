import MigrationSystem
import Testing

@testable import MigrationCore

/// The name of an archive on another host.
struct SSHLocationTests {
    private static let limits = [
        "-o", "ConnectTimeout=60", "-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=4",
    ]

    private func words(_ url: String, options: [String] = []) -> [String]? {
        SSHLocation(url: [UInt8](url.utf8))?
            .words(
                running: [UInt8]("command".utf8),
                options: options.map { [UInt8]($0.utf8) }
            )
            .map { String(decoding: $0, as: UTF8.self) }
    }

    private func path(_ url: String) -> [UInt8]? { SSHLocation(url: [UInt8](url.utf8))?.path.bytes }

    @Test(arguments: [
        ("ssh://host/a", ["--", "host", "command"]),
        ("ssh://user@host/a", ["--", "user@host", "command"]),
        ("ssh://user@host:2222/a", ["-p", "2222", "--", "user@host", "command"]),
        ("ssh://a@b@host/a", ["--", "a@b@host", "command"]),
        ("ssh://[fe80::1]:22/a", ["-p", "22", "--", "fe80::1", "command"]),
        ("ssh://user@[::1]/a", ["--", "user@::1", "command"]),
    ])
    func `asks ssh for the host`(_ url: String, _ expected: [String]) {
        #expect(words(url) == ["ssh"] + Self.limits + expected)
    }

    @Test func `gives ssh the options that were asked for before its own`() {
        let words = words("ssh://host/a", options: ["ServerAliveInterval=0", "Compression=yes"])
        let given = ["ssh", "-o", "ServerAliveInterval=0", "-o", "Compression=yes"]
        #expect(words == given + Self.limits + ["--", "host", "command"])
    }

    @Test func `reads the path`() {
        #expect(path("ssh://h/backups/a.migration") == [UInt8]("/backups/a.migration".utf8))
        #expect(path("ssh://h/~/a b") == [UInt8]("a b".utf8))
        #expect(path("ssh://h/~user/a") == [UInt8]("/~user/a".utf8))
        #expect(path("ssh://h/%7e/%c3%FF%2f%25") == [0xC3, 0xFF] + [UInt8]("/%".utf8))
    }

    @Test(arguments: [
        "host:/path", "ssh://host", "ssh://host/", "ssh://host/dir/", "ssh:///path",
        "ssh://@host/a",
        "ssh://-oProxyCommand=x/a", "ssh://-l@host/a", "ssh://ho st/a", "ssh://host:/a",
        "ssh://host:0/a", "ssh://host:65536/a", "ssh://host:-1/a", "ssh://[::1/a", "ssh://::1/a",
        "ssh://[::1]x/a", "ssh://host/%", "ssh://host/%0", "ssh://host/%zz", "ssh://host/%00",
        "ssh://host\n/a", "SSH://host/a", "",
    ])
    func `refuses what is no such name`(_ url: String) {
        #expect(SSHLocation(url: [UInt8](url.utf8)) == nil)
    }

    @Test func `quotes for a shell`() {
        let quoted = SSHLocation.quoting([UInt8]("it's $(x)".utf8))
        #expect(String(decoding: quoted, as: UTF8.self) == #"'it'\''s $(x)'"#)
        #expect(SSHLocation.quoting([]) == [UInt8]("''".utf8))
    }
}
