internal import CSQLite
internal import MigrationSystem

/// Watches the statements of a step: refuses those that would end the step's transaction or have no
/// effect in it, and reports which tables they are about to change.
@safe
final class StatementGuard {
    private enum Use {
        case onCopy, inPlace
        /// The statements declare a schema; a virtual table's module may do anything that it needs.
        case schema(isOfModule: Bool)
    }

    private let use: Use
    private let willChange: (Set<String>) throws(StoreMigrationError) -> Void
    private var refused: String?
    private var seen: Set<String> = []
    private var new: Set<String> = []

    /// Makes a guard.
    ///
    /// - Parameters:
    ///   - isInPlace: Whether the statements work in the store itself.
    ///   - willChange: Called with tables before the first statement that changes their rows.
    init(
        isInPlace: Bool,
        willChange: @escaping (Set<String>) throws(StoreMigrationError) -> Void = { _ in }
    ) {
        use = isInPlace ? .inPlace : .onCopy
        self.willChange = willChange
    }

    /// Makes a guard for a statement that only declares part of a schema.
    init(ofDeclarationByModule isOfModule: Bool) {
        use = .schema(isOfModule: isOfModule)
        willChange = { _ in }
    }

    /// The error of the refused statement; `nil` if none was refused.
    func refusal(at path: String) -> StoreMigrationError? {
        refused.map { StoreMigrationError(.stepFailed, $0, at: path) }
    }

    /// Reports the tables that are first changed by the statement that was just prepared.
    func tellChanges() throws(StoreMigrationError) {
        let told = new.subtracting(seen)
        new = []
        if told.isEmpty { return }
        seen.formUnion(told)
        try willChange(told)
    }

    private func allows(_ action: CInt, _ first: String?, _ second: String?) -> Bool {
        if case .schema(let isOfModule) = use {
            if !Self.declares(action, first, isOfModule) {
                refused = "the statement does more than declare a part of the schema"
            }
            return refused == nil
        }
        let isInPlace = if case .inPlace = use { true } else { false }
        switch action {
        case SQLITE_TRANSACTION:
            refused = "a step is one transaction, so it can't run \(first ?? "COMMIT")"
        case SQLITE_PRAGMA:
            guard let name = first?.lowercased(), let value = second?.lowercased() else { break }
            if name == "foreign_keys", !["0", "off", "no", "false"].contains(value) {
                refused =
                    "'PRAGMA foreign_keys' has no effect inside a step; foreign keys are checked "
                    + "after the steps"
            } else if isInPlace, ["journal_mode", "locking_mode", "writable_schema"].contains(name)
            {
                refused = "a step that works in place can't set '\(name)'"
            }
        case SQLITE_ATTACH where isInPlace, SQLITE_DETACH where isInPlace:
            refused = "a step that works in place can't attach other databases"
        case SQLITE_INSERT, SQLITE_UPDATE, SQLITE_DELETE, SQLITE_DROP_TABLE:
            if let first, !first.hasPrefix("sqlite_") { new.insert(first) }
        default: break
        }
        return refused == nil
    }

    private static func declares(_ action: CInt, _ first: String?, _ isOfModule: Bool) -> Bool {
        switch action {
        case SQLITE_CREATE_INDEX, SQLITE_CREATE_TABLE, SQLITE_CREATE_TRIGGER, SQLITE_CREATE_VIEW,
            SQLITE_CREATE_VTABLE, SQLITE_FUNCTION, SQLITE_READ, SQLITE_RECURSIVE, SQLITE_REINDEX,
            SQLITE_SELECT:
            true
        case SQLITE_DELETE, SQLITE_INSERT, SQLITE_UPDATE:
            isOfModule || first?.hasPrefix("sqlite_") ?? false
        case SQLITE_PRAGMA:
            isOfModule || ["application_id", "user_version"].contains(first?.lowercased())
        case SQLITE_ATTACH, SQLITE_DETACH, SQLITE_CREATE_TEMP_INDEX, SQLITE_CREATE_TEMP_TABLE,
            SQLITE_CREATE_TEMP_TRIGGER, SQLITE_CREATE_TEMP_VIEW:
            false
        default: isOfModule
        }
    }

    /// Called by SQLite for each action of a statement.
    static let authorize:
        @convention(c) (
            UnsafeMutableRawPointer?, CInt, UnsafePointer<CChar>?, UnsafePointer<CChar>?,
            UnsafePointer<CChar>?, UnsafePointer<CChar>?
        ) -> CInt = { context, action, first, second, _, _ in
            guard let context = unsafe context else { return SQLITE_OK }
            let guardian = unsafe Unmanaged<StatementGuard>.fromOpaque(context)
                .takeUnretainedValue()
            let words = unsafe (
                first.map { unsafe String(cString: $0) }, second.map { unsafe String(cString: $0) }
            )
            return guardian.allows(action, words.0, words.1) ? SQLITE_OK : SQLITE_DENY
        }
}
