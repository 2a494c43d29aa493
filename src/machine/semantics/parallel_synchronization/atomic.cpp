// PTX: Parallel Synchronization and Communication Instructions: atom, red.
