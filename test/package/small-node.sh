#!/bin/bash
# In the place of Node.js and the program, in the small packages of upgrades.sh: it lives, and notes whether it would
# let commands in.
while [ "${1##*/}" != main.js ]; do shift; done
version=$(cat "$1")
case "$2" in
--version) echo "$version" ;;
run)
    if [ "$version" = 3broken ]; then
        echo "broken on purpose"
        exit 1
    fi
    intake=open
    if [ -n "$FLEETGATE_TRIAL" ]; then intake=closed; fi
    echo "$version $intake" >"$STATE_DIRECTORY/running"
    printf READY=1 >&"$FLEETGATE_NOTIFY_FD"
    while true; do
        if [ ! -e "$FLEETGATE_TRIAL" ]; then echo "$version open" >"$STATE_DIRECTORY/running"; fi
        printf WATCHDOG=1 >&"$FLEETGATE_NOTIFY_FD"
        sleep 0.2
    done
    ;;
esac
