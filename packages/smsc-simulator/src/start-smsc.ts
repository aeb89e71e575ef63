import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { noTlvs } from '@gateway/smpp'
import { arrivalDeliveries, type Arrival } from './arrivals.ts'
import { serveControl } from './control.ts'
import { deliveries, type Deliveries } from './deliveries.ts'
import { journal, type Journal } from './journal.ts'
import { serveLink, type Link, type LinkHandlers } from './link.ts'
import { messageStore, type MessageStore, type StoredMessage } from './message-store.ts'
import { personality, type Personality } from './personalities.ts'
import { receipt } from './receipts.ts'
import { receivedBy } from './sessions.ts'
import { filled, type SmscSettings, type Smsc, type SmscStatus } from './settings.ts'
import { Submissions } from './submissions.ts'

/** Starts an SMPP 3.4 server. */
export async function startSmsc(smscSettings: SmscSettings = {}): Promise<Smsc> {
  const settings = filled(smscSettings)
  const smsc = new RunningSmsc(settings)
  const server = serverFor(settings, (socket) => smsc.connected(socket))
  const port = await listen(server, settings.port ?? 0, settings.host ?? '127.0.0.1')
  const controlled = {
    port,
    journal: (count?: number) => smsc.journal(count),
    status: () => smsc.status(),
    inject: (arrival: Arrival) => smsc.inject(arrival),
    become: (next: string, changes?: Readonly<Record<string, unknown>>) => smsc.become(next, changes),
    closeLinks: () => smsc.closeLinks(),
  }
  const control = await controlOf(controlled, settings.controlPort).catch((problem: unknown) => {
    server.close()
    throw problem
  })
  smsc.reportOwed()
  return {
    ...controlled,
    controlPort: control?.port,
    async close() {
      if (!smsc.end()) return
      await Promise.all([new Promise((done) => server.close(done)), control?.close()])
      smsc.closeFiles()
    },
  }
}

/**
 * State of an SMSC. Everything that one turn of the event loop produces is written at its end, first to the disk and
 * then to the links.
 *
 *   running --end--> ended: nothing further is sent --closeFiles--> closed
 */
class RunningSmsc {
  readonly #settings: ReturnType<typeof filled>
  readonly #now: () => number
  readonly #links = new Map<number, Link>()
  /** Links with PDUs to be written at the end of this turn. */
  readonly #dirty = new Set<Link>()
  readonly #store: MessageStore
  readonly #log: Journal
  readonly #deliveries: Deliveries
  readonly #submissions: Submissions
  readonly #received: LinkHandlers['received']
  #name: string
  #personality: Personality
  #linksSoFar = 0
  #bindsMax = 0
  /** Number of injected messages, which numbers the parts of long ones. */
  #references = 0
  /** Calls for the end of this turn. */
  #soon: (() => void)[] = []
  #isFlushPlanned = false
  #hasEnded = false

  constructor(settings: ReturnType<typeof filled>) {
    this.#settings = settings
    this.#now = timeOfTurn(settings.now)
    this.#store = messageStore(settings.folder, this.#now())
    this.#log = journal(settings.journalFile, settings.journalEntriesMax ?? 100_000)
    this.#name = settings.personality ?? 'default'
    this.#personality = personality(this.#name, settings.changes)
    this.#deliveries = deliveries(settings, () => this.#personality.isSilent)
    const shared = { personality: () => this.#personality, store: this.#store }
    this.#submissions = new Submissions({
      ...shared,
      deliveries: this.#deliveries,
      now: this.#now,
      after: (milliseconds, call) => this.#after(milliseconds, call),
    })
    this.#received = receivedBy({
      ...{ ...shared, settings, links: this.#links, submissions: this.#submissions },
      deleted: (message) => this.#deleted(message),
      deliveries: { ...this.#deliveries, opened: (link) => this.#opened(link) },
    })
  }

  connected(socket: Socket): void {
    const link = serveLink(socket, ++this.#linksSoFar, this.#settings.responseTimeoutMilliseconds, {
      received: this.#received,
      dirty: (one) => this.#flushSoon(one),
      oddTailEvery: () => this.#personality.oddTailEvery,
      now: this.#now,
      note: (entry) => {
        this.#log.note(entry)
        this.#flushSoon()
      },
      notePdu: (entry) => {
        this.#log.notePdu(entry)
        this.#flushSoon()
      },
      closed: (gone) => {
        this.#links.delete(gone.number)
        this.#deliveries.closed(gone)
      },
    })
    this.#links.set(link.number, link)
    const timer = setInterval(() => this.#enquire(link), this.#settings.enquireSeconds * 1000).unref()
    socket.on('close', () => clearInterval(timer))
  }

  journal(count?: number): ReturnType<Smsc['journal']> {
    return this.#log.entries(count)
  }

  status(): SmscStatus {
    return {
      personality: this.#name,
      links: [...this.#links.values()].map((link) => ({
        ...{ link: link.number, systemId: link.bound?.systemId ?? '', kind: link.bound?.kind ?? 'unbound' },
        ...{ unansweredSubmissions: this.#submissions.unanswered(link), unansweredDeliveries: link.unanswered },
      })),
      ...{ bindsMax: this.#bindsMax, windowMax: this.#submissions.windowMax() },
      deliveriesWaiting: this.#deliveries.waiting(),
    }
  }

  inject(arrival: Arrival): ReturnType<Smsc['inject']> {
    const parts = arrivalDeliveries(arrival, ++this.#references)
    const acknowledged = parts.flatMap((part) =>
      Array.from(
        { length: this.#personality.arrivalTimes },
        () => new Promise<void>((done) => this.#deliveries.deliver(arrival.systemId ?? '', part, done)),
      ),
    )
    return { parts: parts.length, acknowledged: Promise.all(acknowledged).then(() => undefined) }
  }

  become(next: string, changes?: Readonly<Record<string, unknown>>): void {
    this.#personality = personality(next, changes)
    this.#name = next
    this.#deliveries.pump()
  }

  /** Sends the receipts and replies that an earlier run still owes. */
  reportOwed(): void {
    for (const message of this.#store.owed()) this.#submissions.report(message, 0)
  }

  closeLinks(): void {
    for (const link of this.#links.values()) link.destroy()
  }

  /** Writes what is left and closes the links. Returns false if that was done before. */
  end(): boolean {
    if (this.#hasEnded) return false
    this.#flush()
    this.#hasEnded = true
    this.closeLinks()
    return true
  }

  closeFiles(): void {
    this.#store.close()
    this.#log.close()
  }

  #opened(link: Link): void {
    const boundLinks = [...this.#links.values()].filter(({ bound }) => bound !== undefined)
    this.#bindsMax = Math.max(this.#bindsMax, boundLinks.length)
    this.#deliveries.opened(link)
  }

  #deleted(message: StoredMessage): void {
    const delivery = receipt(message, 'DELETED', this.#now(), this.#personality)
    this.#deliveries.deliver(message.systemId, delivery, () => undefined)
  }

  #enquire(link: Link): void {
    if (link.bound === undefined || this.#personality.isSilent) return
    link.request({ command: 'enquire_link', status: 0, sequence: 0, tlvs: noTlvs }, (status) => {
      if (status === undefined) link.destroy()
    })
  }

  #after(milliseconds: number, call: () => void): void {
    if (milliseconds > 0) setTimeout(() => this.#hasEnded || call(), milliseconds).unref()
    else {
      this.#soon.push(call)
      this.#flushSoon()
    }
  }

  #flushSoon(link?: Link): void {
    if (link !== undefined) this.#dirty.add(link)
    if (this.#isFlushPlanned || this.#hasEnded) return
    this.#isFlushPlanned = true
    setImmediate(() => {
      // PDUs that these calls send follow the earlier ones of this turn, in the same write.
      this.#callSoon()
      this.#isFlushPlanned = false
      if (!this.#hasEnded) this.#flush()
    })
  }

  #callSoon(): void {
    const calls = this.#soon
    this.#soon = []
    for (const call of calls) if (!this.#hasEnded) call()
  }

  #flush(): void {
    this.#store.flush()
    this.#log.flush()
    const batch = [...this.#dirty]
    this.#dirty.clear()
    for (const link of batch) link.flush()
  }
}

const controlOf = async (smsc: Parameters<typeof serveControl>[0], port: number | undefined) =>
  port === undefined ? undefined : serveControl(smsc, port)

/** Returns one time for each turn of the event loop, because reading the clock six times per message takes 0.5 µs. */
function timeOfTurn(now: () => number): () => number {
  let time: number | undefined
  return () => {
    if (time === undefined) {
      time = now()
      setImmediate(() => (time = undefined))
    }
    return time
  }
}

function serverFor({ tls }: SmscSettings, connected: (socket: Socket) => void): Server {
  if (tls === undefined) return createServer(connected)
  const { cert, key, clientCa } = tls
  const verification = clientCa === undefined ? {} : { ca: clientCa, requestCert: true, rejectUnauthorized: true }
  return createTlsServer({ cert, key, ...verification }, connected)
}

async function listen(server: Server, port: number, host: string): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  return (server.address() as AddressInfo).port
}
