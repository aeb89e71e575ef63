import { anAddress, anAccountId, anAccount, aNumber } from '@gateway/core/testing'
import { anOperator } from '../../testing/operate.ts'

const number = aNumber('27825550101')

test('an opt-out is added once and removed once, and only for its account', async () => {
  const operator = anOperator()
  const [first] = [await anAccount(operator.ports), await anAccount(operator.ports)]
  const add = ['optout', 'add', '1', number]
  expect(await operator.json(...add)).toEqual({ account: 1, number, added: 1 })
  expect(await operator.json(...add)).toEqual({ account: 1, number, added: 0 })
  expect(await operator.rows('optout', 'list', '2')).toEqual([])
  expect(await operator.ports.suppressions.matching(first.id, [number])).toEqual(
    new Map([[number, new Set(['opt-out'])]]),
  )
  expect((await operator.run(add)).out).toBe('27825550101 had opted out of the messages of account 1 already.\n')
  const remove = ['optout', 'remove', '1', number]
  expect((await operator.run(remove)).out).toBe('Account 1 can write to 27825550101 again.\n')
  expect(await operator.run(remove)).toEqual({
    code: 1,
    out: '',
    err: '27825550101 had not opted out of the messages of account 1.\n',
  })
  expect((await operator.run(add)).out).toBe('27825550101 gets no more messages of account 1.\n')
  expect(await operator.json(...remove)).toEqual({ account: 1, number, removed: true })
})

test('the list shows who wrote what, and which entries were added by hand', async () => {
  const operator = anOperator()
  await anAccount(operator.ports)
  await operator.ports.senders.assign(anAddress('31022'), anAccountId(1))
  await operator.run(['simulate', 'reply', '--from', '+27825550102', '--to', '31022', '--text', 'STOP sending\nthis'])
  await operator.run(['optout', 'add', '1', number])
  const since = '2026-10-18T08:00:00.000Z'
  expect(await operator.rows('optout', 'list', '1')).toEqual([
    { number, since, arrival: null, answers: null, text: '* MANUALLY ADDED BY USER *' },
    { number: '27825550102', since, arrival: 1, answers: null, text: 'STOP sending\nthis' },
  ])
  expect((await operator.run(['optout', 'list', '1'])).out).toBe(
    [
      'NUMBER       SINCE (GMT+2)        ANSWERS  TEXT',
      '27825550101  2026/10/18 10:00:00           * MANUALLY ADDED BY USER *',
      '27825550102  2026/10/18 10:00:00           STOP sending?this',
      '',
    ].join('\n'),
  )
})

test.each(['add', 'remove'])('%s for an account that is not there is a refusal, and so is its list', async (what) => {
  const operator = anOperator()
  const none = { code: 1, out: '', err: 'There is no account 1.\n' }
  expect(await operator.run(['optout', what, '1', number])).toEqual(none)
  expect(await operator.run(['optout', 'list', '1'])).toEqual(none)
})
