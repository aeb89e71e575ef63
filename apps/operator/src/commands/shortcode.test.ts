import { anAccount } from '@gateway/core/testing'
import { anOperator } from '../../testing/operate.ts'

const assign = (code: string, account: number) => ['shortcode', 'assign', code, String(account)]

test('a code belongs to one account at a time, until it is released', async () => {
  const operator = anOperator()
  const [first, second] = [await anAccount(operator.ports), await anAccount(operator.ports)]
  const printed = async (...args: readonly string[]) => {
    const { code, out, err } = await operator.run(args)
    return [code, out + err]
  }
  expect(await printed(...assign('31022', first.id))).toEqual([0, '31022 belongs to account 1.\n'])
  expect(await printed(...assign('31022', first.id))).toEqual([0, '31022 belonged already to account 1.\n'])
  expect(await printed(...assign('31022', second.id))).toEqual([
    1,
    '31022 belongs to another account. Release it first.\n',
  ])
  expect(await printed('shortcode', 'release', '31022')).toEqual([0, '31022 no longer belongs to an account.\n'])
  expect(await printed('shortcode', 'release', '31022')).toEqual([1, '31022 belongs to no account.\n'])
  expect(await printed(...assign('31022', second.id))).toEqual([0, '31022 belongs to account 2.\n'])
})

test('an account may have several codes, which are listed by code, as text and as JSON', async () => {
  const operator = anOperator()
  await anAccount(operator.ports)
  expect(await operator.json(...assign('31099', 1))).toEqual({ shortCode: '31099', account: 1, assigned: true })
  expect(await operator.json(...assign('31022', 1))).toEqual({ shortCode: '31022', account: 1, assigned: true })
  expect(await operator.json(...assign('31022', 1))).toEqual({ shortCode: '31022', account: 1, assigned: false })
  expect(await operator.rows('shortcode', 'list')).toEqual([
    { shortCode: '31022', account: 1 },
    { shortCode: '31099', account: 1 },
  ])
  expect((await operator.run(['shortcode', 'list'])).out).toBe('CODE   ACCOUNT\n31022  1\n31099  1\n')
  expect(await operator.json('shortcode', 'release', '31022')).toEqual({ shortCode: '31022', released: true })
})

test('an invalid code is a usage error, and an unknown account is refused', async () => {
  const operator = anOperator()
  for (const code of ['12', '031022', '+31022', 'ACME', '1234567890123456']) {
    expect(await operator.run(assign(code, 1))).toMatchObject({
      code: 2,
      err: expect.stringContaining('3 to 15 digits, the first not 0') as string,
    })
  }
  expect(await operator.run(assign('31022', 1))).toEqual({ code: 1, out: '', err: 'There is no account 1.\n' })
})
