/// Bech32 (BIP 173), in which age writes its keys, without that standard's limit on the length.
enum Bech32 {
    private static let alphabet = [UInt8]("qpzry9x8gf2tvdw0s3jn54khce6mua7l".utf8)

    /// The bytes that `text` stands for, where `name` comes before them; `nil` where it is not so.
    static func decode(_ text: ArraySlice<UInt8>, name: String) -> [UInt8]? {
        let isUpper = !text.contains { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }
        let isLower = !text.contains { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
        guard isUpper || isLower else { return nil }
        var lower = text.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }
        defer { Secret.wipe(&lower) }
        let prefix = [UInt8](name.utf8)
        guard lower.starts(with: prefix + [UInt8(ascii: "1")]) else { return nil }
        var values: [UInt8] = []
        values.reserveCapacity(lower.count)
        defer { Secret.wipe(&values) }
        for character in lower[(prefix.count + 1)...] {
            guard let value = alphabet.firstIndex(of: character) else { return nil }
            values.append(UInt8(value))
        }
        guard values.count >= 6, checksum(prefix, values) == 1 else { return nil }
        return regroup(values[..<(values.count - 6)], from: 5, to: 8)
    }

    /// The text that stands for `bytes`, in lower case.
    static func encode(_ bytes: [UInt8], name: String) -> String {
        var values = regroup(bytes[...], from: 8, to: 5, isPadded: true) ?? []
        let sum = checksum([UInt8](name.utf8), values + [UInt8](repeating: 0, count: 6)) ^ 1
        for index in 0..<6 { values.append(UInt8(sum >> UInt32(5 * (5 - index)) & 31)) }
        return name + "1" + String(decoding: values.map { alphabet[Int($0)] }, as: UTF8.self)
    }

    private static func checksum(_ name: [UInt8], _ values: [UInt8]) -> UInt32 {
        let generators: [UInt32] = [
            0x3B6A_57B2, 0x2650_8E6D, 0x1EA1_19FA, 0x3D42_33DD, 0x2A14_62B3,
        ]
        var sum: UInt32 = 1
        func add(_ value: UInt8) {
            let top = sum >> 25
            sum = (sum & 0x1FF_FFFF) << 5 ^ UInt32(value)
            for (index, generator) in generators.enumerated() where top >> UInt32(index) & 1 == 1 {
                sum ^= generator
            }
        }
        name.forEach { add($0 >> 5) }
        add(0)
        name.forEach { add($0 & 31) }
        values.forEach(add)
        return sum
    }

    /// Cuts bits into groups of another size; `nil` where bits are left that mean something.
    private static func regroup(
        _ values: ArraySlice<UInt8>,
        from: Int,
        to: Int,
        isPadded: Bool = false
    ) -> [UInt8]? {
        var bits: UInt32 = 0
        var count = 0
        var groups: [UInt8] = []
        groups.reserveCapacity(values.count * from / to + 1)
        for value in values {
            bits = (bits << UInt32(from) | UInt32(value)) & 0xFFFF
            count += from
            while count >= to {
                count -= to
                groups.append(UInt8(bits >> UInt32(count) & (1 << UInt32(to) - 1)))
            }
        }
        let rest = bits & (1 << UInt32(count) - 1)
        if isPadded {
            if count > 0 { groups.append(UInt8(rest << UInt32(to - count))) }
        } else if count >= from || rest != 0 {
            return nil
        }
        return groups
    }
}
