import Foundation
import TestSupport
import Testing

/// The patterns by which entries are left out, listed and extracted.
@Suite(.scratchDirectory)
struct PatternFlagTests {
    private func makeSource(_ place: Workplace) throws {
        let made = try place.shell(
            """
            mkdir -p source/a/cache/deep source/b/cache source/a/x && cd source &&
            for f in a/cache/one a/cache/deep/two b/cache/three a/x/p.jpg b/q.jpg r.jpg keep '[1].jpg'
            do echo "$f" > "$f"; done; ln a/x/p.jpg b/linked
            """
        )
        try #require(made.exitCode == 0, "\(made.errors)")
    }

    private func files(_ name: String, in place: Workplace) throws -> Set<String> {
        Set(
            try place.shell("cd \(name) && find . -type f | cut -c3-").output.split(separator: "\n")
                .map(String.init)
        )
    }

    @Test func `leaves out what patterns on the command line and in files match`() throws {
        let place = try Workplace()
        try makeSource(place)
        try place.shell("printf '# caches\\n\\n**/cache/\\r\\n/r.jpg\\n' > patterns")
        let result = try place.shell(
            """
            "$migrate" export -c source -o archive --exclude-from patterns -x 'b/*.jpg' &&
            "$migrate" extract archive -t out
            """
        )
        #expect(result.exitCode == 0, "\(result.errors)")
        let expected: Set = ["a/x/p.jpg", "b/linked", "keep", "[1].jpg"]
        #expect(try files("out", in: place) == expected)
        #expect(result.output.contains("left out: a/cache (2"))
        let other = try place.shell(
            "\"$migrate\" fingerprint -c source --exclude-from patterns -x 'b/*.jpg'"
        )
        #expect(result.output.contains("fingerprint \(other.output)"))
    }

    @Test func `names the line of a pattern that can match nothing`() throws {
        let place = try Workplace()
        try makeSource(place)
        try place.shell("printf 'fine\\n!not\\n' > patterns")
        let result = try place.shell(
            "\"$migrate\" export -c source -o archive --exclude-from patterns"
        )
        result.expectFailure(64)
        #expect(result.errors.contains("line 2 of the patterns: '!' has no meaning"))
        let none = try place.shell("\"$migrate\" export -c source -o archive --exclude-from none")
        none.expectFailure(1)
    }

    @Test func `lists a path without reading what lies elsewhere`() throws {
        let place = try Workplace()
        let made = try place.shell(
            """
            mkdir -p source/a source/b source/c/d && cd source && for n in 1 2 3; do
            head -c 100000 /dev/urandom > a/$n; head -c 100000 /dev/urandom > c/d/$n; done
            ln a/1 c/linked; cd b && seq 30000 | xargs touch
            """
        )
        try #require(made.exitCode == 0, "\(made.errors)")
        try place.export()
        let whole = try place.shell("\"$migrate\" list archive")
        for path in ["a", "b", "b/17", "c", "c/d/2", "c/linked"] {
            let chosen = try place.shell("\"$migrate\" list archive \(path)")
            let expected = whole.output.split(separator: "\n").filter {
                let name = $0.split(separator: " ")[4]
                return name == path || name.hasPrefix("\(path)/")
            }
            // A failed expectation would print them, and they are long.
            let isExpected = chosen.output.split(separator: "\n") == expected
            #expect(isExpected, "\(path)")
        }
        let damaged = try place.shell(
            """
            cp archive bad && printf XXXX |
            dd of=bad bs=1 seek=$(($(stat -c %s archive) / 2)) conv=notrunc 2>/dev/null
            "$migrate" list bad c > c; "$migrate" list archive c | cmp c - && "$migrate" list bad > all
            """
        )
        damaged.expectFailure(65)
    }

    @Test func `extracts and lists what patterns match`() throws {
        let place = try Workplace()
        try makeSource(place)
        try place.export()
        for archive in ["archive", "- < archive"] {
            let result = try place.shell(
                "rm -rf out; \"$migrate\" extract \(archive) -t out --glob '**/x/*.jpg' --glob cache/ keep"
            )
            #expect(result.exitCode == 0, "\(result.errors)")
            let expected: Set = [
                "a/x/p.jpg", "a/cache/one", "a/cache/deep/two", "b/cache/three", "keep",
            ]
            #expect(try files("out", in: place) == expected)
            let list = try place.shell("\"$migrate\" list \(archive) --glob '/*.jpg' b/q.jpg")
            let names = list.output.split(separator: "\n").map { $0.split(separator: " ").last }
            #expect(Set(names) == ["r.jpg", "[1].jpg", "b/q.jpg"])
        }
        let linked = try place.shell(
            "\"$migrate\" extract archive -t linked --glob linked && cat linked/b/linked"
        )
        #expect(linked.output.hasSuffix("a/x/p.jpg\n"))
        let literal = try place.shell(
            "\"$migrate\" extract archive -t literal '[1].jpg' && ls literal"
        )
        #expect(literal.output.hasSuffix("\n[1].jpg\n"))
    }

    @Test(arguments: ["list archive", "extract archive -t out"])
    func `refuses a pattern that matches nothing`(_ command: String) throws {
        let place = try Workplace()
        try makeSource(place)
        try place.export()
        let result = try place.shell("\"$migrate\" \(command) --glob keep --glob '*.png'")
        #expect(result.exitCode == 1)
        #expect(result.errors.contains("the archive has no entry that matches '*.png'"))
        #expect(!place.exists("out"))
    }

    @Test func `prints nothing but warnings and errors where that is asked for`() throws {
        let place = try Workplace()
        try makeSource(place)
        let result = try place.shell(
            """
            exec 2>&1
            "$migrate" export -c source -o archive -q && "$migrate" verify archive -q &&
            "$migrate" import archive -c copy -q && "$migrate" extract archive -t out --quiet
            """
        )
        #expect(result.exitCode == 0)
        #expect(result.output.isEmpty, "\(result.output)")
        let failed = try place.shell("\"$migrate\" export -c source -o archive -q")
        failed.expectFailure(73)
    }

    @Test func `reads one container several times at once, but not beside its app`() throws {
        let place = try Workplace()
        try makeSource(place)
        try place.export()
        let words = ["export", "--container", place.path("source"), "--out", "-"]
        let export = try MigrateCommand.start(words.map { [UInt8]($0.utf8) }, output: .unread)
        export.waitUntilItWrites()
        let diff = try place.shell("\"$migrate\" diff archive -c source")
        #expect(diff.exitCode == 0, "\(diff.errors)")
        let other = try place.shell("\"$migrate\" export -c source -o other")
        #expect(other.exitCode == 0, "\(other.errors)")
        let app = try place.shell("\"$migrate\" run -c source -- true")
        app.expectFailure(75)
        let copy = try place.shell("\"$migrate\" import archive -c source --replace")
        copy.expectFailure(75)
        export.send(9)
        _ = try export.wait()
    }
}
