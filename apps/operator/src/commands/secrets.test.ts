import { randomBytes } from 'node:crypto'
import { secretBox } from '@gateway/adapters-node'
import type { Ports } from '@gateway/core'
import { anAccount } from '@gateway/core/testing'
import { anOperator } from '../../testing/operate.ts'

const [older, newer] = [randomBytes(32), randomBytes(32)].map((key) => key.toString('base64')) as [string, string]
const boxOf = (...keys: readonly string[]) => secretBox({ keys, folder: '/nowhere' })

test('secrets reseal encrypts with the new key what the old one sealed, once, and changes no secret', async () => {
  const ports = (inMemory: Ports): Ports => ({ ...inMemory, secretBox: boxOf(newer, older) })
  const operator = anOperator({ ports })
  const { id } = await anAccount(operator.ports)
  const secrets = [boxOf(older).newSigningSecret(), boxOf(older).newSigningSecret()]
  for (const [at, box] of [boxOf(older), boxOf(newer)].entries()) {
    const secret = box.seal(secrets[at] ?? '')
    const wanted = { account: id, url: 'https://example.com', events: [], listSize: 1, withText: false, secret }
    await operator.ports.webhooks.add(wanted, operator.ports.clock.now())
  }

  const carriers = { digest: 'x', carriers: [], routes: [], storedBy: 'x' }
  const lost = boxOf(randomBytes(32).toString('base64')).seal('an old version')
  for (const [after, sealed] of [lost, boxOf(older).seal('carriers')].entries())
    await operator.ports.carrierVersions.store({ ...carriers, sealed }, after, { onPurpose: true })

  expect(await operator.json('secrets', 'reseal')).toEqual({ webhooks: 1, carrierVersions: 1 })
  const [now, before] = await operator.ports.carrierVersions.list(2)
  expect([now && boxOf(newer).open(now.sealed), before?.sealed]).toEqual(['carriers', lost])
  const stored = await operator.ports.webhooks.list(id)
  expect(stored.map(({ secret }) => boxOf(newer).open(secret))).toEqual(secrets)
  expect(await operator.run(['secrets', 'reseal'])).toEqual({
    code: 0,
    out: 'Every secret is encrypted with the current key.\n',
    err: '',
  })
})
