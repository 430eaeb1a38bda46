# Settings of oneDNN that the build script of `onednn-src` offers no switch for.
#
# CMake reads this file first because the environment variable CMAKE_TOOLCHAIN_FILE names it (`.cargo/config.toml`
# of the workspace sets it). It names no compiler, so CMake still chooses the machine's own. Other CMake projects that are
# built in the same environment are left alone: the settings apply only where the top folder is called oneDNN.
if(CMAKE_SOURCE_DIR MATCHES "/oneDNN$")
    # Work runs on threads that the caller hands in, never on a second team of OpenMP's.
    set(ONEDNN_CPU_RUNTIME THREADPOOL CACHE STRING "" FORCE)
    set(ONEDNN_GPU_RUNTIME NONE CACHE STRING "" FORCE)
    set(ONEDNN_ENABLE_WORKLOAD TRAINING CACHE STRING "" FORCE)
    set(ONEDNN_ENABLE_PRIMITIVE ALL CACHE STRING "" FORCE)
    set(ONEDNN_ENABLE_PRIMITIVE_CPU_ISA ALL CACHE STRING "" FORCE)
    set(ONEDNN_BUILD_GRAPH OFF CACHE BOOL "" FORCE)
    set(ONEDNN_BUILD_TESTS OFF CACHE BOOL "" FORCE)
    set(ONEDNN_BUILD_EXAMPLES OFF CACHE BOOL "" FORCE)
    set(ONEDNN_ENABLE_ITT_TASKS OFF CACHE BOOL "" FORCE)
    # An unoptimised library is of no use, not even in a debug build of the workspace, and debug information of oneDNN
    # would take gigabytes.
    set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
    # `onednn-src` links from `lib`; some distributions would install to `lib64`.
    set(CMAKE_INSTALL_LIBDIR lib CACHE STRING "" FORCE)
endif()
