internal import Foundation
internal import MigrationSystem

/// A program that keeps keys for age, such as one for a hardware key (C2SP, age-plugin.md).
///
/// Its name comes from an identity or a recipient that the user gave, never from an archive.
struct AgePlugin: Sendable, Hashable {
    let name: String

    private static let identityStart = "age-plugin-"

    /// Makes the plugin of an identity, `AGE-PLUGIN-<NAME>-1…`; `nil` for any other text.
    init?(identity text: ArraySlice<UInt8>) {
        guard text.starts(with: "AGE-PLUGIN-".utf8),
            let end = text.lastIndex(of: UInt8(ascii: "1"))
        else { return nil }
        let start = String(decoding: text[..<end], as: UTF8.self).lowercased()
        guard start.hasSuffix("-"), Bech32.decode(text, name: start) != nil else { return nil }
        self.init(name: String(start.dropFirst(Self.identityStart.count).dropLast()))
    }

    /// Makes the plugin of a recipient, `age1<name>1…`; `nil` for any other text.
    init?(recipient text: String) {
        let bytes = [UInt8](text.utf8)[...]
        guard text.hasPrefix("age1"), let end = bytes.lastIndex(of: UInt8(ascii: "1")), end > 4,
            Bech32.decode(bytes, name: String(decoding: bytes[..<end], as: UTF8.self)) != nil
        else { return nil }
        self.init(name: String(decoding: bytes[4..<end], as: UTF8.self))
    }

    private init?(name: String) {
        let isName = name.utf8.allSatisfy { byte in
            let character = Character(UnicodeScalar(byte))
            return byte < 0x80
                && (character.isLetter || character.isNumber || "+-._".contains(character))
        }
        guard !name.isEmpty, isName else { return nil }
        self.name = name
    }

    /// The plugin's program in the absolute directories of `PATH`.
    fileprivate func program() throws(ArchiveError) -> BytePath {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        for directory in path.split(separator: ":") where directory.hasPrefix("/") {
            let place = BytePath("\(directory)/age-plugin-\(name)")
            // A file that can't be opened can't be run.
            guard let file = try? FileDescriptor.openFollowingLinks(place, .reading),
                let status = try? file.status(), status.kind == .regular,
                status.permissions & 0o111 != 0
            else { continue }
            return place
        }
        throw ArchiveError(
            .keyInvalid,
            "the program 'age-plugin-\(name)' of the key is in none of the absolute directories of PATH"
        )
    }

    /// Wraps `fileKey` for `recipient`, a key of this plugin.
    func wrap(
        _ fileKey: Secret,
        for recipient: String,
        on operation: MigrationOperation
    ) throws -> [AgeStanza] {
        let conversation = try AgePluginConversation(with: self, as: "recipient-v1", on: operation)
        try conversation.send(["add-recipient", recipient])
        var body = unsafe fileKey.withBytes { unsafe Array($0) }
        defer { Secret.wipe(&body) }
        try conversation.send(["wrap-file-key"], body: body)
        try conversation.send(["done"])
        var stanzas: [AgeStanza] = []
        try conversation.answer { stanza in
            guard stanza.kind == "recipient-stanza", stanza.arguments.count > 2,
                stanza.arguments[1] == "0",
                ![ScryptStanza.kind, X25519.kind].contains(stanza.arguments[2])
            else { return false }
            stanzas.append(
                AgeStanza(arguments: Array(stanza.arguments.dropFirst(2)), body: stanza.body)
            )
            return true
        }
        guard !stanzas.isEmpty else {
            throw conversation.failure(.keyInvalid, "did not encrypt for '\(recipient)'")
        }
        return stanzas
    }

    /// Unwraps the file key in one of `stanzas` with one of `identities`; `nil` if none fits.
    func unwrap(
        _ stanzas: [AgeStanza],
        with identities: [Secret],
        on operation: MigrationOperation
    ) throws -> Secret? {
        let conversation = try AgePluginConversation(with: self, as: "identity-v1", on: operation)
        for identity in identities {
            let text = unsafe identity.withBytes { unsafe String(decoding: $0, as: UTF8.self) }
            try conversation.send(["add-identity", text])
        }
        for stanza in stanzas {
            try conversation.send(["recipient-stanza", "0"] + stanza.arguments, body: stanza.body)
        }
        try conversation.send(["done"])
        var fileKey: Secret?
        try conversation.answer { stanza in
            guard stanza.kind == "file-key", stanza.arguments.dropFirst().first == "0",
                stanza.body.count == 16
            else { return false }
            fileKey = fileKey ?? Secret(copying: stanza.body[...])
            return true
        }
        if fileKey == nil, conversation.hasFailed {
            throw conversation.failure(.keyRefused, "did not open the archive")
        }
        return fileKey
    }
}

/// A conversation with a plugin, whose time and output are limited.
private final class AgePluginConversation {
    /// The time limit for one archive: a person may have to touch a key.
    private static let timeLimit = 120.0
    private static let outputLimit = 1 << 20

    private let name: String
    private let process: PipedProcess
    private let operation: MigrationOperation
    /// Raised with that of the operation, and when the time is over.
    private let ending: CancellationFlag
    /// Ends waits for the plugin, whose own processes may outlive it.
    private let event: CancellationEvent
    private var input: OpenFile?
    private var ahead: [UInt8] = []
    private var outputCount = 0
    private var errors: [String] = []

    init(
        with plugin: AgePlugin,
        as machine: String,
        on operation: MigrationOperation
    ) throws(ArchiveError) {
        let program = try plugin.program()
        let ending = CancellationFlag(following: operation.cancellation)
        (name, self.operation, self.ending) = (plugin.name, operation, ending)
        do throws(SystemError) {
            event = try CancellationEvent(of: ending)
            process = try PipedProcess.start([
                program.bytes, [UInt8]("--age-plugin=\(machine)".utf8),
            ])
            input = OpenFile(try process.openInput())
            let process = process
            try SystemThread.start(named: "migrate plugin") {
                if process.ending(within: Self.timeLimit) == nil { ending.cancel() }
            }
            try SystemThread.start(named: "migrate plugin") { _ = process.wait(unless: ending) }
        } catch {
            throw ArchiveError(.keyInvalid, "the age plugin '\(name)' can't be run", cause: error)
        }
    }

    deinit {
        input = nil
        process.closeInput()
        _ = process.ending(within: 1)
        process.end()
    }

    var hasFailed: Bool { !errors.isEmpty }

    func failure(_ code: ArchiveError.Code, _ problem: String) -> any Error {
        if operation.isCancelled { return CancellationError() }
        let limit = Int(Self.timeLimit)
        let what = ending.isCancelled ? "was not done after \(limit) seconds" : problem
        let reasons = (errors + process.printedLines.suffix(3)).map { PrintableText.escaping($0) }
        let reason = reasons.isEmpty ? "" : ": " + reasons.joined(separator: "; ")
        return ArchiveError(code, "the age plugin '\(name)' \(what)\(reason)")
    }

    func send(_ words: [String], body: [UInt8] = []) throws {
        var bytes = AgeStanza(arguments: words, body: body).encoded
        defer { Secret.wipe(&bytes) }
        do {
            try input?.descriptor.writeAll(bytes.span, unless: event)
        } catch {
            throw failure(.keyRefused, "ended early")
        }
    }

    /// Answers the plugin's messages until it is done; `take` handles the stanzas of this phase.
    func answer(_ take: (AgeStanza) -> Bool) throws {
        while true {
            let stanza = try receive()
            if stanza.kind == "done" { return }
            if take(stanza) {
                try send(["ok"])
                continue
            }
            let text = String(decoding: stanza.body, as: UTF8.self)
            switch stanza.kind {
            case "error":
                errors.append(text)
                try send(["ok"])
            case "msg":
                tell(text)
                try send(["ok"])
            case "request-secret", "request-public":
                guard var secret = ask(text) else {
                    try send(["fail"])
                    continue
                }
                defer { Secret.wipe(&secret) }
                try send(["ok"], body: secret)
            case "confirm":
                let answer = ask(text + " (y/n)")
                try send(
                    answer.map { ["ok", $0.first == UInt8(ascii: "y") ? "yes" : "no"] } ?? ["fail"]
                )
            default: try send(["unsupported"])
            }
        }
    }

    /// Asks at the terminal; `nil` without one.
    private func ask(_ text: String) -> [UInt8]? {
        let prompt = "age-plugin-\(name): \(PrintableText.escaping(text)): "
        // The reason makes no difference: there is no answer.
        let line = try? SecretInput.line(
            prompt: prompt,
            limit: 4096,
            cancellation: ending
        )
        return line.flatMap { $0 }.map { $0.last == UInt8(ascii: "\n") ? $0.dropLast() : $0 }
    }

    /// Shows a message at the terminal, if there is one.
    private func tell(_ text: String) {
        let line = [UInt8]("age-plugin-\(name): \(PrintableText.escaping(text))\n".utf8)
        // The reason makes no difference: nobody reads the message.
        try? FileDescriptor.openFollowingLinks("/dev/tty", .writing).writeAll(line.span)
    }

    private func receive() throws -> AgeStanza {
        do {
            return try AgeStanza(from: readLine(), readLine)
        } catch let error as ArchiveError where error.code == .headerDamaged {
            throw failure(.keyRefused, "sent what is not of the protocol")
        }
    }

    private func readLine() throws -> [UInt8] {
        while true {
            if let end = ahead.firstIndex(of: UInt8(ascii: "\n")) {
                let line = Array(ahead[..<end])
                ahead.removeFirst(line.count + 1)
                return line
            }
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count: Int
            do {
                count = try process.output.descriptor.read(
                    into: &buffer,
                    count: buffer.count,
                    unless: event
                )
            } catch {
                throw failure(.keyRefused, "can't be read")
            }
            outputCount += count
            guard count > 0 else { throw failure(.keyRefused, "ended before it was done") }
            guard outputCount <= Self.outputLimit else {
                process.end()
                throw failure(.keyRefused, "sent more than \(Self.outputLimit) bytes")
            }
            ahead += buffer[..<count]
        }
    }
}
