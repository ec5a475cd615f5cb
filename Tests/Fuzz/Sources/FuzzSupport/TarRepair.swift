/// Repairs the parts of a tar stream that a mutation breaks by chance, so that readers look at the
/// rest.
public enum TarRepair {
    private static let block = 512
    private static let checksum = 148..<156
    private static let size = 124..<136

    /// Returns `bytes` with right checksums, right lengths of pax records, and an end mark.
    public static func repaired(_ bytes: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        var position = 0
        while position < bytes.count {
            var header = [UInt8](bytes[position...].prefix(block))
            header += repeatElement(0, count: block - header.count)
            position += block
            if header.allSatisfy({ $0 == 0 }) { break }
            let isExtended = header[156] == UInt8(ascii: "x") || header[156] == UInt8(ascii: "g")
            let bodySize = octal(header[size])
            let available = max(0, bytes.count - position)
            var body = [UInt8](bytes.dropFirst(position).prefix(min(bodySize, available)))
            position += (body.count + block - 1) / block * block
            if isExtended && header[size.lowerBound] & 0x80 == 0 {
                body = repairedRecords(body)
                setOctal(UInt64(body.count), at: size, in: &header)
            }
            setChecksum(of: &header)
            output += header
            output += body
            output += repeatElement(0, count: (block - body.count % block) % block)
        }
        return output + [UInt8](repeating: 0, count: 2 * block)
    }

    private static func octal(_ field: ArraySlice<UInt8>) -> Int {
        var value = 0
        for byte in field {
            guard (UInt8(ascii: "0")...UInt8(ascii: "7")).contains(byte) else { break }
            value = min(value * 8 + Int(byte & 7), 1 << 30)
        }
        return value
    }

    private static func setOctal(_ value: UInt64, at field: Range<Int>, in header: inout [UInt8]) {
        var rest = value
        header[field.upperBound - 1] = 0
        for index in field.dropLast().reversed() {
            header[index] = UInt8(ascii: "0") + UInt8(rest & 7)
            rest >>= 3
        }
    }

    /// Sets the checksum as tars do: six digits, a zero, a space.
    public static func setChecksum(of header: inout [UInt8]) {
        for index in checksum { header[index] = UInt8(ascii: " ") }
        let sum = header.reduce(0) { $0 + UInt64($1) }
        setOctal(sum, at: checksum.lowerBound..<checksum.upperBound - 1, in: &header)
        header[checksum.upperBound - 2] = 0
    }

    /// Splits `body` at its newlines and gives each record the length that it has.
    public static func repairedRecords(_ body: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        for line in body.split(separator: UInt8(ascii: "\n")) {
            let text = line.drop { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            guard text.first == UInt8(ascii: " "), text.contains(UInt8(ascii: "=")) else {
                continue
            }
            var length = text.count + 1
            while String(length).utf8.count + text.count + 1 != length {
                length = String(length).utf8.count + text.count + 1
            }
            output += String(length).utf8
            output += text
            output.append(UInt8(ascii: "\n"))
        }
        return output
    }
}
