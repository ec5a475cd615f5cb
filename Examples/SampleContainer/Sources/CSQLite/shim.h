#ifndef SAMPLE_CSQLITE_H
#define SAMPLE_CSQLITE_H

#include <sqlite3.h>

// Variadic functions and cast macros, which Swift can't call.

/// Keeps the write-ahead log as it is when the last connection closes.
static inline int sample_keep_log_on_close(sqlite3 *database) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}

/// Makes the random salts of the write-ahead log repeatable; `seed` must not be zero.
static inline int sample_seed_randomness(int seed) {
    return sqlite3_test_control(SQLITE_TESTCTRL_PRNG_SEED, seed, (sqlite3 *)0);
}

/// Binds a copy of `text`.
static inline int sample_bind_text(sqlite3_stmt *statement, int index, const char *text) {
    return sqlite3_bind_text(statement, index, text, -1, SQLITE_TRANSIENT);
}

#endif
