#!/usr/bin/env bash
# The GPU tests and the benchmark, on a machine that may have no Rust.
#
#   tests/on_gpu.sh build [DATA]     here: the binaries, stripped, and the matrices of DATA, into stage/, as they say:
#                                    OPLUS_STAGE_TESTS, OPLUS_STAGE_EXAMPLES  lists of names, all if unset, none if empty
#                                    OPLUS_STAGE_PROFILE  cargo's profile, gpu if unset; dev builds conformance and
#                                    cuda_structural in a fraction of the time. A failed build is a failure, explained.
#   tests/on_gpu.sh test             there: every CUDA test on the GPU, OPLUS_TESTS_AT_ONCE programs (1) side by side
#   tests/on_gpu.sh sanitize         there: small products under compute-sanitizer (memcheck, racecheck)
#   tests/on_gpu.sh benchmark [...]  there: examples/benchmark beside cuSPARSE; arguments are passed on, such as
#                                    everything, --products a2,ap,ptap, --strategies, operations, bandwidth, calls, plot, --help
#
# stage/ and this script are all that the other machine needs, with a driver, NVRTC and cuSPARSE.
set -euo pipefail
cd "$(dirname "$0")/.."
tests=(cuda_products cuda_full cuda_sums cuda_strategies cuda_dots cuda_masked cuda_own_tables cuda_few_columns cuda_bands cuda_short_rows cuda_sorted_rows cuda_near_rows cuda_hub_rows cuda_column_sets cuda_counts cuda_heaviest_rows cuda_properties cuda_operations cuda_transpose cuda_formats cuda_held cuda_cells cuda_in_use cuda_iso cuda_by_bits cuda_skewed cuda_few_products float16
  cuda_scalars cuda_definitions cuda_structural cuda_pairs cuda_large_values cuda_merged_rows cuda_vectors cuda_algebra cuda_runtime cuda_ahead cuda_compile cuda_extremes cuda_memory_limit cuda_apsp explain plan
  reproducible conformance semantics sequences cuda_examples cuda_large_products)
examples=(benchmark inspect_kernel spgemm multi_source_bfs bfs triangle_count apsp sssp pagerank multigrid)
mode=${1:-}
shift || true

# stage_all KIND NAME...: one cargo call for all of them, test or example; each executable becomes stage/KIND-NAME.
stage_all() {
  local kind=$1 name binary list flags=() command=(build)
  shift
  [ $# -gt 0 ] || return 0
  for name in "$@"; do flags+=("--$kind" "$name"); done
  [ "$kind" = test ] && command=(test --no-run)
  # What the compiler has to say goes to stderr, only cargo's list of artifacts through the pipe.
  list=$(cargo "${command[@]}" -q --profile "${OPLUS_STAGE_PROFILE:-gpu}" "${flags[@]}" --message-format=json-render-diagnostics |
    sed -n 's/.*"kind":\["'"$kind"'"\].*"name":"\([^"]*\)".*"executable":"\([^"]*\)".*/\1 \2/p')
  while read -r name binary; do strip -o "stage/$kind-$name" "$binary"; done <<<"$list"
  for name in "$@"; do
    [ -e "stage/$kind-$name" ] || { echo "cargo built no $kind $name" >&2 && return 1; }
  done
}

case "$mode" in
build)
  mkdir -p stage
  rm -f stage/test-* stage/example-*
  read -r -a some_tests <<<"${OPLUS_STAGE_TESTS-${tests[*]}}"
  read -r -a some_examples <<<"${OPLUS_STAGE_EXAMPLES-${examples[*]}}"
  stage_all test "${some_tests[@]}"
  stage_all example "${some_examples[@]}"
  # Fresh cases of tests/conformance/generate.py, where somebody made some.
  if [ -e target/conformance.bin ]; then cp target/conformance.bin stage/; fi
  if [ -n "${1:-}" ]; then mkdir -p stage/data && cp -u "$1"/*.mtx* stage/data/; fi
  du -sh stage
  ;;
test)
  export OPLUS_TEST_DEVICE=gpu OPLUS_REQUIRE_CUDA=1 OPLUS_REQUIRE_NVRTC=1 OPLUS_TEST_EXAMPLES=stage/example-
  if [ -e stage/conformance.bin ]; then export OPLUS_CONFORMANCE=stage/conformance.bin; fi
  logs=$(mktemp -d)
  # run_one TEST ARGUMENTS: its output in one piece, once it has ended.
  run_one() {
    local t=$1 slow=() status=0 most=300
    shift
    # What is too slow for the emulated driver in CI; in other programs such tests are those that their own processes run.
    case "$t" in *cuda_scalars | *cuda_operations) slow=(--include-ignored) ;; esac
    # It compiles kernels of every operator on every type.
    case "$t" in *conformance) most=1500 ;; esac
    timeout "$most" "$t" --test-threads 1 "${slow[@]}" "$@" >"$logs/${t##*/}" 2>&1 || status=$?
    printf '%s\n' "== $t: $status, $SECONDS s" "$(<"$logs/${t##*/}")"
    [ $status = 0 ] || touch "$logs/failed"
  }
  for t in stage/test-*; do
    while [ "$(jobs -rp | wc -l)" -ge "${OPLUS_TESTS_AT_ONCE:-1}" ]; do wait -n || true; done
    run_one "$t" "$@" &
  done
  wait
  [ ! -e "$logs/failed" ]
  ;;
sanitize)
  export OPLUS_TEST_DEVICE=gpu OPLUS_REQUIRE_CUDA=1
  tool=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
  for check in memcheck racecheck; do
    echo "== $check"
    # What takes gigabytes takes hours here.
    skip=(--skip g10_more_than --skip g10_rows_of_more_than --skip operands_of_more_than)
    # Racecheck loses track where several threads launch kernels ("Detected a failure to track a kernel launch"), and then kernels hang.
    # Nor does it know locks: it reports sums of a user's type and products as sums, which a block's threads add to in turn (`add_locked`).
    if [ $check = racecheck ]; then skip+=(--skip small_products_of_many_threads --skip values_of_a_users_type --skip other_semirings_too --skip threads_may_share --skip a_dense_column_is_summed_by_blocks --skip a_hub_is_pushed_by_many_blocks --skip products_of_large_values --skip g10_a_row_of_more_than); fi
    for t in cuda_bands cuda_full cuda_short_rows cuda_sorted_rows cuda_near_rows cuda_hub_rows cuda_column_sets cuda_by_bits cuda_skewed cuda_few_products cuda_counts cuda_heaviest_rows cuda_products cuda_strategies cuda_dots cuda_masked cuda_own_tables cuda_few_columns cuda_apsp cuda_transpose cuda_pairs cuda_merged_rows cuda_vectors cuda_sums cuda_iso cuda_held cuda_cells cuda_large_products cuda_extremes cuda_memory_limit plan reproducible; do
      timeout 280 "$tool" --tool "$check" --error-exitcode 9 "stage/test-$t" --test-threads 1 "${skip[@]}" "$@"
    done
  done
  ;;
benchmark)
  data=()
  [ -d stage/data ] && data=(--data stage/data)
  exec stage/example-benchmark "${data[@]}" "$@"
  ;;
*)
  sed -n '2,13p' "$0"
  exit 2
  ;;
esac
