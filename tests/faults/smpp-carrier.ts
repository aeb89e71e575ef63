import { setTimeout as delay } from 'node:timers/promises'
import { startSmscProcess, type JournalLine, type RunningSmsc } from '../support/smsc.ts'
import type { CarrierOfRun, CarrierPlace, Submission } from './carrier.ts'
import type { Database } from './database.ts'
import { openRelay, type Relay } from './network.ts'
import { anyMember, openSharedWay } from './shared-way.ts'

const settings = ['receiptDelay=300', 'answerDelay=50']
/** Errors that a carrier gives for now, and for which a part may be submitted again. */
const forNow = new Set(['ESME_RSYSERR', 'ESME_RTHROTTLED', 'ESME_RMSGQFUL', 'ESME_RX_T_APPN'])

/**
 * `gateway-smsc` in a process of its own, judged by its journal, which survives its kills. Each dispatcher has its own
 * way to it, which puts its name into its system_type.
 */
export async function smppCarrierOfRun({ folder, chance, perSecond, pidOf }: CarrierPlace): Promise<CarrierOfRun> {
  let smsc: RunningSmsc = await startSmscProcess(folder, settings)
  const { port, url } = smsc
  const relays: Relay[] = []
  const way = await openSharedWay(pidOf)

  return {
    id: 'smpp',
    async wayOf(member) {
      const relay = await openRelay({ host: '127.0.0.1', port }, chance)
      relays.push(relay)
      way.lead(member, relay.port)
      // A link that is dead for all of a stall is found by the short ones of these times.
      // Its circuit is probed often, too: what is due leaves within 5 s.
      const probes = 'probeSeconds=1&probeSecondsMax=1'
      const times = `responseSeconds=5&enquireSeconds=2&reconnectSecondsMax=1&holdSeconds=5&${probes}`
      // What each of the two may give it: they share the rate.
      const own = `perSecond=${2 * perSecond}&window=50&systemType=${anyMember}&${times}`
      return { url: `${url.replace(String(port), String(way.port))}?${own}`, relay }
    },
    record: async (database) => recordOf(await smsc.journal(), await idsOf(database)),
    async read() {
      const submitted = submittedBy(await smsc.journal())
      return ({ name }) => submitted.get(name) ?? 0
    },
    // None writes back: SMPP has no ids of what mobiles write, so that it may be stored as often as it had to be sent.
    odd: ['90', '91', '92', '93', '93', '94', '95', '96', '96', '97', '97', '98', '98'],
    tellsAll: true,
    async kill() {
      await smsc.stop('SIGKILL')
      smsc = await startSmscProcess(folder, settings, port)
    },
    async settled() {
      let quiet = 0
      while (quiet < 4) {
        quiet = (await smsc.owes()) === 0 ? quiet + 1 : 0
        await delay(500)
      }
    },
    async close() {
      await smsc.stop('SIGKILL')
      await way.close()
      await Promise.all(relays.map((relay) => relay.close()))
    },
  }
}

/** By the number; each number is sent to once. */
async function idsOf(database: Database): Promise<ReadonlyMap<string, number>> {
  const sends = await database.ask<{ first: string; numbers: string }>(
    `select first_id first, array_to_string(msisdns, ',') numbers from send`,
  )
  return new Map(
    sends.flatMap(({ first, numbers }) => numbers.split(',').map((to, at) => [to, Number(first) + at] as const)),
  )
}

/** Of a link and a request on it, over all runs of the server, whose links are counted anew. */
const requestKey = (run: number, { link, sequence }: JournalLine): string => `${run} ${link} ${sequence ?? 0}`

/** The parts that came, with what was answered; a part that comes again is there again. */
export function recordOf(lines: readonly JournalLine[], ids: ReadonlyMap<string, number>): readonly Submission[] {
  const record = new Map<string, Submission>()
  let run = 0
  for (const line of lines) {
    if (line.event === 'opened' && line.link === 1) run++
    const key = requestKey(run, line)
    const asked = record.get(key)
    if (line.event === 'received' && line.command === 'submit_sm') {
      const { destinationAddr: number = '' } = line
      record.set(key, { messageId: ids.get(number) ?? -1, number, ...partOf(line), answer: 'unknown' })
    } else if (line.event === 'sent' && line.command === 'submit_sm_resp' && asked !== undefined) {
      record.set(key, { ...asked, answer: answerOf(line.status) })
    }
  }
  return [...record.values()]
}

function answerOf(status: string | undefined): string {
  if (status === undefined) return 'accepted'
  return forNow.has(status) ? 'refused-for-now' : 'refused'
}

/** The position, and of how many, in a user data header with an 8-bit reference (3GPP 23.040, 9.2.3.24.1). */
function partOf({ esmClass = 0, shortMessage = '' }: JournalLine): { readonly part: number; readonly parts: number } {
  if ((esmClass & 0x40) === 0) return { part: 1, parts: 1 }
  return { part: parseInt(shortMessage.slice(10, 12), 16), parts: parseInt(shortMessage.slice(8, 10), 16) }
}

/** How many parts came on all links of each system_type; those that are refused for now, as a probe may be, too. */
function submittedBy(lines: readonly JournalLine[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  const names = new Map<number, string>()
  for (const { event, command, link, systemType = '' } of lines) {
    if (event === 'received' && command?.startsWith('bind_') === true) names.set(link, systemType)
    const name = event === 'received' && command === 'submit_sm' ? names.get(link) : undefined
    if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return counts
}
