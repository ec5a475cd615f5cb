internal import CExpat

/// Reads a property list in XML with expat.
///
/// The elements are those of Apple's `PropertyList-1.0.dtd`. The document type itself isn't read, and
/// one that declares entities is refused.
@safe
final class XMLPropertyListReader {
    /// An element that has begun but not ended.
    private struct Open {
        let name: String
        var text: [UInt8] = []
        var values: [PropertyListValue] = []
        var members: [String: PropertyListValue] = [:]
        var key: String?
        /// Whether the value isn't kept.
        var isLeftOut = false
    }

    private let parser: XML_Parser
    private var budget: PropertyListBudget
    private var open: [Open] = []
    private var root: PropertyListValue?
    private var problem: PropertyListError?
    private var isBegun = false

    private let leftOut: Set<String>

    /// Makes a reader that doesn't keep the values of some keys.
    init(limits: PropertyListLimits, leavingOut keys: Set<String> = []) {
        leftOut = keys
        budget = PropertyListBudget(limits)
        unsafe parser = XML_ParserCreate(nil)
    }

    deinit {
        unsafe XML_ParserFree(parser)
    }

    static func read(
        _ bytes: [UInt8],
        limits: PropertyListLimits
    ) throws(PropertyListError) -> PropertyListValue {
        let reader = XMLPropertyListReader(limits: limits)
        try reader.take(bytes[...])
        return try reader.finish()
    }

    // MARK: - Calls from expat

    /// Reads the next piece of the list.
    func take(_ bytes: ArraySlice<UInt8>, isLast: Bool = false) throws(PropertyListError) {
        guard let count = CInt(exactly: bytes.count) else {
            throw PropertyListError("it takes more than 2 GiB")
        }
        if !isBegun {
            isBegun = true
            unsafe XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
            setElementHandlers()
            refuseEntities()
        }
        let status = unsafe bytes.withUnsafeBytes { bytes in
            let text = unsafe bytes.assumingMemoryBound(to: CChar.self).baseAddress
            return unsafe XML_Parse(parser, text, count, isLast ? 1 : 0)
        }
        if let problem {
            let line = unsafe XML_GetCurrentLineNumber(parser)
            throw PropertyListError("line \(line): \(problem.description)")
        }
        guard status == XML_STATUS_OK else {
            throw PropertyListError("it is neither a binary list nor valid XML")
        }
    }

    /// Ends the reading after the last piece.
    ///
    /// - Returns: The value that the list holds.
    func finish() throws(PropertyListError) -> PropertyListValue {
        try take([], isLast: true)
        guard let root else { throw PropertyListError("it holds no value") }
        return root
    }

    private func setElementHandlers() {
        unsafe XML_SetElementHandler(
            parser,
            { context, name, _ in
                guard let name = unsafe name else { return }
                let element = unsafe String(cString: name)
                unsafe reader(context)?.attempt { reader throws(PropertyListError) in
                    try reader.begin(element)
                }
            },
            { context, _ in
                unsafe reader(context)?.attempt { reader throws(PropertyListError) in
                    try reader.end()
                }
            }
        )
        unsafe XML_SetCharacterDataHandler(parser) { context, text, count in
            let text = unsafe UnsafeRawBufferPointer(start: text, count: Int(count))
            let bytes = unsafe [UInt8](text)
            unsafe reader(context)?.attempt { reader throws(PropertyListError) in
                try reader.append(bytes)
            }
        }
    }

    private func refuseEntities() {
        unsafe XML_SetEntityDeclHandler(parser) { context, _, _, _, _, _, _, _, _ in
            unsafe reader(context)?.attempt { _ throws(PropertyListError) in
                throw PropertyListError("entities are refused")
            }
        }
        unsafe XML_SetSkippedEntityHandler(parser) { context, _, _ in
            unsafe reader(context)?.attempt { _ throws(PropertyListError) in
                throw PropertyListError("it refers to an entity that isn't known")
            }
        }
    }

    /// Does `work` unless something failed earlier; stops the parser if it fails.
    private func attempt(
        _ work: (XMLPropertyListReader) throws(PropertyListError) -> Void
    ) {
        guard problem == nil else { return }
        do {
            try work(self)
        } catch {
            problem = error
            unsafe XML_StopParser(parser, 0)
        }
    }

    // MARK: - Elements

    private func begin(_ name: String) throws(PropertyListError) {
        if name == "plist" {
            guard open.isEmpty else { throw PropertyListError("a <plist> lies in another element") }
        } else {
            try checkPlace(of: name)
            try budget.takeValue()
        }
        if name == "array" || name == "dict" {
            // The element <plist> itself isn't a level.
            try budget.check(level: open.first?.name == "plist" ? open.count : open.count + 1)
        }
        let isLeftOut =
            open.last.map { $0.isLeftOut || $0.key.map { leftOut.contains($0) } ?? false } ?? false
        open.append(Open(name: name, isLeftOut: isLeftOut))
    }

    /// Checks that an element may begin inside the open one.
    private func checkPlace(of name: String) throws(PropertyListError) {
        guard let parent = open.last else { return }
        switch parent.name {
        case "array" where name != "key": return
        case "plist" where root == nil: return
        case "dict" where (name == "key") == (parent.key == nil): return
        default: throw PropertyListError("a <\(name)> can't stand there")
        }
    }

    private func append(_ bytes: [UInt8]) throws(PropertyListError) {
        guard let last = open.indices.last else { return }
        switch open[last].name {
        case "plist", "dict", "array":
            guard bytes.allSatisfy(Self.isSpace) else {
                throw PropertyListError("text lies between the elements")
            }
        case _ where open[last].isLeftOut: return
        default:
            try budget.take(bytes: bytes.count)
            open[last].text += bytes
        }
    }

    private func end() throws(PropertyListError) {
        guard let element = open.popLast(), element.name != "plist" else { return }
        if element.name == "key" {
            try setKey(String(decoding: element.text, as: UTF8.self))
            return
        }
        if element.isLeftOut {
            guard let parent = open.indices.last else { return }
            open[parent].key = nil
            return
        }
        let value = try value(of: element)
        guard let parent = open.indices.last, open[parent].name != "plist" else {
            root = value
            return
        }
        if let key = open[parent].key {
            open[parent].members[key] = value
            open[parent].key = nil
        } else {
            open[parent].values.append(value)
        }
    }

    private func setKey(_ key: String) throws(PropertyListError) {
        guard let parent = open.indices.last else {
            throw PropertyListError("a <key> lies outside of a <dict>")
        }
        guard open[parent].members[key] == nil else {
            throw PropertyListError("one key is there twice")
        }
        open[parent].key = key
    }

    private func value(of element: Open) throws(PropertyListError) -> PropertyListValue {
        switch element.name {
        case "array": return .array(element.values)
        case "dict":
            guard element.key == nil else { throw PropertyListError("a key has no value") }
            return .dictionary(element.members)
        default:
            let text = String(decoding: element.text, as: UTF8.self)
            guard let value = XMLPropertyListScalar.value(of: text, in: element.name) else {
                throw PropertyListError("a <\(element.name)> can't be read")
            }
            return value
        }
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || (9...13).contains(byte)
    }
}

/// The reader that expat was given.
private func reader(_ context: UnsafeMutableRawPointer?) -> XMLPropertyListReader? {
    unsafe context.map { unsafe Unmanaged.fromOpaque($0).takeUnretainedValue() }
}
