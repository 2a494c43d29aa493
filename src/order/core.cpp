#include "order/core.h"

#include <algorithm>

#include "base/check.h"

namespace lw::order {
namespace {

// Filled in where it stays: a copy would wait for each of its fields.
ObjectId add_object(Objects& objects, const Warp& warp, const Deed& deed, const Shape& shape,
                    uint64_t key, Component component, uint32_t count) {
  const ObjectId id = objects.add(key);
  Object& object = objects[id];
  object.component = component;
  object.count = count;
  object.op = deed.op;
  object.cta = object.home = warp.cta->id;
  object.cluster = warp.cta->cluster;
  object.warp = warp.index;
  object.lanes = shape.lanes;
  object.base = shape.base;
  object.shape = shape.kind;
  object.shift = shape.shift;
  object.kind = deed.kind;
  object.agent = deed.agent;
  object.strong = deed.strong;
  object.scope = deed.scope;
  object.element_bytes = deed.element_bytes;
  object.async_proxy = deed.agent == Agent::kBulkLoad || deed.agent == Agent::kBulkStore ||
                       deed.agent == Agent::kTensorShared;
  return id;
}

}  // namespace

Core::Core(Options wanted, const Values* values_of_run)
    : options(std::move(wanted)), values(values_of_run), collect_at(options.collect_at) {
  if (!options.watches.empty()) story = std::make_unique<StoryLog>(options.watches);
}

Region& Core::buffer(uint64_t address) {
  size_t& last = last_buffer[(address >> 24) * 0x9e3779b97f4a7c15u >> 60];
  if (last < buffers.size() && buffers[last].holds(address)) return buffers[last];
  const auto after =
      std::upper_bound(buffers.begin(), buffers.end(), address,
                       [](uint64_t at, const Region& one) { return at < one.base(); });
  LW_CHECK(after != buffers.begin() && (after - 1)->holds(address), address);
  last = static_cast<size_t>(after - 1 - buffers.begin());
  return buffers[last];
}

Cta& Core::running(CtaId cta) {
  LW_CHECK(cta.value < ctas.size() && ctas[cta.value] != nullptr, cta.value);
  return *ctas[cta.value];
}

ObjectId Core::step_object(Warp& warp, const Deed& deed, const Shape& shape) {
  return add_object(objects, warp, deed, shape, warp.key | shape.code, warp.steps(), warp.count);
}

ObjectId Core::peer_object(Warp& warp, const Deed& deed, const Shape& shape, uint64_t key) {
  const uint32_t owner = this->owner(deed.op, deed.kind, deed.agent, deed.strong);
  const auto code = static_cast<uint32_t>(key);
  Warp::Cached& known = cached(warp, owner, code);
  const bool hit = known.owner == owner && known.count == warp.count && known.code == code &&
                   objects.key(known.id).key == key;
  if (hit) return known.id;
  known = {owner, warp.count, code,
           add_object(objects, warp, deed, shape, key, warp.steps(), warp.count)};
  return known.id;
}

ObjectId Core::async_object(Warp& warp, const Deed& deed, const Shape& shape, Component component,
                            uint32_t count, const Cta* peer) {
  // Program order says nothing of it: a code that no lanes have.
  return add_object(objects, warp, deed, shape, async_object_key(warp, peer), component, count);
}

Shape Core::uniform_shape(LaneMask lanes, ShapeKind kind) {
  Shape shape;
  shape.lanes = lanes;
  if (kind == ShapeKind::kLanes && (lanes & (lanes - 1)) == 0) {
    shape.kind = ShapeKind::kOneLane;
    shape.code = shape_code(shape.kind, static_cast<uint32_t>(__builtin_ctz(lanes)));
    return shape;
  }
  shape.kind = kind;
  shape.injective = false;
  shape.code =
      lanes == kAllLanes ? whole_warp_code(kind) : shape_code(kind, objects.add_lanes(lanes));
  return shape;
}

Shape Core::each_shape(Warp& warp, OpId op, const EachShape& each) {
  Warp::LastShape& last = warp.last_shape[op.value % Warp::kCached];
  Shape shape;
  shape.kind = ShapeKind::kEach;
  shape.lanes = each.lanes;
  shape.injective = false;  // decided block by block (each.cpp)
  const uint32_t index = last.code - shape_code(ShapeKind::kEach, 0);
  const bool same = last.is(op, ShapeKind::kEach) && objects.each(index) == each;
  shape.base = same ? index : objects.add_each(each);
  shape.code = shape_code(shape.kind, shape.base);
  last = {op.value, shape.code};
  return shape;
}

Shape Core::permuted_shape(Warp& warp, OpId op, const LaneOrder& place, int shift) {
  Warp::LastShape& last = warp.last_shape[op.value % Warp::kCached];
  const uint32_t index = (last.code - shape_code(ShapeKind::kPermuted, 0)) >> 3;
  const bool same = last.is(op, ShapeKind::kPermuted) && objects.order(index) == place;
  Shape shape;
  shape.kind = ShapeKind::kPermuted;
  shape.shift = static_cast<uint8_t>(shift);
  shape.base = same ? index : objects.add_order(place);
  shape.code = shape_code(shape.kind, shape.base << 3 | static_cast<uint32_t>(shift));
  last = {op.value, shape.code};
  return shape;
}

void Core::report_race(const Race& race, uint64_t serial) {
  if (race.tier == Tier::kStrict && !options.strict) {
    return findings.relied_on_practice(race.rule);
  }
  if (options.sink != nullptr) options.sink->race(race);
  if (!findings.knows(race)) {
    Race fresh = race;
    fresh.serial = serial;
    fresh.after_race = raced.lead_to(*this, fresh);
    findings.race(fresh, serial);
  } else {
    findings.race(race, serial);
  }
  if (race.tier != Tier::kNote) raced.add(race, serial);
}

WarpAsync& Core::async_of(Warp& warp) {
  if (!warp.async) {
    warp.async = std::make_unique<WarpAsync>();
    Cta& cta = *warp.cta;
    warp.async->copied.component = cta.components++;
    warp.async->read.component = cta.components++;
    warp.async->written.component = cta.components++;
  }
  return *warp.async;
}

}  // namespace lw::order
