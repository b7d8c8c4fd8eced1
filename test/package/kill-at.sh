#!/bin/bash
# In the place of a command that the package's scripts use: kills the script before its call number $KILL_AT.
name=${0##*/}
real=/usr/bin/$name
if [[ $name = systemctl && $* != *daemon-reload* && $* != *restart* ]]; then exec "$real" "$@"; fi
if grep -qaE '(fleetgate\.|tmp\.ci/)(pre|post)(inst|rm)' "/proc/$PPID/cmdline"; then
    count=$(($(cat /boot-test/calls) + 1))
    echo $count >/boot-test/calls
    echo "$name $*" >/boot-test/last-call
    if [ $count = "$KILL_AT" ]; then
        pkill -KILL -f '(fleetgate\.|tmp\.ci/)(pre|post)(inst|rm)'
        exit 1
    fi
fi
exec "$real" "$@"
