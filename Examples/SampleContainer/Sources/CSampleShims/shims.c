#include "CSampleShims.h"

#include <sys/xattr.h>

int sample_set_attribute(const char *path, const char *name, const void *value, size_t count) {
    return lsetxattr(path, name, value, count, 0);
}
