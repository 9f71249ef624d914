// talus for C++17: owners of scenes, simulations and builders over the C interface, which stays there for the rest.
//
//     talus::Scene scene = talus::Scene::load("tower.lua");
//     talus::Sim sim(scene);
//     sim.advance(1.0);
//     for (const auto &v : sim.view<double, 3>("bodies.velocity")) std::cout << v[1] << "\n";
//
// What fails throws talus::Error with the library's sentence. A simulation keeps its scene alive. Views point into the
// simulation and are good until its next step or setting; `copy` keeps them.
#ifndef TALUS_TALUS_HPP
#define TALUS_TALUS_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <talus/build.h>
#include <talus/program.h>
#include <talus/run.h>
#include <talus/sim.h>
#include <type_traits>
#include <utility>
#include <vector>

namespace talus
{

using Vec3 = std::array<double, 3>;
using Quat = std::array<double, 4>; // w x y z

struct Error : std::runtime_error {
    Error(talus_status what, const std::string &message) : std::runtime_error(message), status(what) {}
    talus_status status;
};

// Calls a function of the C interface with its talus_error; throws when it fails.
template <class F> void check(F &&call)
{
    talus_error err{};
    const talus_status status = std::forward<F>(call)(&err);
    if (status != TALUS_OK) throw Error(status, err.message[0] ? err.message : talus_status_name(status));
}

// Rows of N numbers of type T inside of a simulation.
template <class T, int N = 1> class View
{
  public:
    using Row = std::conditional_t<N == 1, T, std::array<T, N>>;
    explicit View(const talus_view &v) : view_(v) {}
    std::int64_t size() const { return view_.count; }
    bool empty() const { return view_.count == 0; }
    const Row &operator[](std::int64_t i) const { return *static_cast<const Row *>(talus_view_row(&view_, i)); }
    std::vector<Row> copy() const { return std::vector<Row>(begin(), end()); }

    class Iterator
    {
      public:
        using iterator_category = std::forward_iterator_tag;
        using value_type = Row;
        using difference_type = std::ptrdiff_t;
        using pointer = const Row *;
        using reference = const Row &;
        Iterator() = default;
        Iterator(const View *v, std::int64_t i) : view_(v), i_(i) {}
        reference operator*() const { return (*view_)[i_]; }
        pointer operator->() const { return &(*view_)[i_]; }
        Iterator &operator++() { return ++i_, *this; }
        Iterator operator++(int) { return Iterator(view_, i_++); }
        bool operator==(const Iterator &o) const { return i_ == o.i_; }
        bool operator!=(const Iterator &o) const { return i_ != o.i_; }

      private:
        const View *view_ = nullptr;
        std::int64_t i_ = 0;
    };
    Iterator begin() const { return Iterator(this, 0); }
    Iterator end() const { return Iterator(this, view_.count); }

  private:
    talus_view view_;
};

namespace detail
{
template <class T> constexpr talus_type type_of()
{
    static_assert(std::is_same_v<T, double> || std::is_same_v<T, float> || std::is_same_v<T, std::int32_t> ||
                      std::is_same_v<T, std::int64_t>,
                  "views hold double, float, int32_t or int64_t");
    if constexpr (std::is_same_v<T, double>) return TALUS_FLOAT64;
    if constexpr (std::is_same_v<T, float>) return TALUS_FLOAT32;
    if constexpr (std::is_same_v<T, std::int32_t>) return TALUS_INT32;
    return TALUS_INT64;
}
} // namespace detail

// A scene that was read and checked. Copies share it.
class Scene
{
  public:
    static Scene load(const std::string &path, const talus_scene_options &o = talus_scene_options_default())
    {
        talus_scene *s = nullptr;
        check([&](talus_error *e) { return talus_scene_load(path.c_str(), &o, &s, e); });
        return Scene(s);
    }
    static Scene text(const std::string &text, const talus_scene_options &o = talus_scene_options_default())
    {
        talus_scene *s = nullptr;
        check([&](talus_error *e) { return talus_scene_load_text(text.c_str(), nullptr, &o, &s, e); });
        return Scene(s);
    }
    explicit Scene(talus_scene *owned) : scene_(owned, talus_scene_free) {}
    talus_scene *get() const { return scene_.get(); }
    std::string title() const { return talus_scene_title(get()); }
    std::string engine() const { return talus_scene_engine(get()); }
    double duration() const { return talus_scene_duration(get()); }

  private:
    std::shared_ptr<talus_scene> scene_;
};

// A scene put together by calls: the functions of talus/build.h take get().
class Build
{
  public:
    Build() : build_(talus_build_create(), talus_build_free)
    {
        if (!build_) throw std::bad_alloc();
    }
    talus_build *get() const { return build_.get(); }
    Scene finish(const talus_scene_options &o = talus_scene_options_default()) const
    {
        talus_scene *s = nullptr;
        check([&](talus_error *e) { return talus_build_finish(get(), &o, &s, e); });
        return Scene(s);
    }
    std::string text() const { return talus_build_text(get()); }

  private:
    std::unique_ptr<talus_build, void (*)(talus_build *)> build_;
};

class Sim
{
  public:
    using Hook = std::function<bool(Sim &)>; // false: stop

    explicit Sim(const Scene &scene) : scene_(scene), sim_(make(scene), talus_sim_free) {}
    Sim(const Sim &other) : scene_(other.scene_), sim_(copy_of(other.get()), talus_sim_free) {} // a clone
    Sim(Sim &&other) noexcept
        : scene_(other.scene_), sim_(std::move(other.sim_)), before_(std::move(other.before_)),
          after_(std::move(other.after_))
    {
        hook();
    }
    Sim &operator=(Sim other) noexcept
    {
        std::swap(scene_, other.scene_);
        std::swap(sim_, other.sim_);
        std::swap(before_, other.before_);
        std::swap(after_, other.after_);
        hook();
        return *this;
    }
    ~Sim() = default;
    talus_sim *get() const { return sim_.get(); }
    const Scene &scene() const { return scene_; }

    void step(double dt = 0)
    {
        run([&](talus_error *e) { return talus_sim_step(get(), dt, e); });
    }
    void advance(double t)
    {
        run([&](talus_error *e) { return talus_sim_advance(get(), t, e); });
    }
    double time() const { return talus_sim_time(get()); }
    std::int64_t steps() const { return talus_sim_steps(get()); }
    std::uint64_t hash() const { return talus_sim_hash(get()); }
    std::uint64_t generation() const { return talus_sim_generation(get()); }
    void cancel(bool wanted = true) { talus_sim_cancel(get(), wanted); } // from any thread
    // Called around every step; an exception of theirs ends the call in progress and comes out of it.
    void on_step(Hook before, Hook after)
    {
        before_ = std::move(before), after_ = std::move(after);
        hook();
    }

    // Numbers of that type and shape, by name (docs/views.md); another type or shape is an Error.
    template <class T, int N = 1> View<T, N> view(const char *name) const
    {
        talus_view v{};
        check([&](talus_error *e) { return talus_sim_view(get(), name, &v, e); });
        if (v.type != detail::type_of<T>() || v.components != N)
            throw Error(TALUS_BAD_INPUT, std::string(name) + " has another type or shape, see docs/views.md");
        return View<T, N>(v);
    }
    template <class T, int N = 1> View<T, N> view(const std::string &name) const { return view<T, N>(name.c_str()); }
    talus_report report() const
    {
        talus_report r{};
        talus_sim_report(get(), &r);
        return r;
    }

    // What the rest of the scene's duration will take.
    talus_cost cost()
    {
        talus_cost c{};
        run([&](talus_error *e) { return talus_sim_cost(get(), &c, e); });
        return c;
    }

    int body(const std::string &name) const { return talus_sim_body(get(), name.c_str()); }
    int joint(const std::string &name) const { return talus_sim_joint(get(), name.c_str()); }
    int material(const std::string &name) const { return talus_sim_material(get(), name.c_str()); }
    void set_force(int body, const Vec3 &force, const Vec3 &torque = {0, 0, 0})
    {
        check([&](talus_error *e) { return talus_sim_set_force(get(), body, force.data(), torque.data(), e); });
    }
    void set_velocity(int body, const Vec3 &velocity, const Vec3 &spin = {0, 0, 0})
    {
        check([&](talus_error *e) { return talus_sim_set_velocity(get(), body, velocity.data(), spin.data(), e); });
    }
    void set_pose(int body, const Vec3 &position, const Quat &rotation = {1, 0, 0, 0})
    {
        check([&](talus_error *e) { return talus_sim_set_pose(get(), body, position.data(), rotation.data(), e); });
    }
    void place(int body, const Vec3 &position, const Quat &rotation = {1, 0, 0, 0})
    {
        check([&](talus_error *e) { return talus_sim_place(get(), body, position.data(), rotation.data(), e); });
    }
    void set_friction(int body, double friction)
    {
        check([&](talus_error *e) { return talus_sim_set_friction(get(), body, friction, e); });
    }
    int add_body(int like, const Vec3 &position, const Quat &rotation = {1, 0, 0, 0}, const Vec3 &velocity = {0, 0, 0},
                 const Vec3 &spin = {0, 0, 0})
    {
        int index = -1;
        check([&](talus_error *e) {
            return talus_sim_add_body(get(), like, position.data(), rotation.data(), velocity.data(), spin.data(),
                                      &index, e);
        });
        return index;
    }
    void remove_body(int body)
    {
        check([&](talus_error *e) { return talus_sim_remove_body(get(), body, e); });
    }
    // Ids of the new ones are the one that is returned and those after it. No velocities: at rest.
    std::int64_t add_particles(int material, const std::vector<Vec3> &position, const std::vector<Vec3> &velocity = {})
    {
        std::int64_t first = -1;
        if (!velocity.empty() && velocity.size() != position.size())
            throw Error(TALUS_BAD_INPUT, "add_particles: other counts of positions and velocities");
        check([&](talus_error *e) {
            return talus_sim_add_particles(get(), material, static_cast<std::int64_t>(position.size()),
                                           position.empty() ? nullptr : position.front().data(),
                                           velocity.empty() ? nullptr : velocity.front().data(), nullptr, &first, e);
        });
        return first;
    }
    void remove_particles(const std::vector<std::int32_t> &id)
    {
        check([&](talus_error *e) {
            return talus_sim_remove_particles(get(), static_cast<std::int64_t>(id.size()), id.data(), e);
        });
    }
    // On nodes first, first + 1, ... of elastic bodies.
    void set_node_forces(std::int64_t first, const std::vector<Vec3> &force)
    {
        check([&](talus_error *e) {
            return talus_sim_set_node_forces(get(), first, static_cast<std::int64_t>(force.size()),
                                             force.empty() ? nullptr : force.front().data(), e);
        });
    }
    void set_handle(int handle, const Vec3 &position, const Quat &rotation = {1, 0, 0, 0})
    {
        check([&](talus_error *e) { return talus_sim_set_handle(get(), handle, position.data(), rotation.data(), e); });
    }
    void set_motor(int joint, double target)
    {
        check([&](talus_error *e) { return talus_sim_set_motor(get(), joint, target, e); });
    }
    void set_cable(int cable, double length)
    {
        check([&](talus_error *e) { return talus_sim_set_cable(get(), cable, length, e); });
    }
    void set_pressure(int body, double pressure)
    {
        check([&](talus_error *e) { return talus_sim_set_pressure(get(), body, pressure, e); });
    }
    void set_rate(int emitter, double rate)
    {
        check([&](talus_error *e) { return talus_sim_set_rate(get(), emitter, rate, e); });
    }
    void set_gravity(const Vec3 &gravity)
    {
        check([&](talus_error *e) { return talus_sim_set_gravity(get(), gravity.data(), e); });
    }
    void set_material(int material, const std::string &key, double value)
    {
        check([&](talus_error *e) { return talus_sim_set_material(get(), material, key.c_str(), value, e); });
    }

    void save(const std::string &path) const
    {
        check([&](talus_error *e) { return talus_sim_save(get(), path.c_str(), e); });
    }
    void restore(const std::string &path)
    {
        check([&](talus_error *e) { return talus_sim_restore(get(), path.c_str(), e); });
    }
    std::vector<std::byte> save() const
    {
        std::vector<std::byte> bytes(talus_sim_bytes(get()));
        check([&](talus_error *e) { return talus_sim_save_bytes(get(), bytes.data(), bytes.size(), e); });
        return bytes;
    }
    void restore(const std::vector<std::byte> &bytes)
    {
        check([&](talus_error *e) { return talus_sim_restore_bytes(get(), bytes.data(), bytes.size(), e); });
    }

  private:
    static talus_sim *make(const Scene &scene)
    {
        talus_sim *s = nullptr;
        check([&](talus_error *e) { return talus_sim_create(scene.get(), nullptr, &s, e); });
        return s;
    }
    static talus_sim *copy_of(const talus_sim *from)
    {
        talus_sim *s = nullptr;
        check([&](talus_error *e) { return talus_sim_clone(from, &s, e); });
        return s;
    }
    static int call(Sim &self, Hook &hook)
    {
        try {
            return hook(self) ? 0 : 1;
        } catch (...) { // not through C
            self.thrown_ = std::current_exception();
            return 1;
        }
    }
    static int call_before(void *user, talus_sim *)
    {
        return call(*static_cast<Sim *>(user), static_cast<Sim *>(user)->before_);
    }
    static int call_after(void *user, talus_sim *)
    {
        return call(*static_cast<Sim *>(user), static_cast<Sim *>(user)->after_);
    }
    void hook() noexcept
    {
        if (sim_)
            talus_sim_on_step(get(), before_ ? call_before : nullptr, after_ ? call_after : nullptr, this, nullptr);
    }
    template <class F> void run(F &&f)
    {
        thrown_ = nullptr;
        try {
            check(std::forward<F>(f));
        } catch (const Error &) {
            if (thrown_) std::rethrow_exception(thrown_);
            throw;
        }
    }

    Scene scene_; // before the simulation, which needs it to its end
    std::unique_ptr<talus_sim, void (*)(talus_sim *)> sim_;
    Hook before_, after_;
    std::exception_ptr thrown_;
};

} // namespace talus

#endif
