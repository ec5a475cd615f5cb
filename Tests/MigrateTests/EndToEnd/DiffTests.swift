import Foundation
import TestSupport
import Testing

/// `migrate diff` of any two archives and directories.
@Suite(.scratchDirectory)
struct DiffTests {
    let place: Workplace

    /// Two trees that differ in every way in which entries can.
    init() throws {
        place = try Workplace()
        let made = try place.shell(
            """
            mkdir -p one/d one/gone && head -c 9000000 /dev/urandom >one/d/large && echo a >one/d/same
            echo b >one/d/content && echo c >one/d/size && echo m >one/d/mode && ln -s x one/d/link
            echo k >one/d/kind && echo t >one/d/time
            cp -a one two && echo B >two/d/content && echo cc >two/d/size && chmod 600 two/d/mode
            rm two/d/link two/d/kind && ln -s y two/d/link && mkdir two/d/kind && rmdir two/gone
            echo new >two/d/new && printf XXXX | dd of=two/d/large bs=1 seek=8000000 conv=notrunc 2>/dev/null
            for f in content size mode large; do touch -r one/d/$f two/d/$f; done
            touch -h -r one/d/link two/d/link && touch -d 2001-02-03T04:05:06.5Z one/d/time
            touch -d 2001-02-03T04:05:06Z two/d/time && touch -r one/d two/d && touch -r one/d two/d/kind
            $migrate export -c one -o one.zst && $migrate export -c two -o two.zst
            """
        )
        try #require(made.exitCode == 0, "\(made.errors)")
    }

    /// The differences between the trees, without details.
    private static let rows: Set = [
        "d/content: contents", "d/kind: kinds", "d/large: contents", "d/link: link targets",
        "d/mode: permissions", "d/size: contents", "d/time: modification times",
    ]

    private func differences(_ words: String) throws -> (rows: [String], output: String) {
        let result = try place.shell("$migrate diff \(words)")
        #expect(result.exitCode == 1, "\(result.errors)")
        let rows = result.output.split(separator: "\n").map { line in
            String(line.prefix { $0 != "(" }).replacing(" differ", with: "")
                .trimmingCharacters(in: .whitespaces)
        }
        return (rows, result.output)
    }

    @Test(arguments: ["../two.zst .", "../two . .", "../two.zst . d"])
    func `compares with the directory that it runs in`(_ words: String) throws {
        let result = try place.shell("cd two; $migrate diff \(words)")
        #expect(result.exitCode == 0, "\(result.output)\(result.errors)")
    }

    @Test(arguments: ["one.zst two.zst", "one two"])
    func `finds each difference between two of a kind`(_ words: String) throws {
        let (rows, output) = try differences(words)
        #expect(
            Set(rows) == Self.rows.union(["only in the first: gone", "only in the second: d/new"]),
            "\(output)"
        )
        #expect(rows.count == 9, "\(output)")
        let time =
            "2001-02-03T04:05:06.500000000Z in the first, 2001-02-03T04:05:06.000000000Z in the second"
        #expect(output.contains("d/time: modification times differ (\(time))"), "\(output)")
        let one = try differences(words + " d/content")
        #expect(one.rows == ["d/content: contents"])
    }

    @Test(arguments: ["one.zst two", "two one.zst", "one.zst -c two"])
    func `finds each difference between an archive and a directory`(_ words: String) throws {
        let (rows, output) = try differences(words)
        #expect(
            Set(rows)
                == Self.rows.union(["only in the archive: gone", "only in the container: d/new"]),
            "\(output)"
        )
    }

    @Test func `compares an archive that comes from a pipe, and another program's`() throws {
        let result = try place.shell(
            """
            $migrate diff - two.zst <one.zst; cat one.zst | $migrate diff - two.zst | wc -l
            tar -C one --format=pax -cf one.tar . && $migrate diff one.tar one.zst; echo "code $?"
            """
        )
        #expect(result.output.contains("\n9\n"), "\(result.output)\(result.errors)")
        #expect(result.output.hasSuffix("code 0\n"), "\(result.output)\(result.errors)")
    }

    @Test func `finds nothing between equals, and reads no content of equal archives`() throws {
        let result = try place.shell(
            """
            cp -a one copy && $migrate export -c copy -o copy.zst --level 9 && $migrate diff one.zst copy.zst &&
            $migrate diff one copy && $migrate diff one one.zst && $migrate diff one.zst copy.zst --json
            """
        )
        #expect(result.exitCode == 0, "\(result.output)\(result.errors)")
        #expect(result.output.contains(#""otherArchive":"copy.zst""#))
    }

    @Test func `says by its exit code alone whether there are differences`() throws {
        let result = try place.shell(
            """
            $migrate diff one two -q; echo $?; $migrate diff one.zst two.zst -q; echo $?
            $migrate diff one one.zst -q; echo $?; $migrate diff one none -q; echo $?; $migrate diff one; echo $?
            """
        )
        #expect(result.output == "1\n1\n0\n2\n64\n", "\(result.errors)")
        #expect(result.errors.contains("'--container'"))
    }
}
