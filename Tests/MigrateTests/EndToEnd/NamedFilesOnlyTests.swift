import Foundation
import TestSupport
import Testing

/// Imports where no file can be made without a name, as on NFS and FAT.
@Suite(.scratchDirectory)
struct NamedFilesOnlyTests {
    private static let source = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Fixtures/NamedFilesOnly/open.c").standardizedFileURL.path

    @Test func `keeps more records than memory may hold`() throws {
        let place = try Workplace()
        let result = try place.shell(
            """
            # The Swift toolchain links with this compiler.
            clang -shared -fPIC -o open.so '\(Self.source)' -ldl || exit 99
            mkdir source && (cd source && seq -f "$(printf 'n%.0s' $(seq 88))%05g" 9500 | xargs mkdir)
            $migrate export --container source --out archive >/dev/null &&
            LD_PRELOAD=$PWD/open.so $migrate import archive --container app >/dev/null &&
            LD_PRELOAD=$PWD/open.so $migrate extract archive --to out >/dev/null &&
            $migrate diff archive --container app && ls -A app out | grep -vc n0
            """
        )
        #expect(result.exitCode == 0, "\(result.errors)")
        // The two titles, the line between them, and the container's bookkeeping.
        #expect(result.output == "4\n")
    }
}
