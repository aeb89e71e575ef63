import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { arrivalOf } from './control.ts'
import { PERSONALITIES } from './personalities.ts'
import type { SmscSettings } from './settings.ts'
import { startSmsc } from './start-smsc.ts'

const usage = `gateway-smsc [--port 2775] [--host 127.0.0.1] [--control-port 2776] [--personality default] [--set field=value …]
             [--cert FILE --key FILE [--client-ca FILE]] [--system-id ID --password PASSWORD] [--binds-max 100] [--delivery-window 100] [--journal FILE] [--folder FOLDER]
gateway-smsc arrive --from NUMBER --to ADDRESS --text TEXT [--parts udh8|udh16|sar|payload] [--control-port 2776]
gateway-smsc become PERSONALITY [--set field=value …] [--control-port 2776]

Personalities: ${Object.keys(PERSONALITIES).join(', ')}.`

/** Runs until SIGINT or SIGTERM, or asks a running server. Throws an Error that tells what is wrong. */
export async function runCommand(given: readonly string[]): Promise<void> {
  const { values, positionals } = readArguments(given)
  const [command, name] = positionals
  const isAlone = positionals.length === 1
  const control = portOf(values['control-port'], 2776)
  if (values.help === true) console.log(usage)
  else if (command === undefined) await serve(values, control)
  else if (command === 'arrive' && isAlone) await ask('POST', '/arrivals', control, arrivalOf(arrivalFields(values)))
  else if (command === 'become' && name !== undefined && positionals.length === 2) {
    await ask('PUT', '/personality', control, { name, ...changesOf(values.set) })
  } else throw new Error(usage)
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

async function serve(values: Values, controlPort: number): Promise<void> {
  const host = values.host ?? '127.0.0.1'
  const smsc = await startSmsc({
    port: portOf(values.port, 2775),
    host,
    controlPort,
    personality: values.personality ?? 'default',
    changes: changesOf(values.set),
    bindsMax: countOf(values['binds-max'], 100),
    deliveryWindow: countOf(values['delivery-window'], 100),
    journalEntriesMax: 1000,
    ...tlsOf(values),
    ...(values['system-id'] === undefined ? {} : { systemId: values['system-id'] }),
    ...(values.password === undefined ? {} : { password: values.password }),
    ...(values.journal === undefined ? {} : { journalFile: values.journal }),
    ...(values.folder === undefined ? {} : { folder: values.folder }),
  })
  console.log(`SMPP on ${host}:${smsc.port}, control on http://127.0.0.1:${smsc.controlPort ?? 0}`)
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
  })
  await smsc.close()
}

/** SMPP over TLS, if there is a certificate. */
function tlsOf({ cert, key, 'client-ca': clientCa }: Values): Pick<SmscSettings, 'tls'> {
  if (cert === undefined && key === undefined && clientCa === undefined) return {}
  if (cert === undefined || key === undefined) throw new Error('TLS needs --cert and --key.')
  const read = (file: string): string => readFileSync(file, 'utf8')
  return { tls: { cert: read(cert), key: read(key), ...(clientCa !== undefined && { clientCa: read(clientCa) }) } }
}

function portOf(value: string | undefined, usual: number): number {
  const port = countOf(value, usual)
  if (port > 65_535) throw new Error(`${port} is no port.`)
  return port
}

function countOf(value: string | undefined, usual: number): number {
  if (value === undefined) return usual
  if (!/^\d{1,9}$/.test(value)) throw new Error(`${JSON.stringify(value)} is no whole number.`)
  return Number(value)
}

/** `receiptDelay=0` and so on. */
const changesOf = (given: readonly string[] = []): Record<string, unknown> =>
  Object.fromEntries(
    given.map((each) => {
      const at = each.indexOf('=')
      const value = each.slice(at + 1)
      const parsed = value === 'true' || value === 'false' ? value === 'true' : value
      return [each.slice(0, at), /^\d{1,15}$/.test(value) ? Number(value) : parsed]
    }),
  )

const arrivalFields = ({ from, to, text: body, parts }: Values): Record<string, unknown> => ({
  ...{ from, to, text: body },
  ...(parts === undefined ? {} : { parts }),
})

async function ask(method: string, path: string, port: number, body: unknown): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const asked = fetch(`http://127.0.0.1:${port}${path}`, { method, headers, body: JSON.stringify(body) })
  const response = await asked.catch((cause: unknown) => {
    throw new Error(`No gateway-smsc answers on port ${port} (--control-port).`, { cause })
  })
  const answer = await response.text()
  if (!response.ok) throw new Error(answer.trim())
  console.log(answer.trim())
}
