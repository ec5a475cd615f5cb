import Foundation
import TestSupport
import Testing

/// Names that move a cursor, hide text or aren't valid UTF-8, in everything that is printed.
@Suite(.scratchDirectory)
struct OddNameTests {
    private static let names = [
        #"\033]0;title\007"#, #"a\nmigrate: error: b"#, #"\377\376"#, #"\342\200\256gpj.exe"#,
        #"\302\233 31m"#, #"back\\slash\010"#, #"\342\200\250line"#, #"\177"#, #"\355\240\200"#,
        #"\363\240\200\201tag"#,
    ]

    private static let commands = [
        "export --container \"$odd\" --out \"$odd.out\"",
        "export --container \"$odd\" --out - | cat >&-",
        "inspect \"$odd.out\"", "list \"$odd.out\"", "verify \"$odd.out\"",
        "list \"$odd.out\" --json", "export --container \"$odd\" --out \"$odd.out\" --force --json",
        "import \"$odd.out\" --container \"$odd.to\"",
        "import \"$odd.out\" --container \"$odd.to\" --external-links skip",
        "diff \"$odd.out\" --container \"$odd.to\"",
        "diff \"$odd.out\" --container \"$odd.to\" --json",
        "import \"$odd.out\" --container \"$odd.to\" --external-links keep --json",
        "import \"$odd.out\" --container \"$odd.to\" --external-links keep --replace",
        "import \"$odd.out\" --container \"$odd.two\" --bundle-id \"$odd\"",
        "extract \"$odd.out\" --to \"$odd.x\" \"$odd\"",
        "extract \"$odd.out\" --to \"$odd.x\" --external-links skip",
        "extract \"$odd.out\" --to \"$odd.x\" --external-links skip",
        "extract \"$odd.out\" --to \"$odd.x\" \"../$odd\"",
        "extract \"$odd.out\" --to \"$odd.out/$odd\"",
        "status --container \"$odd.to\"", "status --container \"$odd.to\" --json",
        "status --container \"$odd.none\"", "run --container \"$odd.to\" -- \"$odd\"",
        "inspect \"$odd.none\"", "verify \"$odd\"", "list \"$odd.bad\"",
        "export --container \"$odd.out\" --out \"$odd.none/$odd\"",
        "export --container \"$odd\" --out x --exclude \"/$odd\"", "$odd", "list \"--$odd\"",
        "export --container \"$odd\" --out \"$odd.out\"",
        "export --container \"$odd\" --out \"$odd/o\"",
    ]

    @Test(arguments: names)
    func `are printed without harm`(_ name: String) throws {
        let place = try Workplace()
        let script = Self.commands.map { "echo; $migrate \($0.replacing("$migrate", with: ""))" }
        let result = try place.shell(
            """
            odd=$(printf '\(name)'); exec 2>&1; mkdir "$odd" "$odd/d"; echo x > "$odd/d/$odd"
            ln -s "/$odd" "$odd/$odd"; ln "$odd/d/$odd" "$odd/z"; mkfifo "$odd/pipe$odd"
            echo bad > "$odd.bad"; mkdir -p "$odd/Library/Caches/$odd"
            \(script.joined(separator: "\n"))
            """
        )
        let text = try #require(String(validating: result.standardOutput, as: UTF8.self))
        let harmful = text.unicodeScalars.filter(Self.isHarmful)
        #expect(harmful.isEmpty, "\(harmful.map { String($0.value, radix: 16) }): \(text)")
        let forged = text.split(separator: "\n").filter { $0.hasPrefix("migrate: error: b") }
        #expect(forged.isEmpty)
        #expect(text.contains("\nfingerprint "))
    }

    /// Tar files that each command refuses; the suffix after `tar` describes the entry.
    private static let hostileArchives = [
        #"-P --transform "s,^,../," "$odd""#, #"-P --transform "s,^,/," "$odd""#, #""$odd.fifo""#,
        #""$odd.link""#, #""$odd" "$odd/" "$odd""#, #""$odd.d" --transform "s,d$,d2," "$odd.cut""#,
    ]

    @Test func `are printed without harm from a hostile archive`() throws {
        let place = try Workplace()
        let name = Self.names.joined()
        let commands = [
            "import bad --container \"$odd.to\"", "extract bad --to \"$odd.x\"", "list bad",
            "list bad --json", "inspect bad", "inspect bad --json", "verify bad",
            "verify bad --json", "diff bad --container \"$odd.to\"",
            "extract bad --to \"$odd.x\" \"$odd\"", "status --container \"$odd.to\"",
            "preflight --container \"$odd.to\" --extension \"$odd\"",
            "run --container \"$odd.to\" -- cat \"$odd\"",
        ]
        let archives = Self.hostileArchives.map { "tar --format=pax -cf bad \($0); try" }
        let result = try place.shell(
            """
            odd=$(printf '\(name)'); exec 2>&1; echo x > "$odd"; mkfifo "$odd.fifo"
            ln -s "/$odd" "$odd.link"; mkdir "$odd.d"; head -c 9000 /dev/zero > "$odd.cut"
            try() { \(commands.map { "\"$migrate\" \($0); echo" }.joined(separator: "; ")); }
            { \(archives.joined(separator: "; ")); } 2>&1 | grep -v '^tar: '
            tar -cf bad "$odd.cut"; truncate -s 5000 bad; try
            """
        )
        let text = try #require(String(validating: result.standardOutput, as: UTF8.self))
        let harmful = text.unicodeScalars.filter(Self.isHarmful)
        #expect(harmful.isEmpty, "\(harmful.map { String($0.value, radix: 16) }): \(text)")
        #expect(!text.contains("\nmigrate: error: b"))
        let refusals = text.split(separator: "\n").filter { $0.contains("of the tar stream)") }
        #expect(refusals.count >= 10, "\(text)")
    }

    private static func isHarmful(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x0A: false
        case 0...0x1F, 0x7F...0x9F, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x2069, 0xFEFF,
            0xE0000...0xE0FFF:
            true
        default: false
        }
    }

    @Test func `are given back in JSON exactly, and name the same entry again`() throws {
        let place = try Workplace()
        // As printed, the first two differ only in a backslash, and the third isn't valid UTF-8.
        let names: [[UInt8]] = [
            [0x61, 0x1B], [UInt8]("a\\x1B".utf8), [0x78, 0xFF, 0x79], [UInt8]("x\\xFFy".utf8),
            [UInt8]("größe\u{202E}\u{2028}".utf8), [UInt8]("*?[a]".utf8), [UInt8]("q\"\n".utf8),
        ]
        let source = URL(filePath: place.path("source"), directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: source, withIntermediateDirectories: true)
        for (number, name) in names.enumerated() {
            let path = [UInt8](source.path.utf8) + [UInt8(ascii: "/")] + name
            let script = "printf %s \(number) > \"$0\""
            let words = ["-c", script].map { [UInt8]($0.utf8) } + [path]
            let shell = try MigrateCommand.start(words, program: "/bin/sh").wait()
            try #require(shell.exitCode == 0, "\(shell.errors)")
        }
        try place.export()
        let archive = place.path("archive")
        let list = try place.migrate("list", archive, "--json")
        let document = try JSONSerialization.jsonObject(with: Data(list.standardOutput))
        let entries = try #require((document as? [String: Any])?["entries"] as? [[String: Any]])
        #expect(entries.count == names.count)
        var found: Set<[UInt8]> = []
        for (number, entry) in entries.enumerated() {
            let name: [UInt8]
            let word: [String]
            if let path = entry["path"] as? String {
                name = [UInt8](path.utf8)
                word = [path]
            } else {
                let path = try #require(entry["pathBase64"] as? String)
                name = [UInt8](try #require(Data(base64Encoded: path)))
                word = ["--path-base64", path]
            }
            found.insert(name)
            let to = place.path("out\(number)")
            let extracted = try MigrateCommand.run(["extract", archive, "--to", to] + word)
            #expect(extracted.exitCode == 0, "\(extracted.errors)")
            let files = try place.shell("ls out\(number) | wc -l; cat out\(number)/*").output
            let expected = try #require(names.firstIndex(of: name))
            #expect(files.hasSuffix("\(expected)"), "\(entry): \(files)")
            for command in [["list", archive], ["diff", archive, "--container", source.path]] {
                let result = try MigrateCommand.run(command + ["--json"] + word)
                #expect(result.exitCode == 0, "\(result.errors)")
            }
        }
        #expect(found == Set(names))
    }
}
