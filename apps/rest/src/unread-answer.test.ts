import { connect, type Socket } from 'node:net'
import { numbers, until } from '@gateway/core/testing'
import { admissionGate } from '@gateway/server'
import { startRest } from '../testing/start-rest.ts'

const bodyBytesMax = 1024 * 1024

test('long responses that clients do not read use at most half of the memory for bodies; further ones are refused until then', async () => {
  const gate = admissionGate(1000, { bodyBytesMax })
  const rest = await startRest({ gate, account: { credits: 100_000 } })
  const recipients = numbers(1000).map((mobileNumber) => ({ mobileNumber }))
  await rest.post('/sms/outgoing/send', { message: 'x', recipients, scheduledTime: '203001010000' }).expect(200)
  const list = '/sms/scheduled?limit=1000'
  const { text } = await rest.get(list).expect(200)
  expect(text.length).toBeGreaterThan(100_000)
  await until(() => Promise.resolve(gate.bodies.bytes === 0))

  // The operating system buffers some megabytes for each connection. The test sends requests until these buffers are
  // full and the process has to hold responses itself.
  const requestText = `GET /api/rest/v1${list} HTTP/1.1\r\nHost: x\r\nAuthorization: ${rest.key}\r\n\r\n`
  const open = (): Socket =>
    connect(Number(new URL(rest.url).port), '127.0.0.1')
      .on('error', () => undefined)
      .pause()
  const unread = Array.from({ length: 8 }, open)
  await until(async () => {
    // On a busy machine the server may have closed a connection that does not read.
    for (const [i, socket] of unread.entries())
      if (socket.writable) socket.write(requestText.repeat(4))
      else unread[i] = open()
    const { status, headers } = await rest.get(list)
    expect(gate.bodies.bytes).toBeLessThanOrEqual(bodyBytesMax / 2)
    return status === 503 && headers['retry-after'] === '1' && gate.bodies.bytes > bodyBytesMax / 4
  })
  await rest.get('/credits/balance').expect(200)

  for (const socket of unread) socket.destroy()
  await until(() => Promise.resolve(gate.bodies.bytes === 0))
  expect((await rest.get(list).expect(200)).text).toHaveLength(text.length)
  await rest.close()
})
