<?php
// Sends one message, queries its status until it is final, and reads the replies once. PHP 8, no extension needed,
// 64-bit. GATEWAY=http://127.0.0.1:8080 KEY=gw_... php send.php 27825550188

function ask(string $path, ?array $body = null): array
{
    $context = stream_context_create(['http' => [
        'method' => $body === null ? 'GET' : 'POST',
        'header' => ['Authorization: ' . getenv('KEY'), 'Content-Type: application/json'],
        'content' => $body === null ? '' : json_encode($body),
        'timeout' => 30,
        'ignore_errors' => true,
    ]]);
    $answer = json_decode(file_get_contents(getenv('GATEWAY') . '/api/rest/v1' . $path, false, $context), true);
    if ($answer['statusCode'] !== 200) {
        throw new RuntimeException($answer['statusCode'] . ' ' . $answer['errorMessage']);
    }
    return $answer;
}

$sent = ask('/sms/outgoing/send', ['message' => 'Hello', 'recipients' => [['mobileNumber' => $argv[1]]]]);
$message = $sent['recipients'][0];
if (!$message['accepted']) {
    throw new RuntimeException('refused: ' . $message['acceptError']);
}
echo "sent {$message['apiMessageId']}\n";

for (;;) {
    $state = ask('/sms/outgoing/status', [$message['apiMessageId']])['messageStatuses'][0];
    if (!in_array($state['statusErrorCode'], ['INQUEUE', 'SENT'], true)) {
        break;
    }
    sleep(1);
}
echo "status {$state['status']}\n";

echo 'replies ' . ask('/sms/incoming?limit=1')['resultsTotalAvailable'] . "\n";
