// The calls to the system that touch files, by which faults are counted and made.

struct call {
  const char *name;
  int number;
  // Which argument is the path that the call names, or -1.
  int path;
};

extern const struct call calls[];
extern const int call_count;

// Returns the index of the call of this number, or -1.
int find_call(int number);

// Returns the index of the call of this name, or -1.
int find_call_named(const char *name);
