import Foundation
import Glibc
import TestSupport
import Testing

/// System calls that fail where nobody expects it.
@Suite(.scratchDirectory)
struct FailingCallTests {
    private static let source = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Fixtures/FailingCalls/fail.c").standardizedFileURL.path

    private func place() throws -> Workplace {
        let place = try Workplace()
        let made = try place.shell(
            """
            # The Swift toolchain links with this compiler.
            clang -shared -fPIC -o fail.so '\(Self.source)' -ldl &&
            mkdir -p source/d && echo text > source/d/f && ln -s d source/l && tar -cf tar -C source d l
            """
        )
        try #require(made.exitCode == 0, "\(made.errors)")
        return place
    }

    @Test(arguments: [ENOSYS, EINVAL], ["", " --strict"])
    func `reports attributes that the system can't list`(_ code: Int32, _ option: String) throws {
        let result = try place().shell(
            """
            FAIL_LISTING=\(code) LD_PRELOAD=$PWD/fail.so \
            $migrate export --container source --bundle-id a.b --out archive\(option)
            """
        )
        #expect(result.exitCode == (option.isEmpty ? 0 : 1), "\(result.errors)")
        let text = result.output + result.errors
        #expect(text.contains("all, which the system can't list"), "\(text)")
        #expect(text.contains("d/f") || !option.isEmpty, "\(text)")
    }

    @Test func `takes a file system without attributes for what it is`() throws {
        let result = try place().shell(
            """
            FAIL_LISTING=\(ENOTSUP) LD_PRELOAD=$PWD/fail.so \
            $migrate export --container source --bundle-id a.b --out archive --strict
            """
        )
        #expect(result.exitCode == 0, "\(result.errors)")
    }

    @Test(arguments: ["Migration-Probe", ".migration-extracting"])
    func `fails an extraction that can't remove what it made for itself`(_ name: String) throws {
        let result = try place().shell(
            """
            FAIL_REMOVING=\(name) LD_PRELOAD=$PWD/fail.so $migrate extract tar --to out
            echo $?; ls -A out | grep -v \(name) | grep -v .migration-extracting
            """
        )
        #expect(result.output == "73\n", "\(result.output) \(result.errors)")
        #expect(result.errors.contains("(unlink)") || result.errors.contains("(rmdir)"))
    }

    @Test(arguments: 4...16)
    func `says that too few files may be open rather than crash`(_ limit: Int) throws {
        let result = try place().shell(
            "ulimit -n \(limit); $migrate status --container source; $migrate verify tar"
        )
        let code = try #require(result.exitCode)
        #expect(code <= 75, "\(code): \(result.errors)")
        #expect(code == 0 || result.errors.hasPrefix("migrate: error: "))
        if limit < 10 {
            #expect(result.exitCode == 71)
            #expect(result.errors.contains("ulimit -n"))
        }
    }
}
