#!/bin/sh
# Builds the editor's one script, its style and the licences of what it holds into the app.
# Needs Node.js; the app itself does not.
set -eu
cd "$(dirname "$0")"
out=../../ui/rules/assets
npm ci --silent --no-audit --no-fund
npx esbuild src/main.js --bundle --minify --format=esm --target=es2022 --charset=utf8 \
    --legal-comments=none --banner:js="/* LICENSES.txt; sources $(node digest.js) */" \
    --metafile=node_modules/meta.json --outfile="$out/editor.js"
npx esbuild src/editor.css --minify --outfile="$out/editor.css"
node licences.js node_modules/meta.json > "$out/LICENSES.txt"
rm -r node_modules
