#!/usr/bin/env python3
"""Compiles the package's sources for macOS, iOS and static Linux, as far as the compiler's diagnostics go.

The compiler of the Linux toolchain can target other systems; it lacks the modules of the standard library, the
C headers and the Swift modules of those systems. Here they come from:

- the toolchain's own modules, copied with the name of their target replaced: they declare the same, availability
  included;
- the headers of Apple's systems, of musl and of the Linux kernel in the PyPI package `ziglang`, below a module
  map that is made here;
- shims/*.swift: what the overlays for the C library, Dispatch and WebKit declare, as far as it is used here.

Static Linux is checked on another processor, aarch64, so that both are read at once. Nothing is linked or run.
Exit status: 0 without errors, 1 with errors, 2 when the check itself failed.
"""

import argparse, fcntl, hashlib, json, os, re, shutil, subprocess, sys, zipfile
from pathlib import Path

ZIGLANG = "0.17.1"
HERE = Path(__file__).resolve().parent

# The C headers of a system's module. The real module has more; a header that is missing here shows as an error,
# one that only the real module lacks does not, so keep to headers that the real one has.
DARWIN_HEADERS = """
assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdio stdlib string
time wchar wctype aio cpio dirent dlfcn fcntl fmtmsg fnmatch ftw glob grp iconv ifaddrs langinfo libgen monetary
netdb nl_types poll pthread pwd regex sched search semaphore spawn strings syslog tar termios ulimit unistd
utime utmpx wordexp alloca copyfile err getopt runetype sysexits xlocale
MacTypes TargetConditionals Availability AvailabilityMacros arpa/inet net/if netinet/in netinet/tcp sys/acl
sys/attr sys/clonefile sys/event sys/file sys/ioctl sys/ipc sys/lock sys/mman sys/mount sys/msg sys/param
sys/poll sys/proc sys/proc_info sys/queue sys/resource sys/select sys/sem sys/shm sys/signal sys/socket
sys/spawn sys/stat sys/statvfs sys/sysctl sys/syslimits sys/termios sys/time sys/times sys/ttycom sys/types
sys/ucred sys/uio sys/un sys/unistd sys/utsname sys/wait sys/filio sys/qos sys/sockio malloc/malloc
malloc/_malloc mach/mach mach/mach_time pthread/qos pthread/sched
""".split()
MUSL_HEADERS = """
aio alloca assert complex ctype dirent dlfcn err errno fcntl fenv float fnmatch ftw getopt glob grp iconv
ifaddrs inttypes iso646 langinfo libgen limits locale malloc math monetary netdb nl_types poll pthread pty
pwd regex resolv sched search semaphore setjmp signal spawn stdint stdio stdlib string strings syslog termios
time ucontext uchar ulimit unistd utime utmpx wchar wctype wordexp arpa/inet net/if netinet/in netinet/ip
netinet/tcp netinet/udp sys/epoll sys/eventfd sys/file sys/inotify sys/ioctl sys/ipc sys/mman sys/mount sys/msg
sys/param sys/prctl sys/random sys/reboot sys/resource sys/select sys/sem sys/sendfile sys/shm
sys/signalfd sys/socket sys/stat sys/statfs sys/statvfs sys/syscall sys/sysinfo sys/time sys/timerfd sys/times
sys/types sys/uio sys/un sys/utsname sys/wait sys/xattr
""".split()

# Macros that name enumerators; Apple's API notes give them to Swift.
CLOCKS = """REALTIME MONOTONIC MONOTONIC_RAW MONOTONIC_RAW_APPROX UPTIME_RAW UPTIME_RAW_APPROX
PROCESS_CPUTIME_ID THREAD_CPUTIME_ID""".split()

# What the Linux module Synchronization calls in its inlinable bodies.
FUTEX = """
#if defined(__APPLE__)
static inline __swift_uint32_t _swift_stdlib_gettid(void) { return 0; }
static inline __swift_uint32_t _swift_stdlib_futex_lock(__swift_uint32_t *lock) { return 0; }
static inline __swift_uint32_t _swift_stdlib_futex_trylock(__swift_uint32_t *lock) { return 0; }
static inline __swift_uint32_t _swift_stdlib_futex_unlock(__swift_uint32_t *lock) { return 0; }
#endif
"""

# Checked only where tests are.
TEST_SUPPORT = {"TestSupport"}
# Targets for which Foundation itself would be needed. What may use them compiles without them, too.
NEED_FOUNDATION = {"MCPFoundation"}
FOUNDATION = re.compile(r"^\s*(@testable )?import (Foundation\w*|XCTest)$", re.M)

LIBRARIES = """Swift _Concurrency Synchronization _StringProcessing _RegexParser RegexBuilder Observation
_Builtin_float SwiftOnoneSupport _Volatile Distributed _Differentiation""".split()


class Platform:
    """A system: its target, the target in its module files, their folder and name, its C module and headers."""

    def __init__(self, target, stem, folder, file, library, headers, include, shims, only_libraries=False):
        self.target, self.stem, self.folder, self.file = target, stem, folder, file
        self.library, self.headers, self.include, self.shims = library, headers, include, shims
        self.only_libraries = only_libraries


APPLE = dict(library="Darwin", headers=DARWIN_HEADERS, include=["any-darwin-any"],
             shims=["Darwin", "Dispatch", "WebKit"])
# Apple's systems are compiled for their processors whatever machine this runs on: the declarations are the same.
PLATFORMS = {
    "macos": Platform("arm64-apple-macosx15.0", "arm64-apple-macosx10.", "macosx", "arm64-apple-macos", **APPLE),
    # The programs are not built for iOS.
    "ios": Platform("arm64-apple-ios18.0", "arm64-apple-ios12.", "iphoneos", "arm64-apple-ios", **APPLE,
                    only_libraries=True),
    "musl": Platform("aarch64-swift-linux-musl", "aarch64-swift-linux-musl", "linux-static",
                     "aarch64-swift-linux-musl", library="Musl", headers=MUSL_HEADERS,
                     include=["any-linux-any", "aarch64-linux-any", "generic-musl", "aarch64-linux-musl"],
                     shims=["Musl", "Dispatch"]),
}


def sh(*command, **kw):
    return subprocess.run([str(part) for part in command], capture_output=True, text=True, **kw)


def fail(text):
    print(f"check: {text}", file=sys.stderr)
    sys.exit(2)


def python_with_pip(cache):
    """This Python where it has pip; else one of a virtual environment, which has it."""
    if sh(sys.executable, "-m", "pip", "--version").returncode == 0:
        return sys.executable
    made = sh(sys.executable, "-m", "venv", cache / "venv")
    if made.returncode:
        fail(f"pip or venv of Python is needed (apt-get install python3-venv):\n{made.stdout}{made.stderr}")
    return cache / "venv" / "bin" / "python"


def headers(cache):
    """The folder with the headers of every platform."""
    place = cache / f"ziglang-{ZIGLANG}"
    cache.mkdir(parents=True, exist_ok=True)
    # Two platforms may be checked at once.
    with open(cache / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        download_headers(cache, place)
    return place / "include"


def download_headers(cache, place):
    if not (place / "done").exists():
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        got = sh(python_with_pip(cache), "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:",
                 f"ziglang=={ZIGLANG}", "-d", place)
        if got.returncode:
            fail(f"ziglang=={ZIGLANG} could not be downloaded:\n{got.stderr}")
        wheel = next(place.glob("*.whl"))
        marker = "/libc/include/"
        wanted = {folder for platform in PLATFORMS.values() for folder in platform.include}
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                inside = name.partition(marker)[2]
                if inside.split("/")[0] in wanted and not name.endswith("/"):
                    target = place / "include" / inside
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(archive.read(name))
        wheel.unlink()
        (place / "done").touch()


def write_sdk(root, include, platform):
    usr = root / "sdk" / "usr" / "include"
    for folder in platform.include:
        shutil.copytree(include / folder, usr, dirs_exist_ok=True)
    lines = [f"module {platform.library} [system] {{"]
    for name in platform.headers:
        if not (usr / f"{name}.h").exists():
            fail(f"the header {name}.h is not in ziglang {ZIGLANG}")
        # A type of musl is declared by the first header that needs it, so its headers are one module.
        lines.append(f'  header "{name}.h"' if platform.library == "Musl" else
                     f'  module {re.sub("[^a-zA-Z0-9]", "_", name)} {{ header "{name}.h" export * }}')
    lines += ["  export *", "}", "module XLibc [system] { }", ""]
    (usr / "module.modulemap").write_text("\n".join(lines))
    if platform.library == "Darwin":
        notes = ["---", "Name: Darwin", "Enumerators:"]
        for clock in CLOCKS:
            notes += [f"- Name: _CLOCK_{clock}", f"  SwiftName: CLOCK_{clock}"]
        (usr / "Darwin.apinotes").write_text("\n".join(notes) + "\n")


def write_resources(root, toolchain, linux_triple, platform):
    resources = root / "resources"
    (resources / platform.folder).mkdir(parents=True)
    os.symlink(toolchain / "clang", resources / "clang")
    os.symlink(toolchain / "apinotes", resources / "apinotes")
    shutil.copytree(toolchain / "shims", resources / "shims")
    with open(resources / "shims" / "_SynchronizationShims.h", "a") as header:
        header.write(FUTEX)
    # The name of the target keeps its length in the file. Apple's names are filled up with digits of a version.
    target = platform.stem.ljust(len(linux_triple), "0")
    if len(target) != len(linux_triple):
        fail(f"no name for {platform.stem} is as long as {linux_triple}")
    for name in LIBRARIES:
        module = toolchain / "linux" / f"{name}.swiftmodule" / f"{linux_triple}.swiftmodule"
        content = module.read_bytes()
        if content.count(linux_triple.encode()) != 1:
            fail(f"{module} does not name its target once; has the toolchain changed?")
        content = content.replace(linux_triple.encode(), target.encode())
        content = content.replace(b"\0Glibc\0", b"\0XLibc\0")
        place = resources / platform.folder / f"{name}.swiftmodule"
        place.mkdir()
        (place / f"{platform.file}.swiftmodule").write_bytes(content)


def write_testing(root, toolchain, linux_triple, platform):
    """Writes the modules of Swift Testing, which come as text, so that their target is only a word in it."""
    for name in ["Testing", "_TestDiscovery"]:
        source = toolchain / "linux" / f"{name}.swiftmodule" / f"{linux_triple}.swiftinterface"
        if not source.exists():
            continue
        place = root / "resources" / platform.folder / f"{name}.swiftmodule"
        place.mkdir()
        text = source.read_text().replace(f"-target {linux_triple}", f"-target {platform.target}")
        text = text.replace("import Glibc", f"import {platform.library}")
        (place / f"{platform.file}.swiftinterface").write_text(text)


def embed(folder, resources):
    """What SwiftPM makes of `.embedInCode` resources, without their bytes."""
    names = []
    for resource in resources:
        if "embedInCode" not in json.dumps(resource.get("rule", {})):
            continue
        place = folder / resource["path"]
        files = [place] if place.is_file() else sorted(f for f in place.rglob("*") if f.is_file())
        names += [re.sub("[^a-zA-Z0-9]", "_", file.name) for file in files]
    if not names:
        return None
    lines = [f"    static let {name}: [UInt8] = []" for name in dict.fromkeys(names)]
    return "\n".join(["struct PackageResources {", *lines, "}", ""])


class Check:
    """The modules of a platform, made once and kept in the cache, and the modules of the package for it."""

    def __init__(self, package, cache, name):
        self.package, self.platform = package.folder, PLATFORMS[name]
        self.c_includes = package.c_includes()
        info = json.loads(sh("swiftc", "-print-target-info").stdout)
        toolchain = Path(info["paths"]["runtimeResourcePath"])
        key = hashlib.sha256(
            (info["compilerVersion"] + ZIGLANG + Path(__file__).read_text()
             + "".join(p.read_text() for p in sorted((HERE / "shims").glob("*.swift")))).encode()
        ).hexdigest()[:16]
        self.root = cache / f"{name}-{key}"
        self.modules = self.root / "modules"
        self.base = [
            "-target", self.platform.target, "-sdk", self.root / "sdk",
            "-resource-dir", self.root / "resources", "-module-cache-path", self.root / "clang-modules",
            "-disable-objc-interop", "-swift-version", "6", "-I", self.modules,
            "-plugin-path", toolchain / "host" / "plugins",
            "-plugin-path", toolchain / "host" / "plugins" / "testing",
        ]
        if self.platform.library == "Musl":
            # The compiler of the static SDK finds the headers through its toolset.
            self.base += ["-Xcc", "-isystem", "-Xcc", self.root / "sdk" / "usr" / "include"]
        if not (self.root / "done").exists():
            for old in cache.glob(f"{name}-*"):
                shutil.rmtree(old)
            self.modules.mkdir(parents=True)
            write_sdk(self.root, headers(cache), self.platform)
            write_resources(self.root, toolchain, info["target"]["triple"], self.platform)
            write_testing(self.root, toolchain, info["target"]["triple"], self.platform)
            for shim in self.platform.shims:
                built = sh("swiftc", "-frontend", "-emit-module", "-parse-as-library", "-module-name", shim,
                           *self.base, HERE / "shims" / f"{shim}.swift",
                           "-o", self.modules / f"{shim}.swiftmodule")
                if built.returncode:
                    fail(f"the shim {shim} does not compile for {name}:\n{built.stdout}{built.stderr}")
            (self.root / "done").touch()
        self.output = self.root / "built"
        shutil.rmtree(self.output, ignore_errors=True)
        self.output.mkdir()

    def flags(self, settings):
        flags = []
        for setting in settings:
            kind = next(iter(setting["kind"]))
            value = setting["kind"][kind]
            if kind == "enableUpcomingFeature":
                flags += ["-enable-upcoming-feature", value["_0"]]
            elif kind == "enableExperimentalFeature":
                flags += ["-enable-experimental-feature", value["_0"]]
            elif kind == "strictMemorySafety":
                flags += ["-strict-memory-safety"]
        return flags

    def compile(self, name, sources, settings, c_includes, identity):
        module = name.replace("-", "_")
        command = ["nice", "-n", "10", "swiftc", "-frontend", "-emit-sil", "-D", "DEBUG", "-enable-testing",
                   "-diagnostic-style", "llvm", "-module-name", module, "-package-name", identity, *self.base,
                   *self.flags(settings), "-I", self.output]
        for include in c_includes:
            command += ["-I", include]
        if not any(Path(source).name == "main.swift" for source in sources):
            command += ["-parse-as-library"]
        command += ["-emit-module-path", self.output / f"{module}.swiftmodule", "-o", os.devnull, *sources]
        return sh(*command, cwd=self.package)


class Package:
    """The package as its manifest describes it."""

    def __init__(self, folder):
        self.folder = folder
        described = sh("swift", "package", "dump-package", cwd=folder)
        if described.returncode:
            fail(f"swift package dump-package: {described.stderr}")
        manifest = json.loads(described.stdout)
        self.identity = re.sub("[^a-zA-Z0-9]", "_", manifest["name"])
        self.targets = {target["name"]: target for target in manifest["targets"]}
        self.libraries = {name for product in manifest["products"] if "library" in product["type"]
                          for name in product["targets"]}

    def folder_of(self, name):
        target = self.targets[name]
        if target.get("path"):
            return self.folder / target["path"]
        return self.folder / ("Tests" if target["type"] == "test" else "Sources") / name

    def dependencies(self, name):
        return [next(iter(d.values()))[0] for d in self.targets[name]["dependencies"]]

    def c_includes(self):
        """Where the headers of the package's C modules are."""
        return [self.folder_of(name) / "include" for name in self.targets
                if not list(self.folder_of(name).rglob("*.swift"))]

    def programs(self):
        return [name for name, target in self.targets.items() if target["type"] == "executable"]

    def order(self, wanted):
        """The targets and what they depend on, dependencies first."""
        order, seen = [], set()

        def visit(name):
            if name in seen or name not in self.targets:
                return
            seen.add(name)
            for other in self.dependencies(name):
                visit(other)
            order.append(name)

        for name in wanted:
            visit(name)
        return order


def check_target(check, package, platform, name, wanted):
    """Compiles one target; whether it has no errors."""
    target = package.targets[name]
    folder = package.folder_of(name)
    sources = sorted(os.path.relpath(path, check.package) for path in folder.rglob("*.swift"))
    # Foundation is not here: tests that compare with it are left out.
    foundation = [source for source in sources if FOUNDATION.search((check.package / source).read_text())]
    if foundation and target["type"] != "test":
        fail(f"{foundation[0]} imports Foundation")
    sources = [source for source in sources if source not in foundation]
    embedded = embed(folder, target.get("resources", []))
    if embedded:
        stub = check.output / f"{name}-resources.swift"
        stub.write_text(embedded)
        sources.append(str(stub))
    built = check.compile(name, sources, target["settings"], check.c_includes, package.identity)
    lines = [line for line in built.stderr.splitlines()
             if re.match(rf"(/?[^ :]+:\d+:\d+|<unknown>:0): ({wanted}):", line)]
    count = len([line for line in lines if ": error:" in line])
    left_out = f" ({len(foundation)} left out, which import Foundation)" if foundation else ""
    print(f"{platform} {name}: {len(sources)} files{left_out}, {count} errors", flush=True)
    for line in dict.fromkeys(lines):
        print("  " + line)
    if built.returncode and not count:
        print(built.stderr[-3000:])
    return built.returncode == 0


def needs_foundation(package, name):
    # Within the package the dependency has a condition, and the sources ask whether the module is there.
    products = [d["product"][0] for d in package.targets[name]["dependencies"] if "product" in d]
    return name in NEED_FOUNDATION or not NEED_FOUNDATION.isdisjoint(products)


def check_package(check, package, platform, targets, broken, findings):
    """Compiles targets of a package, dependencies first; adds to `broken` what has errors."""
    for name in package.order(targets):
        if not list(package.folder_of(name).rglob("*.swift")):
            continue
        if needs_foundation(package, name):
            print(f"{platform} {name}: not checked, Apple's Foundation is not here", flush=True)
            continue
        if PLATFORMS[platform].only_libraries and name not in package.libraries:
            continue
        if any(other in broken for other in package.dependencies(name)):
            broken.add(name)
            print(f"{platform} {name}: not checked, what it depends on has errors")
        elif not check_target(check, package, platform, name, findings):
            broken.add(name)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("package", nargs="?", default=".", help="the folder of the package")
    parser.add_argument("--cache", default=os.environ.get("MCP_PLATFORMS_CACHE", ".build/platforms"))
    parser.add_argument("--platform", action="append", choices=PLATFORMS, help="default: all")
    parser.add_argument("--target", action="append", help="only these targets and what they depend on")
    parser.add_argument("--tests", action="append", default=[], metavar="TARGET", help="this test target, too")
    parser.add_argument("--beside", action="append", default=[], metavar="FOLDER",
                        help="the programs of this package, too, which uses the libraries of the package")
    parser.add_argument("--warnings", action="store_true", help="print warnings, too")
    options = parser.parse_args()
    cache = Path(options.cache).resolve()
    cache.mkdir(parents=True, exist_ok=True)
    package = Package(Path(options.package).resolve())
    wanted = options.target or [name for name, target in package.targets.items()
                                if target["type"] != "test" and name not in TEST_SUPPORT] + options.tests
    beside = [Package(Path(folder).resolve()) for folder in options.beside]
    findings = "error|warning" if options.warnings else "error"
    failed = False
    for platform in options.platform or PLATFORMS:
        check = Check(package, cache, platform)
        broken = set()
        check_package(check, package, platform, wanted, broken, findings)
        for other in beside:
            check_package(check, other, platform, other.programs(), broken, findings)
        failed = failed or bool(broken)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
