import { AnswerDeadline, OUTCOME, type MessageId } from '@gateway/core/messages'
import type { SmppCredential, SmppParts } from '@gateway/core/smpp-customers'
import { aCustomer, aPart, until } from '@gateway/core/testing'
import { Client } from 'pg'
import { cuttableDatabase, type CuttableDatabase } from '../../testing/cuttable-database.ts'
import type { Cut } from '../../testing/cutting-proxy.ts'

let database: CuttableDatabase
let client: Client
let credential: SmppCredential

beforeEach(async () => {
  database = await cuttableDatabase()
  ;({ client } = database)
  ;({ credential } = await aCustomer(database.direct.ports))
})
afterEach(() => database.drop())

const partsMax = 100

/** Stores a part in another process than `database.cuttable`. */
async function add(place: number, deadline?: AnswerDeadline) {
  const added = await database.direct.ports.smppParts.add(aPart(credential, [place, 2]), partsMax, deadline)
  if (typeof added === 'string') throw new Error(added)
  return { id: added.id, whole: await added.whole }
}

/** Blocks all statements that store parts. Returns a function that waits for one, calls `meanwhile`, and unblocks. */
async function blocked() {
  const holder = new Client({ connectionString: database.connectionString })
  await holder.connect()
  await holder.query('begin')
  await holder.query('lock table smpp_part in share mode')
  return async (meanwhile: () => void) => {
    await until(async () => (await database.blockedBy(holder)) !== undefined)
    meanwhile()
    await holder.query('commit')
    await holder.end()
  }
}

const addLate = (parts: SmppParts, deadline: AnswerDeadline) => parts.add(aPart(credential, [1, 2]), partsMax, deadline)

async function heldIds(): Promise<readonly number[]> {
  const { rows } = await client.query<{ id: string }>(
    'select unnest(first_ids) as id from smpp_accept where until > now()',
  )
  return rows.map(({ id }) => Number(id))
}

/** Holds a stored part as if the answer to its submission were not decided. */
const hold = (id: MessageId) =>
  client.query(
    `insert into smpp_accept (process, slot, until, first_ids)
     values (gen_random_uuid(), 1, now() + interval '1 hour', array[$1::bigint])`,
    [id],
  )

test('a part that was stored after its deadline is deleted, and its repetition completes the text', async () => {
  const deadline = new AnswerDeadline()
  const unblock = await blocked()
  const adding = addLate(database.cuttable.ports.smppParts, deadline)
  await unblock(() => expect(deadline.miss()).toBe(true))
  expect(await adding).toBe('overloaded')
  await until(async () => (await heldIds()).length === 0)
  expect((await add(2)).whole).toBeUndefined()
  expect((await add(1)).whole).toHaveLength(2)
})

test('a copy in time keeps a part whose first copy is late, in one statement', async () => {
  const { smppParts } = database.cuttable.ports
  // Leases ids, so that the two copies go into one statement.
  await smppParts.add(aPart(credential, [1, 2], { reference: '8:18' }), partsMax)
  const [late, inTime] = [new AnswerDeadline(), new AnswerDeadline()]
  const unblock = await blocked()
  const copies = [addLate(smppParts, late), addLate(smppParts, inTime)]
  await unblock(() => expect(late.miss()).toBe(true))
  const [lateResult, result] = await Promise.all(copies)
  expect(lateResult).toBe('overloaded')
  if (typeof result !== 'object') throw new Error(result)
  expect((await add(2)).whole?.map(({ id }) => id)).toContain(result.id)
})

test('a text with a held part is not joined, refused or found until the part is released', async () => {
  const { smppParts } = database.direct.ports
  const first = await add(1)
  await hold(first.id)
  const second = await add(2)
  expect(second.whole).toBeUndefined()
  expect(await smppParts.refuse([first.id], OUTCOME.optedOut)).toBe(false)
  expect(await smppParts.unjoined(-1, 10)).toEqual([])
  await client.query('update smpp_accept set until = now()')
  expect((await smppParts.unjoined(-1, 10)).map((text) => text.map(({ id }) => id))).toEqual([[first.id, second.id]])
})

test('a repetition of a held part waits for the decision, and is stored anew if the part is revoked', async () => {
  const first = await add(1)
  await hold(first.id)
  const deadline = new AnswerDeadline()
  const repeating = add(1, deadline)
  // The first attempt of the repetition was in an earlier statement, or in the same one.
  await add(2)
  await client.query('delete from smpp_part where id = $1', [first.id])
  const again = await repeating
  expect(again.id).not.toBe(first.id)
  expect(deadline.miss()).toBe(false)
})

test.each<Cut>(['after-it-arrived', 'before-its-answer'])(
  'a part whose connection breaks %s counts if its deadline is open, and is deleted if it is missed',
  async (where) => {
    const { proxy, cuttable } = database
    const cut = proxy.cut(where, 'add-smpp-parts')
    const deadline = new AnswerDeadline()
    const adding = addLate(cuttable.ports.smppParts, deadline)
    await cut
    const isMissed = deadline.miss()
    const result = await adding
    await until(async () => (await heldIds()).length === 0)
    expect(typeof result === 'object').toBe(!isMissed)
    expect(await database.direct.ports.smppParts.waiting(credential.account)).toBe(isMissed ? 0 : 1)
  },
)
