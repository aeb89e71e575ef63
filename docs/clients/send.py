# Sends one message, queries its status until it is final, and reads the replies once. Python 3.
# GATEWAY=http://127.0.0.1:8080 KEY=gw_... python3 send.py 27825550188
import json
import os
import sys
import time
import urllib.request


def ask(path, body=None):
    request = urllib.request.Request(
        os.environ["GATEWAY"] + "/api/rest/v1" + path,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": os.environ["KEY"], "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30) as response:
        return json.load(response)


sent = ask("/sms/outgoing/send", {"message": "Hello", "recipients": [{"mobileNumber": sys.argv[1]}]})
message = sent["recipients"][0]
if not message["accepted"]:
    sys.exit("refused: " + message["acceptError"])
print("sent", message["apiMessageId"])

while True:
    state = ask("/sms/outgoing/status", [message["apiMessageId"]])["messageStatuses"][0]
    if state["statusErrorCode"] not in ("INQUEUE", "SENT"):
        break
    time.sleep(1)
print("status", state["status"])

print("replies", ask("/sms/incoming?limit=1")["resultsTotalAvailable"])
