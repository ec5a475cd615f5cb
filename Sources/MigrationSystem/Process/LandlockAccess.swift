/// Rights that Landlock grants, as the bits that the kernel takes.
struct LandlockAccess: OptionSet, Sendable {
    let rawValue: UInt64

    static let execute = LandlockAccess(rawValue: 1 << 0)
    static let writeFile = LandlockAccess(rawValue: 1 << 1)
    static let readFile = LandlockAccess(rawValue: 1 << 2)
    static let readDirectory = LandlockAccess(rawValue: 1 << 3)
    static let makeCharacterDevice = LandlockAccess(rawValue: 1 << 6)
    static let makeBlockDevice = LandlockAccess(rawValue: 1 << 11)
    /// Linking and renaming between directories; always denied below version 2.
    static let refer = LandlockAccess(rawValue: 1 << 13)
    /// From version 3.
    static let truncate = LandlockAccess(rawValue: 1 << 14)
    /// Commands to devices, from version 5.
    static let commandDevice = LandlockAccess(rawValue: 1 << 15)

    /// The rights that mean something for what is no directory.
    static let ofFiles: LandlockAccess = [
        .execute, .writeFile, .readFile, .truncate, .commandDevice,
    ]

    /// The rights over files that a version of Landlock knows.
    static func known(to version: Int) -> LandlockAccess {
        // Version 1 knows the rights up to making symbolic links, the thirteenth.
        var access = LandlockAccess(rawValue: (1 << 13) - 1)
        if version >= 2 { access.insert(.refer) }
        if version >= 3 { access.insert(.truncate) }
        if version >= 5 { access.insert(.commandDevice) }
        return access
    }
}

extension Sandbox.Access {
    /// The rights that this stands for.
    var rights: LandlockAccess {
        switch self {
        case .readByName: [.readFile]
        case .read: [.readFile, .readDirectory]
        case .readAndExecute: [.readFile, .readDirectory, .execute]
        case .readAndWrite:
            .known(to: .max).subtracting([.makeCharacterDevice, .makeBlockDevice])
        }
    }
}
