import TestSupport
import Testing

/// Places where nothing can be written.
@Suite(.scratchDirectory)
struct ReadOnlyTests {
    /// Commands that try to write to the directory `fixed`, and read from it, as an ordinary user
    /// if requested.
    private static func attempts(as user: String = "") -> String {
        """
        \(user) $migrate export --container source --out fixed/archive; echo $?
        \(user) $migrate import archive --container fixed/live --replace; echo $?
        \(user) $migrate import archive --container fixed/new; echo $?
        \(user) $migrate extract archive --to fixed/out; echo $?
        \(user) $migrate status --container fixed/live
        \(user) $migrate export --container fixed/source --out - | cmp - archive; echo $?
        ls -A fixed fixed/live; cat fixed/live/data
        """
    }

    private func makePlace() throws -> Workplace {
        let place = try Workplace()
        try place.makeContainer()
        try place.export()
        return place
    }

    private func expectRefusals(_ result: MigrateCommand.Result, because reason: String) {
        let lines = result.output.split(separator: "\n", omittingEmptySubsequences: false)
        let codes = ["73", "73", "73", "73", "none", "0"]
        let listing = ["fixed:", "live", "source", "", "fixed/live:", "data", "old", ""]
        #expect(lines.map(String.init) == codes + listing)
        let errors = result.errors.split(separator: "\n").filter { $0.contains(": error: ") }
        let names = ["fixed/archive", "fixed/live", "fixed/new", "fixed/out"]
        #expect(errors.count == names.count, "\(result.errors)")
        for (error, name) in zip(errors, names) {
            #expect(error.contains("\(name): \(reason) ("), "\(error)")
        }
    }

    @Test(.enabled(if: Machine.isRoot, "needs root to mount a file system"))
    func `names a read-only file system, and leaves it as it was`() throws {
        let place = try makePlace()
        let result = try place.shell(
            """
            mkdir fixed && mount -t tmpfs none fixed || exit 99
            mkdir fixed/live; echo old > fixed/live/data; cp -a source fixed
            mount -o remount,ro fixed
            \(Self.attempts())
            umount fixed
            """
        )
        if result.exitCode == 99 { try Test.cancel("mounting is not allowed here") }
        expectRefusals(result, because: "Read-only file system")
    }

    @Test(.enabled(if: Machine.isRoot, "needs root to mount a file system"))
    func `lets an imported container be read from a read-only file system`() throws {
        let place = try makePlace()
        let result = try place.shell(
            """
            mkdir fixed && mount -t tmpfs none fixed || exit 99
            mkdir -p fixed/cleared/.migration fixed/cut/.migration
            echo '{"phase":"staging","version":1}' > fixed/cut/.migration/import-journal.json
            $migrate import archive --container fixed/live > said && mount -o remount,ro fixed
            $migrate export --container fixed/live --out again > said; echo $?
            $migrate diff archive --container fixed/live; echo $?
            $migrate run --container fixed/live -- true; echo $?
            $migrate status --container fixed/live | head -n 1
            $migrate status --clear --container fixed/cleared
            $migrate status --container fixed/cut | head -n 1
            $migrate run --container fixed/cut -- true; echo $?
            $migrate export --container fixed/cut --out cut --bundle-id cut > said; echo $?
            umount fixed
            cmp again archive; echo $?
            """
        )
        if result.exitCode == 99 { try Test.cancel("mounting is not allowed here") }
        let expected = "0\n0\n0\nsuccess\nnone\ninterrupted\n0\n0\n0\n"
        #expect(result.output == expected, "\(result.errors)")
    }

    @Test(.enabled(if: !Machine.isRoot || Machine.has("setpriv"), "needs an ordinary user"))
    func `names a directory that forbids it, and leaves it as it was`() throws {
        let place = try makePlace()
        let user = Machine.isRoot ? "setpriv --reuid 65534 --regid 65534 --clear-groups" : ""
        let usable = try place.shell("chmod 755 .; \(user) $migrate --version")
        if usable.exitCode != 0 { try Test.cancel("an ordinary user can't run the binary") }
        let result = try place.shell(
            """
            mkdir fixed fixed/live; echo old > fixed/live/data; cp -a source fixed
            chmod 555 fixed/live fixed; chmod 644 archive
            \(Machine.isRoot ? "chown -R 65534 source fixed archive" : ":")
            \(Self.attempts(as: user))
            """
        )
        expectRefusals(result, because: "Permission denied")
    }
}
