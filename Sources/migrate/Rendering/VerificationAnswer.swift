import MigrationCore

/// What `migrate verify` answers: what was checked, and the same of an archive that was read whole.
struct VerificationAnswer: Answer {
    let inspection: InspectionAnswer
    let checked: VerificationScope

    /// What is said of the signature that was required.
    var signature: String?

    private enum CodingKeys: String, CodingKey {
        case checked
        case signature
    }

    var text: String {
        guard let fingerprint = inspection.fingerprint else {
            return "\(inspection.archive): readable to its end, without a fingerprint\n"
        }
        let frames = inspection.frameCount.map { GroupedCount($0).of("frame", "frames") + ", " }
        let finding =
            checked == .everything
            ? "sound, read as an import would" : "hashes match, entries not read"
        let proof = "\(frames ?? "")fingerprint \(fingerprint)"
        return (["\(inspection.archive): \(finding), \(proof)"] + [signature].compactMap(\.self))
            .map { "\($0)\n" }.joined()
    }

    func encode(to encoder: any Encoder) throws {
        try inspection.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(checked, forKey: .checked)
        try container.encodeIfPresent(signature, forKey: .signature)
    }
}
