/// What `migrate verify` answers: the same of an archive that was read whole, in one line.
struct VerificationAnswer: Answer {
    let inspection: InspectionAnswer

    init(_ inspection: InspectionAnswer) {
        self.inspection = inspection
    }

    var text: String {
        guard let fingerprint = inspection.fingerprint else {
            return "\(inspection.archive): readable to its end, without a fingerprint\n"
        }
        let frames = inspection.frameCount.map { GroupedCount($0).of("frame", "frames") + ", " }
        return "\(inspection.archive): sound, \(frames ?? "")fingerprint \(fingerprint)\n"
    }

    func encode(to encoder: any Encoder) throws {
        try inspection.encode(to: encoder)
    }
}
