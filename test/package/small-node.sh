#!/bin/bash
# In the place of Node.js and the program, in the small packages of killed-upgrades.sh: it lives, and notes whether it would
# let commands in.
while [ "${1##*/}" != main.js ]; do shift; done
version=$(cat "$1")
# In one step: killed-upgrades.sh reads it at any moment, also just after READY=1.
note() {
    echo "$version $1" >"$STATE_DIRECTORY/running.part"
    mv "$STATE_DIRECTORY/running.part" "$STATE_DIRECTORY/running"
}
case "$2" in
--version) echo "$version" ;;
run)
    if [ "$version" = 3broken ]; then
        echo "broken on purpose"
        exit 1
    fi
    # As when systemd has no control group for it.
    if rm "$STATE_DIRECTORY/no-group" 2>/dev/null; then exit 219; fi
    intake=open
    if [ -n "$FLEETGATE_TRIAL" ]; then intake=closed; fi
    note $intake
    # Not by sleep: a child that dies late can take the control group of the next start with it.
    exec {never}<> <(:)
    printf READY=1 >&"$FLEETGATE_NOTIFY_FD"
    while true; do
        if [ $intake = closed ] && [ ! -e "$FLEETGATE_TRIAL" ]; then
            intake=open
            note $intake
        fi
        printf WATCHDOG=1 >&"$FLEETGATE_NOTIFY_FD"
        read -r -t 0.2 -u $never
    done
    ;;
esac
