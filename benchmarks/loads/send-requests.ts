import { numberAt, numberLength, writeNumber } from './numbers.ts'

/** The three interfaces. */
export type Interface = 'rest' | 'asp' | 'xml'

/** Requests of one account that differ in their numbers only. */
export interface SendRequest {
  /** A request to the numbers from the n-th on. */
  from(n: number): Buffer
}

/** 60 characters, as most texts one part. */
export const text = 'Your parcel is on its way and will be with you on Wednesday.'

export interface SendRequestOptions {
  readonly face: Interface
  readonly key: string
  readonly recipients: number
  /** CCYYMMDDHHmm */
  readonly scheduled?: string | undefined
}

export function sendRequest(options: SendRequestOptions): SendRequest {
  const numbers = Array.from({ length: options.recipients }, (_, i) => numberAt(i))
  const template = Buffer.from(wire(options, numbers), 'latin1')
  const places: number[] = []
  for (const number of numbers) places.push(template.indexOf(number, (places.at(-1) ?? -numberLength) + numberLength))
  return {
    from(n) {
      const request = Buffer.from(template)
      for (const [i, place] of places.entries()) writeNumber(n + i, request, place)
      return request
    },
  }
}

function wire({ face, key, scheduled }: SendRequestOptions, numbers: readonly string[]): string {
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
  return restPost(key, '/sms/outgoing/send', {
    message: text,
    recipients: numbers.map((mobileNumber) => ({ mobileNumber })),
    ...(scheduled && { scheduledTime: scheduled }),
  })
}

export const restPost = (key: string, path: string, body: unknown): string =>
  post(`/api/rest/v1${path}`, 'application/json', `Authorization: ${key}\r\n`, JSON.stringify(body))

export const restGet = (key: string, path: string): string =>
  `GET /api/rest/v1${path} HTTP/1.1\r\nHost: gateway\r\nAuthorization: ${key}\r\n\r\n`

const post = (path: string, type: string, headers: string, body: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: gateway\r\n${headers}Content-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`

const before: Readonly<Record<Interface, string>> = { rest: '"apiMessageId":', asp: '=', xml: '<ID>' }

/** The ids in an answer; what was refused is left out. */
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
