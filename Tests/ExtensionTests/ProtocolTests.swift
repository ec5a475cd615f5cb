import Foundation
import MigrationHosting
import TestSupport
import Testing

/// How a host treats a process that breaks the session's protocol.
@Suite(.scratchDirectory)
struct ProtocolTests {
    /// Shell programs that write to the session's socket, and the expected message for each.
    static let rogues: [(String, MigrationError.Code, String)] = [
        (#"printf '\377\377\377\377!' >&3"#, .sessionFailed, "over the limit"),
        (#"printf '\000\000\000\000!' >&3"#, .sessionFailed, "over the limit, or empty"),
        (
            #"printf '\001\000\000\000\143' >&3"#, .sessionFailed,
            "of kind 99 is malformed or unknown"
        ),
        (
            #"printf '\003\000\000\000!{}' >&3"#, .sessionFailed,
            "does not hold a valid ExtensionDescription"
        ),
        (
            #"printf '\005\000\000\000"\001\000\000\000' >&3"#, .sessionFailed,
            "of kind 34 is malformed"
        ),
        (
            #"printf '\012\000\000\000"\001\000\000\000\001\377\377\377\377' >&3"#, .sessionFailed,
            "of kind 34 is malformed"
        ),
        (
            #"printf '\012\000\000\000"\001\000\000\000\001\000\000\000\000' >&3"#, .sessionFailed,
            "unexpected message instead of its description"
        ),
        (
            ShellMessage.sending(#"{"completed":1,"total":100,"fraction":0.01}"#, as: "#"),
            .sessionFailed, "unexpected message"
        ),
        (#"printf '\010\000\000\000\043[1' >&3; exit 0"#, .extensionCrashed, "with code 0"),
        ("exec 3>&-; sleep 0.3; exit 4", .extensionCrashed, "with code 4"),
        ("exec 3>&-; sleep 0.3; kill -ABRT $$", .extensionCrashed, "signal 6"),
        ("exec 3>&-; sleep 60", .extensionCrashed, "closed its connection"),
        (
            "exec 3>&-; i=0; while [ $i -lt 9999 ]; do i=$((i+1)); echo flood; done; exit 5",
            .extensionCrashed, "with code 5"
        ),
        ("exit 5", .extensionCrashed, "with code 5"),
        ("sleep 60", .extensionHung, "hung"),
        ("kill -STOP $$", .extensionHung, "hung"),
        ("exec >&- 2>&-; sleep 60", .extensionHung, "hung"),
        ("trap '' TERM INT HUP; sleep 60", .extensionHung, "hung"),
        ("while :; do echo flood; done", .extensionHung, "hung"),
        ("while :; do echo flood >&2; done", .extensionHung, "hung"),
        ("(setsid sleep 300 &) ; exec 3>&-; exit 6", .extensionCrashed, "with code 6"),
    ]

    /// A program that sends the description `json` of itself, and nothing more.
    private static func script(saying json: String) -> String {
        "\(ShellMessage.sending(json, as: "!"))\nsleep 60"
    }

    @Test(arguments: rogues.indices)
    func `ends the session, with an error that names what was wrong`(_ index: Int) async throws {
        let (script, code, text) = Self.rogues[index]
        let stage = try Stage()
        var rogue = try stage.shell("\(script)\nsleep 60")
        if code == .extensionHung { rogue.hangTimeout = .milliseconds(700) }
        if text.contains("closed") { rogue.gracePeriod = .milliseconds(200) }
        let error = try await stage.failure(of: rogue)
        #expect(error.code == code, "\(error)")
        #expect(error.message.contains(text), "\(error)")
        #expect(error.message.hasPrefix("program "), "\(error)")
        #expect(!stage.archive.exists)
    }

    @Test func `does not wait for ever for a process that reads nothing`() async throws {
        let stage = try Stage()
        let exports =
            #"{"sizeEstimate":0,"resourcesVersion":"1","isCompressible":true,"options":["o"]}"#
        let json = #"{"version":4,"name":"X","imports":false,"exports":\#(exports)}"#
        var rogue = try stage.shell(Self.script(saying: json))
        rogue.hangTimeout = .milliseconds(700)
        var options = ExportOptions()
        options.destinationOptions = ["o": Data(count: 4 << 20)]
        let hosted = rogue
        let error = await #expect(throws: MigrationError.self) {
            try await stage.export(hosted, options: options)
        }
        #expect(error?.code == .extensionHung)
    }

    @Test func `refuses an extension that was built for another version`() async throws {
        let json = #"{"version":99,"name":"X","imports":false}"#
        let stage = try Stage()
        let error = try await stage.failure(of: stage.shell(Self.script(saying: json)))
        #expect(error.code == .sessionFailed)
        #expect(error.message.contains("version 99"))
    }

    @Test func `takes no more of an extension's name than a person reads`() async throws {
        let name = String(repeating: "n", count: 900_000)
        let json = #"{"version":4,"name":"\#(name)","imports":false}"#
        let stage = try Stage()
        let error = try await stage.failure(of: stage.shell(Self.script(saying: json)))
        #expect(error.code == .extensionUnsuitable)
        #expect(error.message.hasPrefix("nnnn"))
        #expect(error.message.hasSuffix("n… does not conform to ResourcesExporting"))
        #expect(error.message.utf8.count < 2_000)
    }

    @Test func `refuses an extension with endless options`() async throws {
        let option = String(repeating: "o", count: 900_000)
        let exports =
            #"{"sizeEstimate":0,"resourcesVersion":"1","isCompressible":true,"options":["\#(option)"]}"#
        let json = #"{"version":4,"name":"X","imports":false,"exports":\#(exports)}"#
        let stage = try Stage()
        let error = try await stage.failure(of: stage.shell(Self.script(saying: json)))
        #expect(error.code == .extensionUnsuitable)
        #expect(error.message == "X has options of more than 8192 bytes")
    }

    @Test(arguments: [("migration", 17), ("archive", 8)])
    func `names the extension in whatever error it sends`(
        _ kind: String,
        _ code: Int
    ) async throws {
        let path = Data(repeating: UInt8(ascii: "p"), count: 600_000).base64EncodedString()
        let json = """
            {"kind":"\(kind)","path":"\(path)","error":{"domain":"d","code":\(code),\
            "description":"\(String(repeating: "t", count: 90_000))"}}
            """
        let exports =
            #"{"sizeEstimate":0,"resourcesVersion":"1","isCompressible":true,"options":[]}"#
        let description = #"{"version":4,"name":"X","imports":false,"exports":\#(exports)}"#
        let stage = try Stage()
        let error = try await stage.failure(
            of: stage.shell(
                """
                \(ShellMessage.sending(description, as: "!"))
                \(ShellMessage.sending(json, as: "%"))
                sleep 60
                """
            )
        )
        #expect("\(error)".hasPrefix("program failed: tttt"))
        #expect("\(error)".utf8.count < 25_000)
    }

    @Test(arguments: [
        ("/nonexistent/program", "there is no such extension"),
        ("/etc/hostname", "can't be started"),
        ("/usr", "is not a program"),
    ])
    func `says why an extension can't be started`(_ path: String, _ text: String) async throws {
        let stage = try Stage()
        var missing = MigrationExtension.executable(at: URL(filePath: path))
        missing.entitlements = stage.entitlements.url
        let error = try await stage.failure(of: missing)
        #expect(error.code == .extensionUnsuitable)
        #expect(error.message.contains(text))
    }
}
