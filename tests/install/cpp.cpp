// What talus.hpp promises: owners that move and copy, errors that are thrown, views with types, hooks, saved bytes.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <talus/talus.hpp>

#define EXPECT(truth)                                                                                                  \
    do {                                                                                                               \
        if (!(truth)) {                                                                                                \
            std::fprintf(stderr, "%d: %s\n", __LINE__, #truth);                                                        \
            std::exit(1);                                                                                              \
        }                                                                                                              \
    } while (0)

static talus::Scene make_scene()
{
    talus::Build b;
    talus_build_number(b.get(), "duration", 1);
    talus_build_number(b.get(), "dt_max", 0.01);
    talus_body_spec ground = talus_body_spec_default();
    ground.kind = "static";
    ground.shape = talus_build_plane(b.get(), 0);
    talus_build_body(b.get(), &ground);
    talus_body_spec box = talus_body_spec_default();
    box.name = "box";
    const double size[3] = {0.2, 0.2, 0.2};
    box.shape = talus_build_box(b.get(), size);
    box.at[1] = 1;
    box.density = 500;
    talus_build_body(b.get(), &box);
    EXPECT(b.text().find("box") != std::string::npos);
    return b.finish();
}

template <class F> static std::string message_of(F &&f)
{
    try {
        f();
    } catch (const talus::Error &error) {
        EXPECT(error.status != TALUS_OK);
        return error.what();
    }
    return "";
}

// Particles and elastic bodies come and go; nodes are pushed; what it costs.
static void come_and_go()
{
    talus::Sim sim(talus::Scene::text(
        "local soft = elastic { density = 500, young = 1e5, poisson = 0.3 } return scene { talus = 1, engine = 'grid', "
        "duration = 1, dt_max = 0.01, grid = { cells = {5, 8, 5}, cell = 0.1 }, fill = { { material = liquid { name = "
        "'water', density = 1000 }, shape = box { size = {0.5, 0.2, 0.5}, center = {0.25, 0.1, 0.25} } } }, bodies = { "
        "{ name = 'raft', shape = box { size = 0.1 }, cells = {1, 1, 1}, material = soft, at = {0.15, 0.3, 0.15} } } "
        "}"));
    EXPECT(sim.cost().particles == sim.view<std::int32_t>("particles.id").size() && sim.cost().nodes == 8);
    const std::uint64_t generation = sim.generation();
    const auto first =
        sim.add_particles(sim.material("water"), {{0.1, 0.6, 0.4}, {0.2, 0.6, 0.4}}, {{0, 0, 0}, {0, -1, 0}});
    EXPECT(first == sim.view<std::int32_t>("particles.id").size() - 2 && sim.generation() > generation);
    sim.remove_particles({static_cast<std::int32_t>(first)});
    EXPECT(message_of([&] { sim.remove_particles({static_cast<std::int32_t>(first)}); }).find("not there") !=
           std::string::npos);
    EXPECT(message_of([&] { sim.add_particles(0, {{0.3, 0.6, 0.3}}, {{0, 0, 0}, {0, 0, 0}}); }) != "");
    EXPECT((sim.add_body(0, {0.35, 0.6, 0.35}) == 1 && sim.view<double, 3>("nodes.position").size() == 16));
    sim.set_node_forces(8, std::vector<talus::Vec3>(8, {0.5 * 9.81 / 8, 0.5 * 9.81 / 8, 0}));
    for (int i = 0; i < 10; i++) sim.step(0.01);
    const auto v = sim.view<double, 3>("bodies.velocity");
    EXPECT(std::fabs(v[1][1]) < 1e-9 && std::fabs(v[1][0] - 0.981) < 1e-9); // it hangs by the force on its nodes
    sim.remove_body(0);
    sim.step(0.01);
    EXPECT((sim.view<double, 3>("bodies.velocity").size() == 1));
}

int main()
{
    come_and_go();
    EXPECT(talus_abi() == TALUS_ABI);
    talus::Sim sim(make_scene()); // the scene lives as long as the simulation
    const int box = sim.body("box");
    EXPECT(box == 1 && sim.body("none") == -1);
    for (int i = 0; i < 10; i++) sim.step(0.01);
    EXPECT(sim.steps() == 10 && std::fabs(sim.view<double, 3>("bodies.velocity")[box][1] + 0.981) < 1e-12);

    const std::vector<std::byte> saved = sim.save();
    talus::Sim twin = sim, other = sim;
    twin.step(0.01);
    other = twin;
    talus::Sim moved = std::move(other);
    EXPECT(moved.hash() == twin.hash() && twin.hash() != sim.hash());
    twin.restore(saved);
    EXPECT(twin.hash() == sim.hash());

    EXPECT(message_of([] { talus::Scene::text("return 1"); }) != "");
    EXPECT(message_of([&] { (void)sim.view<float, 3>("bodies.velocity"); }).find("type or shape") != std::string::npos);
    EXPECT(message_of([&] { (void)sim.view<double, 3>("bodies.velocty"); }).find("bodies.velocity") !=
           std::string::npos);
    EXPECT(message_of([&] { sim.set_force(7, {0, 1, 0}); }).find("no body 7") != std::string::npos);

    int before = 0, after = 0;
    moved.on_step(
        [&](talus::Sim &s) {
            return s.set_force(box, {0, 4 * 9.81, 0}), ++before;
        },
        [&](talus::Sim &) { return ++after < 5; });
    EXPECT(message_of([&] { moved.advance(1); }).find("after a step") != std::string::npos && before == 5 &&
           after == 5);
    moved.on_step([](talus::Sim &) -> bool { throw std::runtime_error("mine"); }, nullptr);
    std::string caught;
    try {
        moved.step(0.01);
    } catch (const std::runtime_error &error) {
        caught = error.what();
    }
    EXPECT(caught == "mine");

    const int more = sim.add_body(box, {0, 1.5, 0});
    EXPECT(more == 2 && sim.view<double>("bodies.mass").copy().size() == 3);
    double mass = 0;
    for (double m : sim.view<double>("bodies.mass")) mass += m;
    EXPECT(std::fabs(mass - 8) < 1e-9);
    sim.remove_body(more);
    sim.place(box, {0, 2, 0});
    sim.set_gravity({0, 0, 0});
    EXPECT(sim.view<double>("bodies.mass").size() == 2 && sim.report().step == 10);
    return 0;
}
