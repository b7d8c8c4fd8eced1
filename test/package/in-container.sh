#!/bin/bash
# Runs in a Debian that systemd has booted, without a network: does what docs/install.md says, and what a plant
# does to a gateway.
cd /boot-test
. /boot-test/steps.sh

install_offline() {
    sudo dpkg -i fleetgate_*_amd64.deb
    fleetgate --version
    getent passwd fleetgate
    [ "$(stat -c '%a %U %G' /etc/fleetgate/secrets)" = "750 root fleetgate" ]
}

starts_nothing_unconfigured() {
    [ "$(state)" = inactive ]
    refuses systemctl is-enabled fleetgate
    [ ! -e /etc/fleetgate/fleetgate.yaml ]
    # A start all the same: the file is not there, and systemd does not try again.
    refuses sudo systemctl start fleetgate
    [ "$(state)" = failed ]
    [ "$(systemctl show --property=ExecMainStatus --value fleetgate)" = 78 ]
    sudo systemctl reset-failed fleetgate
}

configure() {
    start_simulator
    # Fit for the unit's user.
    sudo fleetgate init --id plant1 --fleet 127.0.0.1:7443 --fleet-https https://127.0.0.1:7444 \
        --fleet-ca simulator/fleet/ca.pem --api-key simulator/fleet/credentials.json --locations plant-1 --opcua on
    [ "$(stat -c '%a %U %G' /etc/fleetgate/secrets/opcua-line1)" = "640 root fleetgate" ]
    check
    rm /etc/fleetgate/secrets/opcua-line1
    sudo install -m 0640 -g fleetgate simulator/fleet/ca.pem /etc/fleetgate/fleet-ca.pem
    cp simulator/fleet/credentials.json api-key.json
    sudo install -m 0640 -g fleetgate api-key.json /etc/fleetgate/secrets/
    cp plant.yaml /etc/fleetgate/fleetgate.yaml
}

check() {
    sudo fleetgate check
    # Root may read more than the gateway.
    chmod 600 /etc/fleetgate/secrets/api-key.json
    sudo fleetgate check 2>&1 | grep 'cannot be read by the user'
    chmod 640 /etc/fleetgate/secrets/api-key.json
    # The unit's user may read all that it names.
    setpriv --reuid=fleetgate --regid=fleetgate --clear-groups \
        fleetgate check
}

start() {
    sudo systemctl enable --now fleetgate
    # Type=notify: it listens when `start` returns.
    curl -s http://localhost:8080/healthz
    eventually healthy
    [ "$(ps -o user= -p "$(main_pid)")" = fleetgat+ ] || [ "$(ps -o user= -p "$(main_pid)")" = fleetgate ]
    timeout 2 journalctl -u fleetgate -f | grep '"msg":"ready"'
    journalctl -u fleetgate -p warning --no-pager | grep INSECURE
    refuses sh -c 'journalctl -u fleetgate -p warning --no-pager | grep "\"msg\":\"ready\""'
}

mission_by_mqtt() {
    $plant mission cart-01 first >first
    grep '"outcome":"succeeded"' first
}

mission_by_slot() { $plant slot cart-02 | grep '"status":"Good","outcome":3'; }

reloads() {
    local before
    before=$(main_pid)
    systemctl kill -s HUP --kill-who=main fleetgate
    eventually sh -c 'journalctl -u fleetgate --no-pager | grep -q "the configuration was reloaded"'
    sudo systemctl reload fleetgate
    cp -p /etc/fleetgate/fleetgate.yaml /etc/fleetgate/kept
    echo 'log: { level: loud }' >>/etc/fleetgate/fleetgate.yaml
    refuses sudo systemctl reload fleetgate
    cp -p /etc/fleetgate/kept /etc/fleetgate/fleetgate.yaml
    rm /etc/fleetgate/kept
    sudo systemctl reload fleetgate
    [ "$(main_pid)" = "$before" ]
    healthy
}

says_how_it_is() {
    eventually sh -c 'systemctl show --property=StatusText fleetgate | grep "6 of 6 robots good; fleet up; .*mqtt up"'
    systemctl status fleetgate --no-pager
    # The gateway's own process tells it.
    refuses pgrep -u fleetgate -f systemd-notify
    curl -sf http://localhost:8080/livez | grep '"alive":true'
    # The console is in the package, with its scripts: the first of them names that of the language.
    script=$(curl -sf http://localhost:8080/ | grep -o '/assets/index-[^"]*\.js')
    english=$(curl -sf "http://localhost:8080$script" | sed -n 's/.*[^a-z]\(en-[A-Za-z0-9_-]*\.js\).*/\1/p' | sort -u)
    curl -sf "http://localhost:8080/assets/$english" | grep 'not live' >/dev/null
    # So is the manual, with what its search reads, and without the pages that are no business of a plant.
    curl -sf http://localhost:8080/docs/ | grep '<h1 id="the-manual">The manual</h1>'
    curl -sf http://localhost:8080/docs/alarms.html | grep 'id="robot_lost"' >/dev/null
    curl -sf http://localhost:8080/docs/search.json | grep '"alarms.html#robot_lost"' >/dev/null
    [ ! -e /usr/share/doc/fleetgate/internals ]
    curl -sf --unix-socket /var/lib/fleetgate/control.sock http://localhost/livez
    # Libraries look for a home folder.
    tr '\0' '\n' <"/proc/$(main_pid)/environ" | grep '^HOME=/var/lib/fleetgate$'
}

# A second gateway beside the first, as another user of the machine would set it up.
another_instance() {
    sudo cp /etc/fleetgate/fleetgate.yaml /etc/fleetgate/hall2.yaml
    sudo fleetgate check --config /etc/fleetgate/hall2.yaml 2>&1 | grep 'is read-only for .*fleetgate@.service'
    configure_hall2
    sudo fleetgate check --config /etc/fleetgate/hall2.yaml
    sudo systemctl enable --now fleetgate@hall2
    eventually curl -sf http://localhost:8081/healthz
    healthy
    [ "$(stat -c '%a %U' /var/lib/fleetgate-instances/hall2)" = "700 fleetgate" ]
    sudo fleetgate call GetOnlineRobots --config /etc/fleetgate/hall2.yaml
    journalctl -u fleetgate@hall2 | grep 'fleetgate@hall2.*"msg":"ready"'
    # Each stops by itself.
    sudo systemctl stop fleetgate@hall2
    healthy
    sudo systemctl start fleetgate@hall2
}

killed_and_restarted() {
    local before
    before=$(main_pid)
    systemctl kill -s KILL --kill-who=main fleetgate
    eventually another_pid "$before"
    eventually healthy
}

journal_survives_the_kill() {
    $plant mission cart-01 first | grep '"duplicate":true'
}

a_mistake_fails_a_restart_at_once() {
    echo 'no: key' >>/etc/fleetgate/fleetgate.yaml
    refuses sudo systemctl restart fleetgate
    [ "$(state)" = failed ]
    journalctl -u fleetgate --no-pager | grep 'unknown key'
    cp plant.yaml /etc/fleetgate/fleetgate.yaml
    sudo systemctl restart fleetgate
    eventually healthy
}

# A newer program has raised the version of a store: this one refuses it, and systemd does not try again.
a_newer_data_folder_is_refused() {
    local format=/var/lib/fleetgate/journal/format.json
    sudo systemctl stop fleetgate
    cp -p $format format.json
    sed -i 's/"version":[0-9]*/"version":999/' $format
    refuses sudo systemctl start fleetgate
    [ "$(state)" = failed ]
    [ "$(systemctl show --property=ExecMainStatus --value fleetgate)" = 65 ]
    journalctl -u fleetgate --no-pager | grep 'version 999'
    cp -p format.json $format
    sudo systemctl start fleetgate
    eventually healthy
    $plant mission cart-01 first | grep '"duplicate":true'
}

has_run_for() {
    local since
    since=$(systemctl show --property=ActiveEnterTimestampMonotonic --value "$2")
    [ $(($(cut -d . -f 1 /proc/uptime) - since / 1000000)) -ge "$1" ]
}

# The event loop stands still: systemd hears nothing, ends the gateway and starts it again.
hung_and_restarted() {
    local before
    # More than two watchdog times: a gateway that turns is left alone.
    eventually has_run_for 22 fleetgate@hall2
    [ "$(systemctl show --property=NRestarts --value fleetgate@hall2)" = 0 ]
    before=$(main_pid)
    systemctl kill -s STOP --kill-who=main fleetgate
    eventually another_pid "$before"
    eventually healthy
    journalctl -u fleetgate --no-pager | grep 'Watchdog timeout'
}

remove_keeps_data() {
    sudo dpkg --remove fleetgate
    [ "$(state)" = inactive ]
    [ "$(systemctl show --property=ActiveState --value fleetgate@hall2)" = inactive ]
    [ -e /var/lib/fleetgate/journal/data.mdb ]
    [ -e /var/lib/fleetgate-instances/hall2/journal/data.mdb ]
    [ -e /etc/fleetgate/fleetgate.yaml ]
    [ ! -e /usr/lib/fleetgate ]
    [ ! -e /usr/lib/fleetgate-versions ]
    # What ran before runs again.
    sudo dpkg -i fleetgate_*_amd64.deb
    eventually healthy
    systemctl is-enabled fleetgate
    eventually curl -sf http://localhost:8081/healthz
    $plant mission cart-01 first | grep '"duplicate":true'
}

# A new machine gets the backup of the old one: the configuration, the certificates, the robots.
backup_and_restore() {
    local certificate=/var/lib/fleetgate/opcua/server/own
    sudo fleetgate backup fleetgate-backup.tar.gz
    [ "$(stat -c %a fleetgate-backup.tar.gz)" = 600 ]
    sudo tar -tzf fleetgate-backup.tar.gz | grep -x var/lib/fleetgate/tables.json
    cp -a $certificate own
    sudo dpkg --purge fleetgate
    sudo dpkg -i fleetgate_*_amd64.deb
    sudo fleetgate restore fleetgate-backup.tar.gz
    sudo fleetgate journal reset
    sudo systemctl enable --now fleetgate
    eventually healthy
    diff -r own $certificate
    refuses grep 'a store is lost' <(journalctl -u fleetgate _PID="$(main_pid)" --no-pager)
    $plant mission cart-03 restored | tee -a /dev/stderr | grep '"outcome":"succeeded"'
    $plant slot serve-01 | tee -a /dev/stderr | grep '"status":"Good","outcome":3'
    [ "$(stat -c %U /var/lib/fleetgate/journal/data.mdb)" = fleetgate ]
}

# A virtual machine is set back to a snapshot: the journal does not know what was sent since.
snapshot() {
    sudo systemctl stop fleetgate
    cp -a /var/lib/fleetgate older
    sudo systemctl start fleetgate
    eventually healthy
    $plant mission serve-02 since | tee -a /dev/stderr | grep '"outcome":"succeeded"'
    sudo systemctl stop fleetgate
    rm -r /var/lib/fleetgate
    cp -a older /var/lib/fleetgate
    sudo fleetgate journal reset --discard
    sudo systemctl start fleetgate
    eventually healthy
    ls -d /var/lib/fleetgate/journal.damaged-* /var/lib/fleetgate/slots.damaged-*
    $plant slot base-01 | tee -a /dev/stderr | grep '"status":"Good","outcome":3'
}

# The plant's authority stands in the machine's own store, and not in the configuration.
system_authorities() {
    sed -i '/^  ca:/d' /etc/fleetgate/fleetgate.yaml
    sudo systemctl restart fleetgate
    eventually sh -c 'systemctl show --property=StatusText fleetgate | grep "fleet down"'
    sudo install -m 0644 /etc/fleetgate/fleet-ca.pem /usr/local/share/ca-certificates/plant-ca.crt
    sudo update-ca-certificates
    sudo systemctl restart fleetgate
    eventually healthy
    eventually sh -c 'systemctl show --property=StatusText fleetgate | grep "6 of 6 robots good"'
    cp plant.yaml /etc/fleetgate/fleetgate.yaml
}

# The data may be on a file system of its own.
purge_deletes() {
    mkdir -p /var/lib/fleetgate-instances
    mount -t tmpfs tmpfs /var/lib/fleetgate-instances
    mkdir /var/lib/fleetgate-instances/hall2
    sudo dpkg --purge fleetgate
    [ -z "$(ls -A /var/lib/fleetgate-instances)" ]
    umount /var/lib/fleetgate-instances
    rmdir /var/lib/fleetgate-instances
    [ ! -e /var/lib/fleetgate ]
    [ ! -e /etc/fleetgate ]
    refuses ls /etc/systemd/system/multi-user.target.wants/fleetgate*
}

ansible_role() {
    export HOME=/root LC_ALL=C.UTF-8 ANSIBLE_ROLES_PATH=/boot-test/ansible
    ansible-playbook -i localhost, ansible.yml
    eventually healthy
    fleetgate robots | tee -a /dev/stderr | grep '^cart-01 '
    [ "$(stat -c '%a %U' /etc/fleetgate/secrets/invented-passwords)" = "600 root" ]
    ansible-playbook -i localhost, ansible.yml | tee -a /dev/stderr | grep 'changed=0 '
    sudo dpkg --purge fleetgate
}

tarball() {
    sudo mkdir -p /opt/fleetgate /etc/fleetgate /etc/sysusers.d
    sudo tar -xzf fleetgate-*-linux-amd64.tar.gz -C /opt/fleetgate --strip-components=1
    sudo ln -s /opt/fleetgate/bin/fleetgate /usr/bin/fleetgate
    sudo cp /opt/fleetgate/systemd/sysusers.conf /etc/sysusers.d/fleetgate.conf
    sudo systemd-sysusers fleetgate.conf
    sudo install -d -m 0750 -g fleetgate /etc/fleetgate/secrets
    sudo cp /opt/fleetgate/config/fleetgate.yaml /etc/fleetgate/
    sudo cp /opt/fleetgate/systemd/fleetgate*.service /etc/systemd/system/
    systemctl cat fleetgate@hall2
    sudo systemctl daemon-reload
    sudo install -m 0640 -g fleetgate api-key.json /etc/fleetgate/secrets/
    sudo install -m 0640 -g fleetgate simulator/fleet/ca.pem /etc/fleetgate/fleet-ca.pem
    cp plant.yaml /etc/fleetgate/fleetgate.yaml
    # Without Perl a helper tells systemd how the gateway is.
    chmod -x /usr/bin/perl
    sudo systemctl start fleetgate
    chmod +x /usr/bin/perl
    eventually healthy
    pgrep -u fleetgate -f systemd-notify
    eventually sh -c 'systemctl show --property=StatusText fleetgate | grep "6 of 6 robots good"'
}

for name in install_offline starts_nothing_unconfigured configure check start mission_by_mqtt mission_by_slot \
    reloads says_how_it_is another_instance killed_and_restarted journal_survives_the_kill \
    a_mistake_fails_a_restart_at_once a_newer_data_folder_is_refused hung_and_restarted remove_keeps_data \
    backup_and_restore snapshot system_authorities purge_deletes ansible_role tarball; do
    step $name
done
