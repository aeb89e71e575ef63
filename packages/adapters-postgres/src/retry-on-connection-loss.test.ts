import { lostAnswer } from './errors.ts'
import { retryWorkOnConnectionLoss } from './retry-on-connection-loss.ts'

const lost = () => lostAnswer({ pid: 1, start: '1' }, new Error('cut'))

/**
 * Makes work and confirmations for a test. The steps say, in order, which calls succeed and which lose their answer.
 */
function world(steps: readonly ('done' | 'lost')[], confirmations: readonly ('done' | 'lost')[]) {
  const happened: string[] = []
  const [workSteps, confirmationSteps] = [[...steps], [...confirmations]]
  const next = (name: string, from: string[]) => {
    const step = from.shift() ?? 'done'
    happened.push(`${name} ${step}`)
    return step === 'lost' ? Promise.reject(lost()) : Promise.resolve()
  }
  return {
    happened,
    work: () => next('work', workSteps),
    connections: { retrySeconds: 60, confirm: () => next('confirmed', confirmationSteps) },
  }
}

test('an answer at the first attempt needs no confirmation', async () => {
  const { connections, work, happened } = world(['done'], [])
  await retryWorkOnConnectionLoss(connections, work)
  expect(happened).toEqual(['work done'])
})

test('an answer after a lost one is confirmed, and the work is repeated if the confirmation is lost', async () => {
  const { connections, work, happened } = world(['lost', 'lost', 'done'], ['lost', 'done'])
  await retryWorkOnConnectionLoss(connections, work)
  expect(happened).toEqual(['work lost', 'work lost', 'work done', 'confirmed lost', 'work done', 'confirmed done'])
})
