// Reads the memory limits of containers from the mounted Linux control groups: memory_limit().
#include "batch/memory_limit.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <vector>

namespace dtau {

#if defined(__linux__)

namespace {

constexpr double none = std::numeric_limits<double>::infinity();

std::vector<std::string> lines(const std::string& path) {
    std::vector<std::string> all;
    std::FILE* file = std::fopen(path.c_str(), "r");
    if (!file) return all;
    all.emplace_back();
    for (int c; (c = std::fgetc(file)) != EOF;)
        if (c == '\n')
            all.emplace_back();
        else
            all.back() += static_cast<char>(c);
    std::fclose(file);
    return all;
}

std::vector<std::string> split(const std::string& text, char at) {
    std::vector<std::string> parts = {""};
    for (char c : text)
        if (c == at)
            parts.emplace_back();
        else
            parts.back() += c;
    return parts;
}

bool contains(const std::vector<std::string>& all, const std::string& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
}

// Infinite if there is no such file, or no number in it ("max").
double number(const std::string& path) {
    const std::vector<std::string> all = lines(path);
    double x;
    return !all.empty() && std::sscanf(all[0].c_str(), "%lf", &x) == 1 ? x : none;
}

// The names that a version of control groups gives its files, and the file caches in memory.stat,
// subgroups included.
struct Version {
    const char *limit, *used, *inactive, *active;
};
constexpr Version first = {"/memory.limit_in_bytes", "/memory.usage_in_bytes",
                           "total_inactive_file", "total_active_file"};
constexpr Version second = {"/memory.max", "/memory.current", "inactive_file", "active_file"};

// Bytes of file caches, which the system reclaims before it kills a process.
double caches(const Version& version, const std::string& folder) {
    double sum = 0.0;
    for (const std::string& line : lines(folder + "/memory.stat")) {
        const std::vector<std::string> words = split(line, ' ');
        double x;
        if (words.size() == 2 && (words[0] == version.inactive || words[0] == version.active) &&
            std::sscanf(words[1].c_str(), "%lf", &x) == 1)
            sum += x;
    }
    return sum;
}

// A mounted hierarchy of groups: its folder, and the group at its root.
struct Mount {
    const Version* version;
    std::string folder, group;
};

// Parses /proc/self/mountinfo: "id parent device group folder options [more ...] - type source
// options".
std::vector<Mount> mounts(const std::string& root) {
    std::vector<Mount> all;
    for (const std::string& line : lines(root + "/proc/self/mountinfo")) {
        const std::vector<std::string> words = split(line, ' ');
        const auto dash = std::find(words.begin(), words.end(), "-");
        if (words.size() < 6 || words.end() - dash < 4) continue;
        const bool of_memory = dash[1] == "cgroup" && contains(split(dash[3], ','), "memory");
        if (of_memory || dash[1] == "cgroup2")
            all.push_back({of_memory ? &first : &second, root + words[4], words[3]});
    }
    return all;
}

// The group of this process, from /proc/self/cgroup: "0::group" in version 2,
// "number:controller,...:group" in version 1.
std::string group(const std::string& root, const Version* version) {
    for (const std::string& line : lines(root + "/proc/self/cgroup")) {
        const std::size_t a = line.find(':'), b = a == line.npos ? a : line.find(':', a + 1);
        if (b == line.npos) continue;
        const std::string controllers = line.substr(a + 1, b - a - 1);
        if (version == &second ? controllers.empty() : contains(split(controllers, ','), "memory"))
            return line.substr(b + 1);
    }
    return "/";
}

void take_limit(const Version& version, const std::string& folder, MemoryLimit& least) {
    const double limit = number(folder + version.limit), used = number(folder + version.used);
    if (limit == none) return;
    least.all = std::min(least.all, limit);
    if (used == none) return;
    least.left = std::min(least.left, std::max(0.0, limit - used + caches(version, folder)));
}

}  // namespace

MemoryLimit memory_limit(const std::string& root) {
    MemoryLimit least = {none, none};
    for (const Mount& mount : mounts(root)) {
        // The path below the mounted group. A group outside of it is not visible.
        std::string below = group(root, mount.version);
        const std::string top = mount.group == "/" ? "" : mount.group;
        below = below.compare(0, top.size(), top) == 0 ? below.substr(top.size()) : "";
        if (!below.starts_with('/') || below.find("/..") != below.npos) below.clear();
        for (std::string at = below; !at.empty(); at.erase(at.rfind('/')))
            if (at != "/") take_limit(*mount.version, mount.folder + at, least);
        take_limit(*mount.version, mount.folder, least);
    }
    least.left = std::min(least.left, least.all);
    return least;
}

#else

MemoryLimit memory_limit(const std::string&) {
    constexpr double none = std::numeric_limits<double>::infinity();
    return {none, none};
}

#endif

}  // namespace dtau
