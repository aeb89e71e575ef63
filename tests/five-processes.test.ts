import { until } from '@gateway/core/testing'
import { asp, aspSend, restSend, restStatus, xml, xmlSend } from './support/clients.ts'
import { startFiveProcesses } from './support/gateways.ts'
import { operateJson } from './support/operate.ts'
import { killLeftovers } from './support/process.ts'
import { submissions } from './support/record.ts'

afterEach(killLeftovers)

test('rest, asp, xml and two dispatchers as five processes on one DATABASE_URL do the same as one', async () => {
  const gateway = await startFiveProcesses({ CARRIERS: 'simulator:?delayMs=100' })
  const { environment, folder, restUrl, aspUrl, xmlUrl } = gateway
  try {
    const open = ['account', 'open', '--login', 'acme', '--credits', '100', '--password', 'secret']
    const { id } = await operateJson<{ id: number }>(open, environment)
    const { id: keyId, key } = await operateJson<{ id: number; key: string }>(['key', 'issue', String(id)], environment)
    const client = (url: string) => ({ url, key })

    const ids = [
      ...(await restSend(client(restUrl), ['27820000001', '27820000093'])),
      ...(await aspSend(client(aspUrl), ['27820000002'])),
      ...(await xmlSend(client(xmlUrl), ['27820000003'])),
    ]
    expect(ids.every((sent) => typeof sent === 'number')).toBe(true)
    const codes = async () => (await restStatus(client(restUrl), ids as number[])).map(({ statusCode }) => statusCode)
    await until(async () => String(await codes()) === '0,111,0,0', 30_000)
    expect(await asp(client(aspUrl), 'requestbatch.asp', { messageid: `${String(ids[0])};` })).toContain('=DELIVERED;')
    const wanted = `<MessageIDs><MessageID><ID>${String(ids[0])}</ID></MessageID></MessageIDs>`
    expect(await xml(client(xmlUrl), 'xmlgetstatus.asp', 'Svc_StatusRequest', wanted)).toContain('>DELIVERED<')
    // Four were charged, and the one that was refused on submission was given back.
    expect(await asp(client(aspUrl), 'credits.asp')).toBe('Credits=97')
    expect((await submissions(folder)).map((line) => line.messageId).sort()).toEqual([...ids].sort())

    await operateJson(['key', 'revoke', String(keyId)], environment)
    await until(async () => (await asp(client(aspUrl), 'auth.asp')) === 'Login=FAIL', 5_000)
  } finally {
    expect(await gateway.stop()).toEqual([0, 0, 0, 0, 0])
  }
}, 120_000)
