// The system calls for files, which are counted and made to fail.

struct call {
  const char *name;
  int number;
  // The index of the argument that is the call's path, or -1.
  int path;
};

extern const struct call calls[];
extern const int call_count;

// Returns the index of the call with this number, or -1.
int find_call(int number);

// Returns the index of the call with this name, or -1.
int find_call_named(const char *name);
