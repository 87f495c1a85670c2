#!/usr/bin/env bash
# What the proxy costs: the same client going to an upstream directly, through
# nginx's proxy_pass, and through clew with capture on and off.
#
#   CLEW_BIN=build/clew bench/proxy.sh [SECONDS]
#
# One client gives the added latency, 64 give the throughput; then 100,000
# calls show whether memory grows with them. Needs nginx, wrk.
set -eu
clew=${CLEW_BIN:-build/clew}
seconds=${1:-5}
folder=$(mktemp -d)
pids=()
trap 'kill "${pids[@]}" 2>/dev/null || true; wait; rm -rf "$folder"' EXIT

free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])'
}
up=$(free_port)
via=$(free_port)
words=$(printf 'word %.0s' $(seq 100))
reply='{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"'$words'"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":100}}'
cat > "$folder/nginx.conf" <<CONF
worker_processes 1;
daemon off;
pid $folder/nginx.pid;
error_log stderr warn;
events { worker_connections 1024; }
http {
    access_log off;
    client_body_temp_path $folder/body;
    proxy_temp_path $folder/proxy;
    fastcgi_temp_path $folder/f;
    uwsgi_temp_path $folder/u;
    scgi_temp_path $folder/s;
    keepalive_requests 100000000;
    client_body_buffer_size 1m;
    upstream llm { server 127.0.0.1:$up; keepalive 128; }
    server {
        listen 127.0.0.1:$up;
        default_type application/json;
        location / { return 200 '$reply'; }
    }
    server {
        listen 127.0.0.1:$via;
        location / {
            proxy_pass http://llm;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
        }
    }
}
CONF
nginx -e stderr -c "$folder/nginx.conf" 2>"$folder/nginx.log" &
pids+=($!)

# Every request is a new conversation of its own.
cat > "$folder/post.lua" <<'LUA'
local count = 0
local id = 0
function setup(thread) thread:set("id", id); id = id + 1 end
function request()
    count = count + 1
    return wrk.format("POST", "/v1/messages",
        {["Content-Type"] = "application/json", ["x-api-key"] = "k"},
        '{"model":"m","max_tokens":100,"messages":[{"role":"user","content":"' ..
        "question " .. id .. " " .. count .. '"}]}')
end
LUA

# start_clew NAME CAPTURE: its address in $url
start_clew() {
    CLEW_PROXY_CAPTURE=$2 "$clew" serve --data "$folder/$1" \
        --listen 127.0.0.1:0 --upstream "anthropic=http://127.0.0.1:$up" \
        2> "$folder/$1.log" &
    pids+=($!)
    for _ in $(seq 200); do
        url=$(sed -n 's/^listening on //p' "$folder/$1.log")
        [ -n "$url" ] && return
        sleep 0.05
    done
    cat "$folder/$1.log"
    exit 1
}

# One client on one connection: p50 to the first byte and to the last, in us.
cat > "$folder/first.py" <<'PY'
import http.client, statistics, sys, time, urllib.parse
url = urllib.parse.urlparse(sys.argv[1])
client = http.client.HTTPConnection(url.hostname, url.port)
first, total = [], []
for i in range(3000):
    body = '{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"first %d"}]}' % i
    began = time.perf_counter()
    client.request("POST", "/v1/messages", body, {"Content-Type": "application/json"})
    answer = client.getresponse()
    first.append(time.perf_counter() - began)
    answer.read()
    total.append(time.perf_counter() - began)
print("first byte %.0fus, last %.0fus" % (
    statistics.median(first[500:]) * 1e6, statistics.median(total[500:]) * 1e6))
PY

# measure NAME URL: p50 in us with one client, requests a second with 64
measure() {
    local p50 rate
    p50=$(wrk -t1 -c1 -d"$seconds" --latency -s "$folder/post.lua" "$2" |
        awk '$1 == "50%" { print $2 }')
    rate=$(wrk -t1 -c64 -d"$seconds" -s "$folder/post.lua" "$2" |
        awk '$1 == "Requests/sec:" { print $2 } /Non-2xx/ { print "errors" $NF }')
    printf '%-12s p50 %-10s %s requests/s; %s\n' "$1" "$p50" "$rate" \
        "$(python3 "$folder/first.py" "$2")"
}

# memory NAME URL PID: resident memory after some calls, and after 100,000 more
memory() {
    local calls=0 before now
    wrk -t1 -c64 -d2 -s "$folder/post.lua" "$2" > /dev/null
    before=$(awk '$1 == "VmRSS:" { print $2 }' "/proc/$3/status")
    while [ "$calls" -lt 100000 ]; do
        now=$(wrk -t1 -c64 -d"$seconds" -s "$folder/post.lua" "$2" |
            awk '$2 == "requests" && $3 == "in" { print $1 }')
        calls=$((calls + now))
    done
    now=$(awk '$1 == "VmRSS:" { print $2 }' "/proc/$3/status")
    printf '%-12s %s MiB resident, %s MiB after %s calls\n' "$1" \
        $((before / 1024)) $((now / 1024)) "$calls"
}

sleep 0.5
measure direct "http://127.0.0.1:$up"
measure nginx "http://127.0.0.1:$via"
start_clew off false
measure clew-off "$url"
memory clew-off "$url" "${pids[-1]}"
kill "${pids[-1]}"
start_clew on true
measure clew-on "$url"
memory clew-on "$url" "${pids[-1]}"
