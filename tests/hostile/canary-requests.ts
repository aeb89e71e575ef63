/** Texts that no log, metric or error answer may contain. */
export interface Canaries {
  /** API key of the account that makes the requests. */
  readonly key: string
  readonly wrongKey: string
  readonly user: string
  readonly password: string
  readonly text: string
}

const operations = [
  ['GET', 'credits/balance'],
  ['POST', 'credits/transfer'],
  ['GET', 'shortcode/incoming'],
  ['GET', 'sms/incoming'],
  ['GET', 'sms/incoming/optout'],
  ['GET', 'sms/scheduled'],
  ['POST', 'sms/scheduled/delete'],
  ['POST', 'sms/outgoing/send'],
  ['POST', 'sms/outgoing/sendmulti'],
  ['POST', 'sms/outgoing/status'],
  ['GET', 'subaccounts'],
] as const
const pages = ['auth', 'credits', 'batchmessage', 'requestbatch', 'deletescheduled', 'httpgetreplies']
  .concat(['httpgetscmessages', 'listoptouts', 'creditstransfer', 'nothing'])
  .map((page) => `${page}.asp`)
const documents = {
  'xmlsendsmsmulti.asp': 'Svc_Multi_Message',
  'xmlgetstatus.asp': 'Svc_StatusRequest',
  'xmldeletescheduled.asp': 'Svc_DeleteScheduled',
  'xmlgetreplies.asp': 'Svc_Replies',
  'xmlgetscmessages.asp': 'Svc_SCmessages',
}

const request = (line: string, headers = '', body = '') =>
  `${line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`

/**
 * Requests to every endpoint as bytes, valid ones and ones with each kind of error. Each is sent over a connection of
 * its own and contains credentials and a text.
 */
export const canaryRequests = {
  rest: ({ key, wrongKey, text }: Canaries): readonly string[] => {
    const send = JSON.stringify({ message: text, recipients: [{ mobileNumber: '27829876501' }] })
    const bodies = [send, `{"message":"${text}`, `["${text}"]`, JSON.stringify({ message: { x: 1 }, note: text })]
    return [key, wrongKey].flatMap((used) =>
      operations.flatMap(([method, path]) => {
        const line = `${method} /api/rest/v1/${path}`
        const headers = `Authorization: Bearer ${used}\r\nContent-Type: application/json\r\n`
        return [
          ...(method === 'GET' ? [request(line, headers)] : bodies.map((body) => request(line, headers, body))),
          request(`${line}?apikey=${used}&message=${text}`, headers),
          request(`PUT /api/rest/v1/${path}?apikey=${used}`, headers, send),
          request(`FOO /api/rest/v1/${path}?apikey=${used}`, headers, send),
          request(`${line}/${used}`, headers),
          request(`${line}%3Fapikey%3D${used}%26message%3D${text}`, headers),
          request(line, `${headers}Expect: ${text}\r\n`, send),
          request(line, `${headers}Idempotency-Key: ${text}\r\n`, send),
          request(line, `Authorization: ${used}\r\nContent-Type: text/${text}\r\n`, ''),
          request(line, `${headers}Content-Length: ${text}\r\n`, send),
          `${line} HTTP/1.1\r\nHost: x\r\n${headers}Transfer-Encoding: chunked\r\n\r\n${text}\r\n`,
        ]
      }),
    )
  },
  asp: ({ key, wrongKey, user, password, text }: Canaries): readonly string[] => {
    const credentials = [key, wrongKey].map((used) => `apikey=${used}`).concat(`user=${user}&password=${password}x`)
    return credentials.flatMap((used) =>
      pages.flatMap((page) => {
        const all = `${used}&message=${text}&numbers=27829876501&scheduled=${text}&clientref=${text}&messageid=1`
        const form = 'Content-Type: application/x-www-form-urlencoded\r\n'
        return [
          request(`GET /api/${page}?${all}`),
          request(`POST /api/${page}`, form, all),
          request(`PUT /api/${page}?${all}`),
          request(`FOO /api/${page}?${all}`),
          request(`GET /api/${page}%23${all}`),
          request(`GET /api/${page}%3F${encodeURIComponent(all)}`),
          request(`GET /api/${page};${all}`),
          request(`GET /api/${page}/${all.replace(/[&=]/g, '/')}`),
          request(`GET /api/${page}#${all}`),
          request(`GET http://${user}:${password}@x/api/${page}?${all}`),
          request(`GET /api/${page}?${all}\xe9`),
          request(`GET /api/${page}?${all} x`),
          `GET /api/${page}?${all}\n\n`,
        ]
      }),
    )
  },
  xml: ({ key, wrongKey, user, password, text }: Canaries): readonly string[] =>
    [
      `<ApiKey>${key}</ApiKey>`,
      `<ApiKey>${wrongKey}</ApiKey>`,
      `<User>${user}</User><Password>${password}x</Password>`,
    ].flatMap((credentials) =>
      Object.entries(documents).flatMap(([path, root]) => {
        const message = `<Message><MessageText>${text}</MessageText><Numbers><Number>27829876501</Number></Numbers></Message>`
        const inside = `${credentials}<Messages>${message}</Messages><ClientRef>${text}</ClientRef>`
        const whole = `<${root}>${inside}</${root}>`
        const bodies = [
          whole,
          whole.slice(0, -3),
          `<${root}>${inside}&${text};</${root}>`,
          `<!DOCTYPE ${text}>${whole}`,
        ]
        return [
          ...bodies.map((body) => request(`POST /api/${path}`, 'Content-Type: text/xml\r\n', body)),
          request(`POST /api/${path}`, `Content-Type: text/xml; charset=${text}\r\n`, whole),
          request(`PUT /api/${path}?apikey=${key}`, '', whole),
          request(`POST /api/${path}/${wrongKey}`, '', whole),
        ]
      }),
    ),
}
