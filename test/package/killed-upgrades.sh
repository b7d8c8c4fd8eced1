#!/bin/bash
# Runs in a Debian that systemd has booted, without a network: kills the scripts of the package at each of their steps,
# and looks whether the next run mends that. The program in the package is a small one, which starts at once.
cd /boot-test
. /boot-test/steps.sh

# Packages with the same scripts and units, and a program that does nothing: FOLDER VERSION
make_small() {
    mkdir -p "$1"
    dpkg-deb --control fleetgate_*_amd64.deb "$1/DEBIAN"
    rm "$1/DEBIAN/md5sums"
    sed -i "s/^Version: .*/Version: $2/" "$1/DEBIAN/control"
    mkdir -p "$1/usr/lib/fleetgate/bin" "$1/usr/lib/fleetgate/dist" "$1/usr/bin" "$1/usr/lib/systemd" \
        "$1/usr/lib/sysusers.d" "$1/etc/fleetgate/secrets"
    cp /usr/lib/fleetgate/bin/fleetgate /usr/lib/fleetgate/bin/notify-socket.pl "$1/usr/lib/fleetgate/bin"
    cp small-node.sh "$1/usr/lib/fleetgate/bin/node"
    cp -r /usr/lib/fleetgate/systemd "$1/usr/lib/fleetgate"
    cp -r /usr/lib/fleetgate/systemd "$1/usr/lib/systemd/system"
    cp /usr/lib/sysusers.d/fleetgate.conf "$1/usr/lib/sysusers.d"
    cp -P /usr/bin/fleetgate "$1/usr/bin"
    echo "$2" >"$1/usr/lib/fleetgate/dist/main.js"
    dpkg-deb --root-owner-group -Znone --build "$1" "$1.deb"
}

runs_small() { [ "$(state)" = active ] && [ "$(cat /var/lib/fleetgate/running)" = "$1" ]; }
starts_small() {
    systemctl restart fleetgate
    runs_small "$1"
}

twice_in_a_row() {
    local before
    sudo dpkg -i fleetgate_*_amd64.deb
    make_small small-1 1
    make_small small-2 2
    sudo dpkg --purge fleetgate
    sudo dpkg -i small-1.deb
    starts_small "1 open"
    before=$(main_pid)
    unattended_install small-1.deb
    is_committed
    [ "$(main_pid)" != "$before" ]
    eventually runs_small "1 open"
}

# What systemd could not start is no reason against a version.
a_start_without_a_control_group() {
    touch /var/lib/fleetgate/no-group
    unattended_install small-2.deb
    [ ! -e /var/lib/fleetgate/no-group ]
    is_committed
    eventually runs_small "2 open"
    # The same, and when the script looks, systemd has started it again already.
    mkdir slow
    printf '#!/bin/sh\nexec /usr/bin/sleep 2\n' >slow/sleep
    chmod +x slow/sleep
    touch /var/lib/fleetgate/no-group
    PATH=/boot-test/slow:$PATH unattended_install small-1.deb
    [ ! -e /var/lib/fleetgate/no-group ]
    is_committed
    eventually runs_small "1 open"
}

# Installs a small version, and kills its scripts before step $at.
install_killed() {
    echo 0 >calls
    KILL_AT=$at PATH=/boot-test/kill:$PATH dpkg -i "$1" </dev/null >small.log 2>&1
}
was_killed() { grep -q Killed small.log; }
configure_again() { dpkg --configure -a >small.log 2>&1; }
# Ends a step that kills the scripts, and shows what it has met.
wrong() {
    echo "wrong after a kill before step $at, $(cat last-call): $1"
    echo "the unit is $(state), with process $(main_pid); it has noted: $(cat /var/lib/fleetgate/running)"
    ls -l /usr/lib/fleetgate-versions /run/fleetgate-upgrade || true
    cat small.log
    return 1
}

# The scripts are killed before each command of theirs that changes something.
killed_at_each_step() {
    set +x
    local at next
    for at in $(seq 60); do
        next=$((1 + at % 2))
        if install_killed "small-$next.deb"; then break; fi
        echo "killed before step $at, $(cat last-call): $(cat /var/lib/fleetgate/running)"
        was_killed || wrong "dpkg failed by itself"
        eventually systemctl is-active --quiet fleetgate || wrong "no version runs on"
        configure_again || wrong "the next run failed"
        is_committed || wrong "the next run did not commit"
        eventually runs_small "$next open" || wrong "version $next should run"
    done
    [ "$at" -gt 15 ] || wrong "there were no more steps"
    eventually runs_small "$next open" || wrong "version $next should run"
    is_committed || wrong "the last run did not commit"
}

# The same, and a person stops the gateway before the next run.
stopped_after_a_kill() {
    set +x
    local at next
    # Before, nothing is noted that the next run could start.
    for at in $(seq 7 60); do
        next=$((1 + at % 2))
        if install_killed "small-$next.deb"; then break; fi
        was_killed || wrong "dpkg failed by itself"
        eventually systemctl is-active --quiet fleetgate || wrong "no version runs on"
        systemctl stop fleetgate
        configure_again || wrong "the next run failed"
        is_committed || wrong "the next run did not commit"
        [ "$(state)" = inactive ] || wrong "the next run started it again"
        starts_small "$next open" || wrong "version $next should run"
    done
    [ "$at" -gt 15 ] || wrong "there were no more steps"
}

# The same on the way back from a version that does not start, which nothing but another version mends.
killed_on_the_way_back() {
    make_small small-broken 3broken
    local is at
    is=$(fleetgate --version)
    set +x
    # Before, nothing differs from a version that starts.
    for at in $(seq 14 40); do
        refuses install_killed small-broken.deb || wrong "a broken version was installed"
        if ! was_killed; then break; fi
        echo "killed before step $at, $(cat last-call): $(cat /var/lib/fleetgate/running)"
        refuses configure_again || wrong "a broken version was configured"
        grep -q 'goes on, because .*' small.log || wrong "the next run does not say which version goes on"
        grep -q 'broken on purpose' small.log || wrong "the next run does not say why"
        [ ! -e /run/fleetgate-upgrade ] || wrong "the trial goes on"
        runs_small "$is open" || wrong "version $is should run"
    done
    [ "$at" -gt 18 ] || wrong "there were no more steps"
    grep -q 'broken on purpose' small.log || wrong "the last run does not say why"
    runs_small "$is open" || wrong "version $is should run"
    dpkg -i "small-$is.deb"
    is_committed
}

# /run is empty after a power cut.
a_power_cut_during_a_trial() {
    local is next
    is=$(fleetgate --version)
    next=$((3 - is))
    dpkg-deb --extract "small-$next.deb" trial
    mkdir /run/fleetgate-upgrade
    ln -s /boot-test/trial/usr/lib/fleetgate /run/fleetgate-upgrade/program
    starts_small "$next closed"
    rm -r /run/fleetgate-upgrade
    starts_small "$is open"
}

for name in twice_in_a_row a_start_without_a_control_group killed_at_each_step stopped_after_a_kill \
    killed_on_the_way_back a_power_cut_during_a_trial; do
    step $name
done
