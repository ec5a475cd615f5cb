import Foundation
import TestSupport
import Testing

/// Imports where names that differ only in case are the same, without a file system that folds
/// them.
@Suite(.scratchDirectory)
struct FoldedNamesTests {
    private static let source = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Fixtures/FoldedNames/fold.c").standardizedFileURL.path

    /// Makes the archive `tar` of some files, imports it, and prints the exit code and the result.
    private func run(_ files: String, _ archiving: String) throws -> MigrateCommand.Result {
        try Workplace().shell(
            """
            # The Swift toolchain links with this compiler.
            clang -shared -fPIC -o fold.so '\(Self.source)' -ldl || exit 99
            for file in \(files); do mkdir -p source/${file%/*} && echo text > source/$file; done
            \(archiving) >/dev/null || exit 98
            LD_PRELOAD=$PWD/fold.so $migrate import tar --container app >/dev/null
            echo $?; cd app && find . -type f ! -path '*.migration/import-*' | sort
            """
        )
    }

    @Test(
        arguments: [
            ("A/x a/y", "tar -cf tar -C source A/x a/y"),
            ("A/x a/y", "tar -cf tar -C source A a/y"),
            ("d/A/x d/a/y", "tar -cf tar -C source d/A/x d/a/y"),
            (".Migration/status.json", "tar -cf tar -C source .Migration/status.json"),
            (".Migration/status.json", "tar -cf tar -C source ."),
            (".Migration/status.json", "$migrate export --container source --out tar"),
        ]
    )
    func `refuses directories that are one there, and the bookkeeping`(
        _ files: String,
        _ archiving: String
    ) throws {
        let result = try run(files, archiving)
        #expect(result.output.hasPrefix("65\n"), "\(result.errors)")
        #expect(!result.output.contains("status.json") && !result.output.contains("/a/"))
        #expect(result.errors.contains("for that of another entry") || archiving.contains("export"))
    }

    @Test func `removes no selected file that another name of the archive leads to`() throws {
        let result = try Workplace().shell(
            """
            clang -shared -fPIC -o fold.so '\(Self.source)' -ldl || exit 99
            mkdir one two && echo one > one/x && echo two > two/X && ln two/X two/h
            tar -cf tar -C one x && tar -cf other -C two X h && tar --delete -f other X &&
                tar -Af tar other || exit 98
            LD_PRELOAD=$PWD/fold.so $migrate extract tar x h --to out >/dev/null
            echo $?; ls out
            """
        )
        #expect(result.output == "0\nh\nx\n", "\(result.errors)")
    }

    @Test(arguments: ["D/E/x d2/y", "."])
    func `imports directories that stay apart there`(_ members: String) throws {
        let files = "D/E/x D/z d2/y"
        let result = try run(files, "tar -cf tar -C source \(members)")
        #expect(result.output.hasPrefix("0\n"), "\(result.errors)")
        #expect(result.output.contains("./d/e/x\n./d2/y\n") || members == ".", "\(result.output)")
    }
}
