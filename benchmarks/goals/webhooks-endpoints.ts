import type { Started } from '../environment/processes.ts'
import type { Worker } from '../loads/workers.ts'

/** Settings with which a process may push to the receiver of the benchmark. */
export const pushingVariables = {
  CARRIERS: 'simulator:?delayMs=0',
  SECRETS_KEY: 'ab'.repeat(32),
  WEBHOOK_ALLOW: '127.0.0.0/8',
  WEBHOOK_HTTP: 'true',
}

export interface WebhookProcesses {
  readonly rest: Started
  readonly dispatcher: Started
  readonly sending: Worker
  readonly receiving: Worker
  /** URL of the receiver. */
  readonly url: string
}

/** Adds an endpoint for delivered and failed messages, as an account holder does. Returns its id. */
export async function addEndpoint(
  restUrl: string,
  key: string,
  endpoint: { readonly url: string; readonly listSize: number },
): Promise<number> {
  const answer = await fetch(`${restUrl}/api/rest/v1/webhooks`, {
    method: 'POST',
    headers: { authorization: key, 'content-type': 'application/json' },
    body: JSON.stringify({ ...endpoint, events: ['message.delivered', 'message.failed'] }),
  })
  const text = await answer.text()
  if (answer.status !== 200) throw new Error(`no endpoint: ${answer.status} ${text}`)
  return (JSON.parse(text) as { webhook: { id: number } }).webhook.id
}
