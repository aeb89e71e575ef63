import fc from 'fast-check'
import { aNumber, anAccount, memoryPorts } from '@gateway/core/testing'
import { credits, minus } from '../credits/credits.ts'
import { createGateway } from '../gateway.ts'
import type { TextToSend } from './screen-texts.ts'

const optedOut = '27820000001'
const blocked = '27820000002'
const dear = '27830000001'
const numbers = ['27820000003', '27820000004', dear, optedOut, blocked, '0825', ' 27820000003 ', '']

async function setUp(granted: number) {
  const ports = memoryPorts()
  const account = await anAccount(ports, { credits: granted })
  const since = ports.clock.now()
  await ports.suppressions.add({ scope: account.id, number: aNumber(optedOut), kind: 'opt-out', since })
  await ports.suppressions.add({ scope: 'everybody', number: aNumber(blocked), kind: 'blacklist', since })
  await ports.prices.set('2783', credits(35))
  return { account, gateway: createGateway(ports) }
}

test('a quote predicts the send, with the same refusals, costs and balance, and charges nothing', async () => {
  const texts = fc.record({
    text: fc.constantFrom('hello', 'x'.repeat(161), '', 'x'.repeat(919)),
    recipients: fc.array(fc.constantFrom(...numbers), { minLength: 1, maxLength: 12 }),
  })
  const property = fc.asyncProperty(
    fc.array(texts, { minLength: 1, maxLength: 3 }),
    fc.integer({ min: 0, max: 200 }),
    async (send: readonly TextToSend<string>[], granted) => {
      const { account, gateway } = await setUp(granted)
      const quote = await gateway.queries.quoteMessages(account, send)
      if (typeof quote === 'string') throw new Error(quote)
      expect(await gateway.queries.creditBalance(account.id)).toBe(granted)
      const sent = await gateway.commands.sendMessages(account, send)
      if (typeof sent === 'string' || 'overLimitSeconds' in sent) throw new Error('not sent')
      const actual = sent.map((results) => results.map((one) => ('id' in one ? one.cost : one.refused)))
      expect(quote.texts.map((of) => of.map((one) => ('to' in one ? one.cost : one.refused)))).toEqual(actual)
      expect(quote.remaining).toBe(await gateway.queries.creditBalance(account.id))
      expect([quote.balance, quote.cost]).toEqual([granted, minus(credits(granted), quote.remaining)])
    },
  )
  await fc.assert(property, { numRuns: 200 })
})

test('the full cost is the price of all recipients that pass the screening, whatever the balance', async () => {
  const { account, gateway } = await setUp(20)
  const recipients = ['27820000003', dear, optedOut, '27820000004']
  const quote = await gateway.queries.quoteMessages(account, [{ text: 'hello', recipients }])
  expect(quote).toMatchObject({ fullCost: 55, cost: 20, balance: 20, remaining: 0 })
})

test('a sender that the account may not use is refused before anything is quoted', async () => {
  const { account, gateway } = await setUp(20)
  const sender = '45678' as never
  expect(await gateway.queries.quoteMessages(account, [{ text: 'hello', recipients: [dear], sender }])).toBe(
    'invalid-sender',
  )
})
