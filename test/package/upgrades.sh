#!/bin/bash
# Runs in a Debian that systemd has booted, without a network: upgrades two gateways as a plant does, with versions
# that work and versions that do not. boot.test.ts makes the packages.
cd /boot-test
. /boot-test/steps.sh

good() { systemctl show --property=StatusText --value "$1" | grep "6 of 6 robots good"; }
all_good() { good fleetgate && good fleetgate@hall2; }
version() { fleetgate --version; }
# As apt does it when nobody is there.
unattended_install() { sudo dpkg -i "$1" </dev/null; }
is_installed() { [ "$(dpkg-query --showformat='${db:Status-Abbrev}' --show fleetgate)" = "ii " ]; }
# No trace of a trial, one version kept, and that is the one that dpkg has.
is_committed() {
    [ ! -e /run/fleetgate-upgrade ] && [ "$(ls /usr/lib/fleetgate-versions | wc -l)" = 2 ] &&
        cmp /usr/lib/fleetgate-versions/current/dist/main.js /usr/lib/fleetgate/dist/main.js && is_installed
}

# Runs a command, and notes how long each gateway did not answer, or refused commands.
measured() {
    local what=$1 code=0
    shift
    for gateway in fleetgate fleetgate-instances/hall2; do
        simulator-program/bin/node outage.mjs "/var/lib/$gateway/control.sock" >"outage-${gateway##*/}" &
    done
    "$@" || code=$?
    kill $(jobs -p)
    wait
    echo "$what, in ms: fleetgate $(cat outage-fleetgate), fleetgate@hall2 $(cat outage-hall2)" | tee -a figures
    return $code
}
outage() { sed -n "s/.*\"$2\":\([0-9]*\).*/\1/p" "outage-$1"; }

two_gateways() {
    sudo dpkg -i fleetgate_*_amd64.deb
    dpkg --verify fleetgate
    start_simulator
    sudo install -m 0640 -g fleetgate simulator/fleet/ca.pem /etc/fleetgate/fleet-ca.pem
    sudo install -m 0640 -g fleetgate simulator/fleet/credentials.json /etc/fleetgate/secrets/api-key.json
    cp plant.yaml /etc/fleetgate/fleetgate.yaml
    configure_hall2
    sudo systemctl enable --now fleetgate
    # By hand, and not enabled.
    sudo systemctl start fleetgate@hall2
    eventually all_good
    $plant mission cart-01 first | grep '"outcome":"succeeded"'
}

without_room() {
    local before
    before=$(main_pid)
    # What the preinst asks.
    mkdir -p full
    printf '#!/bin/sh\necho Avail; echo 100000\n' >full/df
    chmod +x full/df
    PATH=$PWD/full:$PATH refuses unattended_install next.deb 2>&1 | tee upgrade.log
    grep 'MB are free: nothing was changed' upgrade.log
    is_installed
    # dpkg itself meets the end.
    mount -t tmpfs -o size=64k tmpfs /usr/share/doc/fleetgate
    refuses unattended_install next.deb
    umount /usr/share/doc/fleetgate
    [ "$(main_pid)" = "$before" ]
    sudo dpkg --configure -a
    is_committed
}

# The next version has another template of the configuration, too.
unattended() {
    measured "upgrade" unattended_install next.deb 2>&1 | tee upgrade.log
    version | grep '+next$'
    is_committed
    cmp plant.yaml /etc/fleetgate/fleetgate.yaml
    [ "$(outage fleetgate unanswered)" -lt 20000 ]
    [ "$(outage hall2 unanswered)" -lt 20000 ]
    $plant mission cart-01 first | grep '"duplicate":true'
    refuses systemctl is-enabled fleetgate@hall2
}

an_unknown_key() {
    local before
    before=$(main_pid)
    echo 'no: key' >>/etc/fleetgate/fleetgate.yaml
    refuses unattended_install next.deb 2>&1 | tee upgrade.log
    grep 'goes on, because fleetgate.service would not be as before.*unknown key' upgrade.log
    [ "$(main_pid)" = "$before" ]
    refuses is_installed
    cp plant.yaml /etc/fleetgate/fleetgate.yaml
}

# The package that is half configured is tried again. A newer program has raised the version of a store.
another_format() {
    local format=/var/lib/fleetgate/journal/format.json before
    before=$(main_pid)
    cp -p $format format.json
    sed -i 's/"version":[0-9]*/"version":999/' $format
    refuses sudo dpkg --configure -a 2>&1 | tee upgrade.log
    grep 'journal is of version 999, and this program has version' upgrade.log
    [ "$(main_pid)" = "$before" ]
    cp -p format.json $format
}

a_program_that_throws() {
    local hall2
    hall2=$(main_pid fleetgate@hall2)
    measured "back from a program that throws" refuses unattended_install broken.deb 2>&1 | tee upgrade.log
    grep 'next goes on, because fleetgate.service would not be as before with .*broken.*' upgrade.log
    grep 'broken on purpose' upgrade.log
    version | grep '+next$'
    [ "$(outage fleetgate unanswered)" -lt 20000 ]
    [ "$(main_pid fleetgate@hall2)" = "$hall2" ]
    [ ! -e /run/fleetgate-upgrade ]
    eventually all_good
    $plant mission cart-01 first | grep '"duplicate":true'
}

a_part_that_does_not_come_up() {
    sed 's|broker: embedded|broker: mqtt://127.0.0.1:9|; /anonymousLoopback/d' plant.yaml >/etc/fleetgate/no-mqtt.yaml
    measured "back from a version without MQTT" refuses unattended_install partless.deb 2>&1 | tee upgrade.log
    grep 'mqtt is .*, and was up' upgrade.log
    version | grep '+next$'
    [ "$(outage fleetgate closed)" -lt 40000 ]
    eventually all_good
    $plant mission cart-01 first | grep '"duplicate":true'
}

# The package that is half configured gives way to the older one, also by apt.
down_again() {
    measured "downgrade" sudo apt-get install --yes --quiet --allow-downgrades ./fleetgate_*_amd64.deb 2>&1 |
        tee upgrade.log
    refuses sh -c 'fleetgate --version | grep next'
    is_committed
    eventually all_good
    $plant mission cart-01 first | grep '"duplicate":true'
}

# After a removal, a gateway that does not start keeps no other one from it, and is not forgotten.
back_with_a_broken_one() {
    sudo dpkg --remove fleetgate
    echo 'no: key' >>/etc/fleetgate/fleetgate.yaml
    refuses sudo dpkg -i fleetgate_*_amd64.deb 2>&1 | tee upgrade.log
    grep 'fleetgate.service does not start: .*' upgrade.log
    eventually good fleetgate@hall2
    sudo systemctl stop fleetgate@hall2
    refuses sudo dpkg --configure -a
    cp plant.yaml /etc/fleetgate/fleetgate.yaml
    sudo dpkg --configure -a
    is_committed
    # It had started.
    refuses systemctl is-active fleetgate@hall2
    sudo systemctl start fleetgate@hall2
    eventually all_good
}

# As it is while postinst waits, for as long as this test needs.
no_command_during_a_trial() {
    cp -al /usr/lib/fleetgate /usr/lib/fleetgate-versions/trial
    mkdir /run/fleetgate-upgrade
    ln -s /usr/lib/fleetgate-versions/trial /run/fleetgate-upgrade/program
    sudo systemctl restart fleetgate
    eventually good fleetgate
    fleetgate status | grep 'this version is on trial'
    $plant mission cart-02 trial | tee -a /dev/stderr | grep '"outcome":"refused","code":"SHUTTING_DOWN"'
    $plant slot cart-03 | tee -a /dev/stderr | grep '"status":"Good","outcome":4'
    rm -r /run/fleetgate-upgrade
    # The same command, and the same slot.
    $plant mission cart-02 trial | grep '"outcome":"succeeded"'
    $plant slot cart-03 | grep '"status":"Good","outcome":3'
    sudo systemctl restart fleetgate || eventually good fleetgate
    rm -r /usr/lib/fleetgate-versions/trial
}

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

for name in two_gateways without_room unattended an_unknown_key another_format a_program_that_throws \
    a_part_that_does_not_come_up down_again back_with_a_broken_one no_command_during_a_trial twice_in_a_row \
    a_start_without_a_control_group killed_at_each_step stopped_after_a_kill \
    killed_on_the_way_back a_power_cut_during_a_trial; do
    if [ -e only ] && ! grep -q -x $name only; then continue; fi
    # The service allows 20 token requests in five minutes, which so many starts of two gateways exceed: an upgrade
    # would not find it as it was.
    if [ $name = down_again ]; then
        systemctl restart simulator
        eventually all_good
    fi
    step $name
done
