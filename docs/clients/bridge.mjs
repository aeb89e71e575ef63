// Accepts the requests of applications that send SMS in a fixed form, and sends them over the gateway. Node 20.
// GATEWAY=http://127.0.0.1:8080 KEY=gw_... SECRET=... node bridge.mjs
import { Buffer } from 'node:buffer'
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import { URLSearchParams } from 'node:url'

const { GATEWAY, KEY, PORT = '8090', HOST = '127.0.0.1' } = process.env
/** SECRET is the password of Novu, Nextcloud and /url; Zitadel and Authgear sign with keys of their own. */
const { SECRET, ZITADEL_KEY, AUTHGEAR_KEY } = process.env
const bodyBytesMax = 64 * 1024

const isSame = (one, other) => {
  const [a, b] = [one, other].map((text) => createHash('sha256').update(text).digest())
  return timingSafeEqual(a, b)
}
const hasSecret = (value) => SECRET !== undefined && typeof value === 'string' && isSame(value, SECRET)
const hmac = (key, text) => createHmac('sha256', key).update(text).digest('hex')

/** The header is t=<seconds>,v1=<hex>; it signs the time, a point and the body. */
function isFromZitadel(header = '', body) {
  const parts = header.split(',').map((part) => part.split('='))
  const time = parts.find(([name]) => name === 't')?.[1] ?? ''
  const isRecent = Math.abs(Date.now() / 1000 - Number(time)) < 300
  const signatures = parts.filter(([name]) => name === 'v1').map(([, value]) => value ?? '')
  return isRecent && signatures.some((each) => isSame(each, hmac(ZITADEL_KEY, `${time}.${body}`)))
}

/** Sends a text. The same key never sends twice within 48 hours. Returns the id, or the reason of a refusal. */
async function send(to, text, key) {
  const number = String(to ?? '').replace(/[\s().+-]/g, '')
  const headers = { authorization: KEY, 'content-type': 'application/json', ...(key && { 'idempotency-key': key }) }
  const body = JSON.stringify({ message: String(text ?? ''), recipients: [{ mobileNumber: number }] })
  const response = await fetch(`${GATEWAY}/api/rest/v1/sms/outgoing/send`, { method: 'POST', headers, body })
  const answer = await response.json()
  if (!response.ok) return { error: answer.errorMessage, status: response.status }
  const { apiMessageId: id, acceptError } = answer.recipients[0]
  return id === null ? { error: acceptError, status: 422 } : { id }
}

const digest = (body) => createHash('sha256').update(body).digest('hex')
const plain = ({ error, status, id }) => (id === undefined ? [status, { error }] : [200, { id: String(id) }])
const forbidden = [403, { error: 'wrong secret' }]

const routes = {
  async 'POST /zitadel'({ headers, body }) {
    if (ZITADEL_KEY === undefined || !isFromZitadel(headers['zitadel-signature'], body)) return forbidden
    const { contextInfo, templateData } = JSON.parse(body)
    return plain(await send(contextInfo.recipientPhoneNumber, templateData.text, digest(body)))
  },
  async 'POST /authgear'({ headers, body }) {
    const signature = headers['x-authgear-body-signature'] ?? ''
    if (AUTHGEAR_KEY === undefined || !isSame(signature, hmac(AUTHGEAR_KEY, body))) return forbidden
    const { to, body: text } = JSON.parse(body)
    const { id, error, status } = await send(to, text)
    if (id !== undefined) return [200, { code: 'ok' }]
    const code = error === 'BADDEST' ? 'invalid_phone_number' : status === 429 ? 'rate_limited' : 'delivery_rejected'
    return [200, { code, error_detail: error }]
  },
  async 'POST /novu'({ headers, body }) {
    if (!hasSecret(headers['x-api-key'])) return forbidden
    const { to, content, id } = JSON.parse(body)
    const [status, answer] = plain(await send(to, content, id))
    return [status, { ...answer, date: new Date().toISOString() }]
  },
  async 'GET /playsms'({ query }) {
    if (!hasSecret(query.get('h'))) return forbidden
    return plain(await send(query.get('to'), query.get('msg')))
  },
  async 'GET /url'({ query }) {
    if (!hasSecret(query.get('secret'))) return forbidden
    return plain(await send(query.get('to'), query.get('text')))
  },
  async 'POST /url'({ body }) {
    return routes['GET /url']({ query: new URLSearchParams(body) })
  },
}

async function bodyOf(request) {
  const pieces = []
  let bytes = 0
  for await (const piece of request) {
    if ((bytes += piece.length) > bodyBytesMax) throw new RangeError('the body is too large')
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}

async function answerTo(request) {
  const { pathname, searchParams: query } = new URL(request.url, 'http://bridge')
  const name = `${request.method} ${pathname}`
  if (!Object.hasOwn(routes, name)) return [404, { error: 'there is nothing here' }]
  try {
    return await routes[name]({ headers: request.headers, query, body: await bodyOf(request) })
  } catch (problem) {
    if (problem instanceof SyntaxError || problem instanceof RangeError) return [400, { error: problem.message }]
    return [503, { error: 'the gateway cannot be reached' }]
  }
}

const server = createServer(async (request, response) => {
  const [status, answer] = await answerTo(request)
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
})
server.listen(Number(PORT), HOST, () => console.log(`the bridge listens at http://${HOST}:${server.address().port}`))
