#ifndef MIGRATION_CSQLITE_H
#define MIGRATION_CSQLITE_H

#include <sqlite3.h>

// Variadic functions and cast macros, which Swift cannot call.

/// Leaves the write-ahead log as it is when the last connection closes.
static inline int migration_sqlite_keep_log(sqlite3 *database) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}

/// Binds a copy of `text`.
static inline int migration_sqlite_bind(sqlite3_stmt *statement, int index, const char *text) {
    return sqlite3_bind_text(statement, index, text, -1, SQLITE_TRANSIENT);
}

#endif
