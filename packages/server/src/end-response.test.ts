import { rawClient } from '../testing/raw-client.ts'
import { memoryLog } from '../testing/memory-log.ts'
import { until } from '../testing/until.ts'
import { endResponse } from './end-response.ts'
import { listen } from './listen.ts'

test.each(['1.0', '1.1'])('an answer to HTTP/%s has its length in bytes, and no chunks', async (version) => {
  const app: Parameters<typeof listen>[0]['app'] = (_request, response) => endResponse(response, 'é€')
  const server = await listen({ app, host: '127.0.0.1', port: 0, log: memoryLog().log, graceSeconds: 0.2 })
  try {
    const client = rawClient(server.port, `GET / HTTP/${version}\r\nHost: x\r\nConnection: close\r\n\r\n`)
    await until(() => client.closed())
    expect(client.received()).toMatch(/\r\nContent-Length: 5\r\n/)
    expect(client.received()).not.toMatch(/Transfer-Encoding/i)
    expect(Buffer.from(client.received().split('\r\n\r\n')[1] ?? '', 'latin1').toString()).toBe('é€')
  } finally {
    await server.close()
  }
})
