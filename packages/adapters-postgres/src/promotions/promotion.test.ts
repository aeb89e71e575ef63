import { aNumber, anAccount, anOrder, until } from '@gateway/core/testing'
import type { AccountId } from '@gateway/core/accounts'
import type { ClaimedBatch } from '@gateway/core/dispatch'
import type { MessageId } from '@gateway/core/messages'
import { acceptedIds, testCarrier } from '../../testing/old-history.ts'
import { patientSettings } from '../../testing/patient-settings.ts'
import { twoServers, type TwoServers } from '../../testing/two-servers.ts'
import { postgresPorts, type PostgresPorts } from '../postgres-ports.ts'

const request = { carrier: testCarrier, lane: 'single', messagesMax: 1000, markedMax: 1000, leaseSeconds: 600 } as const

/** Two real servers, of which the primary is killed and the standby is promoted. */
describe.each([
  { was: 'asynchronous', isSynchronous: false },
  { was: 'synchronous', isSynchronous: true },
])('after the promotion of a standby that was $was', ({ isSynchronous }) => {
  let servers: TwoServers
  let gateway: PostgresPorts
  let account: AccountId
  let before: readonly MessageId[]
  let after: readonly MessageId[]
  const lines: string[] = []
  const log = { info: () => undefined, warn: (line: string) => void lines.push(line) }
  const open = () => postgresPorts({ connectionString: servers.connectionString, settings: patientSettings, log })
  const order = () => anOrder(account, { to: [aNumber()] })
  const claimed = async (ports = gateway.ports): Promise<readonly MessageId[]> => {
    const dispatcher = await ports.claimedBatches.register(600)
    const batch = await ports.claimedBatches.claim(dispatcher, request)
    await ports.claimedBatches.retire(dispatcher)
    return typeof batch === 'string' ? [] : batch.messages.map(({ id }) => id)
  }

  const hasLooked = (synchronous: boolean) =>
    until(
      async () =>
        (await servers.standby.query(`select from primary_look where synchronous = ${synchronous}`)).length === 1,
    )

  beforeAll(async () => {
    servers = await twoServers()
    gateway = open()
    account = (await anAccount(gateway.ports)).id
    if (isSynchronous) await servers.synchronous()
    before = await acceptedIds(gateway.ports, order())
    await hasLooked(isSynchronous)
    await until(async () => (await servers.standby.query('select from due')).length === 1)
    // Another process is the first to connect to the promoted server.
    servers.primary.kill()
    await servers.promote()
    after = await until(() => acceptedIds(gateway.ports, order()).catch(() => undefined))
  }, 120_000)
  afterAll(async () => {
    await gateway.close(1)
    await servers.remove()
  })

  test('waiting messages are claimed only if nothing can be missing', async () => {
    const expected = isSynchronous ? [...before, ...after] : after
    expect((await claimed()).toSorted((a, b) => a - b)).toEqual(expected.toSorted((a, b) => a - b))
    const promotions = await gateway.ports.promotions.open()
    expect(promotions.map(({ inDoubt, fromTimeline, timeline }) => ({ inDoubt, fromTimeline, timeline }))).toEqual(
      isSynchronous ? [] : [{ inDoubt: 1, fromTimeline: 1, timeline: 2 }],
    )
    expect(lines.filter((line) => line.startsWith('another server is the primary'))).toHaveLength(1)
  })

  test('the unknown period begins with the last change that arrived', async () => {
    for (const { lastChange, noticed, lastPosition } of await gateway.ports.promotions.open()) {
      expect(lastPosition).toMatch(/^[0-9A-F]+\/[0-9A-F]+$/)
      expect(lastChange).toBeLessThan(noticed)
    }
  })

  test('a process that is started later holds the same messages, and no id is used twice', async () => {
    const later = open()
    try {
      expect((await later.ports.promotions.open()).map(({ inDoubt }) => inDoubt)).toEqual(isSynchronous ? [] : [1])
      const ids = await acceptedIds(later.ports, order())
      expect([...before, ...after]).not.toContain(ids[0])
    } finally {
      await later.close(1)
    }
  })
})

/** Processes that start after the promotion and have never seen the lost primary. */
test.each([
  { look: 'young', age: '0 s', inDoubt: 0 },
  { look: 'old', age: '10 min', inDoubt: 1 },
])(
  'if no process saw the lost primary, a $look look at a synchronous standby counts',
  async (one) => {
    const servers = await twoServers()
    const open = () => postgresPorts({ connectionString: servers.connectionString, settings: patientSettings })
    try {
      const lost = open()
      const { id } = await anAccount(lost.ports)
      await servers.synchronous()
      await acceptedIds(lost.ports, anOrder(id, { to: [aNumber()] }))
      await until(async () => (await servers.standby.query('select from primary_look where synchronous')).length === 1)
      await lost.close(1)
      await servers.primary.query(`update primary_look set looked_at = looked_at - interval '${one.age}'`)
      servers.primary.kill()
      await servers.promote()
      const fresh = open()
      try {
        const promotions = await until(() => fresh.ports.promotions.open().catch(() => undefined))
        expect(promotions.reduce((sum, { inDoubt }) => sum + inDoubt, 0)).toBe(one.inDoubt)
      } finally {
        await fresh.close(1)
      }
    } finally {
      await servers.remove()
    }
  },
  120_000,
)

/** The lost primary had submitted a message, and the standby had not received that change. */
test('a message that the lost server had submitted is not claimed again, and its outcome is recorded', async () => {
  const servers = await twoServers()
  const gateway = postgresPorts({ connectionString: servers.connectionString, settings: patientSettings })
  try {
    const { ports } = gateway
    const { id } = await anAccount(ports)
    const [message] = await acceptedIds(ports, anOrder(id, { to: [aNumber()] }))
    await until(async () => (await servers.standby.query('select from due')).length === 1)
    await until(async () => (await servers.standby.query('select from primary_look')).length === 1)
    const dispatcher = await ports.claimedBatches.register(600)
    servers.standby.freeze()
    const batch = (await ports.claimedBatches.claim(dispatcher, request)) as ClaimedBatch
    await ports.claimedBatches.mark(dispatcher, batch.id, 1)
    // Only the carrier knows of the message now.
    servers.primary.kill()
    servers.standby.thaw()
    await servers.promote()
    const again = await until(() => ports.claimedBatches.register(600).catch(() => undefined))
    expect(await ports.claimedBatches.claim(again, request)).toBe('nothing')
    const outcomes = batch.messages.map((one) => ({
      batch: batch.id,
      message: one,
      handover: { outcome: 'accepted', reference: 'of the lost server' } as const,
    }))
    await ports.claimedBatches.record(dispatcher, outcomes)
    expect(await ports.promotions.open()).toEqual([])
    const trace = await ports.sentMessages.trace(message as MessageId)
    expect(trace?.place).toMatchObject({ place: 'decided', code: 100, reference: 'of the lost server' })
  } finally {
    await gateway.close(1)
    await servers.remove()
  }
}, 120_000)
