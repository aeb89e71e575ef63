import type { Client } from './clients.ts'

export type Interface = 'rest' | 'asp' | 'xml'
export const interfaces: readonly Interface[] = ['rest', 'asp', 'xml']

/** Request and its result. */
export interface Attempt {
  readonly by: Interface
  readonly number: string
  /** Start of the request, by `performance.now()`. */
  readonly begun: number
  readonly milliseconds: number
  /** HTTP status; 0 if there was no answer. */
  readonly status: number
  readonly retryAfter: string | null
  readonly text: string
  /** Message id, if the message was accepted. */
  readonly id: number | undefined
}

const requestOf = (by: Interface, { url, key }: Client, number: string): readonly [string, RequestInit] => {
  if (by === 'asp') return [`${url}/api/batchmessage.asp?apikey=${key}&message=Hello&numbers=${number}`, {}]
  if (by === 'rest') {
    const body = JSON.stringify({ message: 'Hello', recipients: [{ mobileNumber: number }] })
    const headers = { Authorization: key, 'Content-Type': 'application/json' }
    return [`${url}/api/rest/v1/sms/outgoing/send`, { method: 'POST', headers, body }]
  }
  const to = `<Numbers><Number>${number}</Number></Numbers>`
  const messages = `<Messages><Message><MessageText>Hello</MessageText>${to}</Message></Messages>`
  const body = `<Svc_Multi_Message><ApiKey>${key}</ApiKey><User/><Password/>${messages}</Svc_Multi_Message>`
  return [`${url}/api/xmlsendsmsmulti.asp`, { method: 'POST', headers: { 'Content-Type': 'text/xml' }, body }]
}

const idIn: Readonly<Record<Interface, RegExp>> = {
  rest: /"apiMessageId":(\d+)/,
  asp: /=(\d+)&/,
  xml: /<ID>(\d+)<\/ID>/,
}

/** Matches the answer of each interface to a request that fails with an internal error (ruling 1.25). */
export const unavailable: Readonly<Record<Interface, RegExp>> = {
  rest: /^\{"timeStamp":"\d+","version":"1.0","statusCode":503,"errorMessage":"[^"]+","errorCode":"(?:busy|unavailable)"\}$/,
  asp: /^Error="Service unavailable"$/,
  xml: /<Error>Service unavailable<\/Error>/,
}

/** Function that sends requests; by default `fetch`. */
export type Ask = (
  url: string,
  init: RequestInit,
) => Promise<Pick<Response, 'status' | 'text'> & { readonly headers: Pick<Headers, 'get'> }>

/** Returns the error code of a failed connection, for example ECONNREFUSED. */
const codeOf = (error: unknown): unknown => (error as { cause?: { code?: unknown } }).cause?.code ?? ''

/** Sends one message to one number. */
export async function attempt(by: Interface, client: Client, number: string, ask: Ask = fetch): Promise<Attempt> {
  const begun = performance.now()
  const [url, init] = requestOf(by, client, number)
  const answer = await ask(url, init)
    .then(async (response) => ({
      status: response.status,
      retryAfter: response.headers.get('retry-after'),
      text: await response.text(),
    }))
    .catch((error: unknown) => ({ status: 0, retryAfter: null, text: [error, codeOf(error)].join(' ') }))
  const id = answer.status === 200 ? idIn[by].exec(answer.text)?.[1] : undefined
  const milliseconds = performance.now() - begun
  return { by, number, begun, milliseconds, ...answer, id: id === undefined ? undefined : Number(id) }
}

/** Returns the smallest value that at least this share of the values does not exceed. */
export const quantile = (values: readonly number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(values.length * part) - 1)] ?? 0
