/*******************************************************************************
* Copyright 2026 Intel Corporation
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

#ifndef COMMON_PRIMITIVE_CACHE_TEST_API_HPP
#define COMMON_PRIMITIVE_CACHE_TEST_API_HPP

#include "oneapi/dnnl/dnnl.h"

// Undocumented API for testing.
dnnl_status_t DNNL_API dnnl_test_get_primitive_cache_size(int *size);
int DNNL_API dnnl_test_is_primitive_in_cache(const_dnnl_primitive_t p_iface);
int DNNL_API dnnl_test_is_pd_in_cache(const_dnnl_primitive_desc_t pd_iface);
size_t DNNL_API dnnl_test_set_primitive_cache_capacity_without_clearing(
        size_t capacity);

#endif

// vim: et ts=4 sw=4 cindent cino^=l0,\:0,N-s
