import { aMessageId, anAccount, memoryPorts, numbers, steppingClock } from '@gateway/core/testing'
import { createGateway } from '../gateway.ts'

const day = 86_400

test('a waiting message is waiting however old it is, and nobody else sees it', async () => {
  const clock = steppingClock()
  const ports = memoryPorts({ clock })
  const gateway = createGateway(ports)
  const [mine, foreign] = [await anAccount(ports), await anAccount(ports)]
  const results = await gateway.sendMessages(mine, [{ text: 'hi', recipients: numbers(1) }])
  if (results === 'overloaded' || 'overLimitSeconds' in results) throw new Error('not sent')
  const [result] = results.flat()
  if (result === undefined || !('id' in result)) throw new Error('refused')
  const waiting = { code: 'waiting', number: result.number, cost: result.cost }

  const unknown = aMessageId(result.id + 1)
  expect(await gateway.queryStatus(mine, [result.id, unknown, result.id])).toEqual([waiting, 'not-found', waiting])
  expect(await gateway.queryStatus(foreign, [result.id, unknown])).toEqual(['not-found', 'not-found'])
  clock.step(91 * day)
  expect(await gateway.queryStatus(mine, [result.id])).toEqual([waiting])
})
