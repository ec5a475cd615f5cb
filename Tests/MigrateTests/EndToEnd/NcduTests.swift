import Foundation
import TestSupport
import Testing

/// `migrate list --ncdu`, and ncdu itself.
@Suite(.scratchDirectory)
struct NcduTests {
    let place: Workplace

    init() throws {
        place = try Workplace()
        let made = try place.shell(
            """
            mkdir -p source/a/b/c source/empty && cd source && echo 12345 >a/b/c/f && seq 1000 >a/n &&
            ln a/n z && ln -s n a/link && echo q >"$(printf 'a/q\\377"\\\\\\001')" && cd .. &&
            $migrate export -c source -o archive -q
            """
        )
        try #require(made.exitCode == 0, "\(made.errors)")
    }

    /// Reads a tree of ncdu's into lines of path, size and kind, and prints them sorted.
    private static let reader = #"""
        import json, sys
        def walk(items, base):
            for item in items:
                below = item[1:] if isinstance(item, list) else None
                item = item[0] if below is not None else item
                path = base + item["name"]
                kind = "d" if below is not None else "l" if item.get("notreg") else "f"
                lines.append(f'{path} {kind} {item.get("asize", 0)} {"h" if item.get("hlnkc") else "-"}')
                if below is not None: walk(below, path + "/")
        lines = []
        document = json.loads(sys.stdin.buffer.read().decode("utf-8", "replace"))
        assert document[:2] == [1, 2] and isinstance(document[2], dict)
        assert document[3][0]["name"] == sys.argv[1], document[3][0]
        walk(document[3][1:], "")
        print("\n".join(ascii(line) for line in sorted(lines)))
        """#

    private static let expected = #"""
        'a d 0 -'
        'a/b d 0 -'
        'a/b/c d 0 -'
        'a/b/c/f f 6 -'
        'a/link l 0 -'
        'a/n f 3893 h'
        'a/q\ufffd"\\\x01 f 2 -'
        'empty d 0 -'
        'z f 3893 h'

        """#

    @Test(arguments: ["archive", "<archive", "tar"])
    func `lists the tree, whatever the order of entries`(_ origin: String) throws {
        let isPipe = origin.hasPrefix("<")
        try place.write(Array(Self.reader.utf8), to: "read.py")
        let result = try place.shell(
            """
            (cd source && tar --no-recursion -cf ../tar z a/q* a/n a/link a/b/c/f empty a/b/c a)
            \(isPipe ? "cat archive | $migrate list -" : "$migrate list \(origin)") --ncdu >tree &&
            python3 read.py '\(isPipe ? "-" : origin)' <tree
            """
        )
        #expect(result.exitCode == 0, "\(result.errors)")
        // In the tar file the first name is the file, and the other one the link.
        #expect(result.output == Self.expected)
    }

    @Test(.enabled(if: Machine.has("ncdu"), "needs ncdu"))
    func `is read by ncdu`() throws {
        try place.write(Array(Self.reader.utf8), to: "read.py")
        let result = try place.shell(
            "$migrate list archive --ncdu >tree && ncdu -0 -o again -f tree && python3 read.py archive <again"
        )
        #expect(result.exitCode == 0, "\(result.errors)")
        #expect(result.output == Self.expected)
        let part = try place.shell("$migrate list archive a/b --ncdu >tree && ncdu -0 -o - -f tree")
        #expect(part.output.contains(#""asize":6"#) && !part.output.contains("3893"))
    }

    @Test func `takes no other form of answer`() throws {
        for flag in ["--json", "--json-lines"] {
            let result = try place.shell("$migrate list archive --ncdu \(flag)")
            #expect(result.exitCode == 64)
            #expect(result.errors.contains("'--ncdu' can't be given together with '\(flag)'"))
        }
    }
}
