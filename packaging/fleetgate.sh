#!/bin/sh
# Runs Fleetgate with the Node.js that lies beside it. The options are those of src/main.ts.
here=$(dirname "$(readlink -f "$0")")
# The package's postinst tries a new version before it switches to it: docs/internals/decisions.md, An upgrade is a trial first.
trial=/run/fleetgate-upgrade/program
if [ -e $trial ] && [ "$here" = "$(readlink -f /usr/lib/fleetgate-versions/current)/bin" ] &&
    [ "$here" != "$(readlink -f $trial)/bin" ]; then
    export FLEETGATE_TRIAL=$trial
    exec "$(readlink -f $trial)/bin/fleetgate" "$@"
fi
set -- "$here/node" --no-memory-reducer --max-semi-space-size=32 --no-allocation-site-pretenuring "$here/../dist/main.js" "$@"
# glibc keeps what buffers leave free between what lives on, and ever more of it: by itself it takes each large
# buffer that is freed for a sign that more will come. With a fixed bound large ones go back to the system.
export MALLOC_TRIM_THRESHOLD_="${MALLOC_TRIM_THRESHOLD_:-131072}"
# The authorities of the operating system: of Debian and its like, of Red Hat and its like.
for store in /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt; do
    if [ -z "$NODE_EXTRA_CA_CERTS" ] && [ -r "$store" ]; then export NODE_EXTRA_CA_CERTS="$store"; fi
done
# For systemd: it listens to this process alone, and Node.js cannot open the socket. A Perl may lack its modules.
if [ -n "$NOTIFY_SOCKET" ] && /usr/bin/perl -MFcntl -MSocket -e 1 2>/dev/null; then
    exec /usr/bin/perl "$here/notify-socket.pl" "$@"
fi
exec "$@"
