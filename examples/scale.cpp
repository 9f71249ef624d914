// A spring scale: a rubber block hangs from a handle, and the handle's force is the block's weight. A twin on the Moon
// goes its own way from the same state.
//
//     c++ -std=c++17 scale.cpp $(pkg-config --cflags --libs talus) -o scale && ./scale
#include <cmath>
#include <cstdio>
#include <talus/talus.hpp>

static const char text[] = R"(
return scene { talus = 1, engine = "lg", duration = 10, dt_max = 0.02, lg = { time = "euler" },
  bodies  = { { name = "block", shape = box { size = {0.1, 0.2, 0.1} }, cells = {2, 4, 2},
                material = elastic { density = 1100, young = 2e5, poisson = 0.3, damping = 0.02 } } },
  handles = { { body = "block", shape = box { size = {1, 0.01, 1}, center = {0, 0.1, 0} } } } }
)";

// Upward force of the first handle, N. Anchors come first, one for each elastic body.
static double force_of(const talus::Sim &sim) { return sim.view<double, 3>("holds.force")[1][1]; }

// How far it is off from what the block weighs, as a share.
static double weigh(talus::Sim &sim, const char *where, double gravity)
{
    double mass = 0;
    for (double m : sim.view<double>("nodes.mass")) mass += m;
    sim.set_gravity({0, -gravity, 0});
    sim.advance(sim.time() + 5);
    const double error = force_of(sim) / (mass * gravity) - 1;
    std::printf("%s: %.6f N, a mass of %.6f kg weighs %.6f N (off by %.0e)\n", where, force_of(sim), mass,
                mass * gravity, std::fabs(error));
    return std::fabs(error);
}

int main()
try {
    talus::Sim earth(talus::Scene::text(text));
    earth.advance(0.1);
    talus::Sim moon = earth; // a clone
    const double here = weigh(earth, "Earth", 9.81), there = weigh(moon, "Moon ", 1.62);
    return std::fmax(here, there) < 1e-6 ? 0 : 1;
} catch (const talus::Error &error) {
    std::fprintf(stderr, "scale: %s\n", error.what());
    return 1;
}
