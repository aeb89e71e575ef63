import type { AccountId } from '@gateway/core/accounts'
import type { IdempotencyKey } from '@gateway/core/client-requests'
import type { Credits } from '@gateway/core/credits'
import type { ClaimedBatch } from '@gateway/core/dispatch'
import type { MessageId } from '@gateway/core/messages'
import { instant } from '@gateway/core/time'
import { aNumber, anAccount, anOrder, until } from '@gateway/core/testing'
import { ownServer, type OwnServer } from '../testing/own-server.ts'
import { acceptedIds, dispatchAll, testCarrier } from '../testing/old-history.ts'
import { patientSettings } from '../testing/patient-settings.ts'
import { aReply, confirmation, sentTo } from '../testing/replies.ts'
import { postgresPorts, type PostgresPorts } from './postgres-ports.ts'
import type { Settings } from './settings.ts'

/** Port calls by name, to be made while no commit gets an answer. */
type Calls = Readonly<Record<string, () => Promise<unknown>>>

type Seven = [AccountId, AccountId, AccountId, AccountId, AccountId, AccountId, AccountId]

const longAgo = instant(0)
const farAhead = instant(Date.UTC(2201, 0, 1))
const delivered = { carrier: testCarrier, code: 0, number: undefined, submitted: undefined } as const
const request = { carrier: testCarrier, lane: 'single', messagesMax: 10, markedMax: 1, leaseSeconds: 600 } as const

// P-1: the gateway acknowledges nothing that a synchronous standby lacks.
describe('while the synchronous standby is away', () => {
  let server: OwnServer
  let patient: PostgresPorts
  /** Process with short time limits. */
  let gateway: PostgresPorts
  /** Another process, with empty caches. */
  let another: PostgresPorts
  const outcomes = new Map<string, unknown>()
  let sender: AccountId
  let replied: AccountId
  const reply = aReply({ text: 'a reply', reference: 'once' })
  let deleted: MessageId
  let keyed: Parameters<PostgresPorts['ports']['messages']['acceptOnce']>[1]
  const keyedDraft = [{ due: undefined, recipients: [10 as Credits] }]

  const open = (settings: Partial<Settings>) => postgresPorts({ connectionString: server.connectionString, settings })

  async function all(calls: Calls): Promise<void> {
    const ended = Object.entries(calls).map(async ([name, call]) => {
      outcomes.set(name, await call().catch((error: unknown) => (error instanceof Error ? error : new Error('thrown'))))
    })
    await Promise.all(ended)
  }

  const order = (account: AccountId, ending: string) => anOrder(account, { to: [aNumber(`278200000${ending}`)] })

  /** Repeats a call, because a busy machine may exceed the short time limits. */
  const retried = <T>(work: () => Promise<T>) => until(() => work().catch(() => undefined))

  const hasConfirming = async () => {
    const text = `select from pg_stat_activity where wait_event = 'SyncRep' and query like '%pg_logical_emit_message%'`
    return ((await server.client.query(text)).rowCount ?? 0) > 0 && 'looked up'
  }

  beforeAll(async () => {
    server = await ownServer()
    // Commits that wait for a standby keep their connections.
    patient = open({ ...patientSettings, hotConnectionsMax: 8 })
    const settings = { statementSeconds: 1, longStatementSeconds: 1, lookUpSeconds: 1, retrySeconds: 1 }
    const connections = { hotConnectionsMax: 20, ordinaryConnectionsMax: 20 }
    gateway = open({ ...settings, ...connections })
    another = open({ ...settings, ...connections })
    const { ports } = patient
    const accounts = await Promise.all(Array.from({ length: 7 }, () => anAccount(ports)))
    const [first, second, third, fourth, fifth, sixth, keyedOne] = accounts.map(({ id }) => id) as Seven
    sender = first
    // The gateway must lease ids before the standby is lost, because a send without ids would not reach the database.
    await retried(() => acceptedIds(gateway.ports, order(sixth, '09')))
    await sentTo(ports, fifth)
    const [sent = NaN] = await acceptedIds(ports, order(sixth, '02'))
    await dispatchAll(ports)
    deleted = (await acceptedIds(ports, anOrder(fourth, { to: [aNumber()], due: farAhead })))[0] as MessageId
    await ports.inbox.receive([aReply({ text: 'to be taken' })], confirmation)
    const dispatcher = await ports.claimedBatches.register(600)
    await acceptedIds(ports, anOrder(sixth, { to: [aNumber('27820000003'), aNumber('27820000004')] }))
    const batch = (await ports.claimedBatches.claim(dispatcher, request)) as ClaimedBatch
    keyed = { account: keyedOne, key: 'a key' as IdempotencyKey, canonical: 'a send' }
    replied = fifth

    await server.loseStandby()
    await all({
      'a send': () => gateway.ports.messages.accept(order(first, '10')),
      'a send with a key': () => gateway.ports.messages.acceptOnce(order(keyedOne, '11'), keyed, keyedDraft),
      'a transfer': () =>
        gateway.ports.ledger.transfer({ from: second, to: third, amount: 10 as Credits }, instant(Date.now())),
      'a delete': () => gateway.ports.messages.deleteScheduled(fourth, [deleted], longAgo),
      'replies taken': () => gateway.ports.inbox.take(fifth, 'all', longAgo, 10),
      'a reply received': () => gateway.ports.inbox.receive([reply], confirmation),
      'a receipt applied': () => gateway.ports.deliveryReceipts.apply([{ ...delivered, reference: `r${sent}` }]),
      'a mark': () => gateway.ports.claimedBatches.mark(dispatcher, batch.id, 2),
    })
    // Ends the statements of the first calls. Their changes become visible although no standby has confirmed them.
    await server.client.query(`select pg_terminate_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'`)
    await all({
      'a send with a key, again': () => another.ports.clientRequests.find(keyed),
      'a reply received, again': () => another.ports.inbox.receive([{ ...reply }], confirmation),
      'a receipt applied, again': () => another.ports.deliveryReceipts.apply([{ ...delivered, reference: `r${sent}` }]),
    })
  }, 120_000)
  afterAll(async () => {
    await server.needNoStandby()
    await Promise.all([patient, gateway, another].map(({ close }) => close(1)))
    await server.remove()
  })

  test.each([
    ['a send', 'select from send where account_id = $1'],
    ['a send with a key', 'select from client_request'],
    ['a transfer', `select from ledger where other_account_id is not null`],
    ['a delete', 'select from message where code = 102'],
    ['a reply received', `select from inbound_message where text = 'a reply'`],
    ['a receipt applied', 'select from message where code = 0'],
    ['a mark', 'select from claimed_batch where marked = 2'],
    ['a send with a key, again', 'select'],
    ['a reply received, again', 'select'],
    ['a receipt applied, again', 'select'],
  ])('%s is not reported as done although this server has it', async (name, done) => {
    expect(outcomes.get(name)).toBeInstanceOf(Error)
    expect((await server.client.query(done, done.includes('$1') ? [sender] : [])).rowCount).toBeGreaterThan(0)
  })

  test('replies are not handed out', () => {
    expect(outcomes.get('replies taken')).toBeInstanceOf(Error)
  })

  test('a commit whose wait for the standby is cancelled is not reported as done', async () => {
    const sent = patient.ports.messages.accept(order(sender, '12')).catch((error: unknown) => error)
    // The process then looks up the outcome, and this lookup waits for the standby as well.
    const waiting = `select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep' and query like '%with requested as%'`
    await until(async () => ((await server.client.query(waiting)).rowCount ?? 0) > 0)
    const first = await Promise.race([sent, until(hasConfirming)])
    expect(first).toBe('looked up')
    await server.needNoStandby()
    expect(await sent).toHaveProperty('results')
  })

  test('changes are reported as done once no standby is needed', async () => {
    await server.needNoStandby()
    expect(await retried(() => another.ports.clientRequests.find(keyed))).toMatchObject({
      balance: expect.any(Number) as number,
    })
    expect(await another.ports.inbox.receive([reply], confirmation)).toEqual(['repeated'])
    expect((await patient.ports.inbox.take(replied, 'all', longAgo, 10)).messages.map(({ text }) => text)).toEqual([
      'to be taken',
      'a reply',
    ])
  })
})
