import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { changesOf, countOf, portOf, requestControl, untilStopped, wrongArguments, WrongCall } from './arguments.ts'
import { arrivalOf } from './control.ts'
import { personality, PERSONALITIES } from './personalities.ts'
import type { SmscSettings } from './settings.ts'
import { startSmsc } from './start-smsc.ts'

const program = 'gateway-smsc'

const usage = `gateway-smsc [--port 2775] [--host 127.0.0.1] [--control-port 2776] [--personality default] [--set field=value …]
             [--cert FILE --key FILE [--client-ca FILE]] [--system-id ID --password PASSWORD] [--binds-max 100] [--delivery-window 100] [--journal FILE] [--folder FOLDER]
gateway-smsc arrive --from NUMBER --to ADDRESS --text TEXT [--parts udh8|udh16|sar|payload] [--control-port 2776]
gateway-smsc become PERSONALITY [--set field=value …] [--control-port 2776]

Personalities: ${Object.keys(PERSONALITIES).join(', ')}.`

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
      return () => requestControl(program, 'POST', '/arrivals', control, arrival)
    }
    if (command === 'become' && name !== undefined && positionals.length === 2)
      return () => requestControl(program, 'PUT', '/personality', control, { name, ...changesOf(values.set) })
  } catch (problem) {
    throw wrongArguments(program, problem)
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
  await untilStopped()
  await smsc.close()
}

/** Returns the TLS settings, if a certificate is configured. */
function tlsOf({ cert, key, 'client-ca': clientCa }: Values): Pick<SmscSettings, 'tls'> {
  if (cert === undefined || key === undefined) return {}
  const read = (file: string): string => readFileSync(file, 'utf8')
  return { tls: { cert: read(cert), key: read(key), ...(clientCa !== undefined && { clientCa: read(clientCa) }) } }
}

function arrivalFields({ from, to, text: body, parts }: Values): Record<string, unknown> {
  if (from === undefined || to === undefined || body === undefined)
    throw new Error('arrive needs --from, --to and --text.')
  return { from, to, text: body, ...(parts === undefined ? {} : { parts }) }
}
