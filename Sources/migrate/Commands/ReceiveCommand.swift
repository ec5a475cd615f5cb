internal import Foundation
internal import MigrationCore
internal import MigrationReports
internal import MigrationSystem

/// `migrate receive`: receives the archive that `migrate send` on another host exports.
struct ReceiveCommand: Command {
    private var path: BytePath = ""
    private var protocolVersion = RemoteArchive.protocolVersion
    private var importContainer: BytePath?
    private var replacesData = false
    var common = CommonOptions()

    static let name = "receive"
    static let abstract = "Take an archive from 'migrate send', which runs this on the other host."

    static var arguments: [Argument<Self>] {
        [Argument("archive", as: .path, to: \.path).help("The archive to write.")]
    }

    static var flags: [Flag<Self>] {
        protocolVersion
        force
        importContainer
        replace
        wait
    }

    private static let ours = RemoteArchive.protocolVersion

    static let examples: Examples = [
        "Take an archive, as 'migrate send' on the other host asks.":
            "migrate receive --protocol \(ours) /srv/notes.tar.zst",
        "Replace an archive of that name.":
            "migrate receive --protocol \(ours) /srv/notes.tar.zst --force",
        "Import it once it is whole.":
            "migrate receive --protocol \(ours) notes.tar.zst --import /srv/notes",
    ]

    private static let protocolVersion = Flag<Self>(
        "protocol",
        value: "n",
        as: .number(in: 1...99),
        to: \.protocolVersion
    )
    .help("The protocol version of the sender.")
    .required

    private static let force = Flag<Self>.force(replacing: "an archive")

    private static let importContainer = Flag<Self>(
        "import",
        value: "dir",
        as: .directory,
        to: \.importContainer
    )
    .help("Import the archive into this container once it is whole.")

    private static let replace = Flag<Self>("replace", sets: \.replacesData)
        .help("Replace a container that holds data.")
        .needing(importContainer)

    private static let wait = Flag<Self>.wait

    /// The words of a command line that sets these properties, without the archive.
    static func words(
        replacesExisting: Bool,
        importingInto container: BytePath?,
        replacesData: Bool,
        waitLimit: Duration
    ) -> [[UInt8]] {
        protocolVersion.words([UInt8]("\(RemoteArchive.protocolVersion)".utf8))
            + (replacesExisting ? force.words() : [])
            + (container.map { importContainer.words($0.bytes) } ?? [])
            + (replacesData ? replace.words() : [])
            + (waitLimit > .zero ? wait.words([UInt8]("\(waitLimit / .seconds(1))".utf8)) : [])
    }

    func check() throws(UsageError) {
        guard protocolVersion == Self.ours else {
            throw UsageError(
                "the sender has version \(protocolVersion) of the conversation, this 'migrate' has "
                    + "version \(Self.ours): use the same release on both hosts"
            )
        }
    }

    var subject: String { PrintableText.escaping(path) }

    var outputSubject: String { importContainer.map { PrintableText.escaping($0) } ?? subject }

    func run(in context: CommandContext) async throws -> ExitCode {
        let console = context.console
        let streams = [StandardStream.input, .output]
        guard !streams.contains(where: { $0.isTerminal || console.closedStreams.contains($0) })
        else {
            throw UsageError("'migrate receive' talks with 'migrate send', which runs it over ssh")
        }
        let received = try await common.host(on: console).receive(
            path,
            replacesExisting: common.replacesExisting,
            from: StandardStream.input.rawValue,
            to: StandardStream.output.rawValue,
            settingAside: { place in
                let name = PrintableText.escaping(place)
                console.log(
                    "migrate: warning: what was left of the archive can't be continued; it is now "
                        + "'\(name)'"
                )
            }
        )
        var answer = ReceiveAnswer(received)
        if let importContainer {
            answer.import = try await imported(received, into: importContainer, on: console)
        }
        try console.conclude(on: console.output) {
            try $0.write(JSONText.lineOfDocument(answer) + "\n")
        }
        return .success
    }

    private func imported(
        _ received: ReceivedArchive,
        into container: BytePath,
        on console: Console
    ) async throws -> ReceiveAnswer.Import {
        var options = ImportOptions()
        options.replacesExisting = replacesData
        options.expectedFingerprint = received.fingerprint
        // A repeated transfer must be idempotent.
        options.skipsIfImported = true
        let report = try await common.host(on: console).import(
            .file(path: path),
            into: MigrationDataContainer(atPath: container),
            options: options
        )
        console.logLeftovers(of: report)
        return ReceiveAnswer.Import(container: container, report: report)
    }
}
