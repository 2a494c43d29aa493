// Functions that the driver provides: vprintf, __assertfail, malloc, free.
