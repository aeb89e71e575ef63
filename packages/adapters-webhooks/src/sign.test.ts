import { randomBytes } from 'node:crypto'
import { secretsMax } from '@gateway/core/webhooks'
import { Webhook } from 'standardwebhooks'
import { aPush } from '../testing/pushes.ts'
import { startReceiver, type Received } from '../testing/receiver.ts'
import { webhookClient } from './webhook-client.ts'

const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`

test('10 000 of 10 000 signatures verify during rotations, with any of the secrets that sign', async () => {
  let secrets = [newSecret()]
  const received: { readonly request: Received; readonly secret: string }[] = []
  const receiver = await startReceiver({
    // The receiver knows only one of the secrets that sign, a different one for each request in turn.
    onRequest: (request) => received.push({ request, secret: secrets[received.length % secrets.length] ?? '' }),
  })
  const client = webhookClient({ allow: ['127.0.0.1'], http: true })
  for (let pushed = 0; pushed < 10_000; pushed += 10) {
    if (pushed % 100 === 0) secrets = [newSecret(), ...secrets].slice(0, secretsMax)
    const ids = Array.from({ length: 10 }, (_, at) => `list_${pushed + at}`)
    await Promise.all(ids.map((id) => client.push(aPush(receiver.url, { id, body: `{"n":"${id} ž"}`, secrets }))))
  }
  await client.close(Promise.resolve())
  await receiver.close()
  expect(received).toHaveLength(10_000)
  for (const { request, secret } of received) new Webhook(secret).verify(request.body, { ...request.headers })
  const [first] = received
  expect(() => new Webhook(newSecret()).verify(first?.request.body ?? '', { ...first?.request.headers })).toThrow()
})
