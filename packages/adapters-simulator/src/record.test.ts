import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { instant } from '@gateway/core/time'
import { realClock, aMessageId, anAddress, aNumber, aSender } from '@gateway/core/testing'
import { owners } from './owners.ts'
import { fieldsOf } from './record-file.ts'
import { readRecord } from './record.ts'

let folder: string
beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'record-'))))
afterEach(() => rm(folder, { recursive: true }))

const to = aNumber('27825550100')

/**
 * Acts as a process that submits one message, and that acknowledges the receipt if `acknowledges` is true. Returns the
 * references of the outstanding receipts that the process found.
 */
async function live(run: string, acknowledges: boolean, rotateFrom: number) {
  const ownership = owners(folder)
  ownership.own(run)
  ownership.takeOver()
  const { owed, open } = await readRecord(folder, ownership, realClock(), rotateFrom)
  const record = open()
  const reference = `${run}-0`
  record.submitted(instant(Date.now()), [
    { id: aMessageId(1), from: anAddress(), to, reference, answer: 'accepted', reply: undefined },
  ])
  if (acknowledges) record.acknowledged([{ reference, code: 0 }])
  record.close()
  ownership.release()
  return owed.map((one) => one.reference)
}

const runsIn = (name: string) =>
  existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8').match(/[0-9a-f]+(?=-0")/g) : null

test('a record over its size becomes the old record and the old one is deleted, but never with outstanding receipts', async () => {
  expect(await live('a', true, 50)).toEqual([])
  expect(await live('b', false, 50)).toEqual([])
  expect([runsIn('submissions.old.jsonl'), runsIn('submissions.jsonl')]).toEqual([['a'], ['b']])
  expect(await live('c', true, 50)).toEqual(['b-0'])
  expect([runsIn('submissions.old.jsonl'), runsIn('submissions.jsonl')]).toEqual([['b'], ['c']])
  // The outstanding receipt of b keeps the old record in place, so the new record grows.
  expect(await live('d', true, 50)).toEqual(['b-0'])
  expect([runsIn('submissions.old.jsonl'), runsIn('submissions.jsonl')]).toEqual([['b'], ['c', 'd']])
  expect(runsIn('receipts.jsonl')).toEqual(['c', 'd'])
})

test('a record below its size stays', async () => {
  await live('a', true, 1_000_000)
  await live('b', true, 1_000_000)
  expect([runsIn('submissions.old.jsonl'), runsIn('submissions.jsonl')]).toEqual([null, ['a', 'b']])
})

test('no record is set aside while another process uses the folder', async () => {
  const other = owners(folder)
  other.own('e')
  await live('a', true, 50)
  await live('b', true, 50)
  expect(runsIn('submissions.jsonl')).toEqual(['a', 'b'])
})

test('a closed record cannot be written', async () => {
  const ownership = owners(folder)
  const record = (await readRecord(folder, ownership, realClock())).open()
  record.close()
  expect(() => record.acknowledged([])).toThrow('the record cannot be written')
})

test('special characters of a sender are escaped, so that the other fields of its line are found', async () => {
  const ownership = owners(folder)
  ownership.own('name')
  ownership.takeOver()
  const { open } = await readRecord(folder, ownership, realClock(), 1e6)
  const record = open()
  const from = aSender('A",{b}')
  record.submitted(instant(Date.now()), [
    { id: aMessageId(7), from, to, reference: 'name-0', answer: 'accepted', reply: undefined },
  ])
  record.close()
  ownership.release()
  const [line = ''] = readFileSync(join(folder, 'submissions.jsonl'), 'utf8').trim().split('\n').slice(-1)
  expect(JSON.parse(line)).toMatchObject({ messageId: 7, from, number: to, carrierId: 'name-0' })
  expect(fieldsOf(line)?.('number')).toBe(to)
})
