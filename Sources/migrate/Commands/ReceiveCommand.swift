internal import Foundation
internal import MigrationArchive
internal import MigrationCore
internal import MigrationReports
internal import MigrationSystem

/// `migrate receive`: takes the archive that `migrate send` on another host exports.
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
    .help("The version of the conversation that the sender can have.")
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

    func subject(of error: any Error) -> String {
        guard let importContainer, error.isOfOutput else { return subject }
        return PrintableText.escaping(importContainer)
    }

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

// MARK: - Answer

/// The answer of `migrate receive` to the sender.
struct ReceiveAnswer: Answer, Codable {
    /// The result of an import.
    struct Import: JSONObject, Decodable, Sendable {
        let container: ExactName
        let isSkipped: Bool
        let omissions: OmissionList
        let replacedData: Bool
        let totals: ArchiveTotals

        private enum CodingKeys: String, CodingKey {
            case container, containerBase64, isSkipped, omissions, replacedData, totals
        }

        var members: JSONMembers {
            [
                "container": container, "isSkipped": isSkipped, "omissions": omissions,
                "replacedData": replacedData, "totals": totals,
            ]
        }

        /// The lines for a person.
        var text: String {
            let place = PrintableText.escaping(container.bytes)
            if isSkipped { return "already imported into \(place) there\n" }
            return "imported into \(place) there\n"
                + (replacedData ? "replaced the data that was there\n" : "")
                + OmissionLines(title: "not restored", omissions: omissions).text
        }
    }

    let fingerprint: String
    let isUnchanged: Bool
    var `import`: Import?

    var schema: String { "migrate/receive/1" }

    var text: String { "fingerprint \(fingerprint)\n" }

    init(_ received: ReceivedArchive) {
        fingerprint = received.fingerprint.description
        isUnchanged = received.isUnchanged
    }

    /// Reads the answer of a receiver.
    init(reading answer: [UInt8]) throws(MigrationError) {
        do {
            self = try JSONDecoder().decode(Self.self, from: Data(answer))
        } catch {
            throw MigrationError(.commandFailed, "the receiver's answer can't be understood")
        }
    }
}

extension ReceiveAnswer.Import {
    init(container: BytePath, report: ImportReport) {
        self.init(
            container: ExactName(container.bytes),
            isSkipped: report.isSkipped,
            omissions: report.omissions,
            replacedData: report.replacedData,
            totals: report.totals
        )
    }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        container = try values.decodeName(forKey: .container, or: .containerBase64)
        isSkipped = try values.decode(Bool.self, forKey: .isSkipped)
        omissions = try values.decode(OmissionList.self, forKey: .omissions)
        replacedData = try values.decode(Bool.self, forKey: .replacedData)
        totals = try values.decode(ArchiveTotals.self, forKey: .totals)
    }
}
