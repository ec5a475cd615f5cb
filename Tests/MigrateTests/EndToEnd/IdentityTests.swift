import Foundation
import TestSupport
import Testing

/// Whose data an archive is: by files, by an import's record, by names, and by the person's
/// options.
@Suite(.scratchDirectory)
struct IdentityTests {
    private let place: Workplace

    init() throws {
        place = try Workplace()
        try place.shell(
            """
            umask 022
            make() {
              mkdir -p "$1/Documents" "$1/Library/Preferences" "$1/tmp" && echo text > "$1/Documents/note" &&
              touch -d 2026-01-02 "$1/Documents/note" "$1/Documents" "$1/Library/Preferences" "$1/Library"
            }
            make live; make plain; make data.2024.x; make org.example.hub
            make 'org.example.notes 2026-04-07 13.24.32.633.xcappdata/AppData'
            make any.xcappdata/AppData
            cat > live/.com.apple.mobile_container_manager.metadata.plist <<'LIST'
            <?xml version="1.0" encoding="UTF-8"?>
            <plist version="1.0"><dict><key>MCMMetadataIdentifier</key><string>com.example.notes</string></dict></plist>
            LIST
            """
        )
    }

    private func run(_ script: String) throws -> MigrateCommand.Result {
        try place.shell("give() { \"$migrate\" export --force -o archive -c \"$@\"; }\n\(script)")
    }

    /// The app and the platform in an export of `container`, and its fingerprint.
    private func exported(_ container: String, _ flags: String = "") throws -> [String] {
        let result = try run(
            """
            give '\(container)' \(flags) > out || { cat out; exit 1; }
            "$migrate" inspect archive | grep -E '^(app|platform)' | tr -s ' ' | cut -d ' ' -f 2
            grep ^fingerprint out
            """
        )
        #expect(result.exitCode == 0, "\(container): \(result.errors)")
        return result.output.split(separator: "\n").map(String.init)
    }

    @Test(
        arguments: [
            ("live", "com.example.notes", "iOS"), ("plain", "unknown", "linux"),
            ("data.2024.x", "unknown", "linux"), ("org.example.hub", "org.example.hub", "iOS"),
            ("org.example.notes 2026-04-07 13.24.32.633.xcappdata", "org.example.notes", "iOS"),
            ("any.xcappdata", "unknown", "iOS"), ("any.xcappdata/AppData", "unknown", "iOS"),
        ]
    )
    func `an export names the app and the platform that a container shows`(
        _ container: String,
        _ app: String,
        _ platform: String
    ) throws {
        #expect(try exported(container).prefix(2) == [app, platform])
        let paths = try run("\"$migrate\" list archive").output
        #expect(paths.contains(" Documents/note\n") && !paths.contains("AppData"))
        let hint =
            "the archive names no app, since the container doesn't; name it with '--bundle-id'\n"
        let answer = try run("give '\(container)'").output
        #expect(answer.components(separatedBy: hint).count == (app == "unknown" ? 2 : 1))
    }

    @Test func `a copy under another name has the same fingerprint`() throws {
        _ = try exported("plain")
        let verified = try run(
            "cp -a plain copy && \"$migrate\" export -c copy -o archive --if-exists verify"
        )
        #expect(verified.exitCode == 0, "\(verified.errors)")
        #expect(verified.output.hasPrefix("archive: unchanged\n"))
    }

    @Test func `the identity and the fingerprint stay through every form of a container`() throws {
        let first = try exported("live")
        #expect(first.prefix(2) == ["com.example.notes", "iOS"])
        let forms = ["new", "new.xcappdata", "new.xcappdata/AppData", "live"]
        for (number, form) in forms.enumerated() {
            if form != "new.xcappdata/AppData" {
                let flags = form == "live" ? "--replace" : ""
                let imported = try run("\"$migrate\" import archive -c '\(form)' \(flags)")
                #expect(imported.exitCode == 0, "\(form): \(imported.errors)")
            }
            if number == 0 {
                try place.shell("\"$migrate\" status -c new --clear; mv new p2; cp -a p2 new")
            }
            #expect(try exported(form) == first, "\(form)")
        }
    }

    @Test func `an import makes a bundle that Xcode takes, whole or not at all`() throws {
        _ = try exported("live")
        let made = try run("\"$migrate\" import archive -c new.xcappdata && find new.xcappdata")
        #expect(made.exitCode == 0, "\(made.errors)")
        #expect(made.output.contains("\nnew.xcappdata/AppData/Documents/note\n"))
        let list = try place.bytes(of: "new.xcappdata/AppDataInfo.plist")
        let info = String(decoding: list, as: UTF8.self)
        #expect(info.contains("<key>CFBundleIdentifier</key>\n\t<string>com.example.notes<"))
        let names = try place.names()
        let refused = try run(
            "head -c 900 archive > cut; \"$migrate\" import cut -c other.xcappdata; code=$?; rm cut; exit $code"
        )
        #expect(refused.exitCode == 65)
        #expect(try place.names() == names)
    }

    @Test func `a leftover of a killed import of a bundle goes, and nothing else`() throws {
        _ = try exported("live")
        let token = "7D1C1B0A-5F5E-4D0B-8B7B-0C9F6E3A2D11"
        let left = ".new.xcappdata.migration-staging-\(token)"
        let result = try run(
            """
            mkdir -p \(left)/AppData .new.xcappdata.migration-staging-mine && touch \(left)/\(token) &&
            "$migrate" import archive -c new.xcappdata
            """
        )
        #expect(result.exitCode == 0, "\(result.errors)")
        #expect(!place.exists(left) && place.exists(".new.xcappdata.migration-staging-mine"))
    }

    @Test(
        arguments: [
            (
                "give live --bundle-id com.example.other", 1,
                "/live; drop '--bundle-id', or change whose data it is with '--as'"
            ),
            (
                "give plain && take --as com.example.other live --replace", 1,
                "/live; '--as' names the other"
            ),
            (
                "give plain && take live --replace", 1,
                "/live; replace it with '--as com.example.notes' if the archive is of that app"
            ),
            ("give plain && take --as com.example.notes live --replace", 0, ""),
            (
                "give live --as com.example.other && take live --replace", 1,
                "/live; import it with '--as com.example.notes' if the data is for that app"
            ),
            (
                "give live --as com.example.other && take live --replace --dry-run", 1,
                "'--as com.example.notes'"
            ),
            (
                "give live --as com.example.other && take --as com.example.notes live --replace", 0,
                ""
            ),
            ("give live && take plain --replace", 0, ""),
            ("give live && take org.example.hub --replace", 0, ""),
            (
                "mkdir up && mv live plain up && give up", 1,
                "/up; name one of them, or take the directory as it is with '--not-a-container'"
            ),
            ("mkdir up && mv live plain up && give up --not-a-container", 0, ""),
            (
                "give live && mkdir up && mv live plain up && take up --replace", 1,
                "'--not-a-container'"
            ),
            (
                "give live && take new && sed -i s/notes/other/ new/.migration/identity.json && "
                    + "cp live/.com* new && give new", 1,
                "the container's metadata names com.example.notes, and .migration/identity.json names "
                    + "com.example.other"
            ),
            (
                "give live && take new && echo '{' > new/.migration/identity.json && give new", 1,
                "the container's recorded identity can't be understood"
            ),
        ]
    )
    func `contradictions are refused, and the flag that helps is named`(
        _ script: String,
        _ code: Int32,
        _ message: String
    ) throws {
        let result = try run(
            """
            take() { case $1 in --as) as="--as $2"; shift 2;; esac; "$migrate" import archive $as -c "$@"; }
            \(script)
            """
        )
        #expect(result.exitCode == code, "\(result.errors)")
        if message.isEmpty {
            #expect(result.errors.isEmpty, "\(result.errors)")
        } else {
            #expect(result.errors.contains(message), "\(result.errors)")
        }
    }

    @Test func `a known platform is named in any case`() throws {
        #expect(try exported("plain", "--source-platform IOS")[1] == "iOS")
        #expect(try exported("plain", "--source-platform Android")[1] == "android")
        #expect(try exported("plain", "--source-platform toaster")[1] == "toaster")
    }

    @Test func `what --as names becomes the container's recorded app`() throws {
        let result = try run(
            """
            give live && "$migrate" import archive -c new --as com.example.renamed &&
            "$migrate" import archive -c new --replace
            """
        )
        #expect(result.exitCode == 1)
        #expect(result.errors.contains("the container to com.example.renamed: "))
        #expect(try exported("new").prefix(2) == ["com.example.renamed", "iOS"])
    }
}
