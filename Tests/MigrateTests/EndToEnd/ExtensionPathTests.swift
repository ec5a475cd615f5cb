import Foundation
import Glibc
import TestSupport
import Testing

/// Extensions in containers whose paths need encoding, as different users and systems run them.
@Suite(.scratchDirectory)
struct ExtensionPathTests {
    private let stage: ExtensionStage

    /// Whether users other than root may have namespaces, and this one may become such a user.
    private static let hasUserNamespaces =
        geteuid() == 0
        && succeeds("setpriv --reuid 65533 --regid 65533 --clear-groups unshare -Urm true")

    /// Whether namespaces can be taken from a process.
    private static let deniesNamespaces = succeeds(denied("! unshare -m true 2>/dev/null"))

    /// Whether everybody may read the tests' build directory.
    private static let isReadable =
        geteuid() == 0 && succeeds(asUser("test -x '\(MigrateCommand.path)'"))

    init() throws {
        stage = try ExtensionStage(container: "with space/source")
        try stage.script("look .\nlook tmp:\nnotes tmp:notes\nappend tmp:notes as notes")
    }

    private var place: Workplace { stage.place }

    private static func denied(_ command: String) -> String {
        "unshare -Ur sh -c 'echo 0 > /proc/sys/user/max_mnt_namespaces; \(command)'"
    }

    private static func asUser(_ command: String) -> String {
        "setpriv --reuid 65533 --regid 65533 --clear-groups \(command)"
    }

    private static func succeeds(_ command: String) -> Bool {
        system("{ \(command); } >/dev/null 2>&1") == 0
    }

    /// The command of an export, and one that lists the archive's entries of it.
    private func export(_ container: String = "with space/source") -> String {
        "$migrate export --json --out archive --extension \(ExtensionStage.program) "
            + "--entitlements entitlements --container \"\(container)\""
    }

    private func notes() throws -> String {
        try place.shell("rm -rf notes; $migrate extract archive --to notes && cat notes/notes")
            .output
    }

    @Test func `root's extension has mounts of its own`() throws {
        let result = try place.shell(export())
        #expect(result.exitCode == 0, "\(result.errors)")
        #expect(result.output.contains(#""paths" : "mounted""#) || geteuid() != 0)
        #expect(try notes().contains("look . encoded standardized resolved 4 4 3 4"))
        #expect(try place.shell("mount").output.contains("with space") == false)
    }

    @Test(
        .enabled(if: hasUserNamespaces && isReadable, "no user can be had who has namespaces")
    )
    func `another user's extension has mounts in a user namespace`() throws {
        try place.shell("chmod -R a+rX . && chown -R 65533:65533 .")
        let result = try place.shell(Self.asUser(export()))
        #expect(result.exitCode == 0, "\(result.errors)")
        #expect(result.output.contains(#""paths" : "mounted""#))
        #expect(try notes().contains("look . encoded standardized resolved 4 4 3 4"))
    }

    @Test(
        .enabled(if: hasUserNamespaces && isReadable, "no user can be had who has namespaces")
    )
    func `keys that the host holds don't keep the extension from its mounts`() throws {
        try stage.script("append Documents\nappend import as script")
        try stage.write("move in:Documents/note Documents/moved\nprogress 10 10", to: "import")
        try place.shell("echo word > key && chmod -R a+rX . && chown -R 65533:65533 .")
        let options = "--passphrase-file key"
        let result = try place.shell(Self.asUser("\(export()) \(options)"))
        #expect(result.exitCode == 0, "\(result.errors)")
        #expect(result.output.contains(#""paths" : "mounted""#))
        let command =
            "$migrate import archive --json --extension \(ExtensionStage.program) --entitlements "
            + "entitlements --container 'with space/other' \(options)"
        let imported = try place.shell(Self.asUser(command))
        #expect(imported.exitCode == 0, "\(imported.errors)")
        #expect(imported.output.contains(#""paths" : "mounted""#))
        #expect(try place.bytes(of: "with space/other/Documents/moved") == [UInt8]("a note\n".utf8))
    }

    @Test(.enabled(if: deniesNamespaces, "namespaces can't be denied here"))
    func `where namespaces are denied, links lead to the directory above`() throws {
        let result = try place.shell(Self.denied(export()))
        #expect(result.exitCode == 0, "\(result.errors)")
        #expect(result.output.contains(#""paths" : "linked""#))
        #expect(try notes().contains("look . encoded standardized 4 4 3 4"))
    }

    @Test(.enabled(if: deniesNamespaces, "namespaces can't be denied here"))
    func `where namespaces are denied, a container with such a name is refused`() throws {
        try place.shell("mv 'with space/source' 'with space/my source'")
        let result = try place.shell(Self.denied(export("with space/my source")))
        #expect(result.exitCode == 77)
        #expect(result.errors.contains("unshare"))
        #expect(result.errors.contains("use only letters, digits"))
        #expect(!place.exists("archive"))
    }

    @Test func `leaves nothing among the temporary files`() throws {
        let result = try place.shell("mkdir 't m p' && TMPDIR=\"$PWD/t m p\" \(export())")
        #expect(result.exitCode == 0, "\(result.errors)")
        #expect(try place.shell("ls -A 't m p'").output == "")
        #expect(try notes().contains("look tmp: encoded standardized"))
    }
}
