import { anAccount, memoryPorts } from '@gateway/core/testing'
import { createGateway } from '../gateway.ts'

test('a main account sees its sub accounts with what they have now; a sub account and a stranger see none', async () => {
  const ports = memoryPorts()
  const gateway = createGateway(ports)
  const [main, stranger] = [await anAccount(ports), await anAccount(ports)]
  const sub = await anAccount(ports, { parent: main.id, credits: 30 })
  const locked = await anAccount(ports, { parent: main.id, credits: 0, locked: true })
  expect(await gateway.listSubAccounts(main)).toEqual([
    { account: sub, balance: 30 },
    { account: locked, balance: 0 },
  ])
  await gateway.transferCredits(main, { from: main.id, to: sub.id, quantity: 7 })
  expect((await gateway.listSubAccounts({ ...main, locked: true }))[0]?.balance).toBe(100)
  expect(await gateway.listSubAccounts(sub)).toEqual([])
  expect(await gateway.listSubAccounts(stranger)).toEqual([])
})
