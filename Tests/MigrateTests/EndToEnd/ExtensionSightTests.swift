import Foundation
import Glibc
import TestSupport
import Testing

/// What an extension can read and change of files outside, depending on its host and the system.
@Suite(.scratchDirectory)
struct ExtensionSightTests {
    /// Who runs `migrate`, and whose the container is.
    enum Host: CaseIterable, Sendable {
        case rootForItself
        case rootForOwner
        case user

        static let other = 65_533

        /// The prefix that runs a command as the host.
        private var prefix: String {
            self == .user
                ? "setpriv --reuid \(Self.other) --regid \(Self.other) --clear-groups " : ""
        }

        /// The words that run `command`, which may have namespaces or not.
        func words(_ command: String, hasNamespaces: Bool = true) -> String {
            if hasNamespaces { return prefix + command }
            guard self == .user else {
                return "setpriv --bounding-set=-sys_admin --inh-caps=-sys_admin \(command)"
            }
            return prefix + "unshare -Uc --keep-caps sh -c 'echo 0 > "
                + "/proc/sys/user/max_user_namespaces; exec setpriv --inh-caps=-all "
                + "--ambient-caps=-all \(command)'"
        }

        /// Whether this process may be the host, and the owner may read the tests' build directory.
        var isPossible: Bool {
            guard geteuid() == 0, succeeds(words("true", hasNamespaces: false)) else {
                return false
            }
            return self == .rootForItself
                || succeeds(Host.user.words("test -x \(MigrateCommand.path)"))
        }

        var hasNamespaces: Bool {
            succeeds(words(self == .user ? "unshare -Urm true" : "unshare -m true"))
        }

        private func succeeds(_ command: String) -> Bool {
            system("{ \(command); } >/dev/null 2>&1") == 0
        }
    }

    private static let hosts = Host.allCases.filter(\.isPossible)
    private static let confinedHosts = hosts.filter(\.hasNamespaces)

    private let stage: ExtensionStage

    init() throws {
        stage = try ExtensionStage()
        try stage.place.shell("echo text > outside && ln -s outside link && chmod 640 outside")
        try stage.place.shell("touch -d @1000000000 outside")
    }

    private var place: Workplace { stage.place }

    private var attempts: [String] {
        let (outside, link) = (place.path("outside"), place.path("link"))
        return [
            "chmod \(outside)", "utimes \(outside)", "chown \(outside)", "stat \(outside)",
            "readlink \(link)", "keep-mode /usr/bin/env", "stat /usr/bin/env",
        ]
    }

    private func run(
        _ command: String,
        as host: Host,
        hasNamespaces: Bool = true
    ) throws -> MigrateCommand.Result {
        try place.shell("chmod a+rX . && chmod -R a+rX source entitlements")
        let owner = host == .rootForItself ? 0 : Host.other
        try place.shell("chown -hR \(owner):\(owner) .")
        if host == .user { try place.shell("chown \(Host.other) .") }
        let options = "--json --extension \(ExtensionStage.program) --entitlements entitlements"
        return try place.shell(
            host.words("$migrate \(command) \(options)", hasNamespaces: hasNamespaces)
        )
    }

    private func notes() throws -> [String] {
        try place.shell("$migrate extract archive --to out >&2 && cat out/notes").output
            .split(separator: "\n").map(String.init)
    }

    @Test(arguments: confinedHosts)
    func `an export sees and changes nothing outside`(_ host: Host) throws {
        let lines = attempts.map { "attempt \($0)" } + ["attempt chmod Documents/note"]
        try stage.script(
            (lines + ["append Documents", "notes tmp:notes", "append tmp:notes as notes"])
                .joined(separator: "\n")
        )
        let result = try run("export --out archive --container source", as: host)
        #expect(result.exitCode == 0, "\(result.errors)")
        #expect(result.output.contains(#""hidesOtherFiles" : true"#))
        #expect(!result.output.contains("(stat, readlink)"))
        #expect(!result.output.contains("chmod"))
        let outcomes = [
            "ENOENT", "ENOENT", "ENOENT", "ENOENT", "ENOENT", "EROFS", "done", "EROFS",
        ]
        #expect(try notes().suffix(8) == zip(lines, outcomes).map { "\($0) \($1)" }[...])
        let status = try place.shell("stat -c '%a %Y' outside").output
        #expect(status == "640 1000000000\n")
    }

    @Test(arguments: confinedHosts)
    func `an import changes what is its own, and nothing outside`(_ host: Host) throws {
        let lines = (attempts + ["chmod in:file", "write tmp:new"]).map { "attempt \($0)" }
        let steps = ["move in:file Documents/moved", "attempt utimes Documents/moved"]
        try stage.write("text", to: "file")
        try stage.write(
            (lines + steps + ["notes Documents/notes"]).joined(separator: "\n"),
            to: "in"
        )
        try stage.script("append in as script\nappend file as file")
        #expect(try run("export --out archive --container source", as: host).exitCode == 0)
        try place.shell("mkdir target")
        let source = "--source-app com.example.notes --source-platform android"
        let result = try run("import archive --container target \(source)", as: host)
        #expect(result.exitCode == 0, "\(result.errors)")
        #expect(result.output.contains(#""hidesOtherFiles" : true"#))
        let notes = try place.shell("cat target/Documents/notes").output.split(separator: "\n")
        let outcomes = [
            "ENOENT", "ENOENT", "ENOENT", "ENOENT", "ENOENT", "EROFS", "done", "done", "done",
            "done",
        ]
        let attempted = lines + [steps[1]]
        #expect(notes.suffix(10).map(String.init) == zip(attempted, outcomes).map { "\($0) \($1)" })
        #expect(try place.shell("stat -c '%a %Y' outside").output == "640 1000000000\n")
        let owner = host == .rootForItself ? 0 : Host.other
        #expect(try place.shell("stat -c %u target/Documents/moved").output == "\(owner)\n")
    }

    @Test(arguments: hosts, ["source", "with space/source"])
    func `where namespaces are denied all works, and is reported as open`(
        _ host: Host,
        _ container: String
    ) throws {
        let (outside, program) = (place.path("outside"), "/usr/bin/env")
        try stage.script(
            """
            identity
            attempt stat \(outside)
            attempt chmod \(outside)
            attempt keep-mode \(program)
            append Documents
            notes tmp:notes
            append tmp:notes as notes
            """
        )
        try place.shell(
            "[ -d source/../\(container) ] || { mkdir 'with space' && mv source 'with space'; }"
        )
        let result = try run(
            "export --out archive --container \"\(container)\"",
            as: host,
            hasNamespaces: false
        )
        #expect(result.exitCode == 0, "\(result.errors)")
        #expect(result.output.contains(#""hidesOtherFiles" : false"#))
        let reason = "no root directory of its own, "
        #expect(result.output.components(separatedBy: reason).count == 3)
        #expect(result.output.contains("(unshare)"))
        let notes = try notes()
        #expect(notes.contains("attempt stat \(outside) done"))
        #expect(notes.contains("attempt chmod \(outside) done"))
        // The program is root's.
        let isRoot = host == .rootForItself
        #expect(notes.contains("attempt keep-mode \(program) EPERM") != isRoot)
        let user = isRoot ? 0 : Host.other
        #expect(notes.contains { $0.hasPrefix("identity \(user) \(user) \(user) \(user) ") })
    }

    @Test(arguments: hosts, [true, false])
    func
        `what a person grants opens between its calls where there are namespaces, else for all time`(
            _ host: Host,
            _ hasNamespaces: Bool
        ) throws
    {
        guard !hasNamespaces || host.hasNamespaces else { return }
        try place.shell("mkdir 'my photos' && echo picture > 'my photos/one'")
        try stage.script(
            """
            append Documents
            read grant:photos/one
            start grant:photos
            read grant:photos/one
            append grant:photos as photos
            attempt write grant:photos/one
            stop grant:photos
            read grant:photos/one
            notes tmp:notes
            append tmp:notes as notes
            """
        )
        let result = try run(
            "export --out archive --container source --grant \"photos=my photos:ro\"",
            as: host,
            hasNamespaces: hasNamespaces
        )
        #expect(result.exitCode == 0, "\(result.errors)")
        let gap = "the granted resources before they are opened and after they are closed"
        #expect(result.output.contains(gap) != hasNamespaces)
        let notes = try notes().suffix(5).map { $0.split(separator: " ").last ?? "" }
        let written = hasNamespaces ? "EROFS" : "EACCES"
        let closed = hasNamespaces ? "ENOENT" : "done"
        #expect(notes == [closed[...], "true", "done", written[...], closed[...]])
        #expect(try place.shell("cat out/photos/one").output == "picture\n")
        let refused = try run(
            "export --out other --container source --grant notes=source/Documents",
            as: host,
            hasNamespaces: hasNamespaces
        )
        #expect(refused.exitCode != 0)
        #expect(refused.errors.contains("the granted resource 'notes' overlaps with"))
        #expect(refused.errors.contains("; '--grant' names it"))
        #expect(try !place.names().contains("other"))
    }

    @Test(.enabled(if: hosts.contains(.user), "needs root"))
    func `a user's extension has so many processes and no more`() throws {
        let line = "attempt processes 1200"
        try stage.script("\(line)\nnotes tmp:notes\nappend tmp:notes as notes")
        let result = try run("export --out archive --container source", as: .user)
        #expect(result.exitCode == 0, "\(result.errors)")
        let isBounded = result.output.contains("1024 processes and threads")
        #expect(result.output.contains("the number of its processes") != isBounded)
        #expect(try notes().last == "\(line) \(isBounded ? "EAGAIN" : "done")")
        #expect(isBounded || !Host.user.hasNamespaces)
    }

    @Test(.enabled(if: hosts.contains(.rootForOwner), "needs root"))
    func `an owner with an account has all groups of it`() throws {
        let number = Host.other
        try place.shell(
            """
            printf 'root:x:0:0::/:/bin/sh\\nowner:x:\(number):\(number)::/:/bin/sh\\n' > passwd
            printf 'root:x:0:\\nowner:x:\(number):\\nfurther:x:65432:owner\\n' > group
            """
        )
        try stage.script("identity\nappend Documents\nnotes tmp:notes\nappend tmp:notes as notes")
        try place.shell("chown -R \(number):\(number) source && chmod -R a+rX .")
        try place.shell(
            """
            cd source/Documents && echo > shared && chown 0:65432 shared && chmod 640 shared
            echo > closed && chown 0:65431 closed && chmod 640 closed
            """
        )
        let export = "$migrate export --out archive --container source"
        let options = "--extension \(ExtensionStage.program) --entitlements entitlements"
        let result = try place.shell(
            """
            unshare -m sh -c 'mount --make-rprivate / && mount --bind passwd /etc/passwd &&
            mount --bind group /etc/group && \(export) --json \(options)'
            """
        )
        #expect(result.exitCode == 0, "\(result.errors)")
        let identity = "identity \(number) \(number) \(number) \(number) [65432, \(number)]"
        #expect(try notes().contains(identity))
        #expect(result.output.contains("owner (user \(number)), who owns the container"))
        #expect(try place.shell("ls out/Documents").output == "note\nshared\n")
        #expect(result.output.contains("Documents/closed"))
        #expect(!result.output.contains("Documents/shared"))
    }
}
