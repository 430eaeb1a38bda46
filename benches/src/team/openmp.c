/* A loop shared by OpenMP's threads, for `cargo xtask compare team`. Every contestant runs the same body. */
void mxrs_openmp_loop(int n_chunks, void (*body)(int chunk, void *argument), void *argument) {
#pragma omp parallel for schedule(static, 1) num_threads(2)
    for (int chunk = 0; chunk < n_chunks; chunk++) {
        body(chunk, argument);
    }
}
