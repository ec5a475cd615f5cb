#ifndef MIGRATION_CSQLITE_H
#define MIGRATION_CSQLITE_H

#include <sqlite3.h>

// Variadic functions and cast macros, which Swift can't call.

/// Sets whether the last connection that closes leaves the write-ahead log as it is.
static inline int migration_sqlite_keep_log(sqlite3 *database, int keep) {
    return sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keep, (int *)0);
}

/// Prevents anything that the schema names from having effects outside the database.
static inline int migration_sqlite_distrust(sqlite3 *database) {
    int code = sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
    if (code != SQLITE_OK) return code;
    return sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)0);
}

/// Allows `PRAGMA writable_schema`, which makes SQLite ignore errors in the schema.
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

/// Ignores views, triggers and functions in the file's schema.
static inline void migration_sqlite_defend(sqlite3 *database) {
    sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
    sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)0);
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, (int *)0);
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, (int *)0);
}

/// A call of a function that only the app registers.
static inline void migration_sqlite_stand_in(
    sqlite3_context *context, int count, sqlite3_value **values
) {
    (void)count, (void)values;
    sqlite3_result_error(context, "only the app has this function", -1);
}

/// Registers a function of that name with any number of arguments; a call fails.
static inline int migration_sqlite_add_stand_in(sqlite3 *database, const char *name) {
    int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
    return sqlite3_create_function_v2(
        database, name, -1, flags, 0, migration_sqlite_stand_in, 0, 0, 0);
}

/// Removes the function again.
static inline int migration_sqlite_remove_stand_in(sqlite3 *database, const char *name) {
    return sqlite3_create_function_v2(database, name, -1, SQLITE_UTF8, 0, 0, 0, 0, 0);
}

/// The order of a collation that only the app registers.
static inline int migration_sqlite_compare(
    void *context, int count, const void *bytes, int other_count, const void *other_bytes
) {
    (void)context, (void)count, (void)bytes, (void)other_count, (void)other_bytes;
    return 0;
}

/// Registers a collation of that name, which compares nothing.
static inline int migration_sqlite_add_collation_stand_in(sqlite3 *database, const char *name) {
    return sqlite3_create_collation_v2(
        database, name, SQLITE_UTF8, 0, migration_sqlite_compare, 0);
}

/// The state of `migration_digest` after the rows so far.
struct migration_sqlite_digest {
    unsigned long long rows, sum, product;
};

/// Mixes a word into a number (the multiplications are those of MurmurHash's finalizer).
static inline unsigned long long migration_sqlite_mix(
    unsigned long long number, unsigned long long word
) {
    number = (number ^ word) * 0xFF51AFD7ED558CCDull;
    number ^= number >> 32;
    number *= 0xC4CEB9FE1A85EC53ull;
    return number ^ (number >> 29);
}

/// Mixes bytes into a number: those of four lanes don't wait for each other.
static inline unsigned long long migration_sqlite_mix_bytes(
    unsigned long long number, const unsigned char *bytes, unsigned long long size
) {
    number = migration_sqlite_mix(number, size);
    if (!bytes) return number;
    unsigned long long lanes[4] = {number, number + 1, number + 2, number + 3}, word;
    for (; size >= 32; size -= 32) {
        for (int lane = 0; lane < 4; lane++, bytes += 8) {
            __builtin_memcpy(&word, bytes, sizeof word);
            // Each step can be undone, so that one changed word always changes the lane.
            lanes[lane] = (lanes[lane] ^ word) * 0xFF51AFD7ED558CCDull;
            lanes[lane] ^= lanes[lane] >> 32;
        }
    }
    for (int lane = 0; lane < 4; lane++) number = migration_sqlite_mix(number, lanes[lane]);
    for (; size >= 8; size -= 8, bytes += 8) {
        __builtin_memcpy(&word, bytes, sizeof word);
        number = migration_sqlite_mix(number, word);
    }
    for (word = 0; size > 0; size--) word = word << 8 | *bytes++;
    return migration_sqlite_mix(number, word);
}

/// Adds a row, in which a text keeps the encoding of the database.
static inline void migration_sqlite_digest_add(
    struct migration_sqlite_digest *digest, int count, sqlite3_value **values
) {
    unsigned long long row = 0x9E3779B97F4A7C15ull;
    for (int index = 0; index < count; index++) {
        int type = sqlite3_value_type(values[index]);
        row = migration_sqlite_mix(row, (unsigned long long)type);
        if (type == SQLITE_INTEGER) {
            row = migration_sqlite_mix(row, (unsigned long long)sqlite3_value_int64(values[index]));
        } else if (type == SQLITE_FLOAT) {
            double number = sqlite3_value_double(values[index]);
            unsigned long long word;
            __builtin_memcpy(&word, &number, sizeof word);
            row = migration_sqlite_mix(row, word);
        } else if (type != SQLITE_NULL) {
            const unsigned char *bytes = sqlite3_value_blob(values[index]);
            int size = sqlite3_value_bytes(values[index]);
            row = migration_sqlite_mix_bytes(row, bytes, (unsigned long long)size);
        }
    }
    digest->rows++;
    digest->sum += row;
    digest->product += migration_sqlite_mix(row, 0) * (row | 1);
}

static inline void migration_sqlite_digest_step(
    sqlite3_context *context, int count, sqlite3_value **values
) {
    struct migration_sqlite_digest *digest = sqlite3_aggregate_context(context, sizeof *digest);
    if (digest) migration_sqlite_digest_add(digest, count, values);
}

static inline void migration_sqlite_digest_final(sqlite3_context *context) {
    struct migration_sqlite_digest *digest = sqlite3_aggregate_context(context, 0);
    unsigned long long words[3] = {0, 0, 0};
    if (digest) {
        words[0] = digest->rows;
        words[1] = digest->sum;
        words[2] = digest->product;
    }
    sqlite3_result_blob(context, words, sizeof words, SQLITE_TRANSIENT);
}

/// Registers `migration_digest`.
static inline int migration_sqlite_add_digest(sqlite3 *database) {
    return sqlite3_create_function_v2(
        database, "migration_digest", -1, SQLITE_UTF8, 0, 0, migration_sqlite_digest_step,
        migration_sqlite_digest_final, 0);
}

/// A read beyond the end of the file; the macro is a sum.
static const int migration_sqlite_short_read = SQLITE_IOERR_SHORT_READ;

#endif
