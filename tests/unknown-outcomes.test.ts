import { until } from '@gateway/core/testing'
import { measure, openAccount } from './support/accounts.ts'
import { restSend, restStatus } from './support/clients.ts'
import { numbersEnding } from './support/numbers.ts'
import { databaseFolder, killLeftovers, startApp, type Environment } from './support/process.ts'

afterEach(killLeftovers)

const messages = 500
const inDoubtMax = 200
const marked = 'gateway_dispatcher_messages{carrier="simulator",state="inDoubt"}'
const unknownOutcomes = 'gateway_unknown_outcomes_total{cause="recovery"}'

test('kill -9 of a dispatcher with marked messages: the metric of the next one counts each that recovery calls 106', async () => {
  const data = await databaseFolder()
  const environment: Environment = { DATA_DIR: data.path, LEASE_SECONDS: '2' }
  try {
    const rest = await startApp('rest', environment)
    const killed = await startApp('dispatcher', { ...environment, CARRIERS: 'simulator:?perSecond=1' })
    const { key } = await openAccount(environment, 'unknown', messages)
    const client = { url: rest.url, key }
    const ids = (await restSend(client, numbersEnding(messages, '01', 0))).filter((id) => typeof id === 'number')
    expect(ids).toHaveLength(messages)
    await until(async () => (await measure(killed, marked)) >= 100, 60_000)
    await killed.stop('SIGKILL')

    const next = await startApp('dispatcher', environment)
    const codes = async () => (await restStatus(client, ids)).map(({ statusCode }) => statusCode)
    await until(async () => (await codes()).every((code) => code === 0 || code === 106), 60_000)
    const unknown = (await codes()).filter((code) => code === 106).length
    // A few may have been answered between the look and the kill.
    expect(unknown).toBeGreaterThanOrEqual(90)
    expect(unknown).toBeLessThanOrEqual(inDoubtMax)
    expect(await measure(next, unknownOutcomes)).toBe(unknown)
    expect(await next.stop()).toBe(0)
    expect(await rest.stop()).toBe(0)
  } finally {
    killLeftovers()
    await data.remove()
  }
}, 180_000)
