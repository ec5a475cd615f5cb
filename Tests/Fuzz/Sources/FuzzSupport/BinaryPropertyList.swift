/// A binary property list with given objects, so that a mutation changes an object and not the
/// table.
enum BinaryPropertyList {
    /// Takes the objects, of which the first is the list, from between the separators in `material`.
    static func list(of material: [UInt8]) -> [UInt8] {
        let objects = material.split(separator: 0xFF, maxSplits: 250)
        var bytes = [UInt8]("bplist00".utf8)
        var offsets: [UInt8] = []
        for object in objects {
            offsets += [UInt8(truncatingIfNeeded: bytes.count >> 8)]
            offsets += [UInt8(truncatingIfNeeded: bytes.count)]
            bytes += object
        }
        let table = bytes.count
        bytes += offsets + [0, 0, 0, 0, 0, 0, 2, 1]
        for number in [objects.count, 0, table] {
            for shift in (0..<8).reversed() {
                bytes.append(UInt8(truncatingIfNeeded: number >> (8 * shift)))
            }
        }
        return bytes
    }
}
