#ifndef MIGRATION_CSQLITE_H
#define MIGRATION_CSQLITE_H

#include <sqlite3.h>

// Variadic functions and cast macros, which Swift cannot call.

/// Whether the write-ahead log stays as it is when the last connection closes.
static inline int migration_sqlite_keep_log(sqlite3 *database, int keep) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keep, (int *)0);
}

/// Lets nothing that the schema names have effects outside the database.
static inline int migration_sqlite_distrust(sqlite3 *database) {
    int code = sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
    if (code != SQLITE_OK) return code;
    return sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)0);
}

/// Allows `PRAGMA writable_schema`, with which errors of the schema count for nothing.
static inline int migration_sqlite_ignore_schema_errors(sqlite3 *database) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 0, (int *)0);
}

/// Binds a copy of `text`, which is in UTF-8.
static inline int migration_sqlite_bind_text(
    sqlite3_stmt *statement, int index, const char *text, int count
) {
    return sqlite3_bind_text(statement, index, text, count, SQLITE_TRANSIENT);
}

/// Binds a copy of the bytes.
static inline int migration_sqlite_bind_blob(
    sqlite3_stmt *statement, int index, const void *bytes, int count
) {
    return sqlite3_bind_blob(statement, index, bytes, count, SQLITE_TRANSIENT);
}

/// Opens nothing that the file brings along: no view, no trigger, no function of a schema.
static inline void migration_sqlite_defend(sqlite3 *database) {
    sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
    sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)0);
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, (int *)0);
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, (int *)0);
}

/// A read that met the end of the file; the macro is a sum.
static const int migration_sqlite_short_read = SQLITE_IOERR_SHORT_READ;

#endif
