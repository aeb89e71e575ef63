import { anAccount, memoryPorts, steppingClock } from '@gateway/core/testing'
import { createBackOffice } from '../back-office.ts'
import { createGateway } from '../gateway.ts'
import { gatewayDefaults } from '../gateway-settings.ts'
import { readIdempotencyKey } from '../retry/idempotency-key.ts'
import type { AccountId } from './account.ts'

async function watched() {
  const ports = memoryPorts({ clock: steppingClock() })
  const requests: AccountId[] = []
  const messages: (readonly [AccountId, number])[] = []
  const gateway = createGateway(ports, {
    ...gatewayDefaults,
    activity: {
      requested: (account) => void requests.push(account),
      accepted: (account, count) => void messages.push([account, count]),
    },
  })
  const account = await anAccount(ports, { credits: 30 })
  return { ports, requests, messages, gateway, account, backOffice: createBackOffice(ports) }
}

test('requests with right credentials count, those over the limit as well, and wrong ones do not', async () => {
  const { requests, gateway, account, backOffice } = await watched()
  const issued = await backOffice.issueApiKey(account.id)
  if (typeof issued === 'string') throw new Error(issued)
  await backOffice.changeAccount(account.id, { requestsPerSecond: 1 })
  const ask = (apiKey: string) => gateway.authenticate({ apiKey, network: '' })
  expect(await ask(issued.key)).toMatchObject({ id: account.id })
  expect(await ask(issued.key)).toEqual({ overLimitSeconds: 1 })
  expect(await ask('wrong')).toBe('wrong-credentials')
  expect(requests).toEqual([account.id, account.id])
})

test('messages that are accepted count, once where the request is repeated; those that are refused do not', async () => {
  const { messages, gateway, account } = await watched()
  const again = readIdempotencyKey('again')
  if (again === undefined || again === 'unusable') throw new Error('no key')
  const send = (recipients: readonly string[], key?: typeof again) =>
    gateway.sendMessages(account, [{ text: 'hi', recipients }], key)
  await send(['27820000001', 'none'])
  await send(['none'])
  await send(['27820000001'], again)
  await send(['27820000001'], again)
  await send(['27820000001', '27820000002', '27820000003'])
  expect(messages).toEqual([
    [account.id, 1],
    [account.id, 1],
    [account.id, 1],
  ])
})
