#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Fuzz libext2, guided by coverage. An input that does harm is named in the output; once its cause is
# gone, it belongs into tests/unit/libext2/found, which is replayed by test-libext2-damage.
#
# FUZZ_SECONDS: for so long, with other inputs each time; what was learned stays in build/, so the
# next run goes on from there. Without it the same 100,000 inputs each time, so that a change of
# libext2 is to blame when it fails: no corpus from before (nor one that changes, -reload), and
# nothing that guides by time or by the results of the machine's comparisons.
out=build/tests/fuzz
corpus=$out/libext2-corpus
how="-max_total_time=$FUZZ_SECONDS"

if test -z "$FUZZ_SECONDS"; then
    how='-seed=1 -runs=100000 -reload=0 -entropic=0 -use_cmp=0'
    corpus=$corpus-same
    rm -rf "$corpus"
fi

echo 1..1
mkdir -p "$corpus"
for image in 0 1 2 3 4; do
    printf '%b' "\\00$image\\001\\000\\000\\000\\000\\000" > "$corpus/look-$image"
    printf '%b' "\\00$image\\000abcdefghijklmnopqrstuvwxyz0123456789" > "$corpus/script-$image"
done
# shellcheck disable=SC2086 # several options
if $out/libext2 $how -timeout=20 -max_len=600 -rss_limit_mb=1024 \
    -artifact_prefix=$out/libext2- "$corpus" tests/unit/libext2/found > $out/libext2.log 2>&1; then
    echo "ok 1 - no input does harm"
else
    sed 's/^/# /' $out/libext2.log | tail -n 60
    echo "not ok 1 - no input does harm (log: $out/libext2.log)"
fi
grep '^Done' $out/libext2.log | sed 's/^/# /'
