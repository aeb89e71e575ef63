import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { prepare, type Configuration, type Operate, type Reply } from '@gateway/conformance'
import { cleanEnvironment, entryOf, root, type Environment, type Outcome } from './process.ts'

/** Opens the accounts of the suite in a running gateway, and returns the configuration of the suite. */
export const prepared = async (operate: Operate, smppPort: number | undefined): Promise<Configuration> => ({
  ...(await prepare({
    ...{ operate, gateway: [process.execPath, entryOf('operator')], replyTo: '12025550100' },
    ...(smppPort !== undefined && { smpp: { host: '127.0.0.1', port: smppPort } }),
  })),
  // Generous time limits, because the machine has other load.
  deliverySeconds: 120,
  clockSeconds: 30,
})

/** Returns a function that makes a reply arrive by means of this command line, in this process. */
export const replyBy =
  (operate: Operate) =>
  async ({ from, to, text }: Reply): Promise<void> => {
    await operate(['simulate', 'reply', '--from', from, '--to', to, '--text', text])
  }

// Program that posts a reply to the server. It uses `node:http`, because loading `fetch` takes as long as the rest of
// the process.
const writer = `const [url, from, to, text] = process.argv.slice(1)
const request = require('node:http').request(url, { method: 'POST' }, (response) => {
  process.exitCode = response.statusCode === 200 ? 0 : 1
  response.resume()
})
request.end(JSON.stringify({ from, to, text }))`

/**
 * Starts a server that creates replies with this command line. Returns the setting `replies` of the suite, whose
 * command is a small process that calls the server.
 */
export async function replyServer(operate: Operate) {
  const write = replyBy(operate)
  const server = createServer((request, response) => {
    const written = json(request).then((reply) => write(reply as Reply))
    written.then(
      () => response.end(),
      () => response.writeHead(500).end(),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const command = [process.execPath, '-e', writer, '--', url, '{from}', '{to}', '{text}']
  return {
    configuration: { command, to: '12025550100' },
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}

/** Runs the command of the conformance suite as a user of the suite does. */
export const runSuite = (args: readonly string[], environment: Environment): Promise<Outcome> =>
  new Promise((resolve, reject) => {
    const main = join(root, 'packages', 'conformance', 'dist', 'main.js')
    const child = spawn(process.execPath, [main, ...args], { cwd: root, env: cleanEnvironment(environment) })
    let [out, err] = ['', '']
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, out, err }))
  })
