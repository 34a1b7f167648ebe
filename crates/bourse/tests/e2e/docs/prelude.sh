# What comes before the commands of every page: the helpers that hidden commands use.
set -euo pipefail
out=BOURSE_OUT
refusals=

# Requests must succeed, unless the page shows a refusal.
curl() {
    if [[ -n $refusals ]]; then command curl "$@"; else command curl --fail-with-body "$@"; fi
}

# answers ADDRESS: waits until a service answers there.
answers() {
    for _ in {1..2400}; do
        if command curl -sf "http://$1/health" >/dev/null; then return; fi
        sleep 0.05
    done
    echo "no service answers at $1" >&2
    return 1
}

# service ARGUMENTS: runs bourse with these arguments and waits until it answers.
service() {
    bourse "$@" >>"$out/services.log" 2>&1 &
    answers 127.0.0.1:4010
}

# installation: makes a project and serves it; sets BOURSE, KEY and TOKEN as the pages do.
installation() {
    bourse project create "My game" --json >"$out/project.json"
    service serve
    credentials "$out/project.json"
}

# demonstration: the same with the sample data.
demonstration() {
    service demo
    credentials bourse-data/credentials.json
}

credentials() {
    BOURSE=http://127.0.0.1:4010
    KEY=$(sed -n 's/.*"accessKey": "\(.*\)".*/\1/p' "$1")
    TOKEN=$(sed -n 's/.*"secretToken": "\(.*\)".*/\1/p' "$1")
}

# eventually COMMAND: waits until a command succeeds.
eventually() {
    for _ in {1..1200}; do
        if "$@" >/dev/null 2>&1; then return; fi
        sleep 0.1
    done
    echo "not even after two minutes: $*" >&2
    "$@"
}

# stop: ends every service as an operator does, and waits for it.
stop() {
    local service
    for service in $(jobs -p); do
        kill "$service" 2>/dev/null || true
        wait "$service" 2>/dev/null || true
    done
}
trap stop EXIT
