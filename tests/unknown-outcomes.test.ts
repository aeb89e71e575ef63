import { until } from '@gateway/core/testing'
import { measure, openAccount } from './support/accounts.ts'
import { carriers } from './support/carriers.ts'
import { inTurn } from './support/in-turn.ts'
import { restSend, restStatus, untilCodes } from './support/clients.ts'
import { numbersEnding } from './support/numbers.ts'
import { operate } from './support/operate.ts'
import { databaseFolder, killLeftovers, startApp, type Environment } from './support/process.ts'

afterEach(killLeftovers)

const messages = 500
/**
 * Minimum number of marked messages before the kill, with a carrier of one message per second. Over SMPP it is 1,
 * because the dispatcher marks no more messages than the carrier accepts.
 */
const leastMarked: Readonly<Record<string, number>> = { 'the simulated carrier': 100, SMPP: 1 }
const inDoubtMax = 200
const marked = /^gateway_dispatcher_messages\{carrier="\w+",state="inDoubt"\} (\d+)$/m
const unknownOutcomes = 'gateway_unknown_outcomes_total{cause="recovery"}'

test.each(inTurn(carriers))(
  'over %s: kill -9 of a dispatcher with marked messages: the metric of the next one counts each that recovery calls 106',
  async (title, startCarrier) => {
    const least = leastMarked[title] ?? 0
    const data = await databaseFolder()
    const place = { DATA_DIR: data.path, LEASE_SECONDS: '2' }
    const carrier = await startCarrier(place, 1000)
    const environment: Environment = { ...place, CARRIERS: carrier.url }
    try {
      const rest = await startApp('rest', environment)
      const killed = await startApp('dispatcher', { ...environment, CARRIERS: `${carrier.limitedTo(1)}&window=500` })
      const { key } = await openAccount(environment, 'unknown', messages)
      const client = { url: rest.url, key }
      const ids = (await restSend(client, numbersEnding(messages, '01', 0))).filter((id) => typeof id === 'number')
      expect(ids).toHaveLength(messages)
      const metrics = async () => (await fetch(`${killed.url}/metrics`)).text()
      await until(async () => Number(marked.exec(await metrics())?.[1]) >= least, 60_000)
      await killed.stop('SIGKILL')

      expect((await operate(['carrier', 'apply'], environment)).code).toBe(0)
      const next = await startApp('dispatcher', environment)
      const codes = async () => (await restStatus(client, ids)).map(({ statusCode }) => statusCode)
      await untilCodes(client, ids, (code) => code === 0 || code === 106, 60_000)
      const unknown = (await codes()).filter((code) => code === 106).length
      // The carrier may have answered a few messages between the query of the metric and the kill.
      expect(unknown).toBeGreaterThanOrEqual(Math.min(least, 90))
      expect(unknown).toBeLessThanOrEqual(title === 'SMPP' ? 10 : inDoubtMax)
      expect(await measure(next, unknownOutcomes)).toBe(unknown)
      expect(await next.stop()).toBe(0)
      expect(await rest.stop()).toBe(0)
    } finally {
      killLeftovers()
      await data.remove()
    }
  },
  180_000,
)
