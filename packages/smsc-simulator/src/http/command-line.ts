import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { changesOf, countOf, portOf, requestControl, untilStopped, wrongArguments, WrongCall } from '../arguments.ts'
import { httpArrivalOf } from './control.ts'
import { HTTP_PERSONALITIES, httpPersonality } from './personalities.ts'
import { httpProviders, isHttpProvider, type HttpProviderName } from './providers/index.ts'
import type { HttpProviderServer, HttpProviderSettings } from './settings.ts'
import { startHttpProvider } from './start-http-provider.ts'

const program = 'gateway-http-provider'

const usage = `${program} [--provider twilio] [--port 2780] [--host 127.0.0.1] [--control-port 2781] [--callback-url URL]
                      [--personality default] [--set field=value …] [--secret name=value …] [--callback-window 100]
                      [--cert FILE --key FILE] [--journal FILE] [--json]
${program} arrive --from NUMBER --to NUMBER --text TEXT [--control-port 2781]
${program} become PERSONALITY [--set field=value …] [--control-port 2781]
${program} status [--control-port 2781]

Providers: ${Object.keys(httpProviders).join(', ')}.
Personalities: ${Object.keys(HTTP_PERSONALITIES).join(', ')}.`

/**
 * Runs a simulated provider until SIGINT or SIGTERM, or sends a request to a running one. Throws an Error that states
 * the problem.
 */
export async function runHttpCommand(args: readonly string[]): Promise<void> {
  await actionOf(args)()
}

function actionOf(args: readonly string[]): () => Promise<void> | void {
  try {
    const { values, positionals } = readArguments(args)
    const [command, name] = positionals
    const isAlone = positionals.length === 1
    const control = portOf(values['control-port'], 2781)
    if (values.help === true) return () => console.log(usage)
    if (command === undefined) {
      const settings = settingsOf(values, control)
      return () => serve(settings, values)
    }
    if (command === 'arrive' && isAlone) {
      const { from, to, text: words } = values
      if (from === undefined || to === undefined || words === undefined)
        throw new Error('arrive needs --from, --to and --text.')
      const arrival = httpArrivalOf({ from, to, text: words })
      return () => requestControl(program, 'POST', '/arrivals', control, arrival)
    }
    if (command === 'status' && isAlone) return () => requestControl(program, 'GET', '/status', control)
    if (command === 'become' && name !== undefined && positionals.length === 2)
      return () => requestControl(program, 'PUT', '/personality', control, { name, ...changesOf(values.set) })
  } catch (problem) {
    throw wrongArguments(program, problem)
  }
  throw new WrongCall(usage)
}

const text = { type: 'string' } as const
const several = { type: 'string', multiple: true } as const
const readArguments = (args: readonly string[]) =>
  parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      ...{ provider: text, port: text, host: text, 'control-port': text, 'callback-url': text, personality: text },
      ...{ 'callback-window': text, cert: text, key: text, journal: text, from: text, to: text, text },
      ...{ set: several, secret: several, json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
    },
  })

type Values = ReturnType<typeof readArguments>['values']

function settingsOf(values: Values, controlPort: number): HttpProviderSettings {
  const [name, changes] = [values.personality ?? 'default', changesOf(values.set)]
  httpPersonality(name, changes)
  if ((values.cert === undefined) !== (values.key === undefined)) throw new Error('TLS needs --cert and --key.')
  const callbackUrl = values['callback-url']
  if (callbackUrl !== undefined && !URL.canParse(callbackUrl))
    throw new Error(`${JSON.stringify(callbackUrl)} is not a URL.`)
  return {
    provider: providerOf(values.provider ?? 'twilio'),
    port: portOf(values.port, 2780),
    host: values.host ?? '127.0.0.1',
    controlPort,
    personality: name,
    changes,
    secrets: secretsOf(values.secret),
    callbackWindow: Math.max(1, countOf(values['callback-window'], 100)),
    journalEntriesMax: 1000,
    ...(callbackUrl !== undefined && { callbackUrl }),
    ...(values.journal !== undefined && { journalFile: values.journal }),
  }
}

function providerOf(name: string): HttpProviderName {
  if (isHttpProvider(name)) return name
  const names = Object.keys(httpProviders).join(', ')
  throw new Error(`There is no provider ${JSON.stringify(name)}; there are ${names}.`)
}

/** Parses secrets such as `signing=text`. */
function secretsOf(secrets: readonly string[] = []): Record<string, string> {
  const wrong = secrets.find((secret) => secret.indexOf('=') < 1)
  if (wrong !== undefined) throw new Error('--secret needs the form name=value.')
  return Object.fromEntries(
    secrets.map((secret) => {
      const at = secret.indexOf('=')
      return [secret.slice(0, at), secret.slice(at + 1)]
    }),
  )
}

async function serve(settings: HttpProviderSettings, { cert, key, json }: Values): Promise<void> {
  const read = (file: string): string => readFileSync(file, 'utf8')
  const tls = cert === undefined || key === undefined ? {} : { tls: { cert: read(cert), key: read(key) } }
  const provider = await startHttpProvider({ ...settings, ...tls })
  console.log(startLine(provider, json === true))
  await untilStopped()
  await provider.close()
}

function startLine(provider: HttpProviderServer, isJson: boolean): string {
  const control = `http://127.0.0.1:${provider.controlPort ?? 0}`
  const { provider: name, publicKey } = provider.status()
  if (isJson) return JSON.stringify({ provider: name, url: provider.url, control, publicKey })
  const key = publicKey === undefined ? '' : `, public key ${publicKey}`
  return `${name} on ${provider.url}, control on ${control}${key}`
}
