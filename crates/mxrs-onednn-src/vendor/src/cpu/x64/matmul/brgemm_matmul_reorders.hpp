/*******************************************************************************
* Copyright 2022 Intel Corporation
*
* Licensed under the Apache License, Version 2.0 (the "License");
* you may not use this file except in compliance with the License.
* You may obtain a copy of the License at
*
*     http://www.apache.org/licenses/LICENSE-2.0
*
* Unless required by applicable law or agreed to in writing, software
* distributed under the License is distributed on an "AS IS" BASIS,
* WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
* See the License for the specific language governing permissions and
* limitations under the License.
*******************************************************************************/

#ifndef CPU_X64_MATMUL_BRGEMM_MATMUL_REORDERS_HPP
#define CPU_X64_MATMUL_BRGEMM_MATMUL_REORDERS_HPP

#include "cpu/reorder/cpu_reorder_pd.hpp"
#include "cpu/x64/matmul/brgemm_matmul_copy_utils.hpp"

namespace dnnl {
namespace impl {
namespace cpu {
namespace x64 {

struct brgemm_matmul_copy_reorder_t : public primitive_t {
    struct pd_t : public cpu_reorder_pd_t {
        using cpu_reorder_pd_t::cpu_reorder_pd_t;

        DECLARE_COMMON_PD_T(
                "brgemm_matmul_copy_reorder_t", brgemm_matmul_copy_reorder_t);

        // required to re-use brgemm matmul copy_b jit kernels
        matmul::brgemm_matmul_conf_t matmul_conf_for_reorder_;
        status_t init(const engine_t *engine, const engine_t *src_engine,
                const engine_t *dst_engine);

    private:
        void init_scratchpad() {}
    };

    brgemm_matmul_copy_reorder_t(const pd_t *apd) : primitive_t(apd) {}
    status_t init(engine_t *engine) override {
        // Assuming copy_B operates over K and N only and copy_A
        // operates over M and K only, checking for positive N is
        // sufficient to dispatch into copy_B kernel and copy_A kernel
        // otherwise.
        if (pd()->matmul_conf_for_reorder_.N > 0)
            CHECK(matmul::create_brgemm_matmul_copy_b(
                    b_kernel_, &pd()->matmul_conf_for_reorder_));
        else
            CHECK(matmul::create_brgemm_matmul_copy_a(
                    a_kernel_, &pd()->matmul_conf_for_reorder_));

        return status::success;
    }

private:
    status_t execute_body(const exec_ctx_t &ctx) const;
    status_t execute(const exec_ctx_t &ctx) const override {
        return execute_body(ctx);
    }

    const pd_t *pd() const { return (const pd_t *)primitive_t::pd().get(); }
    std::unique_ptr<matmul::jit_brgemm_matmul_copy_b_t> b_kernel_;
    std::unique_ptr<matmul::jit_brgemm_matmul_copy_a_t> a_kernel_;
};

} // namespace x64
} // namespace cpu
} // namespace impl
} // namespace dnnl

#endif
