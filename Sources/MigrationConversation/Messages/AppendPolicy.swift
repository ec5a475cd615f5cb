/// Which appends of an extension's process wait for the host's answer.
///
/// An answer takes two context switches. A file in the container needs no answer: the container
/// can't change while it is exported, so the process itself knows that the host will archive the
/// file. It must be a regular file that the permission bits let the process read, it must not be in
/// a directory that was appended as a whole, and its name in the archive must be valid and free
/// (``AppendAhead``). If archiving can still fail, for example because of the disk, the whole
/// export fails, and an extension can't swallow that. The host archives such files in their order
/// with the others, at the latest before it waits for more messages.
package enum AppendPolicy: String, Codable, Sendable {
    /// Every append waits for an answer.
    case answered
    /// Appends that are certain to succeed need no answer.
    case ahead
}
