internal import CExpat

/// An element of an XML file, with the line at which it begins.
struct XMLElement: Sendable {
    /// An attribute; the name of one in a namespace begins with the namespace and `|`.
    struct Attribute: Sendable {
        let name: String
        let value: String
    }

    let name: String
    let line: Int
    let attributes: [Attribute]
    var children: [XMLElement] = []

    /// The value of the attribute `name`, if there is one.
    subscript(name: String) -> String? {
        attributes.first { $0.name == name }?.value
    }

    /// This element's descendants, in the order of the file.
    var descendants: [XMLElement] {
        children.flatMap { [$0] + $0.descendants }
    }
}

/// Reads the elements of an XML file with expat, as Android's build tools do.
///
/// Document types, and so custom entities, are refused; depth and size are limited.
@safe
final class XMLFile {
    /// The largest accepted file, in bytes.
    static let sizeLimit = 4 << 20

    private static let depthLimit = 128
    private static let elementLimit = 100_000
    /// The magic number of Android's binary XML in an APK (ResourceTypes.h, RES_XML_TYPE).
    private static let binaryMark: [UInt8] = [0x03, 0x00, 0x08, 0x00]

    private var open: [XMLElement] = []
    private var root: XMLElement?
    private var elementCount = 0
    private var problem: String?
    private let parser: XML_Parser

    private init() {
        // The separator can't occur in a name, so it ends the namespace.
        unsafe parser = XML_ParserCreateNS(nil, CChar(UInt8(ascii: "|")))
    }

    deinit {
        unsafe XML_ParserFree(parser)
    }

    /// Reads `bytes` and returns the root element.
    static func root(of bytes: [UInt8]) throws(XMLProblem) -> XMLElement {
        if bytes.starts(with: binaryMark) {
            let message =
                "this is binary XML, as an APK holds it: give the source file, or the text that "
                + "'aapt2 dump xmltree' or apktool makes of it"
            throw XMLProblem(message: message, line: nil)
        }
        guard bytes.count <= sizeLimit else {
            throw XMLProblem(message: "the file is larger than 4 MiB", line: nil)
        }
        return try XMLFile().parse(bytes)
    }

    private func parse(_ bytes: [UInt8]) throws(XMLProblem) -> XMLElement {
        unsafe XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
        unsafe XML_SetElementHandler(
            parser,
            { context, name, attributes in
                guard let context = unsafe context, let name = unsafe name else { return }
                unsafe Unmanaged<XMLFile>.fromOpaque(context).takeUnretainedValue()
                    .begin(name, attributes)
            },
            { context, _ in
                guard let context = unsafe context else { return }
                unsafe Unmanaged<XMLFile>.fromOpaque(context).takeUnretainedValue().end()
            }
        )
        unsafe XML_SetStartDoctypeDeclHandler(parser) { context, _, _, _, _ in
            guard let context = unsafe context else { return }
            unsafe Unmanaged<XMLFile>.fromOpaque(context).takeUnretainedValue()
                .stop("a document type is refused")
        }
        let status = unsafe bytes.withUnsafeBytes { bytes in
            unsafe XML_Parse(
                parser,
                bytes.assumingMemoryBound(to: CChar.self).baseAddress,
                CInt(bytes.count),
                1
            )
        }
        let line = Int(unsafe XML_GetCurrentLineNumber(parser))
        if let problem { throw XMLProblem(message: problem, line: line) }
        guard status == XML_STATUS_OK, let root else {
            let text = unsafe XML_ErrorString(XML_GetErrorCode(parser))
            let reason = unsafe text.map { unsafe String(cString: $0) } ?? "malformed"
            throw XMLProblem(message: "this is no XML: \(reason)", line: line)
        }
        return root
    }

    private func stop(_ problem: String) {
        self.problem = self.problem ?? problem
        unsafe XML_StopParser(parser, 0)
    }

    private func begin(
        _ name: UnsafePointer<CChar>,
        _ pairs: UnsafeMutablePointer<UnsafePointer<CChar>?>?
    ) {
        guard problem == nil else { return }
        elementCount += 1
        guard open.count < Self.depthLimit else {
            return stop("elements lie more than \(Self.depthLimit) deep")
        }
        guard elementCount <= Self.elementLimit else {
            return stop("there are more than \(Self.elementLimit) elements")
        }
        var attributes: [XMLElement.Attribute] = []
        var index = 0
        while let key = unsafe pairs?[index], let value = unsafe pairs?[index + 1] {
            let attribute = unsafe XMLElement.Attribute(
                name: String(cString: key),
                value: String(cString: value)
            )
            attributes.append(attribute)
            index += 2
        }
        let element = unsafe XMLElement(
            name: String(cString: name),
            line: Int(XML_GetCurrentLineNumber(parser)),
            attributes: attributes
        )
        open.append(element)
    }

    private func end() {
        guard let element = open.popLast() else { return }
        if open.isEmpty {
            root = element
        } else {
            open[open.count - 1].children.append(element)
        }
    }
}

/// Why a file can't be read as XML.
struct XMLProblem: Error {
    let message: String
    let line: Int?
}
