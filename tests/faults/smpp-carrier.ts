import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startSmscProcess, type JournalLine, type RunningSmsc } from '../support/smsc.ts'
import type { CarrierOfRun, CarrierPlace, Submission } from './carrier.ts'
import { openRelay, type Relay } from './network.ts'
import { idsOf } from './sent-ids.ts'
import { anyMember, openSharedWay, type SharedWay } from './shared-way.ts'

/** Every fifth PDU has one or more extra octets at its end, as some real providers send them (P-21). */
const behaviour = { receiptDelay: 300, answerDelay: 50, oddTailEvery: 5 }
const settings = Object.entries(behaviour).map(([name, value]) => `${name}=${value}`)
/** Command ids of submit_sm, deliver_sm_resp and enquire_link. */
const pdus = ['00000004', '00000004', '80000005', '00000015'].map((id) => Buffer.from(id, 'hex'))
/** Temporary errors of a carrier, after which a part may be submitted again. */
const forNow = new Set(['ESME_RSYSERR', 'ESME_RTHROTTLED', 'ESME_RMSGQFUL', 'ESME_RX_T_APPN'])

/**
 * Names of the carriers. The links of the best carrier break, and the second carrier gets messages that the best one
 * does not accept.
 */
const names = ['smpp', 'second'] as const

/**
 * Starts two `gateway-smsc` in processes of their own. The test judges them by their journals, which survive kills. The
 * first gets as many messages as it accepts, and the second gets the rest. Each dispatcher has its own relay to each
 * carrier. The shared address puts the name of the dispatcher into the system_type.
 */
export async function smppCarrierOfRun({
  folder,
  chance,
  perSecond,
  slowSeconds,
  pidOf,
}: CarrierPlace): Promise<CarrierOfRun> {
  const open = async (name: string) => {
    const place = join(folder, name)
    await mkdir(place)
    return { name, place, smsc: await startSmscProcess(place, settings), way: await openSharedWay(pidOf) }
  }
  const [first, second] = [await open(names[0]), await open(names[1])]
  const all = [first, second]
  const { port } = first.smsc
  const relays: Relay[] = []
  /** Periods in which the first carrier accepted no submissions, in milliseconds since 1970. */
  const silences: Span[] = []
  const file = join(folder, 'carriers.json')
  const carriers = all.map(({ name, smsc, way }) => ({ name, url: urlOf(smsc, way, perSecond, slowSeconds) }))
  const over = names.map((carrier, i) => ({ carrier, priority: 1 + i }))
  await writeFile(file, JSON.stringify({ carriers, routes: [{ name: 'all', carriers: over }] }))

  /**
   * Counts the messages that each dispatcher has submitted since this time. Does not count further parts of messages
   * that were begun earlier.
   */
  async function submittedSince(smsc: RunningSmsc, since: number) {
    const isNew = (line: JournalLine): boolean => Date.parse(line.at) >= since && partOf(line).part === 1
    return { submitted: submittedBy(await smsc.journal(), isNew) }
  }

  return {
    id: names[0],
    async wayOf(member) {
      const relay = await openRelay({ host: '127.0.0.1', port }, chance)
      relays.push(relay)
      first.way.lead(member, relay.port)
      second.way.lead(member, second.smsc.port)
      return { url: `file:${file}`, relay }
    },
    async record(database) {
      const ids = await idsOf(database)
      const records = [recordOf(await first.smsc.journal(), ids, silences), recordOf(await second.smsc.journal(), ids)]
      return records.flat().toSorted((a, b) => a.at - b.at)
    },
    async read() {
      const submitted = await Promise.all(all.map(async ({ smsc }) => submittedBy(await smsc.journal())))
      return ({ name }) => submitted.reduce((sum, counts) => sum + (counts.get(name) ?? 0), 0)
    },
    // No number with an unusual outcome replies. SMPP has no ids of inbound messages, so a repeated reply may be stored
    // several times.
    odd: ['90', '91', '92', '93', '93', '94', '95', '96', '96', '97', '97', '98', '98'],
    reportsAll: true,
    marks: pdus,
    async kill() {
      await first.smsc.stop('SIGKILL')
      first.smsc = await startSmscProcess(first.place, settings, port)
    },
    troubles: {
      names,
      async silence(milliseconds) {
        const from = Date.now()
        await first.smsc.become('answers-binds-only', behaviour)
        await delay(milliseconds)
        const trouble = await submittedSince(first.smsc, from)
        await first.smsc.become('default', behaviour)
        silences.push({ from, to: Date.now() })
        return trouble
      },
      bestPerSecond: perSecond,
      received: (since) => Promise.all(all.map(async ({ smsc }) => receivedSince(await smsc.journal(), since))),
      async refuseNumbers(milliseconds) {
        await Promise.all(all.map(({ smsc }) => smsc.become('refused-numbers', behaviour)))
        await delay(milliseconds)
        await Promise.all(all.map(({ smsc }) => smsc.become('default', behaviour)))
      },
      async paused(name, milliseconds) {
        const carrier = all.find((one) => one.name === name) ?? first
        return submittedSince(carrier.smsc, Date.now() - milliseconds)
      },
    },
    async settled() {
      let quiet = 0
      while (quiet < 4) {
        const owed = await Promise.all(all.map(({ smsc }) => smsc.owes()))
        quiet = owed.every((count) => count === 0) ? quiet + 1 : 0
        await delay(500)
      }
    },
    async close() {
      await Promise.all(all.map(({ smsc }) => smsc.stop('SIGKILL')))
      await Promise.all(all.map(({ way }) => way.close()))
      await Promise.all(relays.map((relay) => relay.close()))
    },
  }
}

interface Span {
  readonly from: number
  readonly to: number
}

/**
 * Returns the URL of a carrier. The short timeouts detect a link that stays silent during a stall. Frequent probes of
 * the circuit let due messages be submitted within 5 s. The two dispatchers share the rate of each carrier.
 */
function urlOf({ url, port }: RunningSmsc, way: SharedWay, perSecond: number, slowSeconds?: number): string {
  const probes = 'silentSeconds=2&probeSeconds=1&probeSecondsMax=1'
  const times = `responseSeconds=5&enquireSeconds=2&reconnectSecondsMax=1&holdSeconds=5&${probes}`
  const slow = slowSeconds === undefined ? '' : `&slowSeconds=${slowSeconds}`
  const own = `perSecond=${perSecond}&window=50&systemType=${anyMember}&${times}${slow}`
  return `${url.replace(String(port), String(way.port))}?${own}`
}

/** Returns a key of a request that is unique over all runs of the server, because each run numbers its links from 1. */
const requestKey = (run: number, { link, sequence }: JournalLine): string => `${run} ${link} ${sequence ?? 0}`

/**
 * Returns the received parts with their answers. A part that was submitted twice occurs twice. A part that was received
 * during one of the `silences` and got no answer was not accepted.
 */
export function recordOf(
  lines: readonly JournalLine[],
  ids: ReadonlyMap<string, number>,
  silences: readonly Span[] = [],
): readonly (Submission & { readonly at: number })[] {
  const record = new Map<string, Submission & { readonly at: number }>()
  let run = 0
  for (const line of lines) {
    if (line.event === 'opened' && line.link === 1) run++
    const key = requestKey(run, line)
    const entry = record.get(key)
    if (line.event === 'received' && line.command === 'submit_sm') {
      const { destinationAddr: number = '' } = line
      const at = Date.parse(line.at)
      const answer = silences.some(({ from, to }) => from <= at && at <= to) ? 'ignored' : 'unknown'
      record.set(key, { messageId: ids.get(number) ?? -1, number, ...partOf(line), answer, at })
    } else if (line.event === 'sent' && line.command === 'submit_sm_resp' && entry !== undefined) {
      record.set(key, { ...entry, answer: answerOf(line.status) })
    }
  }
  return [...record.values()]
}

function answerOf(status: string | undefined): string {
  if (status === undefined) return 'accepted'
  return forNow.has(status) ? 'refused-for-now' : 'refused'
}

const receivedSince = (lines: readonly JournalLine[], since: number): ReadonlySet<string> =>
  new Set(
    lines.flatMap(({ at, event, command, destinationAddr = '' }) =>
      event === 'received' && command === 'submit_sm' && Date.parse(at) >= since ? [destinationAddr] : [],
    ),
  )

/**
 * Returns the position of a part and the number of parts, from a user data header with an 8-bit reference (3GPP 23.040,
 * 9.2.3.24.1).
 */
function partOf({ esmClass = 0, shortMessage = '' }: JournalLine): { readonly part: number; readonly parts: number } {
  if ((esmClass & 0x40) === 0) return { part: 1, parts: 1 }
  return { part: parseInt(shortMessage.slice(10, 12), 16), parts: parseInt(shortMessage.slice(8, 10), 16) }
}

/** Counts the received parts by system_type, over all links. Includes temporarily refused parts and probes. */
function submittedBy(
  lines: readonly JournalLine[],
  counts: (line: JournalLine) => boolean = () => true,
): ReadonlyMap<string, number> {
  const submitted = new Map<string, number>()
  const names = new Map<number, string>()
  for (const line of lines) {
    const { event, command, link, systemType = '' } = line
    if (event === 'received' && command?.startsWith('bind_') === true) names.set(link, systemType)
    const name = event === 'received' && command === 'submit_sm' ? names.get(link) : undefined
    if (name !== undefined && counts(line)) submitted.set(name, (submitted.get(name) ?? 0) + 1)
  }
  return submitted
}
