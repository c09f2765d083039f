// Checks contacts and loops, for all languages, and describes them for CompiledContacts: describe_contacts().
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "dtau/library/contacts.hpp"
#include "tree/compiled_contacts.hpp"

namespace dtau {

// Finds a frame by its name, or throws.
using FrameOfName = std::function<const Frame&(const std::string& frame)>;
// Gives a frame's pose in the world, where contacts are held that have no position or placement.
using PoseOfFrame = std::function<Pose(const std::string& frame)>;

// Throws std::invalid_argument unless the words and numbers of a contact fit each other.
void check_contact(const Contact& contact);

// Throws the same for contacts that do not fit the robot. `held` may be empty.
std::vector<ContactDescription> describe_contacts(const CompiledTree& compiled,
                                                  const std::vector<Contact>& contacts,
                                                  const FrameOfName& frame,
                                                  const PoseOfFrame& held = {});

}  // namespace dtau
