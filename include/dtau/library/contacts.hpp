// Declares the constraints of a robot, with the names, units and rows of Python's classes:
// PointContact, FrameContact and Loop.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <variant>

namespace dtau {

using Vector3 = std::array<double, 3>;

// Pose of a frame B in a frame A. The rotation takes components in B to components in A.
struct Pose {
    std::array<double, 9> rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1};  // by rows, orthonormal to 1e-6
    Vector3 translation = {};                                      // m
};

// A point of the robot held in the world: three rows, or one along a direction.
struct PointContact {
    std::string frame = {};     // its origin is held
    std::string axes = "body";  // of force and direction: "body", or "mixed" for the world's
    double kp = 0.0, kd = 0.0;  // Baumgarte's gains, 1/s^2 and 1/s
    std::optional<Vector3> position = {};  // where it is held, in the world; kp needs it
    std::optional<Vector3> direction = {};
    std::string name = {};  // for errors; by default the frame's
};

// A frame of the robot held in the world: six rows.
struct FrameContact {
    std::string frame = {};
    std::string axes = "body";  // or "mixed"
    double kp = 0.0, kd = 0.0;
    std::optional<Pose> placement = {};      // where it is held, in the world; kp needs it
    std::string acceleration = "classical";  // that the rows hold; or "spatial"
    std::string name = {};                   // for errors; by default the frame's
};

// Two frames of the robot held together: six rows, five without the rotation about an axis of
// frame_a (a hinge), or three for the origins alone.
struct Loop {
    std::string frame_a = {}, frame_b = {};  // frame_a moves; frame_b may be fixed to the world
    int rows = 6;
    std::string hinge = {};     // "x", "y" or "z", with five rows
    std::string axes = "body";  // or "mixed"
    double kp = 0.0, kd = 0.0;
    Pose placement = {};    // of frame_a in frame_b, when the loop is closed
    std::string name = {};  // for errors; by default the frames' names
};

using Contact = std::variant<PointContact, FrameContact, Loop>;

}  // namespace dtau
