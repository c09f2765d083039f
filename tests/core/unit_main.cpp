// Runs the unit tests: `unit_x86_64_v3 --help` says how to choose among them.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
