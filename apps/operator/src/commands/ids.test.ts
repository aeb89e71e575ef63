import { anAccount, anOrder, numbers } from '@gateway/core/testing'
import { anOperator } from '../../testing/operate.ts'

test('ids skip leaves out 1000 blocks of 10,000 ids, or as many as are asked for, and tells where ids go on', async () => {
  const operator = anOperator()
  const { id } = await anAccount(operator.ports)
  await operator.ports.messages.accept(anOrder(id, { to: numbers(3) }))
  const skipped = await operator.json<{ blocks: number; from: number }>('ids', 'skip')
  expect(skipped).toEqual({ blocks: 1000, firstMessage: 10_000_004 })
  expect(await operator.run(['ids', 'skip', '--blocks', '1'])).toEqual({
    code: 0,
    out: '1 block skipped: processes that start from now on give out ids from 10010004 on.\n',
    err: '',
  })
  expect(await operator.ports.messages.accept(anOrder(id, { to: numbers(1) }))).toMatchObject({
    results: [[10_010_004]],
  })
})

test.each(['0', '1000001', '1.5', '-1', 'all'])(
  'ids skip --blocks %s is a wrong call, and skips nothing',
  async (blocks) => {
    const operator = anOperator()
    const { code, out, err } = await operator.run(['ids', 'skip', `--blocks=${blocks}`])
    expect([code, out]).toEqual([2, ''])
    expect(err).toContain('Expected a whole number from 1 to 1000000')
    expect(await operator.json('ids', 'skip', '--blocks', '1')).toEqual({ blocks: 1, firstMessage: 10_001 })
  },
)
