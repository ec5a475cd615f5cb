import Foundation
import MigrationHosting
import TestSupport
import Testing

@testable import migrate

/// The flags that name an app's extension and its terms.
@Suite(.scratchDirectory)
struct ExtensionFlagsTests {
    private static let export = ["export", "--container", "c", "--out", "o"]
    private static let hosted = export + ["--extension", "x"]
    private static let imports = ["import", "a", "--container", "c"]

    private func command<Value: Command>(_ words: [String], as type: Value.Type) throws -> Value {
        guard case .command(let command) = try Invocation(words.map { [UInt8]($0.utf8) }) else {
            throw UsageError("help")
        }
        return try #require(command as? Value)
    }

    private func message(of words: [String]) -> String? {
        let error = #expect(throws: UsageError.self) {
            _ = try Invocation(words.map { [UInt8]($0.utf8) })
        }
        return error?.message
    }

    @Test func `reads every term of an export`() throws {
        let words =
            Self.hosted + [
                "--source-platform", "iOS", "--destination-platform", "visionOS", "--no-group", "i",
                "--no-group=j", "--entitlements", "e.plist", "--group", "g=/one",
                "--group", "h=two", "--hang-timeout", "0.5", "--grace-period", "86400",
                "--temporary-space", "500M", "--memory-limit", "12345",
                "--require-sandbox", "--option", "theme=dark=er", "--option=empty=",
            ]
        let export = try command(words, as: ExportCommand.self)
        let here = FileManager.default.currentDirectoryPath
        let terms = export.content.appExtension
        #expect(terms.executable == here + "/x")
        let hosted = try #require(terms.appExtension)
        #expect(hosted.entitlements?.path == here + "/e.plist")
        #expect(hosted.applicationGroups.mapValues(\.path) == ["g": "/one", "h": here + "/two"])
        #expect(hosted.omittedGroups == ["i", "j"])
        #expect(hosted.hangTimeout == .milliseconds(500))
        #expect(hosted.gracePeriod == .seconds(86_400))
        #expect(hosted.temporarySpace == 500 << 20)
        #expect(hosted.memoryLimit == 12_345)
        #expect(hosted.confinement == .required)
        #expect(export.content.exportOptions.platform == .iOS)
        #expect(export.content.exportOptions.destinationPlatform.rawValue == "visionOS")
        #expect(
            export.content.exportOptions.destinationOptions
                == ["theme": Data("dark=er".utf8), "empty": Data()]
        )
    }

    @Test(arguments: [
        ("1", 1), ("64K", 64 << 10), ("3M", 3 << 20), ("8G", 8 << 30),
        ("9223372036854775807", UInt64(Int64.max)),
    ])
    func `reads a number of bytes`(_ value: String, _ bytes: UInt64) throws {
        let words = Self.hosted + ["--memory-limit", value]
        let terms = try command(words, as: ExportCommand.self).content.appExtension
        #expect(terms.appExtension?.memoryLimit == bytes)
    }

    @Test(arguments: ["", "0", "0G", "G", "-1", "1.5G", "1 G", "1k", "8589934592G", "1T"])
    func `refuses what is no number of bytes`(_ value: String) {
        for option in ["memory-limit", "temporary-space"] {
            let message = message(of: Self.hosted + ["--\(option)", value])
            #expect(message?.contains("'--\(option)'") == true)
            #expect(message?.contains("like 500M or 2G") == true)
        }
    }

    @Test func `passes the terms on, and leaves the rest to the library`() throws {
        let words = Self.hosted + ["--group", "g=/one", "--hang-timeout", "2", "--no-sandbox"]
        let terms = try command(words, as: ExportCommand.self).content.appExtension
        let hosted = try #require(terms.appExtension)
        #expect(hosted.applicationGroups.mapValues(\.path) == ["g": "/one"])
        #expect(hosted.hangTimeout == .seconds(2))
        #expect(hosted.gracePeriod == .seconds(5))
        #expect(hosted.temporarySpace == 1 << 30)
        #expect(hosted.memoryLimit == nil)
        #expect(hosted.confinement == MigrationExtension.ConfinementPolicy.none)
        #expect(hosted.entitlements == nil)
    }

    @Test func `tells the source's platform from the destination's`() throws {
        let plain = try command(Self.export + ["--source-platform", "iOS"], as: ExportCommand.self)
        #expect(plain.content.appExtension.appExtension == nil)
        #expect(plain.content.exportOptions.platform == .iOS)
        #expect(
            message(of: Self.hosted + ["--platform", "iOS"])?.hasPrefix(
                "unknown option '--platform'"
            )
                ?? false
        )
        let hosted = try command(Self.hosted, as: ExportCommand.self)
        #expect(hosted.content.exportOptions.platform == nil)
        #expect(hosted.content.exportOptions.destinationPlatform == .android)
    }

    @Test func `reads where an import's data comes from`() throws {
        let words =
            Self.imports + [
                "--extension", "/x", "--source-app", "b", "--source-platform", "android",
                "--source-store", "shop", "--source-version", "3",
            ]
        let command = try command(words, as: ImportCommand.self)
        #expect(command.appExtension.executable == "/x")
        #expect(command.options.source.bundleIdentifier == "b")
        #expect(command.options.source.platform == .android)
        #expect(command.options.source.store?.rawValue == "shop")
        #expect(command.options.source.version == "3")
    }

    @Test func `reads the values of options from files`() throws {
        let place = try Workplace()
        try place.write([0, 0xFF, 0x0A], to: "value")
        let words = Self.hosted + ["--option", "a=@" + place.path("value"), "--option", "b=@@x"]
        let options = try command(words, as: ExportCommand.self).content.exportOptions
            .destinationOptions
        #expect(options == ["a": Data([0, 0xFF, 0x0A]), "b": Data("@x".utf8)])
    }

    @Test(arguments: [
        ("@nothing", "can't be read: No such file or directory (open)"),
        ("@.", "is not a regular file"),
        ("@fifo", "is not a regular file"),
        ("@", "can't be read: No such file or directory (open)"),
    ])
    func `names a value that can't be read`(_ value: String, _ problem: String) throws {
        let place = try Workplace()
        try place.shell("mkfifo fifo")
        let path = value.count == 1 ? "" : place.path(String(value.dropFirst()))
        let message = message(of: Self.hosted + ["--option", "a=@\(path)"])
        #expect(message == "option '--option': '\(path)' \(problem)")
    }

    @Test func `bounds the values of options`() throws {
        let place = try Workplace()
        try place.shell("truncate -s 3M most; truncate -s 5M over")
        let surplus = "the values of option '--option' hold more than 4 MiB"
        let most = "=@" + place.path("most")
        #expect(throws: Never.self) {
            try command(Self.hosted + ["--option", "a" + most], as: ExportCommand.self)
        }
        for words in [
            ["--option=a\(most)", "--option=b\(most)"], ["--option=a=@\(place.path("over"))"],
        ] {
            #expect(message(of: Self.hosted + words) == surplus)
        }
    }

    @Test(arguments: [
        "--option=a=b", "--group=a=b", "--no-group=a", "--destination-platform=p",
        "--entitlements=e", "--hang-timeout=1", "--grace-period=1",
        "--no-sandbox", "--require-sandbox",
    ])
    func `needs an extension for its terms`(_ word: String) {
        let name = word.split(separator: "=")[0]
        #expect(message(of: Self.export + [word]) == "option '\(name)' needs option '--extension'")
    }

    @Test(arguments: [
        "--source-app=a", "--source-platform=a", "--source-store=a", "--source-version=a",
        "--group=a=b", "--require-sandbox",
    ])
    func `needs an extension to tell the source`(_ word: String) {
        let name = word.split(separator: "=")[0]
        #expect(message(of: Self.imports + [word]) == "option '\(name)' needs option '--extension'")
    }

    @Test(arguments: [
        "--resources-version=2", "--no-compress", "--include-caches", "--exclude=a",
    ])
    func `leaves to the extension what it decides`(_ word: String) {
        let name = word.split(separator: "=")[0]
        #expect(
            message(of: Self.hosted + [word])
                == "option '\(name)' can't be given with '--extension'"
        )
        #expect(throws: Never.self) { try command(Self.export + [word], as: ExportCommand.self) }
    }

    @Test(arguments: [
        (["--option", "a"], "the value 'a' of option '--option' is not of the form name=value"),
        (["--option", "=a"], "the value '=a' of option '--option' is not of the form name=value"),
        (["--option=a=1", "--option=a=2"], "option '--option' is given twice for 'a'"),
        (["--group", "a"], "the value 'a' of option '--group' is not of the form id=dir"),
        (["--group", "=a"], "the value '=a' of option '--group' is not of the form id=dir"),
        (["--group", "a="], "the value 'a=' of option '--group' is not of the form id=dir"),
        (["--group=a=1", "--group=a=2"], "option '--group' is given twice for 'a'"),
        (
            ["--group=a=1", "--no-group=a"],
            "the app group 'a' is given by '--group' and by '--no-group'"
        ),
        (["--no-group="], "option '--no-group' has an empty value"),
        (
            ["--require-sandbox", "--no-sandbox"],
            "option '--no-sandbox' can't be given with '--require-sandbox'"
        ),
        (["--entitlements="], "option '--entitlements' has an empty value"),
        (["--extension="], "option '--extension' is given twice"),
    ])
    func `names terms that can't be`(_ words: [String], _ expected: String) {
        #expect(message(of: Self.hosted + words) == expected)
    }

    @Test(arguments: ["", ".", "0", "0.0", "-1", "+1", "1s", "1e3", "nan", "86400.1", "1.2.3", "٣"])
    func `refuses what is no duration`(_ value: String) {
        for name in ["--hang-timeout", "--grace-period"] {
            let expected =
                "the value '\(value)' of option '\(name)' is not a number of seconds over 0 "
                + "and at most 86,400"
            #expect(message(of: Self.hosted + ["\(name)=\(value)"]) == expected)
        }
    }

    @Test(arguments: [
        ([], "option '--extension <path>' is missing"),
        (["--extension", "x", "--option", "a=b"], "unknown option '--option'"),
        (["--extension="], "option '--extension' has an empty value"),
    ])
    func `needs an extension to ask`(_ words: [String], _ expected: String) {
        let message = message(of: ["preflight", "--container", "c"] + words)
        #expect(message?.hasPrefix(expected) ?? false, "\(message ?? "")")
    }

    @Test func `reads every option of a preflight`() throws {
        let words = [
            "preflight", "--container", "c", "--extension", "/x", "--rehearse-cancellation",
            "--json", "--bundle-id", "b", "--grace-period", "1",
        ]
        let preflight = try command(words, as: PreflightCommand.self)
        #expect(preflight.appExtension.executable == "/x")
        #expect(preflight.appExtension.appExtension?.gracePeriod == .seconds(1))
        #expect(preflight.rehearsesCancellation && preflight.common.answersInJSON)
        #expect(preflight.bundleIdentifier == "b")
    }
}
