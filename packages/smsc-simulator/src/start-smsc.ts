import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { noTlvs } from '@gateway/smpp'
import { arrivalDeliveries, type Arrival } from './arrivals.ts'
import { serveControl } from './control.ts'
import { deliveries } from './deliveries.ts'
import { journal } from './journal.ts'
import { serveLink, type Link } from './link.ts'
import { messageStore, type StoredMessage } from './message-store.ts'
import { personality } from './personalities.ts'
import { receipt } from './receipts.ts'
import { receivedBy } from './sessions.ts'
import { filled, type SmscSettings, type Smsc, type SmscStatus } from './settings.ts'
import { Submissions } from './submissions.ts'

/** Starts an SMPP 3.4 server. */
export async function startSmsc(smscSettings: SmscSettings = {}): Promise<Smsc> {
  const settings = filled(smscSettings)
  const now = timeOfTurn(settings.now)
  const links = new Map<number, Link>()
  const dirty = new Set<Link>()
  const store = messageStore(settings.folder, now())
  const log = journal(settings.journalFile, settings.journalEntriesMax ?? 100_000)
  let name = settings.personality ?? 'default'
  let current = personality(name, settings.changes)
  let linksSoFar = 0
  let bindsMax = 0
  let references = 0
  let closed = false

  const sending = deliveries(settings, () => current.isSilent)
  const taking = new Submissions({ personality: () => current, store, deliveries: sending, now, after })
  const received = receivedBy({
    ...{ settings, personality: () => current, links, store, submissions: taking, deleted },
    deliveries: {
      ...sending,
      opened(link) {
        bindsMax = Math.max(bindsMax, [...links.values()].filter(({ bound }) => bound !== undefined).length)
        sending.opened(link)
      },
    },
  })

  let soon: (() => void)[] = []
  function after(milliseconds: number, call: () => void): void {
    if (milliseconds > 0) setTimeout(() => closed || call(), milliseconds).unref()
    else {
      soon.push(call)
      flushSoon()
    }
  }

  function callSoon(): void {
    const calls = soon
    soon = []
    for (const call of calls) if (!closed) call()
  }

  function deleted(message: StoredMessage): void {
    sending.deliver(message.systemId, receipt(message, 'DELETED', now(), current), () => undefined)
  }

  /** Writes everything that one turn of the event loop produced, first to the disk and then to the links. */
  function flush(): void {
    store.flush()
    log.flush()
    const batch = [...dirty]
    dirty.clear()
    for (const link of batch) link.flush()
  }

  function connected(socket: Socket): void {
    const link = serveLink(socket, ++linksSoFar, settings.responseTimeoutMilliseconds, {
      received,
      dirty: flushSoon,
      oddTailEvery: () => current.oddTailEvery,
      now,
      note: (entry) => {
        log.note(entry)
        flushSoon()
      },
      notePdu: (entry) => {
        log.notePdu(entry)
        flushSoon()
      },
      closed: (gone) => {
        links.delete(gone.number)
        sending.closed(gone)
      },
    })
    links.set(link.number, link)
    const timer = setInterval(() => enquire(link), settings.enquireSeconds * 1000).unref()
    socket.on('close', () => clearInterval(timer))
  }

  let isPlanned = false
  function flushSoon(link?: Link): void {
    if (link !== undefined) dirty.add(link)
    if (isPlanned || closed) return
    isPlanned = true
    setImmediate(() => {
      // PDUs that these calls send follow the earlier ones of this turn, in the same write.
      callSoon()
      isPlanned = false
      if (!closed) flush()
    })
  }

  function enquire(link: Link): void {
    if (link.bound === undefined || current.isSilent) return
    link.request({ command: 'enquire_link', status: 0, sequence: 0, tlvs: noTlvs }, (status) => {
      if (status === undefined) link.destroy()
    })
  }

  function inject(arrival: Arrival): ReturnType<Smsc['inject']> {
    const parts = arrivalDeliveries(arrival, ++references)
    const acknowledged = parts.flatMap((part) =>
      Array.from(
        { length: current.arrivalTimes },
        () => new Promise<void>((done) => sending.deliver(arrival.systemId ?? '', part, done)),
      ),
    )
    return { parts: parts.length, acknowledged: Promise.all(acknowledged).then(() => undefined) }
  }

  const status = (): SmscStatus => ({
    personality: name,
    links: [...links.values()].map((link) => ({
      ...{ link: link.number, systemId: link.bound?.systemId ?? '', kind: link.bound?.kind ?? 'unbound' },
      ...{ unansweredSubmissions: taking.unanswered(link), unansweredDeliveries: link.unanswered },
    })),
    ...{ bindsMax, windowMax: taking.windowMax(), deliveriesWaiting: sending.waiting() },
  })

  const server = serverFor(settings, connected)
  const port = await listen(server, settings.port ?? 0, settings.host ?? '127.0.0.1')
  const smsc: Omit<Smsc, 'close' | 'controlPort'> = {
    port,
    journal: (count) => log.entries(count),
    status,
    inject,
    become(next: string, changes?: Readonly<Record<string, unknown>>) {
      current = personality(next, changes)
      name = next
      sending.pump()
    },
    closeLinks() {
      for (const link of links.values()) link.destroy()
    },
  }
  const control = await controlOf(smsc, settings.controlPort).catch((problem: unknown) => {
    server.close()
    throw problem
  })
  for (const message of store.owed()) taking.report(message, 0)

  return {
    ...smsc,
    controlPort: control?.port,
    async close() {
      if (closed) return
      flush()
      closed = true
      smsc.closeLinks()
      await Promise.all([new Promise((done) => server.close(done)), control?.close()])
      store.close()
      log.close()
    },
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
