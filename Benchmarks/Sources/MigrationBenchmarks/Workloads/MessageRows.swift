/// Writes the statements that insert one message after another.
struct MessageRows {
    private static let senders = ["anna", "bob", "chen", "dana", "emil", "fatima", "george"]

    private var generator = SplitMix64(seed: 5)
    private var number = 0
    private var time = 700_000_000.0

    /// Appends the statement of one message.
    ///
    /// - Returns: the bytes of text in it.
    mutating func append(from text: inout TextSource, to statements: inout [UInt8]) -> Int {
        let body = text.next(.random(in: 40...900, using: &generator))
        let sender = Self.senders.randomElement(using: &generator) ?? ""
        number += 1
        time += .random(in: 1...3600, using: &generator)
        statements += "INSERT INTO message VALUES(\(number),'\(sender)',\(time),'".utf8
        let quote = UInt8(ascii: "'")
        for byte in body {
            if byte == quote {
                statements.append(quote)
            }
            statements.append(byte)
        }
        statements += "');\n".utf8
        return body.count
    }
}
