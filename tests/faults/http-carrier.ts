import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePorts } from '../support/pairs.ts'
import { startProviderProcess, type ProviderLine, type RunningProvider } from '../support/http-provider.ts'
import type { CarrierOfRun, CarrierPlace, Submission } from './carrier.ts'
import { openRelay, type Relay } from './network.ts'
import { idsOf } from './sent-ids.ts'
import { openSharedWay } from './shared-way.ts'

const settings = ['receiptDelay=300', 'answerDelay=50', 'slowDelay=1000', 'retryDelay=300']
const signing = 'simulated-signing-secret'
/** Forms of answers from which the gateway cannot tell whether a message was accepted. */
const unclear: ReadonlySet<string | undefined> = new Set(['none', 'server-error', 'page', 'without-id', 'reset', 'cut'])

/**
 * Starts a `gateway-http-provider` for each dispatcher, as Sinch, whose receipts carry the gateway's own ids. All
 * dispatchers have one carrier over HTTP, and a shared address leads each of them through a relay to its own provider,
 * so that the journals tell the submissions of the dispatchers apart. Journals survive everything in a run.
 */
export async function httpCarrierOfRun({ folder, chance, perSecond, pidOf }: CarrierPlace): Promise<CarrierOfRun> {
  const way = await openSharedWay(pidOf)
  const providers = new Map<string, RunningProvider>()
  const relays: Relay[] = []
  const [callbacksPort = 0] = await freePorts(1)
  const file = join(folder, 'carriers.json')
  const times = { responseSeconds: 2, holdSeconds: 5, silentSeconds: 2, probeSeconds: 1, probeSecondsMax: 1 }
  const carrier = {
    ...{ name: 'http', type: 'http', provider: 'sinch', baseUrl: `http://127.0.0.1:${way.port}`, ...times },
    ...{ secrets: { plan: 'plan1', token: 'token', signing }, from: '15005550006', window: 50, perSecond },
  }
  await writeFile(file, JSON.stringify({ carriers: [carrier] }))

  const journals = async (): Promise<readonly ProviderLine[]> =>
    (await Promise.all([...providers.values()].map((provider) => provider.journal()))).flat()

  return {
    id: 'http',
    async wayOf(member) {
      const place = join(folder, member)
      await mkdir(place)
      const provider = await startProviderProcess(place, 'sinch', settings)
      providers.set(member, provider)
      const relay = await openRelay({ host: '127.0.0.1', port: provider.port }, chance)
      relays.push(relay)
      way.lead(member, relay.port)
      return { url: `file:${file}`, relay }
    },
    record: async (database) => recordOf(await journals(), await idsOf(database)),
    async read() {
      const counts = new Map<string, number>()
      for (const [member, provider] of providers)
        counts.set(member, (await provider.journal()).filter(({ event }) => event === 'message').length)
      return ({ name }) => counts.get(name) ?? 0
    },
    // Some endings are left out: 83 opens the circuit, 96 throttles all messages, and Sinch has no state for 90.
    odd: ['71', '72', '72', '73', '75', '77', '78', '79', '80', '81', '84', '91', '92', '93', '94', '95', '97', '98'],
    reportsAll: true,
    // The first octets of a request.
    marks: [Buffer.from('POST /')],
    async kill() {
      const member = chance.one([...providers.keys()])
      const provider = providers.get(member)
      if (provider === undefined) return
      await provider.stop('SIGKILL')
      providers.set(member, await startProviderProcess(join(folder, member), 'sinch', settings, provider.port))
    },
    troubles: undefined,
    callbacks: { PORT: String(callbacksPort), PUBLIC_URL: `http://127.0.0.1:${callbacksPort}` },
    async settled() {
      let quiet = 0
      while (quiet < 4) {
        const owed = await Promise.all([...providers.values()].map((provider) => provider.owes()))
        quiet = owed.every((count) => count === 0) ? quiet + 1 : 0
        await delay(500)
      }
    },
    async close() {
      await Promise.all([...providers.values()].map((provider) => provider.stop('SIGKILL')))
      await way.close()
      await Promise.all(relays.map((relay) => relay.close()))
    },
  }
}

/** Returns the submissions in order. */
function recordOf(lines: readonly ProviderLine[], ids: ReadonlyMap<string, number>): readonly Submission[] {
  const messages = lines.filter(({ event }) => event === 'message').toSorted((a, b) => (a.at < b.at ? -1 : 1))
  return messages.map((line) => {
    const number = line.to ?? ''
    return { messageId: ids.get(number) ?? -1, number, part: 1, parts: 1, answer: answerOf(line) }
  })
}

function answerOf({ decision, answer }: ProviderLine): string {
  if (decision === 'ignored') return 'ignored'
  if (decision === 'accepted') return unclear.has(answer) ? 'unknown' : 'accepted'
  return decision === 'throttled' ? 'refused-for-now' : 'refused'
}
