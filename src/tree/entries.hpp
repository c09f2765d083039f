// Holds the places of the numbers on a pattern: EntryList, and LazyEntries, which are listed once.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

namespace dtau {

// Places in the dense result of one state, in the order in which they are stored.
using Entries = std::vector<std::ptrdiff_t>;

// The same with further valid places up to a multiple of 8, as Output::entries needs them.
struct EntryList {
    Entries places;
    std::ptrdiff_t count = 0;

    EntryList() = default;
    explicit EntryList(Entries&& entries)
        : places(std::move(entries)), count(static_cast<std::ptrdiff_t>(places.size())) {
        places.resize(places.size() / 8 * 8 + 8);  // never empty, so that the address is not null
    }
};

// A list that its first user makes, in any thread.
class LazyEntries {
  public:
    template <class Make> const EntryList& get(const Make& make) const {
        std::call_once(made_, [&] { list_ = EntryList(make()); });
        return list_;
    }

  private:
    mutable std::once_flag made_;
    mutable EntryList list_;
};

}  // namespace dtau
