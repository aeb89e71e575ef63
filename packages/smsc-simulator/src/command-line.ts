import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { arrivalOf } from './control.ts'
import { personality, PERSONALITIES } from './personalities.ts'
import type { SmscSettings } from './settings.ts'
import { startSmsc } from './start-smsc.ts'

const usage = `gateway-smsc [--port 2775] [--host 127.0.0.1] [--control-port 2776] [--personality default] [--set field=value …]
             [--cert FILE --key FILE [--client-ca FILE]] [--system-id ID --password PASSWORD] [--binds-max 100] [--delivery-window 100] [--journal FILE] [--folder FOLDER]
gateway-smsc arrive --from NUMBER --to ADDRESS --text TEXT [--parts udh8|udh16|sar|payload] [--control-port 2776]
gateway-smsc become PERSONALITY [--set field=value …] [--control-port 2776]

Personalities: ${Object.keys(PERSONALITIES).join(', ')}.`

/** Error for invalid arguments. Nothing was done. */
export class WrongCall extends Error {}

/**
 * Runs a server until SIGINT or SIGTERM, or sends a request to a running server. Throws an Error that states the
 * problem.
 */
export async function runCommand(args: readonly string[]): Promise<void> {
  await actionOf(args)()
}

function actionOf(args: readonly string[]): () => Promise<void> | void {
  try {
    const { values, positionals } = readArguments(args)
    const [command, name] = positionals
    const isAlone = positionals.length === 1
    const control = portOf(values['control-port'], 2776)
    if (values.help === true) return () => console.log(usage)
    if (command === undefined) {
      const settings = settingsOf(values, control)
      return () => serve(settings, values)
    }
    if (command === 'arrive' && isAlone) {
      const arrival = arrivalOf(arrivalFields(values))
      return () => sendRequest('POST', '/arrivals', control, arrival)
    }
    if (command === 'become' && name !== undefined && positionals.length === 2)
      return () => sendRequest('PUT', '/personality', control, { name, ...changesOf(values.set) })
  } catch (problem) {
    // Only the first sentence of Node's message about an option; the others explain dashes.
    const [sentence = ''] = (problem as Error).message.split('. To specify')
    throw new WrongCall(`${sentence.replace(/\.?$/, '.')} See 'gateway-smsc --help'.`, { cause: problem })
  }
  throw new WrongCall(usage)
}

const text = { type: 'string' } as const
const readArguments = (args: readonly string[]) =>
  parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      ...{ port: text, host: text, 'control-port': text, personality: text, 'system-id': text, password: text },
      ...{ cert: text, key: text, 'client-ca': text },
      ...{
        'binds-max': text,
        'delivery-window': text,
        journal: text,
        folder: text,
        from: text,
        to: text,
        text,
        parts: text,
      },
      set: { type: 'string', multiple: true },
      help: { type: 'boolean', short: 'h' },
    },
  })

type Values = ReturnType<typeof readArguments>['values']

function settingsOf(values: Values, controlPort: number) {
  const [name, changes] = [values.personality ?? 'default', changesOf(values.set)]
  personality(name, changes)
  const { cert, key, 'client-ca': clientCa } = values
  if ([cert, key, clientCa].some((file) => file !== undefined) && (cert === undefined || key === undefined))
    throw new Error('TLS needs --cert and --key.')
  return {
    port: portOf(values.port, 2775),
    host: values.host ?? '127.0.0.1',
    controlPort,
    personality: name,
    changes,
    bindsMax: countOf(values['binds-max'], 100),
    deliveryWindow: countOf(values['delivery-window'], 100),
    journalEntriesMax: 1000,
    ...(values['system-id'] === undefined ? {} : { systemId: values['system-id'] }),
    ...(values.password === undefined ? {} : { password: values.password }),
    ...(values.journal === undefined ? {} : { journalFile: values.journal }),
    ...(values.folder === undefined ? {} : { folder: values.folder }),
  }
}

async function serve(settings: ReturnType<typeof settingsOf>, values: Values): Promise<void> {
  const smsc = await startSmsc({ ...settings, ...tlsOf(values) })
  console.log(`SMPP on ${settings.host}:${smsc.port}, control on http://127.0.0.1:${smsc.controlPort ?? 0}`)
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
  })
  await smsc.close()
}

/** Returns the TLS settings, if a certificate is configured. */
function tlsOf({ cert, key, 'client-ca': clientCa }: Values): Pick<SmscSettings, 'tls'> {
  if (cert === undefined || key === undefined) return {}
  const read = (file: string): string => readFileSync(file, 'utf8')
  return { tls: { cert: read(cert), key: read(key), ...(clientCa !== undefined && { clientCa: read(clientCa) }) } }
}

function portOf(value: string | undefined, byDefault: number): number {
  const port = countOf(value, byDefault)
  if (port > 65_535) throw new Error(`${port} is not a port; expected 0 to 65535.`)
  return port
}

function countOf(value: string | undefined, byDefault: number): number {
  if (value === undefined) return byDefault
  if (!/^\d{1,9}$/.test(value)) throw new Error(`${JSON.stringify(value)} is not a whole number.`)
  return Number(value)
}

/** Parses changes such as `receiptDelay=0`. */
const changesOf = (changes: readonly string[] = []): Record<string, unknown> =>
  Object.fromEntries(
    changes.map((change) => {
      const at = change.indexOf('=')
      const value = change.slice(at + 1)
      const parsed = value === 'true' || value === 'false' ? value === 'true' : value
      return [change.slice(0, at), /^\d{1,15}$/.test(value) ? Number(value) : parsed]
    }),
  )

function arrivalFields({ from, to, text: body, parts }: Values): Record<string, unknown> {
  if (from === undefined || to === undefined || body === undefined)
    throw new Error('arrive needs --from, --to and --text.')
  return { from, to, text: body, ...(parts === undefined ? {} : { parts }) }
}

async function sendRequest(method: string, path: string, port: number, body: unknown): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const request = fetch(`http://127.0.0.1:${port}${path}`, { method, headers, body: JSON.stringify(body) })
  const response = await request.catch((cause: unknown) => {
    throw new Error(`No gateway-smsc answers on port ${port} (--control-port).`, { cause })
  })
  const answer = await response.text()
  if (!response.ok) throw new Error(answer.trim())
  console.log(answer.trim())
}
