#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# e2fsprogs-images.sh DIR DOWNLOAD: take the damaged images that e2fsprogs tests itself with from its
# Debian source package (pinned below), and list their paths in DIR/images. What is downloaded stays
# in the folder DOWNLOAD.
set -eu

dir=$1 download=$2
file=e2fsprogs_1.47.2.orig.tar.gz
sha256=6dcd67ff9d8b13274ba3f088e4318be4f5b71412cd863524423fc49d39a6371f

fetch()
{
    # shellcheck disable=SC2016
    mirror=$(apt-get indextargets --format '$(ORIGIN)|$(LABEL)|$(REPO_URI)' 'Created-By: Packages' |
        awk -F'|' '$1 == "Debian" && $2 == "Debian" { print $3; exit }')
    test -n "$mirror" || {
        echo "machbed: apt knows no Debian mirror: add one to its sources, run apt-get update" >&2
        exit 2
    }
    /usr/lib/apt/apt-helper -q -o APT::Sandbox::User=root download-file \
        "${mirror%/}/pool/main/e/e2fsprogs/$file" "$download/$file" "SHA256:$sha256" > /dev/null ||
        {
            echo "machbed: cannot download $file, pinned with SHA-256 $sha256: is the network there?" >&2
            exit 2
        }
}

mkdir -p "$dir" "$download"
rm -f "$dir/images" "$dir/images.new"
echo "$sha256  $download/$file" | sha256sum --check --status 2> /dev/null || fetch
tar -xzf "$download/$file" -C "$dir" --wildcards '*/tests/f_*/image.gz'
for image in "$dir"/*/tests/f_*/image.gz; do
    name=$(basename "$(dirname "$image")")
    gzip -dc "$image" | dd of="$dir/$name.img" bs=64k conv=sparse iflag=fullblock status=none
    echo "$dir/$name.img" >> "$dir/images.new"
done
rm -rf "$dir"/e2fsprogs-*
mv "$dir/images.new" "$dir/images"
