import type { DroppedHistory, Ports } from '@gateway/core'
import { anAccount, anOrder, numbers } from '@gateway/core/testing'
import { anOperator } from '../../testing/operate.ts'

const steps = (...steps: readonly DroppedHistory[]) => {
  const left = [...steps]
  return {
    ports: (ports: Ports): Ports => ({
      ...ports,
      history: {
        ...ports.history,
        drop: () => Promise.resolve(left.shift() ?? { partitions: 0, sends: 0, messages: 0, left: 'all' }),
      },
    }),
  }
}

test('history drop drops until nothing is old, and tells the sums', async () => {
  const dropped = steps(
    { partitions: 1, sends: 5, messages: 50, left: 'more' },
    { partitions: 0, sends: 2, messages: 7, left: 'more' },
  )
  expect(await anOperator(dropped).json('history', 'drop')).toEqual({ partitions: 1, sends: 7, messages: 57 })
  const one = { partitions: 1, sends: 2, messages: 3, left: 'all' } as const
  expect(await anOperator(steps(one)).run(['history', 'drop'])).toEqual({
    code: 0,
    out: '3 messages in 2 sends dropped, 1 partitions as a whole.\n',
    err: '',
  })
})

test('history drop leaves what is young', async () => {
  const operator = anOperator()
  const { id } = await anAccount(operator.ports)
  await operator.ports.messages.accept(anOrder(id, { to: numbers(3) }))
  expect(await operator.json('history', 'drop')).toEqual({ partitions: 0, sends: 0, messages: 0 })
})

test('history drop that is not let at everything says so, with 1', async () => {
  const operator = anOperator(steps({ partitions: 0, sends: 1, messages: 4, left: 'busy' }))
  expect(await operator.run(['history', 'drop'])).toEqual({
    code: 1,
    out: '',
    err: 'Not all could be dropped: others are at it. Try again later. 4 messages in 1 sends dropped.\n',
  })
})
