import { setTimeout as delay } from 'node:timers/promises'
import { until } from '@gateway/core/testing'

/** Client of an interface. It uses no code of the gateway. */
export interface Client {
  readonly url: string
  readonly key: string
}

interface RestRecipient {
  readonly accepted: boolean
  readonly acceptError: string
  readonly apiMessageId: number | null
  readonly newCreditBalance: number
}

interface RestStatus {
  readonly apiMessageId: number
  readonly status: string
  readonly statusCode: number
}

/** Error for an answer 503 with `Retry-After`, which means that nothing was done (ruling 1.25). */
class BusyAnswer extends Error {}

async function textOf(response: Response, path: string): Promise<string> {
  const text = await response.text()
  if (response.status === 200) return text
  const wasBusy = response.status === 503 && response.headers.has('Retry-After')
  throw new (wasBusy ? BusyAnswer : Error)(`${path} answered ${response.status}: ${text}`)
}

/** Repeats a request for at most a minute while the answer says that nothing was done for lack of time. */
export async function patiently<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  const end = performance.now() + 60_000
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof BusyAnswer) || performance.now() > end) throw error
    }
    await delay(200)
  }
}

/** Sends a POST with this body, or a GET without one. Throws unless the answer is HTTP 200. */
export async function rest<Answer>({ url, key }: Client, path: string, body?: unknown): Promise<Answer> {
  const response = await fetch(`${url}/api/rest/v1${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { Authorization: key, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await textOf(response, path)
  return JSON.parse(text) as Answer
}

export const restBalance = async (client: Client): Promise<number> =>
  (await rest<{ creditBalance: number }>(client, '/credits/balance')).creditBalance

/** Returns the ids of accepted recipients, and the refusals of others. */
export async function restSend(
  client: Client,
  numbers: readonly string[],
  message = 'Hello',
): Promise<(number | string)[]> {
  const recipients = numbers.map((mobileNumber) => ({ mobileNumber }))
  const answer = await rest<{ recipients: RestRecipient[] }>(client, '/sms/outgoing/send', { message, recipients })
  return answer.recipients.map(({ apiMessageId, acceptError }) => apiMessageId ?? acceptError)
}

export async function restStatus(client: Client, ids: readonly number[]): Promise<RestStatus[]> {
  const statuses: RestStatus[] = []
  for (let at = 0; at < ids.length; at += 1000) {
    const answer = await rest<{ messageStatuses: RestStatus[] }>(
      client,
      '/sms/outgoing/status',
      ids.slice(at, at + 1000),
    )
    statuses.push(...answer.messageStatuses)
  }
  return statuses
}

/** Waits until the code of each message fulfils the condition. Queries a hundred messages at a time. */
export async function untilCodes(
  client: Client,
  ids: readonly (number | string)[],
  isWanted: (code: number) => boolean,
  deadlineMilliseconds?: number,
): Promise<void> {
  for (let at = 0; at < ids.length; at += 100) {
    const some = ids.slice(at, at + 100).map(Number)
    const are = async () => (await restStatus(client, some)).every(({ statusCode }) => isWanted(statusCode))
    await until(are, deadlineMilliseconds)
  }
}

/** Returns the text of the answer. */
export async function asp(
  { url, key }: Client,
  path: string,
  parameters: Readonly<Record<string, string>> = {},
): Promise<string> {
  const query = new URLSearchParams({ apikey: key, ...parameters })
  const response = await fetch(`${url}/api/${path}?${query.toString()}`)
  const text = await textOf(response, path)
  return text
}

/** Sends as `restSend` does, over the query-string interface. Refusals are in the words of that interface. */
export async function aspSend(
  client: Client,
  numbers: readonly string[],
  message = 'Hello',
): Promise<(number | string)[]> {
  const text = await asp(client, 'batchmessage.asp', { message, numbers: numbers.join(';') })
  return text
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => idOrWord(pair.slice(pair.indexOf('=') + 1)))
}

const idOrWord = (text: string): number | string => (/^\d+$/.test(text) ? Number(text) : text)

export async function xml({ url, key }: Client, path: string, root: string, content: string): Promise<string> {
  const body = `<${root}><ApiKey>${key}</ApiKey><User/><Password/>${content}</${root}>`
  const response = await fetch(`${url}/api/${path}`, { method: 'POST', body, headers: { 'Content-Type': 'text/xml' } })
  const text = await textOf(response, path)
  return text
}

/** Sends as `restSend` does, over the XML interface. Refusals are in the words of that interface. */
export async function xmlSend(
  client: Client,
  numbers: readonly string[],
  message = 'Hello',
): Promise<(number | string)[]> {
  const to = numbers.map((number) => `<Number>${number}</Number>`).join('')
  const messages = `<Messages><Message><MessageText>${message}</MessageText><Numbers>${to}</Numbers></Message></Messages>`
  const text = await xml(client, 'xmlsendsmsmulti.asp', 'Svc_Multi_Message', messages)
  return [...text.matchAll(/<ID>([^<]*)<\/ID>/g)].map(([, id = '']) => idOrWord(id))
}

/** Formats a time as `CCYYMMDDHHmm` at GMT+2, truncated to the minute. */
export const minuteOf = (milliseconds: number): string =>
  new Date(milliseconds + 2 * 3_600_000).toISOString().slice(0, 16).replace(/[-T:]/g, '')
