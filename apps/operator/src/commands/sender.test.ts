import { aCarrierId, anAccount, aSender } from '@gateway/core/testing'
import { anOperator } from '../../testing/operate.ts'

test('senders of an account are allowed, listed, changed and removed', async () => {
  const operator = anOperator()
  const { id } = await anAccount(operator.ports)
  const printed = async (...args: readonly string[]) => {
    const { code, out, err } = await operator.run(['sender', ...args])
    return [code, out + err]
  }
  const replies = 'Nobody can reply to a name, so recipients need another way to opt out.'
  const known = 'Every process applies it within 5 seconds.'
  expect(await printed('add', '1', '31022', '--to', '27')).toEqual([0, `Account 1 may use 31022. ${known}\n`])
  expect(await printed('add', '1', 'Acme 1')).toEqual([0, `Account 1 may use Acme 1. ${known} ${replies}\n`])
  const more = ['--default-for', '27,default', '--carriers', 'one,two', '--refuse']
  expect(await printed('add', '1', 'Acme 1', ...more)).toEqual([
    0,
    `Account 1 may now, with new conditions, use Acme 1. ${known} ${replies}\n`,
  ])
  expect(await operator.ports.senders.allowedTo(id)).toEqual([
    {
      ...{ account: id, sender: aSender('31022'), destinations: ['27'], defaultFor: [], carriers: [] },
      otherwise: 'replace',
    },
    {
      ...{ account: id, sender: aSender('Acme 1'), destinations: [], defaultFor: ['27', ''] },
      ...{ carriers: [aCarrierId('one'), aCarrierId('two')], otherwise: 'refuse' },
    },
  ])
  expect((await operator.run(['sender', 'list'])).out).toBe(
    [
      'ACCOUNT  SENDER  TO   DEFAULT FOR  CARRIERS  OTHERWISE',
      '1        31022   27   -            all       replace',
      '1        Acme 1  all  27,default   one,two   refuse',
      '',
    ].join('\n'),
  )
  expect(await operator.rows('sender', 'list', '--account', '2')).toEqual([])
  expect(await printed('remove', '1', '31022')).toEqual([0, 'Account 1 may no longer use 31022.\n'])
  expect(await printed('remove', '1', '31022')).toEqual([1, 'Account 1 was not allowed to use 31022.\n'])
})

test('an invalid sender or prefix is a usage error; an unknown account, or a sender that carriers cannot transmit, is refused', async () => {
  const operator = anOperator()
  await anAccount(operator.ports)
  const codeOf = async (...args: readonly string[]) => (await operator.run(['sender', 'add', ...args])).code
  for (const wrong of ['12', 'AcmeAndSonsX', '+-*', ' ']) expect(await codeOf('1', wrong)).toBe(2)
  expect(await codeOf('1', 'Acme', '--to', '27,x')).toBe(2)
  expect(await codeOf('1', 'Acme', '--carriers', 'ONE')).toBe(2)
  expect(await codeOf('9', 'Acme')).toBe(1)
  expect(await codeOf('1', 'Müller')).toBe(1)
})
