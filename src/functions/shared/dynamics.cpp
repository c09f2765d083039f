// Instantiates the dynamics algorithms that functions/shared/algorithms.hpp declares.
#include "functions/shared/algorithms.hpp"

namespace dtau::DTAU_VARIANT {

#ifndef DTAU_LONE_STATES
template decltype(rnea<Alone>) rnea<Alone>;
template decltype(root_frame_sweep<Alone>) root_frame_sweep<Alone>;
template decltype(aba<Alone>) aba<Alone>;
template decltype(idsva_velocities<Alone>) idsva_velocities<Alone>;
template decltype(idsva_accelerations<Alone>) idsva_accelerations<Alone>;
template decltype(idsva_backward<Alone>) idsva_backward<Alone>;
template decltype(mass_matrix_factors<Alone>) mass_matrix_factors<Alone>;
template decltype(sweep_inwards<Alone>) sweep_inwards<Alone>;
template decltype(sweep_outwards<Alone>) sweep_outwards<Alone>;
template decltype(negative_products<Alone>) negative_products<Alone>;
template decltype(factorized_dynamics<Alone>) factorized_dynamics<Alone>;
template decltype(fdsva<Alone>) fdsva<Alone>;
#endif
#ifndef DTAU_NO_LANES
template decltype(rnea<Grouped>) rnea<Grouped>;
template decltype(root_frame_sweep<Grouped>) root_frame_sweep<Grouped>;
template decltype(aba<Grouped>) aba<Grouped>;
template decltype(idsva_velocities<Grouped>) idsva_velocities<Grouped>;
template decltype(idsva_accelerations<Grouped>) idsva_accelerations<Grouped>;
template decltype(idsva_backward<Grouped>) idsva_backward<Grouped>;
template decltype(mass_matrix_factors<Grouped>) mass_matrix_factors<Grouped>;
template decltype(sweep_inwards<Grouped>) sweep_inwards<Grouped>;
template decltype(sweep_outwards<Grouped>) sweep_outwards<Grouped>;
template decltype(negative_products<Grouped>) negative_products<Grouped>;
template decltype(factorized_dynamics<Grouped>) factorized_dynamics<Grouped>;
template decltype(fdsva<Grouped>) fdsva<Grouped>;
#endif

}  // namespace dtau::DTAU_VARIANT
