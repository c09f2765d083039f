// Checks contacts and loops as Python's Contacts does, and describes them for CompiledContacts:
// describe_contacts().
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "dtau/library/contacts.hpp"
#include "library/model_file.hpp"
#include "tree/compiled_contacts.hpp"

namespace dtau {

// Gives a frame's pose in the world, where contacts are held that have no position or placement.
using PoseOfFrame = std::function<Pose(const std::string& frame)>;

// Throws std::invalid_argument if a contact is not valid. `held` may be empty.
std::vector<ContactDescription> describe_contacts(const CompiledModel& model,
                                                  const std::vector<Contact>& contacts,
                                                  const PoseOfFrame& held);

// Reads a contact of the C interface, such as "point; frame=LF_FOOT; axes=mixed; kd=20".
Contact contact_of_text(const std::string& text);

}  // namespace dtau
