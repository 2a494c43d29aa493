#pragma once
// Where the lanes of a member mask meet: shfl.sync, vote.sync, match.sync, redux.sync, elect.sync,
// bar.warp.sync (PTX: Parallel Synchronization and Communication Instructions).
