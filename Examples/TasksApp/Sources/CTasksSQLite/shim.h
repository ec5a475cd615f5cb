#ifndef TASKS_CSQLITE_H
#define TASKS_CSQLITE_H

#include <sqlite3.h>

#endif
