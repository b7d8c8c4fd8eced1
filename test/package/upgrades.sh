#!/bin/bash
# Runs in a Debian that systemd has booted, without a network: upgrades two gateways as a plant does, with versions
# that work and versions that do not. boot.test.ts makes the packages.
cd /boot-test
. /boot-test/steps.sh

good() { systemctl show --property=StatusText --value "$1" | grep "6 of 6 robots good"; }
all_good() { good fleetgate && good fleetgate@hall2; }
version() { fleetgate --version; }

# Runs a command, and notes how long each gateway did not answer, or refused commands.
measured() {
    local what=$1 code=0
    shift
    began=$(date +%s.%N)
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
# How long the unit's starts took meanwhile, in ms: on a busy machine five times as long as on an idle one.
starts() {
    journalctl -u "$1" -o short-unix --no-pager --since "@$began" |
        awk '/: Starting /{from=$1} /: Started /{ms+=($1-from)*1000} END{printf "%d", ms}'
}

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
    [ "$(outage fleetgate unanswered)" -lt $((10000 + $(starts fleetgate))) ]
    [ "$(outage hall2 unanswered)" -lt $((10000 + $(starts fleetgate@hall2))) ]
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
    [ "$(outage fleetgate unanswered)" -lt $((10000 + $(starts fleetgate))) ]
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
    [ "$(outage fleetgate closed)" -lt $((25000 + $(starts fleetgate))) ]
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

for name in two_gateways without_room unattended an_unknown_key another_format a_program_that_throws \
    a_part_that_does_not_come_up down_again back_with_a_broken_one no_command_during_a_trial; do
    if [ -e only ] && ! grep -q -x $name only; then continue; fi
    # The service allows 20 token requests in five minutes, which so many starts of two gateways exceed: an upgrade
    # would not find it as it was.
    if [ $name = down_again ]; then
        systemctl restart simulator
        eventually all_good
    fi
    step $name
done
