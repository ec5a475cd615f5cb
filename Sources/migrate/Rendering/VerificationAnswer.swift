import MigrationCore

/// What `migrate verify` answers: what was checked, and the same of an archive that was read whole.
struct VerificationAnswer: Answer {
    let inspection: InspectionAnswer
    let checked: VerificationScope

    private enum CodingKeys: String, CodingKey {
        case checked
    }

    init(_ inspection: InspectionAnswer, checked: VerificationScope) {
        self.inspection = inspection
        self.checked = checked
    }

    var text: String {
        guard let fingerprint = inspection.fingerprint else {
            return "\(inspection.archive): readable to its end, without a fingerprint\n"
        }
        let frames = inspection.frameCount.map { GroupedCount($0).of("frame", "frames") + ", " }
        let finding =
            checked == .everything
            ? "sound, read as an import would" : "hashes match, entries not read"
        return "\(inspection.archive): \(finding), \(frames ?? "")fingerprint \(fingerprint)\n"
    }

    func encode(to encoder: any Encoder) throws {
        try inspection.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(checked, forKey: .checked)
    }
}
