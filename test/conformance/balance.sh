#!/bin/sh
# --balance of the conformance suite, on the local chains of `depositd service`.
exec npx depositd service balance --network "$1" --asset "$2" --address "$3"
