import Foundation
import TestSupport
import Testing

/// Owners, access control lists and all attributes, beside GNU tar and bsdtar.
@Suite(
    .scratchDirectory,
    .enabled(
        if: Machine.isRoot && Machine.has("setfacl") && Machine.has("setfattr"),
        "only root can set owners; needs setfacl and setfattr"
    )
)
struct OwnerFlagTests {
    private let place: Workplace
    private static let flags = "--owners --acls --xattrs all"

    init() throws {
        place = try Workplace()
        try place.makeContainer(megabytes: 1)
        let made = try place.shell(
            """
            cd source/Documents && chown 1000:1001 numbers && chown 3000000:4000000000 noise &&
            chown -h 33:34 link && chown 7:8 empty && chmod 750 empty && touch -h -d @1 link &&
            setfacl -m u:1000:r,g:2000:rw,u:33:--- numbers && setfacl -m u:9:rw noise &&
            setfacl -m u:5:rwx empty && setfacl -d -m u:6:rx empty &&
            setfattr -n user.color -v blue noise && setfattr -n trusted.place -v here empty &&
            setfattr -n security.capability -v 0sAQAAAgAgAAAAAAAAAAAAAAAAAAA= tool &&
            find . -exec touch -h -d '@1700000000.5' {} +
            """
        )
        try #require(made.exitCode == 0, "\(made.errors)")
    }

    /// Everything that the system reports about `name` and its contents.
    private func account(_ name: String) throws -> String {
        let listed = try place.shell(
            """
            cd \(name) && find Documents Library -printf '%p %y %m %U:%G %T@ %l\\n' | sort &&
            find Documents Library ! -type l | sort | xargs -d '\\n' getfacl -cnpE &&
            find Documents Library ! -type l | sort | xargs -d '\\n' getfattr -hd -m - -e hex
            """
        )
        #expect(listed.exitCode == 0, "\(listed.errors)")
        return listed.output
    }

    private func export() throws -> MigrateCommand.Result {
        let exported = try place.shell(
            "\"$migrate\" export --container source --out archive --include-caches \(Self.flags)"
        )
        #expect(exported.exitCode == 0, "\(exported.errors)")
        #expect(!exported.output.contains("left out"))
        return exported
    }

    @Test func `come out as they went in`() throws {
        _ = try export()
        let source = try account("source")
        #expect(source.contains("4000000000") && source.contains("trusted.place"))
        let restored = try place.shell(
            """
            "$migrate" import archive --container restored \(Self.flags) &&
            "$migrate" extract archive --to extracted \(Self.flags) &&
            "$migrate" diff archive --container restored --include-caches &&
            "$migrate" verify archive
            """
        )
        #expect(restored.exitCode == 0, "\(restored.errors)")
        #expect(!restored.output.contains("not restored"))
        #expect(try account("restored") == source)
        #expect(try account("extracted") == source)
    }

    @Test(.enabled(if: Machine.has("zstd"), "needs zstd"))
    func `are read by GNU tar as they are`() throws {
        _ = try export()
        // A header has whole seconds.
        let read = try place.shell(
            """
            mkdir read && zstd -dcq archive | tar -C read --xattrs --xattrs-include='*' --acls \
                --numeric-owner -xpf - && find source read -exec touch -h -d @1700000000 {} +
            """
        )
        #expect(read.exitCode == 0, "\(read.errors)")
        #expect(try account("read") == account("source"))
    }

    @Test(arguments: [
        "tar --xattrs --xattrs-include=* --acls --numeric-owner --format=pax",
        "bsdtar --xattrs --acls --numeric-owner --format=pax",
    ])
    func `are taken from other programs' archives`(_ tar: String) throws {
        guard Machine.has(String(tar.prefix { $0 != " " })) else { return }
        let taken = try place.shell(
            """
            set -f; \(tar) -C source -cf their.tar Documents Library &&
            "$migrate" import their.tar --container restored --bundle-id org.example.app \
                \(Self.flags)
            """
        )
        #expect(taken.exitCode == 0, "\(taken.errors)")
        #expect(!taken.output.contains("not restored"), "\(taken.output)")
        #expect(try account("restored") == account("source"))
    }

    @Test func `become other accounts on request`() throws {
        _ = try export()
        let mapped = try place.shell(
            """
            "$migrate" import archive --container restored --owners --acls --map-owner 1000:50 \
                --map-owner 33:51 --map-group 1001:52 --map-group 2000:53 &&
            cd restored/Documents && stat -c %u:%g numbers link && getfacl -cnpE numbers
            """
        )
        #expect(mapped.exitCode == 0, "\(mapped.errors)")
        #expect(mapped.output.contains("50:52\n51:34\n"))
        for entry in ["user:50:r--", "user:51:---", "group:53:rw-"] {
            #expect(mapped.output.contains("\(entry)\n"))
        }
    }

    @Test func `are named by the report where they are dropped`() throws {
        _ = try export()
        let dropped = try place.migrate(
            "import",
            place.path("archive"),
            "--container",
            place.path("restored"),
            "--json"
        )
        #expect(dropped.exitCode == 0, "\(dropped.errors)")
        #expect(dropped.output.contains(#""owners""#))
        for name in ["posix_acl_access", "posix_acl_default", "trusted.place", "capability"] {
            #expect(dropped.output.contains(name), "\(name)")
        }
        let owners = try place.shell("find restored ! -user 0 -o ! -group 0")
        #expect(owners.output.isEmpty)
    }

    @Test func `are compared and listed`() throws {
        _ = try export()
        let compared = try place.shell(
            """
            chown 1:1 source/Documents/numbers; setfacl -b source/Documents/noise
            "$migrate" diff archive --container source --include-caches
            "$migrate" list archive; "$migrate" list archive --json-lines; "$migrate" inspect archive
            """
        )
        for text in [
            "Documents/numbers: owners differ (1000:1001 in the archive, 1:1 in the container)",
            "Documents/noise: extended attributes differ (system.posix_acl_access)",
            "3000000/4000000000", #""owner":{"group":34,"user":33}"#,
            "owners, access control lists, all attributes",
        ] { #expect(compared.output.contains(text), "\(text)") }
    }

    @Test func `are refused where they can't be restored`() throws {
        _ = try export()
        try place.export("source", as: "plain")
        let container = place.path("restored")
        for flags in [["--owners"], ["--acls"], ["--xattrs", "all"]] {
            let words = ["import", place.path("plain"), "--container", container] + flags
            let refused = try MigrateCommand.run(words)
            refused.expectFailure(64)
            #expect(refused.errors.contains("export with '\(flags.joined(separator: " "))'"))
        }
        let other = try place.shell(
            """
            chmod 755 . && chmod 644 archive && install -m 755 "$migrate" ./migrate &&
            mkdir -m 777 open && setpriv --reuid 1000 --clear-groups \
                ./migrate import archive --container open/restored --owners
            """
        )
        #expect(other.exitCode == 64, "\(other.output)\(other.errors)")
        #expect(other.errors.contains("only root can restore owners"))
        #expect(!place.exists("restored") && !place.exists("open/restored"))
    }
}
