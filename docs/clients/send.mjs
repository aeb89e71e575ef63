// Sends one message, queries its status until it is final, and reads the replies once. Node 20.
// GATEWAY=http://127.0.0.1:8080 KEY=gw_... node send.mjs 27825550188
const { GATEWAY, KEY } = process.env
const [to] = process.argv.slice(2)

async function ask(path, body) {
  const response = await fetch(`${GATEWAY}/api/rest/v1${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { Authorization: KEY, 'Content-Type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
  })
  const answer = await response.json()
  if (!response.ok) throw new Error(`${response.status} ${answer.errorMessage}`)
  return answer
}

const sent = await ask('/sms/outgoing/send', { message: 'Hello', recipients: [{ mobileNumber: to }] })
const { apiMessageId: id, acceptError } = sent.recipients[0]
if (id === null) throw new Error(`refused: ${acceptError}`)
console.log(`sent ${id}`)

let state
do {
  if (state !== undefined) await new Promise((resolve) => setTimeout(resolve, 1000))
  state = (await ask('/sms/outgoing/status', [id])).messageStatuses[0]
} while (['INQUEUE', 'SENT'].includes(state.statusErrorCode))
console.log(`status ${state.status}`)

const { resultsTotalAvailable } = await ask('/sms/incoming?limit=1')
console.log(`replies ${resultsTotalAvailable}`)
