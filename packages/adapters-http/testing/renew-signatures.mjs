/**
 * Makes signatures of callbacks with the packages that the providers publish, and writes them to `signatures.json` with
 * the versions of the packages. If a package can only verify, this script makes the signature and the package must
 * accept it. The packages are installed into a temporary folder, so that they are not dependencies of the gateway.
 *
 *   npx pnpm signatures           writes the file
 *   npx pnpm signatures --check   fails if the file would change, except for the versions of the packages
 */
import { Buffer } from 'node:buffer'
import { spawnSync } from 'node:child_process'
import { createHash, createHmac, createPrivateKey, createPublicKey, createSecretKey, sign } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL, URLSearchParams } from 'node:url'

const packages = [
  'twilio@6',
  'plivo@4',
  'messagebird@4',
  'telnyx@7',
  '@sinch/sdk-client@1',
  'jose@6',
  'standardwebhooks@1',
]
const formType = { 'content-type': 'application/x-www-form-urlencoded' }
const jsonType = { 'content-type': 'application/json' }
const file = fileURLToPath(new URL('signatures.json', import.meta.url))

/** Time of all signatures, in milliseconds since 1970. `Date` is fixed to it, because the packages read the clock. */
const now = 1_800_000_000_000
const seconds = String(now / 1000)
globalThis.Date = class extends Date {
  constructor(...fields) {
    super(...(fields.length === 0 ? [now] : fields))
  }
  static now() {
    return now
  }
}

const folder = mkdtempSync(join(tmpdir(), 'vendor-packages-'))
try {
  install()
  const text = `${JSON.stringify({ now, signatures: await signatures() }, null, 2)}\n`
  if (!process.argv.includes('--check')) writeFileSync(file, text)
  else if (withoutVersions(readFileSync(file, 'utf8')) !== withoutVersions(text))
    throw new Error('signatures.json differs; run without --check')
  else console.log('The packages of the providers make and accept the signatures of signatures.json.')
} finally {
  rmSync(folder, { recursive: true })
}

/** Removes the versions of the packages, because a new version with the same signatures is no problem. */
function withoutVersions(text) {
  return text.replace(/("package": ".+)@[^@"]+"/g, '$1"')
}

function install() {
  writeFileSync(join(folder, 'package.json'), '{"private":true}')
  const words = ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...packages]
  const { status } = spawnSync('npm', words, { cwd: folder, stdio: 'inherit' })
  if (status !== 0) throw new Error('the packages could not be installed')
}

async function signatures() {
  return [twilio(), plivo(''), plivo('?z=1&a=2'), await telnyx(), await messagebird(), sinch(), webhook()]
}

function load(path) {
  return createRequire(join(folder, 'package.json'))(path)
}

function entry(provider, name, secrets, callback) {
  const { version } = JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8'))
  return { provider, package: `${name}@${version}`, secrets, callback }
}

function require(isAccepted, name) {
  if (isAccepted !== true) throw new Error(`${name} does not accept the signature`)
}

function twilio() {
  const url = 'https://gw.example/carriers/twilio/callback?uuid=1&b=2'
  const body = 'MessageSid=SM1&MessageStatus=delivered&To=%2B27825550101&From=%2B1555'
  const parameters = Object.fromEntries(new URLSearchParams(body))
  const { getExpectedTwilioSignature } = load('twilio/lib/webhooks/webhooks')
  const headers = { ...formType, 'x-twilio-signature': getExpectedTwilioSignature('tok', url, parameters) }
  return entry('twilio', 'twilio', { sid: 'AC0123', token: 'tok' }, { method: 'POST', url, headers, body })
}

function plivo(query) {
  const url = `https://gw.example/carriers/plivo/callback${query}`
  const body =
    'Status=delivered&From=13342031111&ParentMessageUUID=83876bdb&MessageUUID=83876bdb&ErrorCode=&To=918553651111'
  const parameters = Object.fromEntries(new URLSearchParams(body))
  const nonce = '12345'
  const sorted = [...new URLSearchParams(query)]
    .sort()
    .map(([name, value]) => `${name}=${value}`)
    .join('&')
  const concatenated = Object.keys(parameters)
    .sort()
    .map((name) => name + parameters[name])
    .join('')
  const text = `${url.split('?')[0]}?${sorted}${sorted === '' ? '' : '.'}${concatenated}.${nonce}`
  const signature = createHmac('sha256', 'ptok').update(text).digest('base64')
  require(load('plivo').validateV3Signature('POST', url, nonce, 'ptok', signature, parameters), 'plivo')
  const headers = { ...formType, 'x-plivo-signature-v3-nonce': nonce, 'x-plivo-signature-v3': `AAAA,${signature}` }
  return entry('plivo', 'plivo', { id: 'MAXX', token: 'ptok' }, { method: 'POST', url, headers, body })
}

async function telnyx() {
  const seed = Buffer.alloc(32, 7)
  const prefix = Buffer.from('302e020100300506032b657004220420', 'hex')
  const privateKey = createPrivateKey({ key: Buffer.concat([prefix, seed]), format: 'der', type: 'pkcs8' })
  const spki = createPublicKey(privateKey).export({ format: 'der', type: 'spki' })
  const publicKey = spki.subarray(spki.length - 32).toString('base64')
  const body = JSON.stringify({
    data: { event_type: 'message.finalized', payload: { id: '403178cd', to: [{ status: 'delivered' }] } },
  })
  const signature = sign(null, Buffer.from(`${seconds}|${body}`), privateKey).toString('base64')
  const headers = { ...jsonType, 'telnyx-timestamp': seconds, 'telnyx-signature-ed25519': signature }
  await load('telnyx/lib/webhooks').unwrapWebhook(body, { headers, key: publicKey })
  const url = 'https://gw.example/carriers/telnyx/callback'
  return entry('telnyx', 'telnyx', { key: 'KEY', publicKey }, { method: 'POST', url, headers, body })
}

async function messagebird() {
  const url = 'https://gw.example/carriers/mb/callback?id=b6aae1&status=delivered&reference=77'
  const key = createSecretKey(Buffer.from('mbsecret'))
  const { SignJWT } = await import(pathToFileURL(join(folder, 'node_modules/jose/dist/webapi/index.js')).href)
  const token = await new SignJWT({ url_hash: createHash('sha256').update(url).digest('hex'), jti: 'j1' })
    .setProtectedHeader({ alg: 'HS256' })
    .setIssuer('MessageBird')
    .setNotBefore(now / 1000)
    .setExpirationTime(now / 1000 + 60)
    .sign(key)
  require(await load('messagebird/lib/webhook-signature-jwt').verify(url, Buffer.alloc(0), token, key), 'messagebird')
  const headers = { 'messagebird-signature-jwt': token }
  return entry(
    'messagebird',
    'messagebird',
    { key: 'KEY', signing: 'mbsecret' },
    { method: 'GET', url, headers, body: '' },
  )
}

function sinch() {
  const body = JSON.stringify({ type: 'recipient_delivery_report_sms', batch_id: '01FC', status: 'Delivered' })
  const helper = load(join(folder, 'node_modules/@sinch/sdk-client/dist/utils/authorization.helper.js'))
  const headers = {
    ...jsonType,
    'x-sinch-webhook-signature': helper.calculateWebhookSignature(helper.computeSignedData(body, 'n1', seconds), 'ss'),
    'x-sinch-webhook-signature-nonce': 'n1',
    'x-sinch-webhook-signature-timestamp': seconds,
  }
  const url = 'https://gw.example/carriers/sinch/callback'
  const secrets = { plan: 'plan1', token: 'TOK', signing: 'ss' }
  return entry('sinch', '@sinch/sdk-client', secrets, { method: 'POST', url, headers, body })
}

function webhook() {
  const signing = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const body = JSON.stringify({ type: 'events', data: { events: [] } })
  const { Webhook } = load('standardwebhooks')
  const headers = {
    ...jsonType,
    'webhook-id': 'list-12',
    'webhook-timestamp': seconds,
    'webhook-signature': `v1,AAAA ${new Webhook(signing).sign('list-12', new Date(now), body)}`,
  }
  const url = 'https://gw.example/carriers/other/callback'
  return entry('gateway', 'standardwebhooks', { key: 'gw_key', signing }, { method: 'POST', url, headers, body })
}
