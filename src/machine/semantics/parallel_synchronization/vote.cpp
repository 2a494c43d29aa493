// PTX: Parallel Synchronization and Communication Instructions: vote.sync, activemask, elect.sync,
// bar.warp.sync.
