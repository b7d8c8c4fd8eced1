#!/bin/sh
# Runs Fleetgate with the Node.js that lies beside it. The options are those of src/main.ts; besides, it trusts the
# authorities of the operating system.
here=$(dirname "$(readlink -f "$0")")
set -- "$here/node" --use-system-ca --no-memory-reducer --max-semi-space-size=32 --no-allocation-site-pretenuring "$here/../dist/main.js" "$@"
# For systemd: it listens to this process alone, and Node.js cannot open the socket. A Perl may lack its modules.
if [ -n "$NOTIFY_SOCKET" ] && /usr/bin/perl -MFcntl -MSocket -e 1 2>/dev/null; then
    exec /usr/bin/perl "$here/notify-socket.pl" "$@"
fi
exec "$@"
