internal import CMigrationShims

/// What the process prints, as the C library holds it back before it is written.
///
/// To a pipe it would be written in blocks, and lost with a process that crashes.
package enum StandardOutput {
    /// Has it written line by line, and what is left of it where a signal ends the process.
    package static func writeInLines() { migration_write_output_in_lines() }

    /// Writes what is held back.
    package static func flush() { migration_flush_output() }

    /// Writes what is held back, unless another thread is just printing.
    package static func tryToFlush() { migration_try_to_flush_output() }
}
