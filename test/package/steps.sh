# What the scripts of the booted containers share. boot.test.ts reads /boot-test/results: "passed STEP" or
# "failed STEP", in this order; and prints /boot-test/figures.

# Each mission goes to a robot that has none: the service refuses a second one while the first is under way.
plant="/boot-test/simulator-program/bin/node /boot-test/plant.mjs"
sudo() { "$@"; }
# A busy systemd may have no control group for a unit (status 219): it is started once more.
systemctl() {
    command systemctl "$@" && return
    local code=$?
    case $1 in start | restart | enable) ;; *) return $code ;; esac
    [ "$(command systemctl show --property=ExecMainStatus --value "${@: -1}")" = 219 ] || return $code
    command systemctl "$@"
}

step() {
    echo "=== $1"
    local code began=$SECONDS
    (set -e -x; "$1")
    code=$?
    echo "$((SECONDS - began)) s $1" >>figures
    if [ $code = 0 ]; then echo "passed $1" >>results; return; fi
    echo "failed $1" >>results
    systemctl status fleetgate --no-pager --full
    journalctl -u fleetgate --no-pager | tail -n 60
}

main_pid() { systemctl show --property=MainPID --value "${1:-fleetgate}"; }
state() { systemctl show --property=ActiveState --value fleetgate; }
# Waits at most 30 s for a command to succeed.
eventually() (
    set +x
    for _ in $(seq 150); do
        if "$@"; then return 0; fi
        sleep 0.2
    done
    echo "never: $*"
    return 1
)
healthy() { [ "$(state)" = active ] && curl -sf -o /dev/null http://localhost:8080/healthz; }
# `!` would not end a step.
refuses() { if "$@"; then return 1; fi; }
another_pid() { [ "$(state)" = active ] && [ "$(main_pid)" != "$1" ]; }

# As apt does it when nobody is there.
unattended_install() { sudo dpkg -i "$1" </dev/null; }
is_installed() { [ "$(dpkg-query --showformat='${db:Status-Abbrev}' --show fleetgate)" = "ii " ]; }
# No trace of a trial, one version kept, and that is the one that dpkg has.
is_committed() {
    [ ! -e /run/fleetgate-upgrade ] && [ "$(ls /usr/lib/fleetgate-versions | wc -l)" = 2 ] &&
        cmp /usr/lib/fleetgate-versions/current/dist/main.js /usr/lib/fleetgate/dist/main.js && is_installed
}

# The simulated fleet service, which is no part of the package.
start_simulator() {
    cp -al /usr/lib/fleetgate simulator-program
    systemctl start simulator
    eventually test -e simulator/fleet/credentials.json
}

# A second gateway, beside the one of plant.yaml.
configure_hall2() {
    sed -e 's/^  id: .*/  id: hall2/' -e 's|dataDir: .*|dataDir: /var/lib/fleetgate-instances/hall2|' \
        -e 's/broker: embedded/&\n  listen: { port: 1884 }/' -e 's/^opcua:/&\n  listen: { port: 4841 }/' \
        -e 's/^web: .*/web: { listen: { port: 8081 } }/' plant.yaml >/etc/fleetgate/hall2.yaml
}
