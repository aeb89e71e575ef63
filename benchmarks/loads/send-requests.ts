import { numberAt, numberLength, writeNumber } from './numbers.ts'

/** Interface of a request. */
export type Interface = 'rest' | 'asp' | 'xml'

/** Template of requests of one account that differ only in their numbers. */
export interface SendRequest {
  /** Returns a request to the numbers from the n-th on. */
  from(n: number): Buffer
}

/** Text of 60 characters, which is one part like most texts. */
export const text = 'Your parcel is on its way and will be with you on Wednesday.'

export interface SendRequestOptions {
  readonly face: Interface
  readonly key: string
  readonly recipients: number
  /** Scheduled time as CCYYMMDDHHmm. */
  readonly scheduled?: string | undefined
  /** True to send an idempotency key, derived from the first number. REST only. */
  readonly isKeyed?: boolean | undefined
}

export function sendRequest(options: SendRequestOptions): SendRequest {
  const numbers = Array.from({ length: options.recipients }, (_, i) => numberAt(i))
  const template = Buffer.from(wire(options, numbers), 'latin1')
  const places: number[] = []
  const keyPlace = options.isKeyed === true ? template.indexOf(keyHeader) + keyHeader.length : undefined
  for (const number of numbers) {
    const before = places.at(-1) ?? keyPlace ?? -numberLength
    places.push(template.indexOf(number, before + numberLength))
  }
  return {
    from(n) {
      const request = Buffer.from(template)
      if (keyPlace !== undefined) writeNumber(n, request, keyPlace)
      for (const [i, place] of places.entries()) writeNumber(n + i, request, place)
      return request
    },
  }
}

const keyHeader = 'Idempotency-Key: '

function wire({ face, key, scheduled, isKeyed }: SendRequestOptions, numbers: readonly string[]): string {
  if (face === 'asp') {
    const query = new URLSearchParams({ apikey: key, message: text, ...(scheduled && { scheduled }) })
    return `GET /api/batchmessage.asp?${query.toString()}&numbers=${numbers.join(';')} HTTP/1.1\r\nHost: gateway\r\n\r\n`
  }
  if (face === 'xml') {
    const list = numbers.map((number) => `<Number>${number}</Number>`).join('')
    const message = `<Message><MessageText>${text}</MessageText><Numbers>${list}</Numbers></Message>`
    const body = `<Svc_Multi_Message><ApiKey>${key}</ApiKey><User/><Password/><Scheduled>${scheduled ?? ''}</Scheduled><Messages>${message}</Messages></Svc_Multi_Message>`
    return post('/api/xmlsendsmsmulti.asp', 'text/xml', '', body)
  }
  const body = {
    message: text,
    recipients: numbers.map((mobileNumber) => ({ mobileNumber })),
    ...(scheduled && { scheduledTime: scheduled }),
  }
  // The key is as long as a UUID.
  const header = isKeyed === true ? `${keyHeader}${numbers[0]}-4d2e-9f1b-2c9a1e3f5b7d\r\n` : ''
  return restPost(key, '/sms/outgoing/send', body, header)
}

export const restPost = (key: string, path: string, body: unknown, header = ''): string =>
  post(`/api/rest/v1${path}`, 'application/json', `Authorization: ${key}\r\n${header}`, JSON.stringify(body))

export const restGet = (key: string, path: string): string =>
  `GET /api/rest/v1${path} HTTP/1.1\r\nHost: gateway\r\nAuthorization: ${key}\r\n\r\n`

const post = (path: string, type: string, headers: string, body: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: gateway\r\n${headers}Content-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`

const before: Readonly<Record<Interface, string>> = { rest: '"apiMessageId":', asp: '=', xml: '<ID>' }

/** Returns the ids in an answer, without refused recipients. */
export function idsIn(face: Interface, answer: string): number[] {
  const mark = before[face]
  const ids: number[] = []
  for (let at = answer.indexOf(mark); at >= 0; at = answer.indexOf(mark, at)) {
    at += mark.length
    let id = 0
    for (let digit = answer.charCodeAt(at) - 48; digit >= 0 && digit <= 9; digit = answer.charCodeAt(++at) - 48) {
      id = id * 10 + digit
    }
    if (id > 0) ids.push(id)
  }
  return ids
}
