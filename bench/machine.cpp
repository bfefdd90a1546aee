// Copyright (c) 2026 the sysipc_asio authors.
// Distributed under the Boost Software License, Version 1.0. (See LICENSE.)

#include "machine.hpp"
#include <algorithm>
#include <boost/config.hpp>
#include <boost/version.hpp>
#include <ctime>
#include <fstream>
#include <iomanip>
#include <sstream>
#include <string>
#include <string_view>
#include <sys/utsname.h>
#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#include <cstring>
#endif

namespace bench {
namespace {

/// The first line of a file, or nothing.
std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// The value of the first such line of /proc/cpuinfo, or nothing.
std::string cpu_info(std::string_view key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (const auto colon = line.find(": "); line.starts_with(key) && colon != std::string::npos)
      return line.substr(colon + 2);
  return {};
}

std::string cpu_model(const utsname& system) {
  const std::string name = cpu_info("model name");
  return name.empty() ? system.machine : name; // ARM's has numbers only
}

/// What the hypervisor says of itself by the instruction that is there for it, or nothing.
std::string hypervisor_signature() {
#if defined(__x86_64__) || defined(__i386__)
  constexpr unsigned hypervisor_leaf = 0x40000000;
  unsigned most = 0;
  char text[13] = {};
  unsigned parts[3];
  __cpuid(hypervisor_leaf, most, parts[0], parts[1], parts[2]);
  std::memcpy(text, parts, sizeof parts);
  return text;
#else
  return {};
#endif
}

std::string name_of_hypervisor(const std::string& signature) {
  constexpr std::pair<std::string_view, std::string_view> known[] = {
      {"KVMKVMKVM", "KVM"},         {"VMwareVMware", "VMware"}, {"Microsoft Hv", "Hyper-V"},
      {"XenVMMXenVMM", "Xen"},      {"TCGTCGTCGTCG", "QEMU"},   {"VBoxVBoxVBox", "VirtualBox"},
      {" lrpepyh  vr", "Parallels"}};
  for (const auto& [of, name] : known)
    if (signature == of)
      return std::string(name);
  return signature.empty() ? "yes" : signature;
}

bool is_virtual_product(const std::string& product) {
  constexpr std::string_view words[] = {"KVM",    "QEMU", "Virtual",
                                        "VMware", "HVM",  "Compute Engine"};
  return std::any_of(std::begin(words), std::end(words), [&](std::string_view word) {
    return product.find(word) != std::string::npos;
  });
}

/// "none", the hypervisor's name, or "yes".
std::string virtualization() {
  std::istringstream flags(cpu_info("flags"));
  for (std::string flag; flags >> flag;)
    if (flag == "hypervisor")
      return name_of_hypervisor(hypervisor_signature());
  if (const std::string type = first_line("/sys/hypervisor/type"); !type.empty())
    return type;
  const std::string product = first_line("/sys/class/dmi/id/product_name");
  return is_virtual_product(product) ? product : "none";
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::ostringstream s;
  s << std::put_time(&parts, "%FT%TZ");
  return s.str();
}

std::string boost_version() {
  std::string version = BOOST_LIB_VERSION;
  std::replace(version.begin(), version.end(), '_', '.');
  return version;
}

bool used_the_driver(const std::vector<measurement>& all) {
  return std::any_of(all.begin(), all.end(), [](const measurement& m) {
    return !m.runs.empty() && m.runs.front().first.backend == sysipc_asio::backend::kernel;
  });
}

} // namespace

boost::json::object describe_machine(const std::vector<measurement>& all) {
  utsname system{};
  ::uname(&system);
  boost::json::object o;
  o["bench"] = "machine";
  o["cpu"] = cpu_model(system);
  o["logical_cpus"] = ::sysconf(_SC_NPROCESSORS_ONLN);
  o["virtual"] = virtualization();
  o["kernel"] = std::string(system.sysname) + " " + system.release;
  o["compiler"] = BOOST_COMPILER;
  o["boost"] = boost_version();
  o["version"] = SYSIPC_BENCH_VERSION;
  o["driver"] = used_the_driver(all);
  o["date"] = utc_now();
  return o;
}

} // namespace bench
