#!/bin/sh
# From a table and rules to answers, without a line of Python. The two samples lie beside this folder.
set -eu
samples=$(dirname "$0")/../sample_data/pima
results=$(mktemp -d)

hipad check "$samples/pima.rules" --data "$samples/data.csv" --label Diagnosis
hipad fit "$samples/data.csv" --label Diagnosis --rules "$samples/pima.rules" --split 0.25 --model "$results/model.json"
hipad predict "$results/model.json" "$samples/data.csv" --out "$results/answers.csv"
head -n 3 "$results/answers.csv"
rm -r "$results"
