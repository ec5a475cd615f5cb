internal import Foundation
package import MigrationSystem

/// The name of an archive on another host: `ssh://[user@]host[:port]/path`.
///
/// The path is absolute; `/~/path` is relative to the user's login directory there. `%` and two
/// digits stand for a byte (RFC 3986).
package struct SSHLocation: Hashable, Sendable {
    /// The original URL.
    package let url: [UInt8]

    /// The path on the host.
    package let path: BytePath

    private let destination: String
    private let port: UInt16?

    /// Reads a URL; `nil` if it isn't one of this form.
    package init?(url: [UInt8]) {
        let scheme = [UInt8]("ssh://".utf8)
        guard url.starts(with: scheme), !url.contains(0) else { return nil }
        let rest = url[scheme.count...]
        guard let slash = rest.firstIndex(of: UInt8(ascii: "/")),
            let authority = String(validating: rest[..<slash], as: UTF8.self),
            let host = Self.authority(authority[...]),
            var path = Self.decoded(rest[slash...])
        else { return nil }
        if path.starts(with: "/~/".utf8) { path.removeFirst(3) }
        // A directory isn't an archive.
        guard let last = path.last, last != UInt8(ascii: "/") else { return nil }
        self.url = url
        self.path = BytePath(path)
        (destination, port) = host
    }

    /// Splits `[user@]host[:port]`; an IPv6 address is in brackets.
    private static func authority(_ text: Substring) -> (destination: String, port: UInt16?)? {
        let split = text.lastIndex(of: "@")
        let user = split.map { text[..<$0] }
        var host = split.map { text[text.index(after: $0)...] } ?? text
        var port: UInt16?
        let isAddress = host.hasPrefix("[")
        let nameEnd = isAddress ? host.lastIndex(of: "]") : nil
        guard isAddress == (nameEnd != nil) else { return nil }
        if let colon = host[(nameEnd ?? host.startIndex)...].lastIndex(of: ":") {
            guard let number = UInt16(host[host.index(after: colon)...]), number > 0 else {
                return nil
            }
            port = number
            host = host[..<colon]
        }
        if isAddress {
            guard host.last == "]" else { return nil }
            host = host.dropFirst().dropLast()
        }
        // ssh would read such a name as an option.
        let names = [host, user].compactMap(\.self)
        let isSafe = names.allSatisfy { name in
            !name.isEmpty && !name.hasPrefix("-")
                && name.unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value != 0x7F }
        }
        guard isSafe, isAddress || !host.contains(":") else { return nil }
        return (user.map { "\($0)@\(host)" } ?? String(host), port)
    }

    private static func decoded(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard digits.utf8.count == 2, digits.allSatisfy(\.isHexDigit),
                let value = UInt8(digits, radix: 16), value != 0
            else { return nil }
            bytes.append(value)
            rest.removeFirst(2)
        }
        return bytes
    }

    /// Options of ssh that end it about a minute after a host or a network stops responding.
    ///
    /// Otherwise, a network that fails silently would keep it waiting forever.
    private static let silenceLimits = [
        "ConnectTimeout=60", "ServerAliveInterval=15", "ServerAliveCountMax=4",
    ]

    /// The words that run `command` by the shell of the host.
    ///
    /// - Parameters:
    ///   - command: The command.
    ///   - options: Options for ssh's `-o`. They come before all others, because ssh takes the
    ///     first of two values.
    /// - Returns: The program and its arguments.
    func words(running command: [UInt8], options: [[UInt8]]) -> [[UInt8]] {
        let limits = Self.silenceLimits.map { [UInt8]($0.utf8) }
        let port = port.map { ["-p", "\($0)"] } ?? []
        return [[UInt8]("ssh".utf8)] + (options + limits).flatMap { [[UInt8]("-o".utf8), $0] }
            + (port + ["--", destination]).map { [UInt8]($0.utf8) } + [command]
    }

    /// Quotes a word for a shell (POSIX.1-2017, 2.2.2).
    package static func quoting(_ word: [UInt8]) -> [UInt8] {
        let mark = UInt8(ascii: "'")
        return [mark] + word.flatMap { $0 == mark ? [UInt8](#"'\''"#.utf8) : [$0] } + [mark]
    }
}
