import { Client } from 'pg'
import type { DeliveryReceipt } from '@gateway/core/dispatch'
import { aCarrierId } from '@gateway/core/testing'
import { freshDatabase, type FreshDatabase } from '../../testing/fresh-database.ts'
import { postgresPorts, type PostgresPorts } from '../postgres-ports.ts'
import { patientSettings } from '../../testing/patient-settings.ts'

const carrier = aCarrierId('sim')
const partitionSize = 5_000_000

const delivered = (...references: readonly string[]): DeliveryReceipt[] =>
  references.map((reference) => ({ carrier, reference, code: 0, number: undefined, submitted: undefined }))

describe('receipts on partitions', () => {
  const open = {} as { database: FreshDatabase; postgres: PostgresPorts; client: Client }

  beforeEach(async () => {
    const database = await freshDatabase()
    const client = new Client({ connectionString: database.connectionString })
    await client.connect()
    const postgres = postgresPorts({ connectionString: database.connectionString, settings: patientSettings })
    Object.assign(open, { database, postgres, client })
    await postgres.ports.deliveryReceipts.apply(delivered('before anything was sent'))
    await client.query('delete from unmatched_delivery_receipt')
  })

  afterEach(async () => {
    await open.client.end()
    await open.postgres.close()
    await open.database.drop()
  })

  const store = (id: number, reference: string, daysAgo = 0) =>
    open.client.query(
      `insert into message (id, send_first_id, msisdn, account_id, carrier, code, carrier_id, sent_at)
       select $1, $1, 27820000000, 1, id, 100, $2, now() - $3::int * interval '1 day' from carrier where name = 'sim'`,
      [id, reference, daysAgo],
    )
  /** Makes the next ids come from this partition. */
  const reach = (partition: number) => open.client.query(`select setval('id_block', $1)`, [partition * 500])
  const codes = async () =>
    (await open.client.query<{ code: number }>('select code from message order by id')).rows.map(({ code }) => code)
  const storedCount = async () => (await open.client.query('select from unmatched_delivery_receipt')).rowCount

  test('a process finds messages in partitions that became the newest after its start', async () => {
    const { deliveryReceipts } = open.postgres.ports
    await store(1, 'a')
    await deliveryReceipts.apply(delivered('a'))
    await reach(1)
    await store(partitionSize, 'b')
    await deliveryReceipts.apply(delivered('b'))
    await reach(2)
    await store(2 * partitionSize, 'c')
    await store(2, 'd')
    await store(partitionSize + 1, 'e')
    await deliveryReceipts.apply(delivered('e', 'c'))
    expect(await storedCount()).toBe(0)
    await deliveryReceipts.apply(delivered('d'))
    await deliveryReceipts.match(10)
    expect(await codes()).toEqual([0, 0, 0, 0, 0])
    expect(await storedCount()).toBe(0)
  })

  test('a partition that is dropped while a process knows it does not block receipts', async () => {
    const { deliveryReceipts } = open.postgres.ports
    await reach(1)
    await deliveryReceipts.apply(delivered('x'))
    await reach(2)
    await store(2 * partitionSize, 'a')
    await open.client.query('drop table message_p0, message_p1')
    await deliveryReceipts.apply(delivered('a'))
    await deliveryReceipts.apply(delivered('b'))
    expect(await codes()).toEqual([0])
  })

  test('of two messages with one reference the newer one gets the receipt', async () => {
    const { deliveryReceipts } = open.postgres.ports
    await store(1, 'again', 10)
    await store(2, 'again')
    await deliveryReceipts.apply(delivered('again'))
    expect(await codes()).toEqual([100, 0])
  })

  test('of two stored receipts of a message the first one counts, even if the other is tried sooner', async () => {
    const { deliveryReceipts } = open.postgres.ports
    await deliveryReceipts.apply(delivered('a'))
    await open.client.query(`update unmatched_delivery_receipt set next_try = now() + interval '1 hour'`)
    await deliveryReceipts.apply([{ carrier, reference: 'a', code: 103, number: undefined, submitted: undefined }])
    await store(1, 'a')
    await deliveryReceipts.match(10)
    expect(await codes()).toEqual([0])
    expect(await storedCount()).toBe(0)
  })

  test('an early receipt with a reused reference waits for its own message', async () => {
    const { deliveryReceipts } = open.postgres.ports
    await store(1, 'again', 10)
    await deliveryReceipts.apply(delivered('again'))
    expect(await deliveryReceipts.match(10)).toBe(0)
    await store(2, 'again')
    await open.client.query('update unmatched_delivery_receipt set next_try = now()')
    expect(await deliveryReceipts.match(10)).toBe(1)
    expect(await codes()).toEqual([100, 0])
  })

  test('a receipt more than a week later finds its message if no newer one has the reference', async () => {
    const { deliveryReceipts } = open.postgres.ports
    await store(1, 'late', 10)
    await deliveryReceipts.apply(delivered('late'))
    await open.client.query(`update unmatched_delivery_receipt set at = now() - interval '11 min'`)
    expect(await deliveryReceipts.match(10)).toBe(1)
    expect(await codes()).toEqual([0])
  })

  test('a receipt without a message is tried at growing intervals, and dropped after three days', async () => {
    const { deliveryReceipts } = open.postgres.ports
    await deliveryReceipts.apply(delivered('nobody'))
    for (let tries = 1; tries <= 3; tries++) {
      expect(await deliveryReceipts.match(10)).toBe(0)
      await open.client.query(`update unmatched_delivery_receipt set next_try = now()`)
      const { rows } = await open.client.query<{ tries: number }>('select tries from unmatched_delivery_receipt')
      expect(rows).toEqual([{ tries }])
    }
    await open.client.query(`update unmatched_delivery_receipt set at = now() - interval '73 hours'`)
    expect(await deliveryReceipts.match(10)).toBe(0)
    expect(await storedCount()).toBe(0)
  })
})
