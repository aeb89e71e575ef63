import { rm, statfs, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { until } from '@gateway/core/testing'
import type { CarrierId } from '@gateway/core/dispatch'
import { restSend } from '../support/clients.ts'
import { setCarrierMode } from '../support/operate.ts'
import { timesFaster } from './monitoring.ts'
import { hasOpenssl, setBackupAge, type Stage } from './stage.ts'

/** Something that happens to a gateway, and ends. */
export interface Incident {
  readonly title: string
  /** Alarms that must be raised within two minutes and end within five. */
  readonly alarms: readonly string[]
  /** Alarms that may be raised too, because they follow from the same state. */
  readonly mayFollow?: readonly string[]
  /**
   * Seconds that the gateway itself needs to notice the incident or its end, such as the silence after which a circuit
   * opens. They are not compressed. By default 8: figures of the database are up to five seconds old.
   */
  readonly ownSeconds?: number
  /** Returns why the incident cannot be played on this machine, or undefined. */
  readonly obstacle?: (stage: Stage) => string | undefined
  readonly begin: (stage: Stage) => Promise<void>
  readonly end: (stage: Stage) => Promise<void>
}

const alpha = 'alpha' as CarrierId

/**
 * Alarms of a process that is restarted, if its start takes longer than eight seconds (a minute in production), or if
 * another incident has restarted it a moment ago.
 */
const ofRestart: readonly string[] = ['ProcessDown', 'ProcessGone', 'CrashLoop']

/** Work of attackers and clients that goes on until the incident ends. */
function inBackground(work: (stage: Stage) => Promise<unknown>, pauseMilliseconds: number) {
  let timer: NodeJS.Timeout | undefined
  return {
    begin: (stage: Stage): Promise<void> => {
      timer = setInterval(() => void work(stage).catch(() => undefined), pauseMilliseconds)
      return Promise.resolve()
    },
    end: (): Promise<void> => {
      clearInterval(timer)
      return Promise.resolve()
    },
  }
}

const restart =
  (...names: readonly Parameters<Stage['start']>[0][]) =>
  async (stage: Stage): Promise<void> => {
    await Promise.all(names.map((name) => stage.start(name)))
  }

const become =
  (...personality: Parameters<Stage['smsc']['become']>) =>
  ({ smsc }: Stage): Promise<void> =>
    smsc.become(...personality)

const needsDisk = ({ hasDisk }: Stage): string | undefined => (hasDisk ? undefined : 'no tmpfs can be mounted here')

const filler = (folder: string): string => join(folder, 'filler')

/** Writes a file until this share of the disk is free; 0 until writing fails. */
async function fillDisk(folder: string, freeShare: number): Promise<void> {
  const chunk = Buffer.alloc(2 ** 20)
  for (;;) {
    const { bavail, blocks } = await statfs(folder)
    if (bavail / blocks <= freeShare) return
    try {
      await writeFile(filler(folder), chunk, { flag: 'a' })
    } catch {
      return
    }
  }
}

/** Opens connections of another program until this share of the server's connections is in use. */
async function occupy({ database }: Stage, share: number): Promise<void> {
  const [row] = await database.rows<{ used: number; most: number }>(
    `select (select count(*) from pg_stat_activity where backend_type = 'client backend')::int used,
       current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int most`,
  )
  const count = Math.ceil((row?.most ?? 0) * share) - (row?.used ?? 0)
  for (let at = 0; at < count; at++) {
    const client = new pg.Client({ connectionString: database.connectionString })
    client.on('error', () => undefined)
    await client.connect()
    occupied.push(client)
  }
}

const occupied: pg.Client[] = []

const setReadOnly = async ({ database }: Stage, isReadOnly: boolean): Promise<void> => {
  const client = new pg.Client({
    connectionString: database.connectionString,
    options: '-c default_transaction_read_only=off',
  })
  await client.connect()
  try {
    await client.query(`alter system set default_transaction_read_only = ${isReadOnly ? 'on' : 'off'}`)
    await client.query('select pg_reload_conf()')
  } finally {
    await client.end()
  }
}

const guesses = inBackground(
  ({ client }) => fetch(`${client.asp.url}/api/credits.asp?user=acme&password=guess-${Math.random()}`),
  100,
)

const crowd = inBackground(({ client }) => restSend(client.rest, ['27825550001']), 5)

export const incidents: readonly Incident[] = [
  {
    title: 'an interface is killed',
    alarms: ['ProcessDown', 'ProcessGone'],
    begin: (stage) => stage.kill('rest'),
    end: restart('rest'),
  },
  {
    title: 'both dispatchers are killed while messages wait',
    alarms: ['NoDispatcher', 'ProcessDown'],
    // The compressed times leave 2 s after a restart until the messages that waited raise an alarm of their own.
    mayFollow: ['UnknownOutcomes', 'RouteWaits'],
    begin: async (stage) => {
      await Promise.all([stage.kill('dispatcher'), stage.kill('dispatcher-2')])
      await restSend(stage.client.rest, ['27825550001', '27825550002'])
    },
    end: restart('dispatcher', 'dispatcher-2'),
  },
  {
    title: 'PostgreSQL is frozen',
    alarms: ['NotReady'],
    mayFollow: ['UnknownOutcomes', 'RouteWaits'],
    begin: ({ database }) => database.freeze(),
    end: ({ database }) => {
      database.thaw()
      return Promise.resolve()
    },
  },
  {
    title: 'PostgreSQL crashes',
    alarms: ['NotReady'],
    mayFollow: ['UnknownOutcomes', 'RouteWaits'],
    begin: ({ database }) => database.crash(),
    end: ({ database }) => database.start(),
  },
  {
    title: 'the database accepts no writes',
    alarms: ['NotReady'],
    mayFollow: ['UnknownOutcomes', 'RouteWaits'],
    begin: (stage) => setReadOnly(stage, true),
    end: (stage) => setReadOnly(stage, false),
  },
  {
    title: 'the disk is full and every send is refused',
    alarms: ['DiskFull', 'NotReady'],
    mayFollow: ['UnknownOutcomes', 'RouteWaits'],
    obstacle: needsDisk,
    begin: ({ folder }) => fillDisk(folder, 0),
    end: ({ folder }) => rm(filler(folder)),
  },
  {
    title: 'the disk fills',
    alarms: ['DiskFills'],
    obstacle: needsDisk,
    begin: ({ folder }) => fillDisk(folder, 0.11),
    end: ({ folder }) => rm(filler(folder)),
  },
  {
    title: 'other programs use the connections of the database server',
    alarms: ['DatabaseConnectionsFew'],
    begin: (stage) => occupy(stage, 0.94),
    end: async () => {
      await Promise.all(occupied.splice(0).map((client) => client.end()))
    },
  },
  {
    title: 'an interface is frozen',
    alarms: ['ProcessDown', 'ProcessGone'],
    begin: (stage) => Promise.resolve(void process.kill(stage.process('asp').pid, 'SIGSTOP')),
    end: (stage) => Promise.resolve(void process.kill(stage.process('asp').pid, 'SIGCONT')),
  },
  {
    title: 'a container vanishes from service discovery',
    alarms: ['ProcessGone'],
    begin: (stage) => stage.scrapeWithout('asp'),
    end: (stage) => stage.scrapeWithout(),
  },
  {
    title: 'every process vanishes from service discovery',
    alarms: ['GatewayGone'],
    begin: (stage) => stage.scrapeWithout('rest', 'asp', 'smpp', 'dispatcher', 'dispatcher-2'),
    end: (stage) => stage.scrapeWithout(),
  },
  {
    title: 'a process crashes again and again',
    alarms: ['CrashLoop'],
    mayFollow: ofRestart,
    begin: async (stage) => {
      for (let turn = 0; turn < 3; turn++) {
        const before = await startOf(stage)
        await stage.kill('rest')
        await stage.start('rest')
        await until(async () => (await startOf(stage)) !== before)
      }
    },
    end: () => Promise.resolve(),
  },
  {
    title: 'the carrier ends every connection and accepts none',
    alarms: ['CarrierNotBound'],
    mayFollow: ['CarrierCircuitOpen', 'RouteWaits', 'RouteStands', 'UnknownOutcomes'],
    ownSeconds: 60,
    begin: async ({ smsc }) => {
      await smsc.become('refuses-binds', { closesAfterAnswer: 1 })
    },
    end: become('default', { receiptDelay: 100 }),
  },
  {
    title: 'the carrier answers nothing',
    alarms: ['CarrierCircuitOpen'],
    mayFollow: ['CarrierNotBound', 'RouteWaits', 'RouteStands', 'UnknownOutcomes'],
    ownSeconds: 75,
    begin: become('answers-binds-only'),
    end: become('default', { receiptDelay: 100 }),
  },
  {
    title: 'the carrier answers slowly',
    alarms: ['CarrierSlow'],
    mayFollow: ['CarrierCircuitOpen', 'RouteWaits', 'RouteStands', 'UnknownOutcomes'],
    ownSeconds: 30,
    begin: become('default', { answerDelay: 5600 }),
    end: become('default', { receiptDelay: 100 }),
  },
  {
    title: 'the carrier refuses messages permanently',
    alarms: ['CarrierRefuses'],
    begin: ({ traffic }) => Promise.resolve(void (traffic.ending = '93')),
    end: ({ traffic }) => Promise.resolve(void (traffic.ending = '01')),
  },
  {
    title: 'the carrier refuses messages temporarily',
    alarms: ['CarrierRefusesForNow'],
    mayFollow: ['CarrierCircuitOpen', 'RouteWaits', 'RouteStands'],
    ownSeconds: 60,
    begin: async ({ smsc, traffic }) => {
      await smsc.become('refused-numbers', { receiptDelay: 100 })
      traffic.ending = '96'
    },
    end: async ({ smsc, traffic }) => {
      traffic.ending = '01'
      await smsc.become('default', { receiptDelay: 100 })
    },
  },
  {
    title: 'an operator pauses the only carrier',
    alarms: ['RouteWaits'],
    mayFollow: ['RouteStands'],
    begin: ({ environment }) => setCarrierMode(environment, alpha, 'paused'),
    end: ({ environment }) => setCarrierMode(environment, alpha, 'running'),
  },
  {
    title: 'bulk messages do not move',
    alarms: ['RouteStands'],
    begin: async ({ environment, traffic, client }) => {
      traffic.stop()
      await setCarrierMode(environment, alpha, 'paused')
      // Every process has applied the mode when no message is under way.
      await delay(6000 / timesFaster)
      await restSend(
        client.rest,
        Array.from({ length: 50 }, (_, at) => `278255501${String(at).padStart(2, '0')}`),
      )
    },
    end: async ({ environment, traffic }) => {
      await setCarrierMode(environment, alpha, 'running')
      traffic.go()
    },
  },
  {
    title: 'somebody guesses passwords',
    alarms: ['LogInsGuessed'],
    ...guesses,
  },
  {
    title: 'more requests come than a process accepts',
    alarms: ['RequestsRefused'],
    mayFollow: ['EventLoopBusy', 'RequestsWait', 'RouteWaits', 'RouteStands', ...ofRestart],
    begin: async (stage) => {
      await stage.process('rest').stop()
      await stage.start('rest', { REQUESTS_MAX: '1' })
      await crowd.begin(stage)
    },
    end: async (stage) => {
      await crowd.end()
      await stage.process('rest').stop()
      await stage.start('rest')
    },
  },
  {
    title: 'a certificate ends within a day',
    alarms: ['CertificateEnds'],
    mayFollow: ofRestart,
    obstacle: () => (hasOpenssl ? undefined : 'openssl is not installed'),
    begin: (stage) => stage.serveCertificate(1),
    end: (stage) => stage.serveCertificate(90),
  },
  {
    title: 'a certificate ends within two weeks',
    alarms: ['CertificateEndsSoon'],
    mayFollow: ofRestart,
    obstacle: () => (hasOpenssl ? undefined : 'openssl is not installed'),
    begin: (stage) => stage.serveCertificate(10),
    end: (stage) => stage.serveCertificate(90),
  },
  {
    title: 'the clock of a machine is wrong',
    alarms: ['ClockWrong'],
    ownSeconds: 40,
    obstacle: ({ clock }) => (clock === undefined ? 'libfaketime is not installed' : undefined),
    begin: async ({ clock }) => {
      await clock?.set('+30s')
    },
    end: async ({ clock }) => {
      await clock?.set('+0')
    },
  },
  {
    title: 'the last backup is old',
    alarms: ['BackupOld'],
    begin: ({ folder }) => setBackupAge(folder, 30),
    end: ({ folder }) => setBackupAge(folder, 0),
  },
]

/** Returns the start of the process rest that Prometheus scraped last. */
async function startOf({ monitoring }: Stage): Promise<number | undefined> {
  const [found] = await monitoring.query('process_start_time_seconds{instance="rest"}')
  return found?.value
}
