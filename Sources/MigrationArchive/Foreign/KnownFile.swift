internal import MigrationSystem

/// A kind of file that this project does not read, and how to convert it.
struct KnownFile {
    /// The kind of file, in words.
    let name: String

    /// How to make an archive of it, if possible.
    let remedy: Remedy?

    /// The kinds of files, by their first bytes.
    private static let kinds: [(start: [UInt8], name: String, way: Way)] = [
        ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00], "compressed with xz", .pipe("xz -dc")),
        ([0x42, 0x5A, 0x68], "compressed with bzip2", .pipe("bzip2 -dc")),
        ([0x04, 0x22, 0x4D, 0x18], "compressed with lz4", .pipe("lz4 -dc")),
        ([0x02, 0x21, 0x4C, 0x18], "compressed with lz4", .pipe("lz4 -dc")),
        ([0x4C, 0x5A, 0x49, 0x50], "compressed with lzip", .pipe("lzip -dc")),
        ([0x5D, 0x00, 0x00], "compressed with lzma", .pipe("xz -dc --format=lzma")),
        ([0x1F, 0x9D], "compressed with compress", .pipe("gzip -dc")),
        ([0x50, 0x4B, 0x03, 0x04], "a zip file", .convert),
        ([0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C], "a 7z file", .convert),
        ([0x78, 0x61, 0x72, 0x21], "a xar file", .convert),
        (text("070701"), "a cpio file", .convert), (text("070702"), "a cpio file", .convert),
        (text("070707"), "a cpio file", .convert), ([0xC7, 0x71], "a cpio file", .convert),
        ([0x71, 0xC7], "a cpio file", .convert), (text("Rar!\u{1A}\u{7}"), "a rar file", .convert),
        (text("!<arch>\n"), "an ar file", .convert),
        (text("#mtree"), "a list of mtree", .none("it describes files and holds none")),
        (
            text("ANDROID BACKUP\n"), "a backup of Android's", .convertAndroidBackup
        ),
        (
            text("ANDROID BACKUP\r\n"), "a backup of Android's with converted line ends",
            .none("make it again with 'adb exec-out'")
        ),
    ]

    private enum Way {
        /// A program that decompresses the file into a pipe.
        case pipe(String)
        /// libarchive's tar, which makes a tar file of it.
        case convert
        case convertAndroidBackup
        case none(String)
    }

    private static func text(_ text: String) -> [UInt8] { [UInt8](text.utf8) }

    /// The suffixes of brotli files, whose first bytes can be anything.
    private static let brotliSuffixes = [text(".br"), text(".tbr")]

    /// Finds the kind of a file by its first bytes, or by its name; `nil` if it isn't known.
    init?(beginningWith bytes: ArraySlice<UInt8>, named name: BytePath?) {
        if let kind = Self.kinds.first(where: { bytes.starts(with: $0.start) }) {
            self.init(kind.name, kind.way)
        } else if let ending = name?.lastComponent.suffix(4),
            Self.brotliSuffixes.contains(where: { ending.suffix($0.count).elementsEqual($0) })
        {
            self.init("compressed with brotli, by its name", .pipe("brotli -dc"))
        } else {
            return nil
        }
    }

    private init(_ name: String, _ way: Way) {
        switch way {
        case .pipe(let program): (self.name, remedy) = (name, .decompress(by: program))
        case .convert: (self.name, remedy) = (name, .makeTarFile)
        case .convertAndroidBackup: (self.name, remedy) = (name, .convertAndroidBackup)
        case .none(let reason): (self.name, remedy) = ("\(name): \(reason)", nil)
        }
    }
}
