import Foundation
import TestSupport
import Testing

/// `migrate extract --merge`: several extractions into one directory.
@Suite(.scratchDirectory)
struct MergeTests {
    let place: Workplace

    init() throws {
        place = try Workplace()
        let made = try place.shell(
            """
            mkdir -p source/a/deep source/b && echo 1 >source/a/1 && echo 2 >source/a/deep/2
            echo 3 >source/b/3 && chmod 555 source/a/deep && touch -d 2001-01-01 source/a source/b
            $migrate export -c source -o archive
            """
        )
        try #require(made.exitCode == 0, "\(made.errors)")
    }

    @Test func `extracts into directories that are there`() throws {
        let result = try place.shell(
            """
            $migrate extract archive a/1 -t out && $migrate extract archive b -t out --merge &&
            touch -d 2002-02-02 out/a && $migrate extract archive a/deep -t out --merge &&
            diff -r source out && stat -c '%Y %a' out/b out/a/deep && date -d @"$(stat -c %Y out/a)" +%F
            ls -A out
            """
        )
        #expect(result.exitCode == 0, "\(result.errors)")
        let times = try place.shell("stat -c '%Y %a' source/b source/a/deep")
        #expect(result.output.hasSuffix(times.output + "2002-02-02\na\nb\n"), "\(result.output)")
    }

    @Test func `names the flag where a directory is there`() throws {
        let result = try place.shell("mkdir -p out/a; $migrate extract archive -t out; ls out")
        #expect(result.errors.contains("out/a; use --merge to extract into existing directories"))
        #expect(result.output == "a\n")
    }

    @Test func `never replaces a file, and changes nothing where one is there`() throws {
        let result = try place.shell(
            """
            mkdir -p out/b && echo mine >out/b/3 && $migrate extract archive -t out --merge
            echo "code $?"; find out -type f; cat out/b/3
            """
        )
        #expect(result.errors.contains("out/b/3; use --force to replace it"), "\(result.errors)")
        #expect(result.output == "code 73\nout/b/3\nmine\n")
    }

    @Test func `replaces files on request`() throws {
        let result = try place.shell(
            """
            mkdir -p out/b && echo mine >out/b/3 && echo other >out/b/4
            $migrate extract archive -t out --merge --force && cat out/b/3 out/b/4 && ls -A out
            """
        )
        #expect(result.exitCode == 0, "\(result.errors)")
        #expect(result.output.hasSuffix("3\nother\na\nb\n"))
        let alone = try place.shell("$migrate extract archive -t out --force")
        #expect(alone.exitCode == 64)
    }

    @Test(arguments: [
        "mkdir -p out/a/1", "mkdir -p out/a; echo x >out/a/deep", "ln -s ../source/b out/b",
    ])
    func `puts nothing where something of another kind is`(_ made: String) throws {
        let result = try place.shell(
            """
            mkdir out; \(made); find out | sort >before
            $migrate extract archive -t out --merge --force; echo "code $?"
            find out | sort >after; cmp before after
            """
        )
        #expect(result.output == "code 73\n", "\(result.output)\(result.errors)")
        #expect(result.errors.contains("is there where the archive has a"))
    }

    @Test func `takes a name as a list prints it, unless there is one of these bytes`() throws {
        let made = try place.shell(
            #"""
            cd source && echo escaped >'x\ny' && printf 'line' >"$(printf 'x\ny')" && echo b >"$(printf 'b\377')"
            echo family >'👨‍👩‍👧' && cd .. && $migrate export -c source -o odd && $migrate list odd
            """#
        )
        #expect(made.exitCode == 0, "\(made.errors)")
        #expect(made.output.contains(" 👨\u{200D}👩\u{200D}👧\n"))
        #expect(made.output.contains(#" b\xFF"# + "\n"))
        let result = try place.shell(
            #"""
            $migrate extract odd 'b\xFF' -t - && $migrate extract odd 'x\ny' -t - &&
            $migrate extract odd 'x\\ny' -t - && $migrate list odd 'b\xFF'
            """#
        )
        #expect(result.exitCode == 0, "\(result.errors)")
        #expect(result.output.hasPrefix("b\nescaped\nescaped\n"), "\(result.output)")
        #expect(result.output.hasSuffix(#" b\xFF"# + "\n"))
    }

    /// An exact name counts if it comes before the entry that is printed the same way; otherwise
    /// nothing does.
    @Test func `takes a name as a list prints it out of a pipe`() throws {
        let made = try place.shell(
            #"""
            cd source && echo escaped >'x\ny' && echo line >"$(printf 'x\ny')" && mkdir "$(printf 'd\377')" &&
            echo exact >'b\xFF' && echo byte >"$(printf 'b\377')" && echo c >"$(printf 'd\377/c\377')" &&
            cd .. && $migrate export -c source -o odd
            """#
        )
        #expect(made.exitCode == 0, "\(made.errors)")
        let one = try place.shell(
            #"$migrate extract - 'd\xFF/c\xFF' -t - <odd && $migrate list - 'd\xFF' <odd"#
        )
        #expect(one.exitCode == 0, "\(one.errors)")
        #expect(one.output.hasPrefix("c\n") && one.output.hasSuffix(#" d\xFF/c\xFF"# + "\n"))
        let tree = try place.shell(
            #"$migrate extract - 'd\xFF' 'b\xFF' -t out <odd; cat out/*/* 'out/b\xFF'; ls out"#
        )
        #expect(tree.output.contains("\nc\nexact\n"), "\(tree.output)")
        #expect(try place.shell(#"$migrate extract - 'b\xFF' -t - <odd"#).output == "exact\n")
        for command in [
            #"extract - 'x\ny' -t ambiguous"#, #"extract - 'x\ny' -t -"#, #"list - 'x\ny'"#,
        ] {
            let result = try place.shell("$migrate \(command) <odd")
            #expect(result.exitCode != 0)
            #expect(result.errors.contains("comes behind an entry whose name is printed like this"))
        }
        #expect(!place.exists("ambiguous"))
        let missing = try place.shell(#"$migrate extract - 'none\xFF' -t none <odd"#)
        #expect(missing.errors.contains("the archive has no such entry"))
        #expect(!place.exists("none"))
    }

    @Test func `names --glob where a pattern is given for a path`() throws {
        for command in ["extract archive 'a/*' -t out", "list archive 'a/*'"] {
            let result = try place.shell("$migrate \(command)")
            #expect(result.errors.contains("a/*; '--glob' takes patterns"), "\(result.errors)")
        }
        let plain = try place.shell("$migrate list archive none")
        #expect(!plain.errors.contains("--glob"))
    }
}
