import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { prepare, type Configuration, type Reply } from '@gateway/conformance'
import { operateJson } from './operate.ts'
import { entryOf, type Environment } from './process.ts'

/** Opens the accounts of the suite in a running gateway; its configuration. */
export const prepared = async (environment: Environment): Promise<Configuration> => ({
  ...(await prepare({
    operate: (args) => operateJson(args, environment),
    gateway: [process.execPath, entryOf('operator')],
    replyTo: '12025550100',
  })),
  // For a machine with other load.
  deliverySeconds: 120,
  clockSeconds: 30,
})

/** Makes replies arrive in this process: it costs a tenth of a process of the command line. */
export const replyIn =
  (environment: Environment) =>
  async ({ from, to, text }: Reply): Promise<void> => {
    await operateJson(['simulate', 'reply', '--from', from, '--to', to, '--text', text], environment)
  }

// Not by `fetch`, which takes as long to load as the rest of the process.
const writer = `const [url, from, to, text] = process.argv.slice(1)
const asked = require('node:http').request(url, { method: 'POST' }, (answer) => {
  process.exitCode = answer.statusCode === 200 ? 0 : 1
  answer.resume()
})
asked.end(JSON.stringify({ from, to, text }))`

/** The `replies` of a configuration whose command is a small process, and what it asks: `replyIn` in this process. */
export async function replyServer(environment: Environment) {
  const write = replyIn(environment)
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
