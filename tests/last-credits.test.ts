import { openAccount } from './support/accounts.ts'
import { aspSend, restBalance, restSend, restStatus, xmlSend } from './support/clients.ts'
import { operate } from './support/operate.ts'
import { databaseFolder, killLeftovers, startApp } from './support/process.ts'

afterEach(killLeftovers)

test('of 64 parallel sends over all three interfaces for the last 10 credits exactly 10 are accepted', async () => {
  const data = await databaseFolder()
  const environment = { DATA_DIR: data.path, CARRIERS: 'simulator:?delayMs=0' }
  try {
    const gateway = await startApp('all-in-one', environment)
    const { key } = await openAccount(environment, 'last', 10)
    const client = { url: gateway.url, key }

    const sends = Array.from({ length: 64 }, (_, at) => {
      const send = [restSend, aspSend, xmlSend][at % 3] ?? restSend
      return send(client, [`278200${String(at).padStart(3, '0')}01`])
    })
    const results = (await Promise.all(sends)).flat()
    const ids = results.filter((result) => typeof result === 'number')
    expect(ids).toHaveLength(10)
    expect(new Set(ids).size).toBe(10)
    const words = results.filter((result) => typeof result === 'string')
    expect(new Set(words)).toEqual(new Set(['INSUFFICIENT CREDITS', 'NOCREDITS']))
    expect(await restBalance(client)).toBe(0)
    expect((await restStatus(client, ids)).every(({ statusCode }) => statusCode !== -2)).toBe(true)
    expect((await operate(['credits', 'verify'], environment)).code).toBe(0)
    expect(await gateway.stop()).toBe(0)
  } finally {
    killLeftovers()
    await data.remove()
  }
}, 120_000)
