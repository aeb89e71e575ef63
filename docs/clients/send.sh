#!/bin/sh
# Sends one message, queries its status until it is final, and reads the replies once.
# GATEWAY=http://127.0.0.1:8080 KEY=gw_... sh send.sh 27825550188
set -eu
base="$GATEWAY/api/rest/v1"

ask() {
  curl --silent --show-error --fail-with-body --header "Authorization: $KEY" --header 'Content-Type: application/json' "$@"
}
field() {
  sed -n "s/.*\"$1\":\"\{0,1\}\([^\",}]*\).*/\1/p"
}

sent=$(ask "$base/sms/outgoing/send" --data "{\"message\":\"Hello\",\"recipients\":[{\"mobileNumber\":\"$1\"}]}")
id=$(echo "$sent" | field apiMessageId)
[ "$id" != null ] || { echo "refused: $(echo "$sent" | field acceptError)" >&2; exit 1; }
echo "sent $id"

while :; do
  state=$(ask "$base/sms/outgoing/status" --data "[$id]")
  case $(echo "$state" | field statusErrorCode) in INQUEUE | SENT) sleep 1 ;; *) break ;; esac
done
echo "status $(echo "$state" | field status)"

total=$(ask "$base/sms/incoming?limit=1" | field resultsTotalAvailable)
echo "replies $total"
