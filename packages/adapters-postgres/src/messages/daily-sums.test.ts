import { Client } from 'pg'
import { daysBefore, gatewayDay, secondsAfter } from '@gateway/core/time'
import { anAccount, anOrder, numbers, realClock } from '@gateway/core/testing'
import { freshDatabase, type FreshDatabase } from '../../testing/fresh-database.ts'
import { patientSettings } from '../../testing/patient-settings.ts'
import { postgresPorts, type PostgresPorts } from '../postgres-ports.ts'

let database: FreshDatabase
let gateway: PostgresPorts
let client: Client

beforeAll(async () => {
  database = await freshDatabase()
  gateway = postgresPorts({ connectionString: database.connectionString, settings: patientSettings })
  client = new Client({ connectionString: database.connectionString })
  await client.connect()
})
afterAll(async () => {
  await client.end()
  await gateway.close()
  await database.drop()
})

test('a sum that differs from its messages is detected: too high, missing, or without messages', async () => {
  const { messages, dailySums } = gateway.ports
  const { id } = await anAccount(gateway.ports)
  const now = realClock().now()
  const due = secondsAfter(now, 86_400)
  const accepted = await messages.accept(anOrder(id, { to: numbers(3), due }))
  if (typeof accepted === 'string') throw new Error(accepted)
  const ids = accepted.results.flat().filter((one) => one !== 'insufficient-credits')
  await messages.deleteScheduled(id, ids, daysBefore(now, 1))
  const today = gatewayDay(now)
  const wrong = async () =>
    (await dailySums.check(today)).map(({ account, code, sum, counted }) => [account, code, sum, counted])
  while ((await dailySums.fold(10)) > 0);
  expect(await wrong()).toEqual([])

  await client.query('update outcome_sum set messages = messages + 1')
  expect(await wrong()).toEqual([[id, 102, 4, 3]])
  await client.query('delete from outcome_sum')
  expect(await wrong()).toEqual([[id, 102, 0, 3]])
  await client.query(
    'insert into outcome_sum (account_id, day, carrier, code, messages) values ($1, $2, 0, 102, 3), ($1, $2, 0, 0, 1)',
    [id, today],
  )
  expect(await wrong()).toEqual([[id, 0, 1, 0]])
})
