// PTX: Parallel Synchronization and Communication Instructions: match.sync, redux.sync.
