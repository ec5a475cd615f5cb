/// Reads a whole binary property list.
///
/// An object that refers to itself is stopped by the limit of levels.
struct BinaryPropertyListReader {
    private let list: BinaryPropertyList
    private var budget: PropertyListBudget
    private let keysLeftOut: Set<String>

    static func read(
        _ bytes: [UInt8],
        limits: PropertyListLimits,
        leavingOut keys: Set<String> = []
    ) throws(PropertyListError) -> PropertyListValue {
        var reader = Self(
            list: try BinaryPropertyList(bytes),
            budget: PropertyListBudget(limits),
            keysLeftOut: keys
        )
        return try reader.value(of: reader.list.root, level: 0)
    }

    /// Reads the object with a number, inside `level` arrays and dictionaries.
    private mutating func value(
        of object: Int,
        level: Int
    ) throws(PropertyListError) -> PropertyListValue {
        try budget.takeValue()
        switch try list.content(of: object) {
        case .plain(let value): return value
        case .data(let range):
            try budget.take(bytes: range.count)
            return .data(list.data(range))
        case .ascii(let range):
            try budget.take(bytes: range.count)
            return .string(try list.ascii(range))
        case .utf16(let range):
            try budget.take(bytes: range.count)
            return .string(try list.utf16(range))
        case .array(let references): return .array(try array(references, level: level + 1))
        case .dictionary(let references):
            return .dictionary(try dictionary(references, level: level + 1))
        }
    }

    private mutating func array(
        _ references: Range<Int>,
        level: Int
    ) throws(PropertyListError) -> [PropertyListValue] {
        try budget.check(level: level)
        try budget.take(bytes: references.count)
        var values: [PropertyListValue] = []
        for index in 0..<list.count(of: references) {
            values.append(try value(of: list.reference(index, in: references), level: level))
        }
        return values
    }

    private mutating func dictionary(
        _ references: Range<Int>,
        level: Int
    ) throws(PropertyListError) -> [String: PropertyListValue] {
        try budget.check(level: level)
        try budget.take(bytes: references.count)
        var values: [String: PropertyListValue] = [:]
        let count = list.count(of: references, perMember: 2)
        for index in 0..<count {
            let name = try list.reference(index, in: references)
            guard case .string(let key) = try value(of: name, level: level) else {
                throw PropertyListError("it has a key that isn't a text")
            }
            if keysLeftOut.contains(key) { continue }
            let object = try list.reference(count + index, in: references)
            let old = values.updateValue(try value(of: object, level: level), forKey: key)
            guard old == nil else { throw PropertyListError("it has one key twice") }
        }
        return values
    }
}
