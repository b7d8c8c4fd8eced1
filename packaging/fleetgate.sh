#!/bin/sh
# Runs Fleetgate with the Node.js that lies beside it. The options are those of src/main.ts.
here=$(dirname "$(readlink -f "$0")")
exec "$here/node" --no-memory-reducer --max-semi-space-size=32 --no-allocation-site-pretenuring "$here/../dist/main.js" "$@"
