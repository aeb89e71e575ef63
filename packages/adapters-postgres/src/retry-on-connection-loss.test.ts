import { lostAnswer } from './errors.ts'
import { retryWorkOnConnectionLoss } from './retry-on-connection-loss.ts'

const lost = () => lostAnswer({ pid: 1, start: '1' }, new Error('cut'))

/** Work that goes as `steps` say, on connections whose confirmations do. */
function world(steps: readonly ('done' | 'lost')[], confirmations: readonly ('done' | 'lost')[]) {
  const happened: string[] = []
  const [left, leftOfConfirmations] = [[...steps], [...confirmations]]
  const next = (what: string, from: string[]) => {
    const step = from.shift() ?? 'done'
    happened.push(`${what} ${step}`)
    return step === 'lost' ? Promise.reject(lost()) : Promise.resolve()
  }
  return {
    happened,
    work: () => next('work', left),
    connections: { retrySeconds: 60, confirm: () => next('confirmed', leftOfConfirmations) },
  }
}

test('what is answered at once needs no confirmation', async () => {
  const { connections, work, happened } = world(['done'], [])
  await retryWorkOnConnectionLoss(connections, work)
  expect(happened).toEqual(['work done'])
})

test('what is answered after a lost answer counts once it is confirmed, and is asked again if that is lost', async () => {
  const { connections, work, happened } = world(['lost', 'lost', 'done'], ['lost', 'done'])
  await retryWorkOnConnectionLoss(connections, work)
  expect(happened).toEqual(['work lost', 'work lost', 'work done', 'confirmed lost', 'work done', 'confirmed done'])
})
