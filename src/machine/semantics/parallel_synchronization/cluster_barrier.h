#pragma once

namespace lw::machine {

class Cta;

// Ends the phase of the cluster's barrier if every thread that has not exited has arrived.
void complete_cluster_barrier(Cta& cta);

}  // namespace lw::machine
