/* interceptors.c - the runtime's __interceptor_NAME; see the file itself. */
#include "engine/record/stub/interceptors.c" // NOLINT(bugprone-suspicious-include)
