import Foundation
import Glibc
import TestSupport
import Testing

/// The prompts of `--passphrase` at a terminal.
@Suite(.scratchDirectory, .enabled(if: Machine.has("setsid"), "setsid is not installed"))
struct PassphrasePromptTests {
    let place: Workplace
    private let terminal: Terminal

    init() throws {
        place = try Workplace()
        try place.makeContainer()
        terminal = try Terminal()
    }

    private static let export = "export --container source --out archive --passphrase"

    /// Starts `migrate` with the terminal as its controlling one.
    private func start(_ words: String) throws -> MigrateCommand {
        let script = "cd \"$0\" && exec setsid -c -w \"$migrate\" \(words) <\(terminal.path)"
        return try MigrateCommand.start(
            ["-c", script, place.directory.path].map { [UInt8]($0.utf8) },
            program: "/bin/sh",
            environment: ["migrate": MigrateCommand.path]
        )
    }

    @Test func `asks twice for a new one, once for an old one, and shows neither`() throws {
        let export = try start(Self.export)
        try terminal.answer("Passphrase: ", with: "correct horse\n")
        try terminal.answer("Repeat the passphrase: ", with: "correct horse\n")
        let exported = try export.wait()
        #expect(exported.exitCode == 0, "\(exported.errors)")
        #expect(try terminal.isShowing)
        let imported = try start("import archive --container target --passphrase")
        try terminal.answer("Passphrase: ", with: "correct horse\n")
        let result = try imported.wait()
        #expect(result.exitCode == 0, "\(result.errors)")
        #expect(place.exists("target/Documents/numbers"))
        try terminal.readRest()
        #expect(terminal.shown == "Passphrase: \r\nRepeat the passphrase: \r\nPassphrase: \r\n")
        #expect(try terminal.isShowing)
    }

    @Test func `makes no archive where the two differ`() throws {
        let export = try start(Self.export)
        try terminal.answer("Passphrase: ", with: "correct horse\n")
        try terminal.answer("Repeat the passphrase: ", with: "correct house\n")
        let result = try export.wait()
        #expect(result.exitCode == 64)
        #expect(result.errors.contains("the two passphrases differ"))
        #expect(!result.errors.contains("horse"))
        #expect(!place.exists("archive"))
        #expect(try terminal.isShowing)
    }

    @Test func `an empty one is refused`() throws {
        let export = try start(Self.export)
        try terminal.answer("Passphrase: ", with: "\n")
        let result = try export.wait()
        #expect(result.exitCode == 64, "\(result.errors)")
        #expect(!place.exists("archive"))
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `shows what is typed again where it is interrupted`(_ signal: Int32) throws {
        let export = try start(Self.export)
        try terminal.wait(for: "Passphrase: ")
        #expect(try !terminal.isShowing)
        if signal == SIGINT {
            // The key of the terminal, not only the signal.
            try terminal.type("\u{3}")
        } else {
            export.send(signal)
        }
        let result = try export.wait()
        #expect(result.exitCode == 128 + signal, "\(result.errors)")
        #expect(try terminal.isShowing)
        #expect(!place.exists("archive"))
    }
}

/// A terminal whose keyboard and screen are the test.
private final class Terminal {
    /// The terminal's other end, for the program that runs in it.
    let path: String

    /// Everything that was on the screen.
    private(set) var shown = ""

    private let keyboard: FileHandle
    private let held: FileHandle
    private var seen = ""

    // TIOCSPTLCK and TIOCGPTN, on which the C library's functions are built (ioctl_tty(2)).
    private static let lock: UInt = 0x4004_5431
    private static let number: UInt = 0x8004_5430

    init() throws {
        let number = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        try #require(number >= 0)
        keyboard = FileHandle(fileDescriptor: number, closeOnDealloc: true)
        var (isLocked, name): (CInt, CUnsignedInt) = (0, 0)
        let isOpen =
            ioctl(number, Self.lock, &isLocked) == 0 && ioctl(number, Self.number, &name) == 0
        try #require(isOpen)
        path = "/dev/pts/\(name)"
        // It keeps its state while somebody has it open.
        let other = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        try #require(other >= 0)
        held = FileHandle(fileDescriptor: other, closeOnDealloc: true)
    }

    /// Whether the terminal echoes.
    var isShowing: Bool {
        get throws {
            var state = termios()
            try #require(tcgetattr(held.fileDescriptor, &state) == 0)
            return state.c_lflag & tcflag_t(ECHO) != 0
        }
    }

    func type(_ text: String) throws {
        try keyboard.write(contentsOf: Data(text.utf8))
    }

    /// Waits for `prompt`, and types.
    func answer(_ prompt: String, with text: String) throws {
        try wait(for: prompt)
        try type(text)
    }

    /// Waits until `prompt` is on the screen, after the text that was waited for before.
    func wait(for prompt: String) throws {
        while !seen.contains(prompt) { try #require(read(within: 60_000), "\(shown)") }
        seen = ""
    }

    /// Reads what is on the screen already.
    func readRest() throws {
        while read(within: 100) {}
    }

    private func read(within milliseconds: Int32) -> Bool {
        var request = pollfd(fd: keyboard.fileDescriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&request, 1, milliseconds) == 1 else { return false }
        let text = String(decoding: keyboard.availableData, as: UTF8.self)
        shown += text
        seen += text
        return !text.isEmpty
    }
}
