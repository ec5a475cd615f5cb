// The seccomp filter that makes a process ask before certain calls.

// Makes this process ask before each call whose flag is set; returns the descriptor for the
// answers.
int install_filter(const char *asked);
