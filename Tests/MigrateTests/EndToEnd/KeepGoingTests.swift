import Foundation
import TestSupport
import Testing

/// Extraction from a damaged archive.
@Suite(.scratchDirectory)
struct KeepGoingTests {
    /// Ways to damage the archive of `size` bytes, and how many of the ten files must be left at least.
    private static let damages = [
        ("printf XXXX | dd of=bad bs=1 seek=$((size / 2)) conv=notrunc 2>&1", 4),
        (
            "for n in 3 5; do printf X | dd of=bad bs=1 seek=$((size * n / 8)) conv=notrunc 2>&1; done",
            2
        ),
        ("truncate -s $((size / 2)) bad", 2),
        ("truncate -s $((size - 10)) bad", 10),
    ]

    private func makeArchive(in place: Workplace) throws {
        let made = try place.shell(
            """
            mkdir -p source/a source/b && for n in 1 2 3 4 5 6; do
            head -c 3000000 /dev/urandom > source/a/$n; done; ln source/a/1 source/linked
            for n in 1 2 3; do echo $n > source/b/$n; done; ln -s a/2 source/link
            """
        )
        try #require(made.exitCode == 0, "\(made.errors)")
        try place.export()
    }

    /// Names the files that are missing in `out`, and fails for one that differs.
    private func lost(in place: Workplace) throws -> Set<String> {
        let result = try place.shell(
            """
            cd source && for f in $(find . -type f | cut -c3-); do
            if [ ! -e ../out/$f ]; then echo $f; else cmp $f ../out/$f || exit 1; fi; done
            """
        )
        #expect(result.exitCode == 0, "\(result.output)")
        return Set(result.output.split(separator: "\n").map(String.init))
    }

    @Test func `goes on with the next window of the archive`() throws {
        let place = try Workplace()
        let made = try place.shell(
            """
            mkdir -p source/a source/b source/c && for n in 1 2 3; do
            head -c 3000000 /dev/urandom > source/a/$n; echo $n > source/c/$n; done
            cd source/b && seq 8300 | xargs touch
            """
        )
        try #require(made.exitCode == 0, "\(made.errors)")
        try place.export()
        let result = try place.shell(
            """
            size=$(stat -c %s archive) && cp archive bad &&
            printf XXXX | dd of=bad bs=1 seek=$((size / 2)) conv=notrunc 2>/dev/null
            "$migrate" extract bad -t out --keep-going
            """
        )
        #expect(result.exitCode == 1, "\(result.errors)")
        let lost = try lost(in: place)
        #expect(!lost.isEmpty && lost.isDisjoint(with: ["c/1", "c/2", "c/3"]), "\(result.output)")
        // No entry between the two is in the index.
        let range = #/\(what the archive holds between it and b/[0-9]+ may be missing/#
        #expect(try range.firstMatch(in: result.output) != nil, "\(result.output)")
    }

    @Test(arguments: damages)
    func `restores what can be proved, and lists the rest`(
        _ damage: String,
        _ least: Int
    ) throws {
        let place = try Workplace()
        try makeArchive(in: place)
        try place.shell("cp archive bad; size=$(stat -c %s bad); \(damage)")
        let result = try place.shell("\"$migrate\" extract bad -t out --keep-going")
        #expect(result.exitCode == 1, "\(result.errors)")
        #expect(result.errors.contains("migrate: warning: bad is damaged: "))
        let lost = try lost(in: place)
        #expect(10 - lost.count >= least, "\(lost): \(result.output)")
        let gap =
            #/not restored: [^ ]+ \((what the archive holds between it and|everything that follows it) /#
        #expect(try gap.firstMatch(in: result.output) != nil, "\(result.output)")
        let json = try place.migrate(
            "extract",
            place.path("bad"),
            "--to",
            place.path("again"),
            "--keep-going",
            "--json"
        )
        #expect(json.exitCode == 1)
        #expect(json.output.contains(#""reason" : "damaged""#))
        #expect(!json.output.contains("fingerprint"))
        let piped = try place.shell("\"$migrate\" extract - -t piped --keep-going < bad; ls piped")
        #expect(piped.output.contains("\na\n"), "\(piped.errors)")
        let strict = try place.shell("\"$migrate\" extract bad -t strict")
        strict.expectFailure(65)
        #expect(strict.errors.hasSuffix("; --keep-going restores what can be proved\n"))
        #expect(!place.exists("strict"))
    }

    @Test func `restores everything of a sound archive`() throws {
        let place = try Workplace()
        try makeArchive(in: place)
        let result = try place.shell("\"$migrate\" extract archive -t out -k")
        #expect(result.exitCode == 0, "\(result.errors)")
        #expect(result.output.contains("\nfingerprint "))
        #expect(try lost(in: place).isEmpty)
        #expect(try place.tree("out") == place.tree("source"))
    }

    @Test func `leaves out the entries of a hostile archive that lead out`() throws {
        let place = try Workplace()
        let made = try place.shell(
            "mkdir -p source; ln -s /etc/passwd source/out; echo x > source/in; tar -C source -cf bad ."
        )
        try #require(made.exitCode == 0)
        let result = try place.shell("\"$migrate\" extract bad -t out -k; cat out/in; ls out")
        #expect(result.output.hasSuffix("x\nin\n"), "\(result.output) \(result.errors)")
    }

    @Test func `says what to do where an import fails`() throws {
        let place = try Workplace()
        try makeArchive(in: place)
        try place.shell("cp archive bad; truncate -s 7000000 bad")
        let result = try place.shell("\"$migrate\" import bad -c copy")
        result.expectFailure(65)
        #expect(result.errors.contains("'migrate verify'"))
        #expect(result.errors.contains("'migrate extract --keep-going'"))
    }

    @Test func `names every large file that is lost, from the index`() throws {
        let place = try Workplace()
        let made = try place.shell(
            """
            mkdir -p source && for n in $(seq 20); do head -c 1000000 /dev/urandom >source/$n; done
            $migrate export -c source -o archive && cp archive bad
            printf XXXX | dd of=bad bs=1 seek=10000000 conv=notrunc 2>/dev/null
            """
        )
        try #require(made.exitCode == 0, "\(made.errors)")
        let extracted = try place.shell(
            "$migrate extract bad -t out -k; ls source | sort >all; ls out | sort >some"
        )
        let missing = try place.shell("comm -23 all some")
        let lost = Set(missing.output.split(separator: "\n").map(String.init))
        #expect(lost.count > 2)
        #expect(Set(named(in: extracted.output, as: "not restored")) == lost, "\(extracted.output)")
        let verified = try place.shell("$migrate verify bad")
        #expect(verified.exitCode == 65)
        #expect(Set(named(in: verified.output, as: "lost")) == lost, "\(verified.output)")
        #expect(try place.shell("$migrate verify bad --quiet").output == verified.output)
        let json = try place.shell("$migrate verify bad --json")
        let document = try JSONSerialization.jsonObject(with: Data(json.standardOutput))
        let items = try #require(
            ((document as? [String: Any])?["lost"] as? [String: Any])?["items"] as? [[String: Any]]
        )
        #expect(lost.isSubset(of: items.compactMap { $0["path"] as? String }))
    }

    /// The paths that an answer reports as lost, with the file at whose end the damage begins.
    private func named(in output: String, as title: String) -> [String] {
        output.split(separator: "\n").compactMap { line in
            guard line.hasPrefix("\(title): ") else { return nil }
            return line.dropFirst(title.count + 2).split(separator: " ").first.map(String.init)
        }
    }
}
