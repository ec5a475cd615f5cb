/// The keywords of pax records that mean something here.
enum PaxKey {
    static let path = [UInt8]("path".utf8)
    static let linkPath = [UInt8]("linkpath".utf8)
    static let size = [UInt8]("size".utf8)
    static let modificationTime = [UInt8]("mtime".utf8)
    static let headerCharacterSet = [UInt8]("hdrcharset".utf8)
    static let attributePrefix = [UInt8]("SCHILY.xattr.".utf8)
    static let userNamespace = [UInt8]("user.".utf8)
    static let accessListPrefix = [UInt8]("SCHILY.acl.".utf8)
    static let accessList = [UInt8]("SCHILY.acl.access".utf8)
    static let securityLabel = [UInt8]("RHT.security.selinux".utf8)

    /// The attribute that a record carries, with `%25` and `%3D` read back as GNU tar writes them.
    static func attributeName(of key: [UInt8]) -> [UInt8]? {
        guard key.starts(with: attributePrefix), key.count > attributePrefix.count else {
            return nil
        }
        var name: [UInt8] = []
        var rest = key.dropFirst(attributePrefix.count)
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.starts(with: "25".utf8) {
                name.append(UInt8(ascii: "%"))
                rest = rest.dropFirst(2)
            } else if byte == UInt8(ascii: "%"), rest.starts(with: "3D".utf8) {
                name.append(UInt8(ascii: "="))
                rest = rest.dropFirst(2)
            } else {
                name.append(byte)
            }
        }
        return name
    }

    /// A number in decimal digits and nothing else; `nil` where it is none or passes 2^63 - 1.
    static func number(_ text: [UInt8]) -> UInt64? {
        guard !text.isEmpty, text.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")) ~= $0 })
        else { return nil }
        return Int64(String(decoding: text, as: UTF8.self)).map { UInt64($0) }
    }
}
