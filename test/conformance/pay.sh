#!/bin/sh
# --pay of the conformance suite, on the local chains of `depositd service`.
exec npx depositd service pay --network "$1" --asset "$2" --amount "$3" --to "$4"
