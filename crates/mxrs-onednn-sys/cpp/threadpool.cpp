// A C++ thread pool for oneDNN's THREADPOOL runtime, made from two plain functions and a context pointer.
//
// The functions are in `src/threadpool/adapter/enabled.rs`. No exception leaves this file: no caller could catch an
// exception that a oneDNN work item throws on another thread, so it ends the process with a message.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <new>

#include "oneapi/dnnl/dnnl_threadpool_iface.hpp"

namespace {

using Work = std::function<void(int, int)>;
using Body = void (*)(void *closure, int i, int n);
using InParallel = int (*)(void *ctx);
using ParallelFor = void (*)(void *ctx, int n, Body body, void *closure);

[[noreturn]] void die(const char *what) noexcept {
    std::fprintf(stderr, "mxrs-onednn-sys: a oneDNN work item threw: %s\n", what);
    std::abort();
}

void run_body(void *closure, int i, int n) noexcept {
    try {
        (*static_cast<const Work *>(closure))(i, n);
    } catch (const std::exception &e) {
        die(e.what());
    } catch (...) {
        die("an object that is no std::exception");
    }
}

class ForeignPool final : public dnnl::threadpool_interop::threadpool_iface {
public:
    ForeignPool(void *ctx, int n_threads, InParallel in_parallel, ParallelFor parallel_for)
        : ctx_(ctx), n_threads_(n_threads), in_parallel_(in_parallel), parallel_for_(parallel_for) {}

    int get_num_threads() const override { return n_threads_; }

    bool get_in_parallel() const override { return in_parallel_(ctx_) != 0; }

    void parallel_for(int n, const Work &work) override {
        if (n <= 0) return;
        // One item needs no hand-over.
        if (n == 1) return run_body(const_cast<Work *>(&work), 0, 1);
        parallel_for_(ctx_, n, run_body, const_cast<Work *>(&work));
    }

    // Synchronous: `parallel_for` returns when all items are done.
    std::uint64_t get_flags() const override { return 0; }

    void wait() override {}

private:
    void *ctx_;
    int n_threads_;
    InParallel in_parallel_;
    ParallelFor parallel_for_;
};

} // namespace

extern "C" {

// Returns null when there is no memory.
void *mxrs_threadpool_new(void *ctx, int n_threads, InParallel in_parallel, ParallelFor parallel_for) {
    dnnl::threadpool_interop::threadpool_iface *pool
            = new (std::nothrow) ForeignPool(ctx, n_threads, in_parallel, parallel_for);
    return pool;
}

void mxrs_threadpool_delete(void *pool) {
    delete static_cast<dnnl::threadpool_interop::threadpool_iface *>(pool);
}

} // extern "C"
