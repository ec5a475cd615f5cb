/// The manual page of the file format, `migrate-archive` in section 5.
enum ArchiveManual {
    /// Makes the page.
    static func page(edition: ManualPage.Edition) -> ManualPage {
        ManualPage(
            name: "migrate-archive",
            section: 5,
            text: """
                .Dd \(edition.date)
                .Dt MIGRATE-ARCHIVE 5
                .Os migration \(edition.version)
                .Sh NAME
                .Nm migrate-archive
                .Nd archive of an app's data container
                .Sh DESCRIPTION
                \(description)

                """
        )
    }

    private static let description = #"""
        An archive that
        .Xr migrate-export 1
        writes is a POSIX pax tar stream, compressed with zstd.
        Its name ends with
        .Pa .tar.zst
        by custom.
        Any tar that knows zstd restores it without this program:
        .Pp
        .Dl $ zstd -dc archive.tar.zst | tar -x
        .Pp
        The file is, in this order:
        .Bl -tag -width Ds
        .It The header
        A zstd frame that holds the global pax header of the tar stream, stored
        without compression.
        The header describes the data: the app's bundle identifier if it is known, the
        platform, the version of the data's format.
        .It The data
        The rest of the tar stream, cut every 4 MiB.
        Each piece is a zstd frame of its own, so pieces are compressed, checked and
        read side by
        side.
        A skippable frame behind a data frame holds the nanoseconds of the times of
        the entries that
        begin in the piece, since a tar header has whole seconds only.
        .It The index of entries
        A skippable frame with the first path of each piece, by which one entry is
        found in an archive
        of any size.
        .It The hashes
        A skippable frame with the SHA-256 of each piece before compression, of the
        index and of the
        header, and the totals: files, directories, links, bytes, and bytes without
        pages of zeros.
        The SHA-256 of this list is the fingerprint.
        .It The seek table
        A skippable frame in the seekable format of zstd, by which a reader of a file
        reaches any piece.
        .El
        .Pp
        All numbers outside of the tar headers are little-endian and unsigned.
        .Ss Entries
        An entry is a file, a directory, a symbolic link or a hard link, with its
        name, its permissions and its time of modification.
        Files and directories have their extended attributes in the namespace
        .Ql user .
        Names are bytes.
        A path is relative, comes once, and has no
        .Ql \&.
        or
        .Ql ..
        component.
        .Pp
        An archive that was exported with
        .Fl -owners
        holds the numbers of users and groups, with
        .Fl -acls
        access control lists, and with
        .Fl -xattrs Cm all
        the attributes of every namespace; its header says so.
        In any other archive user and group are 0 and mean nothing.
        .Pp
        Entries lie in windows of at most 8192 entries, 512 MiB of content and 1 MiB of
        paths.
        A window holds symbolic links, then files by extension and name, then hard
        links, then the
        directories whose last entry lies in it, the deepest first.
        .Ss The fingerprint
        The fingerprint stands for the data: the same tree has the same one at any
        level of
        compression, with any number of threads and any version of libzstd.
        .Xr migrate-fingerprint 1
        computes it of a container.
        It proves the archive whole, and protects it against accidents.
        Against someone who can rewrite the archive, sign it with
        .Xr migrate-sign 1 .
        .Ss Encryption
        An encrypted archive is a file of the age format, version 1, that holds the
        archive.
        Its name ends with
        .Pa .tar.zst.age
        by custom, and
        .Xr age 1
        decrypts it.
        .Ss Signatures
        A signature is a file beside the archive with
        .Pa .sig
        after its name, in the format of
        .Xr ssh-keygen 1 .
        It signs the fingerprint, the app and the version of the data's format, in the
        namespace
        .Ql archive@migration .
        .Sh FILES
        .Bl -tag -width Ds
        .It Pa /usr/share/migrate/schemas
        The JSON Schemas of what the commands answer with
        .Fl -json .
        .El
        .Sh SEE ALSO
        .Xr age 1 ,
        .Xr migrate 1 ,
        .Xr migrate-inspect 1 ,
        .Xr migrate-verify 1 ,
        .Xr tar 1 ,
        .Xr zstd 1
        .Pp
        The documentation of the project describes the format byte by byte, for those
        who write a
        reader, on the page
        .Em The archive format .
        .Sh STANDARDS
        The tar stream follows
        .St -p1003.1-2001
        .Pq pax ,
        the frames RFC 8878.
        .Sh HISTORY
        This page describes version 2 of the format, the first that was released.
        Archives of pre-releases of version 2 are refused.
        """#
}
