// The seccomp filter that has a process ask before it makes certain calls.

// Has this process ask before each of the calls whose flag is set; returns where it is answered.
int install_filter(const char *asked);
