import { anAccount, memoryPorts } from '@gateway/core/testing'
import { createGateway } from '../gateway.ts'
import type { SenderAddress } from './msisdn.ts'
import type { AllowedSender } from './senders.ts'

const allowed = (sender: string, fields: Partial<AllowedSender> = {}) => ({
  ...{ sender: sender as SenderAddress, destinations: [], defaultFor: [], carriers: [], otherwise: 'replace' as const },
  ...fields,
})

async function ownSenders(codes: readonly string[], senders: readonly ReturnType<typeof allowed>[]) {
  const ports = memoryPorts()
  const { id } = await anAccount(ports)
  for (const code of codes) await ports.senders.assign(code as SenderAddress, id)
  for (const sender of senders) await ports.senders.allow({ ...sender, account: id })
  const account = (await ports.accounts.find(id))?.account
  if (account === undefined) throw new Error('no account')
  return createGateway(ports).queries.listOwnSenders(account)
}

test('an account without a sender uses a number of the operator', async () => {
  expect(await ownSenders([], [])).toEqual({ senders: [], usual: undefined, defaults: [] })
})

test('codes stand before allowed senders, each once; the first code is the usual sender', async () => {
  const { senders, usual } = await ownSenders(['30123', '30124'], [allowed('ACME'), allowed('30124')])
  expect(senders).toEqual([
    { sender: '30123', isNumber: true, destinations: [] },
    { sender: '30124', isNumber: true, destinations: [] },
    { sender: 'ACME', isNumber: false, destinations: [] },
  ])
  expect(usual).toBe('30123')
})

test('a default for all numbers is the usual sender, unless the sender is allowed only for some destinations', async () => {
  const everywhere = await ownSenders(['30123'], [allowed('ACME', { defaultFor: ['', '43'] })])
  expect(everywhere).toMatchObject({ usual: 'ACME', defaults: [{ prefix: '43', sender: 'ACME' }] })
  const some = await ownSenders(['30123'], [allowed('ACME', { defaultFor: [''], destinations: ['27', '44'] })])
  expect(some.usual).toBe('30123')
  expect(some.defaults).toEqual([
    { prefix: '27', sender: 'ACME' },
    { prefix: '44', sender: 'ACME' },
  ])
})
